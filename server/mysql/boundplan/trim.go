package boundplan

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
)

// fixTrim makes TRIM(NULL FROM …) NULL; the engine's panics. nil: nothing to do.
func fixTrim(_ *sql.Context, e sql.Expression) sql.Expression {
	if _, ok := e.(*function.Trim); !ok {
		return nil
	}
	return &nullStrict{e}
}

// nullStrict is a call that is NULL where an argument is, and not made there. Its children are the call's: no one is to make the call
// without it.
type nullStrict struct{ call sql.Expression }

var (
	_ sql.Expression         = (*nullStrict)(nil)
	_ sql.CollationCoercible = (*nullStrict)(nil)
)

func (n *nullStrict) Resolved() bool             { return n.call.Resolved() }
func (n *nullStrict) String() string             { return n.call.String() }
func (n *nullStrict) Type() sql.Type             { return n.call.Type() }
func (n *nullStrict) IsNullable() bool           { return true }
func (n *nullStrict) Children() []sql.Expression { return n.call.Children() }

func (n *nullStrict) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, n.call)
}

func (n *nullStrict) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	call, err := n.call.WithChildren(children...)
	if err != nil {
		return nil, err
	}
	return &nullStrict{call}, nil
}

func (n *nullStrict) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	for _, a := range n.call.Children() {
		v, err := a.Eval(ctx, row)
		if err != nil || v == nil {
			return nil, err
		}
	}
	return n.call.Eval(ctx, row)
}
