package exec

import (
	"fmt"

	"millrace/internal/vector"

	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

// mapEval is Map: it calls the function once per distinct argument as long as those are few
// enough to remember.
type mapEval struct {
	arg   evaluator
	from  Type
	to    Type
	apply func(Const) (Const, error)
	ids   map[string]int32 // by the argument's bytes
	ints  map[int64]int32
	null  int32
	cost  int64 // bytes remembered

	results builder
	rows    []int32
	out     column
	i64     []int64
}

// memoBytes bounds what a Map remembers; beyond it all is forgotten and it starts again.
const memoBytes = 8 << 20

func (c *compiler) mapped(e Map) (evaluator, error) {
	if e.Apply == nil {
		return nil, fmt.Errorf("%w: a function without a body", ErrNotSupported)
	}
	arg, err := c.compile(e.Arg)
	if err != nil {
		return nil, err
	}
	m := &mapEval{arg: arg, from: e.Arg.Type(), to: e.T, apply: e.Apply}
	m.forget()
	return m, nil
}

func (e *mapEval) forget() {
	e.ids, e.ints, e.null, e.cost = map[string]int32{}, map[int64]int32{}, -1, 0
	e.results.reset(e.to)
}

func (e *mapEval) eval(in *input) (*vector.Vector, error) {
	v, err := e.arg.eval(in)
	if err != nil {
		return nil, err
	}
	n := in.n
	if e.cost > memoBytes {
		e.forget()
	}
	rows := grown(&e.rows, n)
	var ints []int64
	if e.from.Kind == vector.Int {
		ints = intsOf(v, n, &e.i64)
	}
	var key [33]byte
	for i := range rows {
		var id int32
		var ok bool
		switch {
		case v.IsNull(i):
			if id, ok = e.null, e.null >= 0; !ok {
				if id, err = e.call(Const{T: e.from, Null: true}); err != nil {
					return nil, err
				}
				e.null = id
			}
		case ints != nil:
			if id, ok = e.ints[ints[i]]; !ok {
				if id, err = e.call(Const{T: e.from, Int: ints[i]}); err != nil {
					return nil, err
				}
				e.ints[ints[i]] = id
				e.cost += 64
			}
		default:
			k := keyBytes(v, i, key[:0])
			if id, ok = e.ids[string(k)]; !ok {
				if id, err = e.call(constOf(v, i, e.from)); err != nil {
					return nil, err
				}
				e.ids[string(k)] = id
				e.cost += int64(len(k)) + 80
			}
		}
		rows[i] = id
	}
	if err := e.results.fits(); err != nil {
		return nil, err
	}
	all := e.results.vector()
	return e.out.gather(&all, rows), nil
}

func (e *mapEval) call(arg Const) (int32, error) {
	r, err := e.apply(arg)
	if err != nil {
		return 0, err
	}
	r.T = e.to
	v, err := constVector(r)
	if err != nil {
		return 0, err
	}
	e.results.append1(&v, 0)
	e.cost += 32 + int64(len(r.Bytes))
	return int32(e.results.n - 1), nil
}

// constOf is the value of row i, which is not NULL. Its bytes alias the vector.
func constOf(v *vector.Vector, i int, t Type) Const {
	c := Const{T: t}
	slot := at(v, i)
	switch t.Kind {
	case vector.Int:
		c.Int = v.Int(i)
	case vector.Uint:
		c.Uint = v.Uint64[slot]
	case vector.Float:
		c.Float = v.Float64[slot]
	case vector.Decimal128:
		c.Dec = decimal256.FromDecimal128(v.Dec128[slot])
	case vector.Decimal256:
		c.Dec = v.Dec256[slot]
	case vector.String:
		c.Bytes = v.Text(i)
	}
	return c
}
