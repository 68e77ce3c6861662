package exec

import (
	"millrace/internal/vector"
)

// dictEval computes an expression of one text column once per entry of its dictionary and looks
// the results up by code. Results that are texts get a dictionary of their own.
type dictEval struct {
	over  *overEntries
	plain evaluator // over rows
	t     Type
	table builder // a result per entry, then that of NULL
	made  bool
	vec   vector.Vector // of the table
	rows  []int32
	out   column
}

// overDict is the evaluator of an expression that depends on one text only, nil if e does not.
func (c *compiler) overDict(e Expr) (evaluator, error) {
	if c.inDict {
		return nil, nil
	}
	switch e.(type) {
	case Col, Const:
		return nil, nil
	}
	col, ok := oneText(c.schema, e)
	if !ok {
		return nil, nil
	}
	over, err := newOverEntries(c.schema, e, col)
	if err != nil {
		return nil, err
	}
	return &dictEval{over: over, plain: over.p.evs[0], t: e.Type()}, nil
}

func (d *dictEval) eval(in *input) (*vector.Vector, error) {
	v := &in.b.Cols[d.over.col]
	if d.over.dict != v.Dict {
		d.made = false
		d.table.reset(d.t)
	}
	if !d.over.want(v, in.n, d.table.appendAll) {
		return d.plain.eval(in)
	}
	if !d.made {
		if err := d.table.fits(); err != nil {
			return nil, err
		}
		d.made = true
		d.vec = d.table.vector()
		if d.t.Kind == vector.String {
			d.unique()
		}
	}
	rows := grown(&d.rows, in.n)
	null := int32(d.table.n - 1)
	switch {
	case null == 0:
		fillWith(rows, 0)
	case v.Code8 != nil:
		resultRows(rows, v.Code8, in.b.Sel)
	case v.Code16 != nil:
		resultRows(rows, v.Code16, in.b.Sel)
	case v.Code32 != nil:
		resultRows(rows, v.Code32, in.b.Sel)
	default:
		fillWith(rows, 0)
	}
	if v.Valid != nil && v.Nulls != 0 {
		for k, i := range in.b.rows() {
			at := int(i) + v.First
			if v.Valid[at>>6]>>(at&63)&1 == 0 {
				rows[k] = null
			}
		}
	}
	return d.out.gather(&d.vec, rows), nil
}

func resultRows[T uint8 | uint16 | uint32](rows []int32, codes []T, sel []int32) {
	if sel == nil {
		for i, c := range codes[:len(rows)] {
			rows[i] = int32(c)
		}
		return
	}
	for k, i := range sel {
		rows[k] = int32(codes[i])
	}
}

// unique makes the texts of the results a dictionary.
func (d *dictEval) unique() {
	t := newTextTable(d.t)
	codes := make([]uint32, d.vec.Len)
	for at := 0; at < d.vec.Len; at += chunkRows {
		end := min(d.vec.Len, at+chunkRows)
		part := d.vec.Slice(at, end)
		t.ids(&part, codes[at:end])
	}
	vals := t.values()
	d.vec.Dict = &vector.Dict{Offsets: vals.Offsets, Bytes: vals.Bytes}
	d.vec.Code32, d.vec.Offsets, d.vec.Bytes = codes, nil, nil
}
