package exec

import "millrace/internal/vector"

// projectStep computes expressions. Plain columns are handed on as they are, selection and all; as
// soon as one expression is more, all are made dense.
type projectStep struct {
	p      *program
	plain  []int // the columns, if there is nothing else
	out    Batch
	origin []int32
}

func newProjectStep(schema []Type, exprs []Expr) (*projectStep, error) {
	p, err := newProgram(schema, exprs)
	if err != nil {
		return nil, err
	}
	s := &projectStep{p: p, plain: make([]int, 0, len(exprs))}
	for _, e := range exprs {
		c, ok := e.(Col)
		if !ok {
			s.plain = nil
			break
		}
		s.plain = append(s.plain, c.Index)
	}
	s.out.Cols = make([]vector.Vector, len(exprs))
	return s, nil
}

func (s *projectStep) apply(b *Batch) (*Batch, error) {
	if s.plain != nil {
		for i, c := range s.plain {
			s.out.Cols[i] = b.Cols[c]
		}
		s.out.Len, s.out.Sel, s.out.origin = b.Len, b.Sel, b.origin
		return &s.out, nil
	}
	s.p.in.set(b)
	for i, ev := range s.p.evs {
		v, err := ev.eval(&s.p.in)
		if err != nil {
			return nil, err
		}
		s.out.Cols[i] = *v
	}
	s.out.Len, s.out.Sel, s.out.origin = s.p.in.n, nil, nil
	if b.origin != nil {
		s.out.origin = take(&s.origin, b.origin, b.rows())
	}
	return &s.out, nil
}
