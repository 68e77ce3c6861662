package exec

import (
	"context"
	"io"
)

// limitOp yields a range of its child's rows and stops it after the last.
type limitOp struct {
	child operator
	skip  int64
	left  int64 // −1: no end
	out   Batch
}

func (r *runner) limit(n *Limit) (operator, error) {
	child, err := r.build(n.Child)
	if err != nil {
		return nil, err
	}
	return &limitOp{child: child, skip: n.Offset, left: n.Count}, nil
}

func (l *limitOp) next(ctx context.Context) (*Batch, error) {
	for {
		if l.left == 0 {
			return nil, io.EOF
		}
		b, err := l.child.next(ctx)
		if err != nil {
			return nil, err
		}
		rows := b.rows()
		if int64(len(rows)) <= l.skip {
			l.skip -= int64(len(rows))
			continue
		}
		rows = rows[l.skip:]
		l.skip = 0
		if l.left >= 0 {
			rows = rows[:min(l.left, int64(len(rows)))]
			l.left -= int64(len(rows))
		}
		if len(rows) == b.Rows() {
			return b, nil
		}
		l.out = Batch{Len: b.Len, Sel: rows, Cols: b.Cols}
		return &l.out, nil
	}
}

func (l *limitOp) close() { l.child.close() }
