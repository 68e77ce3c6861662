package sqlfn

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// Apart stands, in the parsed statement, for an expression that reads as nothing else in the queries around: the planner takes what
// reads the same for the same.
type Apart struct{ Depth int } // how many queries there are around it

var _ sqlparser.Injectable = Apart{}

func (a Apart) String() string { return "" }

// WithResolvedChildren implements sqlparser.Injectable.
func (a Apart) WithResolvedChildren(children []any) (any, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(a, len(children), 1)
	}
	e, ok := children[0].(sql.Expression)
	if !ok {
		return nil, sql.ErrInvalidType.New("an expression apart")
	}
	return &apart{expression.UnaryExpression{Child: e}, a.Depth}, nil
}

// apart is there until the statement is bound: see WithoutWrapper.
type apart struct {
	expression.UnaryExpression
	depth int
}

var (
	_ sql.Expression         = (*apart)(nil)
	_ sql.CollationCoercible = (*apart)(nil)
)

func (a *apart) Type() sql.Type { return a.Child.Type() }
func (a *apart) String() string { return fmt.Sprintf("%s #%d", a.Child, a.depth) }

func (a *apart) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, a.Child)
}

func (a *apart) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(a, len(children), 1)
	}
	return &apart{expression.UnaryExpression{Child: children[0]}, a.depth}, nil
}

func (a *apart) Eval(ctx *sql.Context, row sql.Row) (any, error) { return a.Child.Eval(ctx, row) }
