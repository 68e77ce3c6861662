package rows

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// Kept is its child, of whose rows whoever reads them keeps something in memory: it asks for memory before each of them.
type Kept struct{ plan.UnaryNode }

var (
	_ sql.Node               = (*Kept)(nil)
	_ sql.CollationCoercible = (*Kept)(nil)
)

// Keep puts a Kept over n.
func Keep(n sql.Node) *Kept {
	if k, ok := n.(*Kept); ok {
		return k
	}
	return &Kept{plan.UnaryNode{Child: n}}
}

// IsReadOnly implements sql.Node.
func (k *Kept) IsReadOnly() bool { return k.Child.IsReadOnly() }

func (k *Kept) String() string      { return k.Child.String() }
func (k *Kept) DebugString() string { return sql.DebugString(k.Child) }

// Describe shows the child alone.
func (k *Kept) Describe(options sql.DescribeOptions) string { return sql.Describe(k.Child, options) }

// WithChildren implements sql.Node.
func (k *Kept) WithChildren(children ...sql.Node) (sql.Node, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(k, len(children), 1)
	}
	return Keep(children[0]), nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (k *Kept) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, k.Child)
}

// kept is n's child row by row.
func (b Builder) kept(ctx *sql.Context, n *Kept, row sql.Row) (sql.RowIter, error) {
	child, err := b.Base.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	return &keptIter{child: child, full: b.Full}, nil
}

// keptIter closes its child as soon as that fails: the engine does not close the rows of a subquery then.
type keptIter struct {
	child  sql.RowIter
	full   func(context.Context) error
	closed bool
}

// Next implements sql.RowIter.
func (it *keptIter) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := it.child.Next(ctx)
	if err == nil && it.full != nil {
		err = it.full(ctx)
	}
	switch {
	case err == nil:
		return row, nil
	case !errors.Is(err, io.EOF):
		_ = it.Close(ctx) // err is why
	}
	return nil, err
}

// Close implements sql.RowIter.
func (it *keptIter) Close(ctx *sql.Context) error {
	if it.closed {
		return nil
	}
	it.closed = true
	return it.child.Close(ctx)
}

// keepsValues says whether an aggregate among list keeps what it has seen without asking for memory itself.
func keepsValues(list []sql.Expression) bool {
	return slices.ContainsFunc(list, func(e sql.Expression) bool {
		return transform.InspectExpr(e, func(e sql.Expression) bool {
			_, ok := e.(*aggregation.CountDistinct)
			return ok
		})
	})
}
