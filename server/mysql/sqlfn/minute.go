package sqlfn

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
)

// minute is MINUTE. The engine's shows its argument as an address, so that no two of one statement are
// alike: GROUP BY did not know again what was grouped by.
type minute struct{ *function.Minute }

var _ sql.FunctionExpression = minute{}

func newMinute(arg sql.Expression) sql.Expression {
	return minute{function.NewMinute(arg).(*function.Minute)}
}

func (m minute) String() string { return fmt.Sprintf("minute(%s)", m.Child) }

func (m minute) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(m, len(children), 1)
	}
	return newMinute(children[0]), nil
}

func minuteFunctions() []sql.Function {
	return []sql.Function{sql.Function1{Name: "minute", Fn: newMinute}}
}
