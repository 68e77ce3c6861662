package exec

import (
	"context"
	"io"
	"slices"

	"millrace/internal/vector"
)

// sortOp is a Sort in memory, stable in the order of its child.
type sortOp struct {
	run   *runner
	n     *Sort
	child operator
	p     *program

	rows  []builder // the child's columns
	keys  []builder
	order []int32
	cols  []vector.Vector
	ready bool
	at    int
	held  holding
	out   Batch
	dense []column
}

func (r *runner) sort(n *Sort) (operator, error) {
	child, err := r.build(n.Child)
	if err != nil {
		return nil, err
	}
	s := &sortOp{run: r, n: n, child: child, held: holding{account: &r.memory}}
	exprs := make([]Expr, len(n.Keys))
	for i, k := range n.Keys {
		exprs[i] = k.Expr
	}
	if s.p, err = newProgram(n.Child.Schema(), exprs); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *sortOp) next(ctx context.Context) (*Batch, error) {
	if !s.ready {
		if err := s.gather(ctx); err != nil {
			return nil, err
		}
		s.ready = true
	}
	if s.at == len(s.order) {
		return nil, io.EOF
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	to := min(len(s.order), s.at+chunkRows)
	s.out.Len, s.out.Cols = to-s.at, s.out.Cols[:0]
	for i := range s.cols {
		s.out.Cols = append(s.out.Cols, *s.dense[i].gather(&s.cols[i], s.order[s.at:to]))
	}
	s.at = to
	return &s.out, nil
}

// gather reads the child and sorts. With a limit no more than a few times the rows wanted are kept.
func (s *sortOp) gather(ctx context.Context) error {
	schema := s.n.Child.Schema()
	s.rows, s.keys = make([]builder, len(schema)), make([]builder, len(s.n.Keys))
	s.dense = make([]column, len(schema))
	for i, t := range schema {
		s.rows[i].reset(t)
	}
	for i, k := range s.n.Keys {
		s.keys[i].reset(k.Expr.Type())
	}
	most := int64(-1)
	if s.n.Limit >= 0 {
		most = s.n.Offset + s.n.Limit
	}
	n := 0
	for {
		b, err := s.child.next(ctx)
		if done(err) {
			break
		}
		if err != nil {
			return err
		}
		s.p.in.set(b)
		for i, ev := range s.p.evs {
			v, err := ev.eval(&s.p.in)
			if err != nil {
				return err
			}
			s.keys[i].appendAll(v, s.p.in.n)
		}
		for i := range b.Cols {
			s.rows[i].appendRows(&b.Cols[i], b.rows())
		}
		n += s.p.in.n
		if most >= 0 && int64(n) > 4*max(most, chunkRows) {
			s.sort(n, most)
			s.cut()
			n = len(s.order)
		}
		size := int64(0)
		for i := range s.rows {
			size += s.rows[i].size()
		}
		for i := range s.keys {
			size += s.keys[i].size()
		}
		if err := s.held.set(size); err != nil {
			return err
		}
	}
	s.sort(n, most)
	s.order = s.order[min(int64(len(s.order)), max(s.n.Offset, 0)):]
	s.cols = make([]vector.Vector, len(s.rows))
	for i := range s.rows {
		s.cols[i] = s.rows[i].vector()
	}
	return nil
}

// sort orders the first n rows and keeps the numbers of the first most (−1: all).
func (s *sortOp) sort(n int, most int64) {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	keys := make([]vector.Vector, len(s.keys))
	for i := range keys {
		keys[i] = s.keys[i].vector()
	}
	slices.SortStableFunc(order, func(x, y int32) int {
		for i := range keys {
			c := compareRows(&keys[i], int(x), &keys[i], int(y))
			if s.n.Keys[i].Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	if most >= 0 && int64(len(order)) > most {
		order = order[:most]
	}
	s.order = order
}

// cut drops the rows that are not in order.
func (s *sortOp) cut() {
	for _, builders := range [][]builder{s.rows, s.keys} {
		for i := range builders {
			v := builders[i].vector()
			var kept builder
			kept.reset(builders[i].t)
			kept.appendRows(&v, s.order)
			builders[i] = kept
		}
	}
}

func (s *sortOp) close() {
	s.child.close()
	s.rows, s.keys, s.cols = nil, nil, nil
	_ = s.held.set(0)
}
