package columns

import (
	"context"

	"millrace/internal/vector"
	"millrace/scan"
	"millrace/scan/exec"
	"millrace/store/segment/colfile"
)

// tallyKey is where a column's tally is kept in the cache, beside the column. It is made of the column when it is first asked for, and
// outlives it there: it is some kilobytes.
func tallyKey(key string) string { return "\x01" + key }

const (
	// tallyValues is how many values a tally has at most, tallyNumbers how many of numbers: those come as slots of one
	// or two bytes, of which most may differ.
	tallyValues  = 4096
	tallyNumbers = 1024
	// tallyShare is how many rows there are for each value at least, where there are more values than tallyFew.
	tallyShare = 16
	tallyFew   = 64
	// tallyOverhead is what an entry of the cache takes beside its buffers, about.
	tallyOverhead = 600
)

// Tally implements exec.Tallier.
func (w *view) Tally(ctx context.Context, c scan.Column) (*exec.Tally, error) {
	key := w.key(c)
	if key == "" || !w.whole() || w.b.private {
		return nil, nil
	}
	cache := w.s.set.cache
	kept := make([]*column, 1)
	if cache.pin(w.b, []string{tallyKey(key)}, kept) {
		y := kept[0].tally
		cache.unpin(kept)
		return y, nil
	}
	made := &column{b: w.b, key: tallyKey(key), bytes: tallyOverhead}
	var known bool
	if made.tally, known = w.tallyFromFile(key); !known {
		vecs, from, to, release, err := w.Open(ctx, []scan.Column{c})
		if err != nil {
			return nil, err
		}
		if from == 0 && to == vecs[0].Len {
			made.tally = tallyOf(vecs[0])
		}
		release()
	}
	if y := made.tally; y != nil {
		made.bytes += y.Values.SizeBytes() + 12*int64(len(y.Rows))
	}
	cache.unpin([]*column{cache.put(made)})
	return made.tally, nil
}

// inFile takes hold of the file that has exactly the block's rows; nil: there is none.
func (w *view) inFile() *sealed {
	x := w.b.file.Load()
	if x == nil || w.b.skip(x) > 0 || !x.f.acquire() {
		return nil
	}
	return x
}

// tallyFromFile is the tally that the block's file has, nil: none; false when the file does not tell.
func (w *view) tallyFromFile(key string) (*exec.Tally, bool) {
	x := w.inFile()
	if x == nil {
		return nil, false
	}
	defer x.f.release()
	i := x.f.r.Column(key)
	if i < 0 {
		return nil, false
	}
	if has, known := x.f.r.HasTally(x.i, i); !has {
		return nil, known
	}
	y, err := x.f.r.Tally(x.i, i)
	if err != nil {
		x.f.damaged(err)
		return nil, false
	}
	return &exec.Tally{Values: y.Values, Rows: y.Rows, Firsts: y.Firsts}, true
}

// tallyToFile is what of a tally goes into a file; nil: nothing.
func tallyToFile(y *exec.Tally) *colfile.Tally {
	if y == nil || y.Values.Kind != vector.Int && y.Values.Kind != vector.String {
		return nil
	}
	return &colfile.Tally{Values: y.Values, Rows: y.Rows, Firsts: y.Firsts}
}

// tallyOf is nil where a tally would be large, or of little use.
func tallyOf(v *vector.Vector) *exec.Tally {
	switch {
	case v.Len == 0:
		return nil
	case v.Const:
		y := &exec.Tally{Rows: []int64{int64(v.Len)}, Firsts: []int32{0}}
		if v.IsNull(0) {
			y.Values = vector.Nulls(v.Kind, v.Scale, 1)
			return y
		}
		one := v.Slice(0, 1)
		y.Values, _ = vector.Place(&one, vector.Heap{}) // what the cache holds may be freed
		return y
	case v.Dict != nil:
		n := v.Dict.Len()
		if n > tallyValues || n > tallyFew && n*tallyShare > v.Len {
			return nil
		}
		t := newTallied(n)
		switch {
		case v.Code8 != nil:
			countSlots(t, v, v.Code8, 0)
		case v.Code16 != nil:
			countSlots(t, v, v.Code16, 0)
		case v.Code32 != nil:
			countSlots(t, v, v.Code32, 0)
		default:
			return nil
		}
		return t.texts(v.Dict)
	case v.Int8 != nil:
		t := newTallied(1 << 8)
		countSlots(t, v, v.Int8, 1<<7)
		return t.numbers(v.Base - 1<<7)
	case v.Int16 != nil:
		t := newTallied(1 << 16)
		countSlots(t, v, v.Int16, 1<<15)
		return t.numbers(v.Base - 1<<15)
	}
	return nil
}

// tallied counts rows by slot.
type tallied struct {
	rows      []int64
	first     []int32
	met       []int32 // slots in the order of their first rows; −1: NULL
	nulls     int64
	firstNull int32
}

func newTallied(n int) *tallied { return &tallied{rows: make([]int64, n), first: make([]int32, n)} }

// countSlots counts the slots of v, made unsigned by bias.
func countSlots[T int8 | int16 | uint8 | uint16 | uint32](t *tallied, v *vector.Vector, slots []T, bias int) {
	for i, x := range slots[:v.Len] {
		if v.Valid != nil && v.IsNull(i) {
			if t.nulls == 0 {
				t.firstNull = int32(i)
				t.met = append(t.met, -1)
			}
			t.nulls++
			continue
		}
		k := int(x) + bias
		if t.rows[k] == 0 {
			t.first[k] = int32(i)
			if t.met = append(t.met, int32(k)); len(t.met) > tallyValues+1 { // NULL, too
				return // it will be none
			}
		}
		t.rows[k]++
	}
}

// fill makes the tally but for the values.
func (t *tallied) fill() *exec.Tally {
	y := &exec.Tally{Rows: make([]int64, len(t.met)), Firsts: make([]int32, len(t.met))}
	for i, k := range t.met {
		if k < 0 {
			y.Rows[i], y.Firsts[i] = t.nulls, t.firstNull
		} else {
			y.Rows[i], y.Firsts[i] = t.rows[k], t.first[k]
		}
	}
	return y
}

// valid is the bitmap of the values; nil: no row was NULL.
func (t *tallied) valid() []uint64 {
	if t.nulls == 0 {
		return nil
	}
	out := make([]uint64, (len(t.met)+63)/64)
	for i, k := range t.met {
		if k >= 0 {
			out[i>>6] |= 1 << (i & 63)
		}
	}
	return out
}

func (t *tallied) texts(d *vector.Dict) *exec.Tally {
	y := t.fill()
	v := &y.Values
	v.Kind, v.Len, v.Valid, v.Offsets, v.Bytes = vector.String, len(t.met), t.valid(), []uint32{0}, []byte{}
	v.Nulls = int(min(t.nulls, 1))
	for _, k := range t.met {
		if k >= 0 {
			v.Bytes = append(v.Bytes, d.Value(int(k))...)
		}
		v.Offsets = append(v.Offsets, uint32(len(v.Bytes)))
	}
	return y
}

func (t *tallied) numbers(base int64) *exec.Tally {
	if len(t.met) > tallyNumbers {
		return nil
	}
	y := t.fill()
	v := &y.Values
	v.Kind, v.Len, v.Valid, v.Int64 = vector.Int, len(t.met), t.valid(), make([]int64, len(t.met))
	v.Nulls = int(min(t.nulls, 1))
	for i, k := range t.met {
		v.Int64[i] = base + int64(max(k, 0))
	}
	return y
}
