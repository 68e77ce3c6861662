package exec

import (
	"context"
	"fmt"
	"io"
	"slices"
)

func checkUnion(n *Union) error {
	if len(n.Children) == 0 {
		return fmt.Errorf("%w: union of nothing", ErrNotSupported)
	}
	for _, c := range n.Children[1:] {
		if !slices.Equal(c.Schema(), n.Schema()) {
			return fmt.Errorf("%w: union of different types", ErrNotSupported)
		}
	}
	return nil
}

// unionOp yields all rows of its children, one child after the other. A child is started when
// the one before has ended, so that a Limit above may spare it.
type unionOp struct {
	run  *runner
	n    *Union
	at   int
	open operator
}

func (u *unionOp) next(ctx context.Context) (*Batch, error) {
	for {
		if u.open == nil {
			if u.at == len(u.n.Children) {
				return nil, io.EOF
			}
			op, err := u.run.build(u.n.Children[u.at])
			if err != nil {
				return nil, err
			}
			u.at++
			u.open = op
		}
		b, err := u.open.next(ctx)
		if !done(err) {
			return b, err
		}
		u.open.close()
		u.open = nil
	}
}

func (u *unionOp) close() {
	if u.open != nil {
		u.open.close()
		u.open = nil
	}
	u.at = len(u.n.Children)
}
