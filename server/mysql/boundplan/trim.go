package boundplan

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
)

// fixTrim makes TRIM(NULL FROM …) NULL; the engine's panics. nil: nothing to do.
func fixTrim(_ *sql.Context, e sql.Expression) sql.Expression {
	if _, ok := e.(*function.Trim); !ok {
		return nil
	}
	return &nullStrict{expression.UnaryExpression{Child: e}}
}

// nullStrict is NULL where an argument of its child is.
type nullStrict struct{ expression.UnaryExpression }

var (
	_ sql.Expression         = (*nullStrict)(nil)
	_ sql.CollationCoercible = (*nullStrict)(nil)
)

func (n *nullStrict) String() string   { return n.Child.String() }
func (n *nullStrict) Type() sql.Type   { return n.Child.Type() }
func (n *nullStrict) IsNullable() bool { return true }

func (n *nullStrict) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, n.Child)
}

func (n *nullStrict) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(children), 1)
	}
	return &nullStrict{expression.UnaryExpression{Child: children[0]}}, nil
}

func (n *nullStrict) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	for _, a := range n.Child.Children() {
		v, err := a.Eval(ctx, row)
		if err != nil || v == nil {
			return nil, err
		}
	}
	return n.Child.Eval(ctx, row)
}
