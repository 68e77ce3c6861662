package sqlfn

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// AtDepth stands, in the parsed statement, for an expression that reads as nothing else in the queries around: the planner takes what
// reads the same for the same.
type AtDepth struct{ Depth int } // how many queries there are around it

var _ sqlparser.Injectable = AtDepth{}

func (a AtDepth) String() string { return "" }

// WithResolvedChildren implements sqlparser.Injectable.
func (a AtDepth) WithResolvedChildren(children []any) (any, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(a, len(children), 1)
	}
	e, ok := children[0].(sql.Expression)
	if !ok {
		return nil, sql.ErrInvalidType.New("an expression of a query")
	}
	return &atDepth{expression.UnaryExpression{Child: e}, a.Depth}, nil
}

// atDepth is there until the statement is bound: see WithoutWrapper.
type atDepth struct {
	expression.UnaryExpression
	depth int
}

var (
	_ sql.Expression         = (*atDepth)(nil)
	_ sql.CollationCoercible = (*atDepth)(nil)
)

func (a *atDepth) Type() sql.Type { return a.Child.Type() }
func (a *atDepth) String() string { return fmt.Sprintf("%s #%d", a.Child, a.depth) }

func (a *atDepth) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, a.Child)
}

func (a *atDepth) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(a, len(children), 1)
	}
	return &atDepth{expression.UnaryExpression{Child: children[0]}, a.depth}, nil
}

func (a *atDepth) Eval(ctx *sql.Context, row sql.Row) (any, error) { return a.Child.Eval(ctx, row) }
