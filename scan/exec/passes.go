package exec

import (
	"errors"
	"hash/maphash"

	"millrace/internal/vector"
	"millrace/scan"
)

// Groups (and built sides of joins, join_spill.go) that do not fit the budget together are computed in passes: the input is read again for each
// part of the keys' hashes, and a part that does not fit either is cut once more. Nothing is
// written anywhere: the columns are in the cache or in files already, and to read them again costs no
// more than to read copies. Groups then come part by part, in the order of their first rows within
// each.

// part is those keys whose hash starts with some bits; of no bits: all.
type part struct {
	bits  uint8
	value uint64
}

// A part is cut into 8, three times at most: 512 passes over the input are the end.
const (
	partBits     = 3
	partBitsMost = 9
	// fewGroups do not fill a budget by their number but by what each holds, which no cut of the keys
	// makes less.
	fewGroups = 64
)

// cut is the parts of p, none if it is not to be cut; failed are the sinks that did not fit.
func (p part) cut(err error, failed []*groupSink) []part {
	if !errors.Is(err, scan.ErrMemory) || p.bits >= partBitsMost {
		return nil
	}
	groups := 0
	for _, s := range failed {
		if s.group == nil {
			return nil
		}
		groups += s.groups()
	}
	if groups < fewGroups {
		return nil
	}
	return p.split()
}

func (p part) split() []part {
	out := make([]part, 1<<partBits)
	for i := range out {
		out[i] = part{p.bits + partBits, p.value<<partBits | uint64(i)}
	}
	return out
}

// partFilter keeps the rows whose keys are in a part.
type partFilter struct {
	part
	seed maphash.Seed // the same in all passes
	keys *program
	vecs []*vector.Vector
	rows []int32
	buf  []byte
	out  Batch
}

func newPartFilter(p part, seed maphash.Seed, schema []Type, by []Expr) (*partFilter, error) {
	keys, err := newProgram(schema, by)
	return &partFilter{part: p, seed: seed, keys: keys}, err
}

// apply is nil when no row is left.
func (f *partFilter) apply(b *Batch) (*Batch, error) {
	in := &f.keys.in
	in.set(b)
	f.vecs = f.vecs[:0]
	for _, ev := range f.keys.evs {
		v, err := ev.eval(in)
		if err != nil {
			return nil, err
		}
		f.vecs = append(f.vecs, v)
	}
	f.rows = f.rows[:0]
	for k, row := range b.rows() {
		h := uint64(0)
		for _, v := range f.vecs {
			h = hashInt(int64(h*0x9e3779b97f4a7c15 ^ f.hash(v, k)))
		}
		if h>>(64-f.bits) == f.value {
			f.rows = append(f.rows, row)
		}
	}
	if len(f.rows) == 0 {
		return nil, nil
	}
	f.out = Batch{Len: b.Len, Sel: f.rows, Cols: b.Cols}
	return &f.out, nil
}

// hash of row k, however it is stored.
func (f *partFilter) hash(v *vector.Vector, k int) uint64 {
	if v.IsNull(k) {
		return 1
	}
	if v.Kind == vector.Int {
		return hashInt(v.Int(k))
	}
	f.buf = keyBytes(v, k, f.buf[:0])
	return maphash.Bytes(f.seed, f.buf)
}
