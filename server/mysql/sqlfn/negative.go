package sqlfn

import (
	"fmt"
	"math"

	"millrace/pushdown/meaning"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// Negative is the parsed form of -x, of what is no literal: BIGINT of integers, DECIMAL of decimals, else DOUBLE. The engine's has
// the type of its argument, in which -x of an unsigned or a least value wraps around.
type Negative struct{ Text string }

var _ sqlparser.Injectable = Negative{}

func (n Negative) String() string { return n.Text }

func (n Negative) WithResolvedChildren(children []any) (any, error) {
	if len(children) != 1 {
		return nil, fmt.Errorf("negative: %d operands", len(children))
	}
	e, ok := children[0].(sql.Expression)
	if !ok {
		return nil, fmt.Errorf("negative: operand %T", children[0])
	}
	return &negative{expression.UnaryExpression{Child: asNumber(e)}}, nil
}

type negative struct{ expression.UnaryExpression }

var (
	_ sql.Expression         = (*negative)(nil)
	_ sql.CollationCoercible = (*negative)(nil)
	_ meaning.Checked        = (*negative)(nil)
)

func (n *negative) String() string { return fmt.Sprintf("-(%s)", n.Child) }

func (n *negative) Type() sql.Type {
	switch t := n.Child.Type(); {
	case types.IsInteger(t), types.IsBit(t):
		return types.Int64
	case types.IsDecimal(t):
		return t
	}
	return types.Float64
}

func (n *negative) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

func (n *negative) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(children), 1)
	}
	return &negative{expression.UnaryExpression{Child: children[0]}}, nil
}

// Arithmetic implements meaning.Checked.
func (n *negative) Arithmetic() (op string, left, right sql.Expression) {
	return sqlparser.MinusStr, expression.NewLiteral(int64(0), types.Int64), n.Child
}

func (n *negative) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := n.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	if v, err = sql.UnwrapAny(ctx, v); err != nil {
		return nil, err
	}
	if n.Type() != types.Float64 {
		if w, ok := integerOf(v); ok {
			switch {
			case w.negative && w.abs <= math.MaxInt64:
				return int64(w.abs), nil
			case !w.negative && w.abs <= 1<<63:
				return -int64(w.abs-1) - 1, nil
			}
			return nil, sqlerr.New(1690, "22003", "BIGINT value is out of range in '%s'", n)
		}
		if d, ok := exactOf(v); ok {
			return d.Neg(), nil
		}
	}
	f, err := doubleOf(ctx, v, n.Child.Type())
	return 0 - f, err // no -0, which groups would tell from 0
}
