package exec

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"millrace/internal/vector"
)

// concatAcc is GroupConcat. It keeps all texts and puts them together at the end.
type concatAcc struct {
	agg    Agg
	sink   *groupSink
	in     *input
	order  []evaluator
	groups int

	gids []uint32
	pos  []uint64 // the place of the row, for equal keys
	text builder
	keys []builder
	ev   []*vector.Vector
}

func newConcat(a Agg) *concatAcc {
	c := &concatAcc{agg: a, keys: make([]builder, len(a.Order))}
	c.text.reset(Type{Kind: vector.String})
	for i, k := range a.Order {
		c.keys[i].reset(k.Expr.Type())
	}
	return c
}

func (a *concatAcc) grow(n int) { a.groups = max(a.groups, n) }
func (a *concatAcc) end(int)    {}
func (a *concatAcc) merged()    {}

func (a *concatAcc) bytes() int64 {
	n := a.text.size() + 12*int64(cap(a.gids))
	for i := range a.keys {
		n += a.keys[i].size()
	}
	return n
}

func (a *concatAcc) add(v *vector.Vector, gids []uint32, n int) error {
	a.ev = a.ev[:0]
	for _, ev := range a.order {
		k, err := ev.eval(a.in)
		if err != nil {
			return err
		}
		a.ev = append(a.ev, k)
	}
	for i := range n {
		if v.IsNull(i) {
			continue
		}
		g := uint32(0)
		if gids != nil {
			g = gids[i]
		}
		a.keep(g, a.sink.place(i), v, a.ev, i)
	}
	return a.fits()
}

func (a *concatAcc) fits() error {
	for k := range a.keys {
		if err := a.keys[k].fits(); err != nil {
			return err
		}
	}
	return a.text.fits()
}

func (a *concatAcc) keep(g uint32, pos uint64, v *vector.Vector, keys []*vector.Vector, i int) {
	a.gids, a.pos = append(a.gids, g), append(a.pos, pos)
	a.text.append1(v, i)
	for k := range keys {
		a.keys[k].append1(keys[k], i)
	}
}

func (a *concatAcc) merge(from accumulator, to []uint32) {
	o := from.(*concatAcc)
	text := o.text.vector()
	keys := make([]*vector.Vector, len(o.keys))
	for k := range keys {
		v := o.keys[k].vector()
		keys[k] = &v
	}
	for i, g := range o.gids {
		a.keep(to[g], o.pos[i], &text, keys, i)
	}
}

func (a *concatAcc) result(n int) (vector.Vector, error) {
	if err := a.fits(); err != nil {
		return vector.Vector{}, err
	}
	text := a.text.vector()
	order := make([]int32, len(a.gids))
	for i := range order {
		order[i] = int32(i)
	}
	keys := make([]vector.Vector, len(a.keys))
	for k := range keys {
		keys[k] = a.keys[k].vector()
	}
	slices.SortFunc(order, func(x, y int32) int {
		if c := cmp.Compare(a.gids[x], a.gids[y]); c != 0 {
			return c
		}
		for k := range keys {
			c := compareRows(&keys[k], int(x), &keys[k], int(y))
			if a.agg.Order[k].Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return cmp.Compare(a.pos[x], a.pos[y])
	})
	out := make([][]byte, n)
	var seen map[string]struct{}
	last := -1
	for _, i := range order {
		g := int(a.gids[i])
		if g != last {
			last = g
			out[g] = []byte{}
			seen = map[string]struct{}{}
		} else if !a.agg.Distinct {
			out[g] = a.append(out[g], a.agg.Separator)
		}
		s := text.Text(int(i))
		if a.agg.Distinct {
			if _, ok := seen[string(s)]; ok {
				continue
			}
			if len(seen) > 0 {
				out[g] = a.append(out[g], a.agg.Separator)
			}
			seen[string(s)] = struct{}{}
		}
		out[g] = a.append(out[g], s)
	}
	return textsOf(out)
}

// append appends as much as the limit allows, never a part of a character.
func (a *concatAcc) append(dst, s []byte) []byte {
	if room := a.agg.MaxLen - len(dst); a.agg.MaxLen > 0 && len(s) > room {
		for room > 0 && !utf8.RuneStart(s[room]) {
			room--
		}
		s = s[:max(room, 0)]
	}
	return append(dst, s...)
}

// textsOf is a vector of texts; nil ones are NULL.
func textsOf(texts [][]byte) (vector.Vector, error) {
	v := vector.Vector{Kind: vector.String, Len: len(texts), Offsets: make([]uint32, 1, len(texts)+1)}
	size := 0
	for _, t := range texts {
		size += len(t)
	}
	if size > maxText {
		return v, errText(int64(size))
	}
	v.Bytes = make([]byte, 0, size)
	var valid []uint64
	for g, t := range texts {
		v.Bytes = append(v.Bytes, t...)
		v.Offsets = append(v.Offsets, uint32(len(v.Bytes)))
		if t == nil {
			if v.Valid == nil {
				v.Valid = onesOf(len(texts), &valid)
			}
			setValid(v.Valid, g, false)
			v.Nulls++
		}
	}
	return v, nil
}
