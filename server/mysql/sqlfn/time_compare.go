package sqlfn

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// TimeOfNumber is a number that spells a date, as 20260115 or 20260115120000, as that; nil for others.
func TimeOfNumber(ctx *sql.Context, number *expression.Literal) sql.Expression {
	w, ok := integerOf(number.Value())
	if !ok || w.negative {
		return nil
	}
	s, err := ToText(ctx, w.abs, types.Uint64)
	if err != nil || len(s) != 8 && len(s) != 14 {
		return nil
	}
	at, ok := dateTimeOf(ctx, digitDate(s))
	switch {
	case !ok:
		return nil
	case at.Equal(at.Truncate(24 * time.Hour)):
		return expression.NewLiteral(at, types.Date)
	}
	return expression.NewLiteral(at, types.DatetimeMaxPrecision)
}

// TimeNumber is a time as the number of its digits.
func TimeNumber(e sql.Expression) sql.Expression { return asNumber(e) }
