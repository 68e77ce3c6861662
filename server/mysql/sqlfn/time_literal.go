package sqlfn

import (
	"time"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// NameTimeLiteral, with the lower-case word DATE, TIME or TIMESTAMP behind it, stands for the literal that the word and a
// text make: the parser takes them for the text alone.
const NameTimeLiteral = "millrace literal "

func timeLiteralFunctions() []sql.Function {
	var out []sql.Function
	for kind, read := range map[string]func(ctx *sql.Context, s string, e sql.Expression) (any, sql.Type){
		"date": func(ctx *sql.Context, s string, _ sql.Expression) (any, sql.Type) {
			at, ok := dateTimeOf(ctx, digitDate(s))
			if !ok || !at.Equal(at.Truncate(24*time.Hour)) {
				return nil, nil
			}
			return at, types.Date
		},
		"time": func(ctx *sql.Context, s string, e sql.Expression) (any, sql.Type) {
			c, ok := timeOf(ctx, s, e.Type())
			if !ok || !c.date.IsZero() {
				return nil, nil
			}
			return types.Timespan(c.micros), types.Time
		},
		"timestamp": func(ctx *sql.Context, s string, e sql.Expression) (any, sql.Type) {
			at, ok := dateTimeOf(ctx, digitDate(s))
			if !ok {
				return nil, nil
			}
			return at, types.MustCreateDatetimeType(sqltypes.Datetime, fractionDigits(e))
		},
	} {
		name := map[string]string{"date": "DATE", "time": "TIME", "timestamp": "DATETIME"}[kind]
		out = append(out, sql.Function1{Name: NameTimeLiteral + kind, Fn: func(e sql.Expression) sql.Expression {
			literal, ok := e.(*expression.Literal)
			if !ok {
				return e // a parameter, which no one can write here
			}
			s, _ := literal.Value().(string)
			v, t := read(sql.NewEmptyContext(), s, e)
			if t == nil {
				return &incorrectLiteral{literal, sqlerr.New(1525, "HY000", "Incorrect %s value: '%s'", name, sqlerr.Clip(s))}
			}
			return expression.NewLiteral(v, t)
		}})
	}
	return out
}

// incorrectLiteral is one that is no time.
type incorrectLiteral struct {
	*expression.Literal
	err error
}

func (l *incorrectLiteral) WithChildren(...sql.Expression) (sql.Expression, error) { return l, nil }
func (l *incorrectLiteral) Eval(*sql.Context, sql.Row) (any, error)                { return nil, l.err }
