package colfile

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"millrace/internal/vector"
	"millrace/internal/vfs"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// Sums say what the values of one column come to for each value of another column's tally, in the order of that. Immutable.
type Sums struct {
	Rows     []int64          // how many rows have a value that is not NULL
	Sum      []decimal128.Num // of those, unscaled
	Min, Max []int64          // of those, unscaled; 0 where there are none
}

// Summable says whether there can be sums of a column: its values are integers, or decimals that mostly fit one.
func (c *Column) Summable() bool { return c.Kind == vector.Int || c.Kind == vector.Decimal128 }

// maxSums bounds the sums of all columns for the values of one, as encoded.
const maxSums = 1 << 20

// appendSums appends sums: for each value of the tally how many of its rows have NULL; unless that is all of them, the least value, how far
// the greatest is above it, and by how much the sum exceeds as many of the least.
func appendSums(dst []byte, s *Sums, tally []int64) []byte {
	for i, all := range tally {
		n := s.Rows[i]
		dst = binary.AppendUvarint(dst, uint64(all-n))
		if n == 0 {
			continue
		}
		over := s.Sum[i].Sub(decimal128.FromI64(s.Min[i]).Mul(decimal128.FromI64(n)))
		dst = binary.AppendVarint(dst, s.Min[i])
		dst = binary.AppendUvarint(dst, uint64(s.Max[i])-uint64(s.Min[i]))
		dst = binary.AppendUvarint(dst, uint64(over.HighBits()))
		dst = binary.AppendUvarint(dst, over.LowBits())
	}
	return dst
}

// parseSums reads those of a tally with that many rows of each value.
func parseSums(b []byte, tally []int64) (*Sums, error) {
	r := footerReader{in: b}
	n := len(tally)
	s := &Sums{Rows: make([]int64, n), Sum: make([]decimal128.Num, n), Min: make([]int64, n), Max: make([]int64, n)}
	for i, all := range tally {
		rows := all - int64(r.uint("NULLs", uint64(all)))
		if rows == 0 || r.bad != "" {
			continue
		}
		least := r.int("least")
		most := least + int64(r.uint("greatest", 1<<64-1))
		high := r.uint("sum", maxBlockRows)
		over := decimal128.New(int64(high), r.uint("sum", 1<<64-1))
		if most < least {
			r.fail("greatest")
		}
		s.Rows[i], s.Min[i], s.Max[i] = rows, least, most
		s.Sum[i] = decimal128.FromI64(least).Mul(decimal128.FromI64(rows)).Add(over)
	}
	if r.left() > 0 {
		r.fail("end")
	}
	if r.bad != "" {
		return nil, fmt.Errorf("%w: sums: %s", ErrCorrupt, r.bad)
	}
	return s, nil
}

// pendingSums wait for the end of the file, where those for the values of one column lie together: a question reads them of all blocks.
type pendingSums struct {
	block, column int
	body          []byte
}

// sumsBy are sums for each value of a column.
type sumsBy struct {
	tally []int64 // rows of each
	of    []*Sums // by column of the file
}

// keepSums keeps those of the block that is added, by the column whose values they are for.
func (w *Writer) keepSums(chunks []Chunk, by []sumsBy) error {
	for _, s := range by {
		for of, s := range s.of {
			chunks[of].Summed = chunks[of].Summed || s != nil
		}
	}
	for i, s := range by {
		if s.of == nil {
			continue
		}
		var body, one []byte
		for of := range chunks {
			switch {
			case of == i || !chunks[of].Summed:
			case s.of[of] == nil:
				return fmt.Errorf("colfile: no sums of column %q for the values of %q", w.info.Columns[of].Name, w.info.Columns[i].Name)
			default:
				one = appendSums(one[:0], s.of[of], s.tally)
				body = appendBytes(body, one)
			}
		}
		if len(body) > 0 && len(body) <= maxSums {
			w.sums = append(w.sums, pendingSums{len(w.info.Blocks), i, body})
		}
	}
	return nil
}

// writeSums writes what was kept.
func (w *Writer) writeSums() error {
	for column := range w.info.Columns {
		for _, s := range w.sums {
			if s.column != column {
				continue
			}
			c := &w.info.Blocks[s.block].Chunks[column]
			c.SumsAt, c.SumsSize, c.SumsCRC = w.s.Len(), int64(len(s.body)), crc32.Checksum(s.body, castagnoli)
			if err := w.s.Write(s.body); err != nil {
				return err
			}
		}
	}
	w.sums = nil
	return nil
}

// HasSums says whether the block has what column of comes to for each value of column by. Known: it has some, and so all that are worth it; one
// that was copied from an older file has none.
func (r *Reader) HasSums(block, by, of int) (has, known bool) {
	chunks := r.Blocks[block].Chunks
	known = slices.ContainsFunc(chunks, func(c Chunk) bool { return c.SumsSize > 0 })
	return chunks[by].SumsSize > 0 && chunks[of].Summed && by != of, known
}

// Sums of column of for the values of column by, whose tally in the block is given; nil when the block has none.
func (r *Reader) Sums(block, by, of int, tally *Tally) (*Sums, error) {
	if has, _ := r.HasSums(block, by, of); !has {
		return nil, nil
	}
	c := &r.Blocks[block].Chunks[by]
	b := make([]byte, c.SumsSize)
	if err := r.read(b, c.SumsAt, c.SumsCRC); err != nil {
		return nil, err
	}
	s, err := sumsAt(b, r.Blocks[block].Chunks, by, of, tally.Rows)
	if err != nil {
		return nil, fmt.Errorf("%s: block %d, columns %q and %q: %w", r.path, block, r.Columns[by].Name, r.Columns[of].Name, err)
	}
	return s, nil
}

// AllSums are, by column, the sums for the values of column by; nil: there are none.
func (r *Reader) AllSums(block, by int, tally *Tally) ([]*Sums, error) {
	var out []*Sums
	for of := range r.Columns {
		s, err := r.Sums(block, by, of, tally)
		if err != nil {
			return nil, err
		}
		if s != nil && out == nil {
			out = make([]*Sums, len(r.Columns))
		}
		if s != nil {
			out[of] = s
		}
	}
	return out, nil
}

// sumsAt finds those of column of in b, where all columns that are summed up follow one another.
func sumsAt(b []byte, chunks []Chunk, by, of int, tally []int64) (*Sums, error) {
	all := footerReader{in: b}
	var mine []byte
	for i := range chunks {
		if chunks[i].Summed && i != by {
			if one := all.bytes("sums", maxSums); i == of {
				mine = one
			}
		}
	}
	if all.left() > 0 {
		all.fail("end")
	}
	if all.bad != "" {
		return nil, fmt.Errorf("%w: sums: %s", ErrCorrupt, all.bad)
	}
	return parseSums(mine, tally)
}

// WillNeedSums has the system begin to read the sums for the values of a column of a block.
func (r *Reader) WillNeedSums(block, by int) {
	c := &r.Blocks[block].Chunks[by]
	vfs.WillNeed(r.f, c.SumsAt, c.SumsSize)
}
