package exec

import (
	"fmt"
	"reflect"

	"millrace/internal/vector"
	"millrace/scan/exec/wideint"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

// evaluator computes one expression for one goroutine. Its result is dense: row k belongs to the
// k-th row that counts in the input. It is valid until the next eval of the same evaluator.
type evaluator interface {
	eval(in *input) (*vector.Vector, error)
}

// input is a batch that evaluators look at.
type input struct {
	b   *Batch
	n   int    // rows that count
	seq uint64 // of this batch, so that an expression used twice is computed once
}

// set makes b the batch to look at.
func (in *input) set(b *Batch) {
	in.b, in.n = b, b.Rows()
	in.seq++
}

// compiler makes evaluators for one input. Equal expressions share one.
type compiler struct {
	schema []Type
	inDict bool // for dictionary entries: what depends on one text only is not wrapped
	seen   []compiled
}

type compiled struct {
	e  Expr
	ev evaluator
}

// program evaluates expressions over the batches of one operator, for one goroutine.
type program struct {
	in  input
	evs []evaluator
}

func newProgram(schema []Type, exprs []Expr) (*program, error) {
	c := &compiler{schema: schema}
	p := &program{evs: make([]evaluator, len(exprs))}
	for i, e := range exprs {
		if e == nil {
			continue
		}
		ev, err := c.compile(e)
		if err != nil {
			return nil, err
		}
		p.evs[i] = ev
	}
	return p, nil
}

// compile makes an evaluator of e.
func (c *compiler) compile(e Expr) (evaluator, error) {
	for _, s := range c.seen {
		if reflect.DeepEqual(s.e, e) {
			return s.ev, nil
		}
	}
	ev, err := c.overDict(e)
	if ev == nil && err == nil {
		ev, err = c.kernel(e)
	}
	if err != nil {
		return nil, err
	}
	if _, ok := ev.(*constEval); !ok {
		ev = &once{ev: ev}
	}
	c.seen = append(c.seen, compiled{e, ev})
	return ev, nil
}

// once remembers the result for the present batch.
type once struct {
	ev  evaluator
	in  *input
	seq uint64
	out *vector.Vector
	err error
}

func (o *once) eval(in *input) (*vector.Vector, error) {
	if o.in != in || o.seq != in.seq {
		o.out, o.err = o.ev.eval(in)
		o.in, o.seq = in, in.seq
	}
	return o.out, o.err
}

func (c *compiler) all(exprs ...Expr) ([]evaluator, error) {
	out := make([]evaluator, len(exprs))
	for i, e := range exprs {
		ev, err := c.compile(e)
		if err != nil {
			return nil, err
		}
		out[i] = ev
	}
	return out, nil
}

// branch makes an evaluator that is used over other rows than the compiler's, and so shares nothing.
func (c *compiler) branch(e Expr) (evaluator, error) {
	return (&compiler{schema: c.schema, inDict: c.inDict}).compile(e)
}

func (c *compiler) kernel(e Expr) (evaluator, error) {
	switch e := e.(type) {
	case Col:
		if e.Index < 0 || e.Index >= len(c.schema) || c.schema[e.Index] != e.T {
			return nil, fmt.Errorf("%w: column %d of type %v", ErrNotSupported, e.Index, e.T)
		}
		return &colEval{index: e.Index}, nil
	case Const:
		return newConst(e)
	case Arith:
		return c.arith(e)
	case Convert:
		return c.convert(e)
	case Compare:
		return c.compare(e)
	case And:
		return c.connective(e.Args, true)
	case Or:
		return c.connective(e.Args, false)
	case Not:
		return c.not(e)
	case IsNull:
		return c.isNull(e)
	case In:
		return c.in(e)
	case Like:
		return c.like(e)
	case Case:
		return c.caseOf(e)
	case Func:
		return c.function(e)
	case Map:
		return c.mapped(e)
	}
	return nil, fmt.Errorf("%w: expression %T", ErrNotSupported, e)
}

// colEval is a column of the input, gathered when not all of its rows count.
type colEval struct {
	index int
	out   column
}

func (e *colEval) eval(in *input) (*vector.Vector, error) {
	v := &in.b.Cols[e.index]
	if in.b.Sel == nil || v.Const {
		if v.Const && v.Len != in.n {
			e.out.v = *v
			e.out.v.Len = in.n
			return &e.out.v, nil
		}
		return v, nil
	}
	return e.out.gather(v, in.b.Sel), nil
}

// constEval is the same value for every row.
type constEval struct{ v vector.Vector }

func newConst(c Const) (evaluator, error) {
	v, err := constVector(c)
	if err != nil {
		return nil, err
	}
	return &constEval{v}, nil
}

func (e *constEval) eval(in *input) (*vector.Vector, error) {
	e.v.Len = in.n
	if e.v.Nulls != 0 {
		e.v.Nulls = in.n
	}
	return &e.v, nil
}

func constVector(c Const) (vector.Vector, error) {
	v := vector.Vector{Kind: c.T.Kind, Scale: c.T.Scale, Const: true, Len: 1}
	switch c.T.Kind {
	case vector.Int:
		v.Int64 = []int64{c.Int}
	case vector.Uint:
		v.Uint64 = []uint64{c.Uint}
	case vector.Float:
		v.Float64 = []float64{c.Float + 0}
	case vector.Decimal128:
		x := wideint.From256(c.Dec)
		if !c.Null && !x.Fits128() {
			return v, fmt.Errorf("%w: constant beyond its type", ErrNotSupported)
		}
		v.Dec128 = []decimal128.Num{x.Num128()}
	case vector.Decimal256:
		v.Dec256 = []decimal256.Num{c.Dec}
	case vector.String:
		v.Offsets = []uint32{0, uint32(len(c.Bytes))}
		v.Bytes = c.Bytes
	default:
		return v, fmt.Errorf("%w: constant of kind %d", ErrNotSupported, c.T.Kind)
	}
	if c.Null {
		v.Valid, v.Nulls = []uint64{0}, 1
	}
	return v, nil
}

// asConst is the constant that e is, and whether it is one.
func asConst(e Expr) (Const, bool) {
	c, ok := e.(Const)
	return c, ok
}
