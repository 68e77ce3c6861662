package boundplan

import (
	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// asTimes makes things that are compared with the first alike, or it with the second: text beside a TIME becomes one, a number
// that spells a date beside a date becomes one, and a date beside any other number becomes the number of its digits. The
// engine compares such as text, or as seconds. nil: nothing to do.
func asTimes(ctx *sql.Context, sides ...sql.Expression) []sql.Expression {
	if len(sides) < 2 {
		return nil
	}
	spans, dates, numbers, texts := 0, 0, 0, 0
	for _, s := range sides {
		switch t := s.Type(); {
		case t == nil:
			return nil
		case types.IsTimespan(t):
			spans++
		case types.IsTime(t):
			dates++
		case types.IsNumber(t) && !types.IsYear(t):
			numbers++
		case sqlfn.IsText(s):
			texts++
		}
	}
	convert := func(what func(sql.Expression) bool, to func(sql.Expression) sql.Expression) []sql.Expression {
		out := make([]sql.Expression, len(sides))
		for i, s := range sides {
			out[i] = s
			if what(s) {
				if out[i] = to(s); out[i] == nil {
					return nil
				}
			}
		}
		return out
	}
	switch {
	case spans > 0 && texts > 0 && dates == 0 && numbers == 0:
		return convert(sqlfn.IsText, sqlfn.AsTimeOfDay)
	case dates > 0 && numbers > 0 && spans == 0 && texts == 0:
		if out := convert(isNumber, func(e sql.Expression) sql.Expression {
			if number, constant := e.(*expression.Literal); constant {
				return sqlfn.TimeOfNumber(ctx, number)
			}
			return nil
		}); out != nil {
			return out
		}
		return convert(func(e sql.Expression) bool { return types.IsTime(e.Type()) }, sqlfn.TimeNumber)
	}
	return nil
}
