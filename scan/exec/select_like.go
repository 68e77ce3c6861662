package exec

import "bytes"

// textContains is LIKE '%text%' over a column of texts without a dictionary: it looks for the text
// in all rows' bytes at once, which the search does many bytes at a time, and then for the row.
type textContains struct {
	col   int
	text  []byte
	plain selector
}

// containsOf is the kernel of a LIKE, nil if it is another pattern.
func containsOf(e Like, plain selector) selector {
	c, ok := e.Arg.(Col)
	m := newMatcher(e)
	if !ok || e.Fold || len(m.pieces) != 3 || len(m.pieces[0].text) != 0 || len(m.pieces[2].text) != 0 ||
		m.pieces[1].any != nil || len(m.pieces[1].text) == 0 {
		return nil
	}
	return &textContains{col: c.Index, text: m.pieces[1].text, plain: plain}
}

func (s *textContains) pick(b *Batch, rows []int32, want bool, dst []int32) (int, error) {
	v := &b.Cols[s.col]
	if v.Const || v.Dict != nil || rows != nil || !want {
		return s.plain.pick(b, rows, want, dst)
	}
	offsets := v.Offsets[:b.Len+1]
	end := offsets[b.Len]
	at := offsets[0]
	k, row := 0, 0
	for row < b.Len {
		i := bytes.Index(v.Bytes[at:end], s.text)
		if i < 0 {
			break
		}
		at += uint32(i)
		for offsets[row+1] <= at {
			row++
		}
		if at+uint32(len(s.text)) <= offsets[row+1] {
			dst[k] = int32(row)
			k++
			row++
			at = offsets[row]
		} else { // across the end of the row
			at++
		}
	}
	return dropNulls(v, dst[:k]), nil
}
