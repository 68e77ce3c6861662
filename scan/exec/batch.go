package exec

// chunkRows is how many rows an operator hands on at once, at most: few enough that some columns of
// a chunk stay in the second cache level, enough that what is done once a chunk costs nothing.
const chunkRows = 4096

// allRows selects every row of a chunk.
var allRows = func() (rows [chunkRows]int32) {
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}()

// rows lists the rows that count. Never written to.
func (b *Batch) rows() []int32 {
	if b.Sel != nil {
		return b.Sel
	}
	return allRows[:b.Len]
}

// b2i compiles to a flag move, without a branch.
func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
