package boundplan

import (
	"strings"
	"time"

	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// textFunctions take their arguments as text.
var textFunctions = map[string]bool{
	"concat": true, "concat_ws": true, "replace": true, "repeat": true, "lpad": true, "rpad": true, "upper": true, "lower": true, "ucase": true, "lcase": true,
	"left": true, "right": true, "substring": true, "substr": true, "mid": true, "substring_index": true, "trim": true, "ltrim": true, "rtrim": true, "reverse": true,
	"instr": true, "locate": true, "position": true, "length": true, "char_length": true, "character_length": true, "octet_length": true, "bit_length": true,
	"md5": true, "sha": true, "sha1": true, "sha2": true, "hex": true, "quote": true, "to_base64": true, "ascii": true, "ord": true, "soundex": true, "insert": true,
	"elt": true, "field": true, "find_in_set": true, "strcmp": true, "crc32": true, "regexp_like": true, "regexp_replace": true, "regexp_substr": true, "regexp_instr": true,
	sqlfn.NameGroupConcat: true, sqlfn.NameDoubleText: true, sqlfn.NameCharText: true,
}

// fixTimeArguments makes text of times where text is asked for, as their types spell them: the engine gives every date a
// time of day, and some functions refuse times. nil: nothing to do.
func fixTimeArguments(_ *sql.Context, e sql.Expression) sql.Expression {
	switch x := e.(type) {
	case *expression.Case, *function.If, *function.IfNull, *function.Coalesce:
		if !sqlfn.IsText(e) {
			return nil
		}
	case *expression.Like:
	case sql.FunctionExpression:
		if !textFunctions[strings.ToLower(x.FunctionName())] {
			return nil
		}
	default:
		return nil
	}
	children := e.Children()
	changed := false
	out := make([]sql.Expression, len(children))
	for i, c := range children {
		out[i] = c
		if c != nil && isDateTime(c.Type()) {
			out[i], changed = &timeArgument{expression.UnaryExpression{Child: c}}, true
		}
	}
	if !changed {
		return nil
	}
	x, err := e.WithChildren(out...)
	if err != nil {
		return nil
	}
	return x
}

func isDateTime(t sql.Type) bool {
	_, ok := t.(sql.DatetimeType)
	return ok
}

// timeArgument is a time as text.
type timeArgument struct{ expression.UnaryExpression }

var (
	_ sql.Expression         = (*timeArgument)(nil)
	_ sql.CollationCoercible = (*timeArgument)(nil)
)

func (x *timeArgument) String() string   { return x.Child.String() }
func (x *timeArgument) Type() sql.Type   { return types.LongText }
func (x *timeArgument) IsNullable() bool { return x.Child.IsNullable() }

func (x *timeArgument) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return ctx.GetCollation(), 4
}

func (x *timeArgument) WithChildren(children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(x, len(children), 1)
	}
	return &timeArgument{expression.UnaryExpression{Child: children[0]}}, nil
}

func (x *timeArgument) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := x.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	typ := x.Child.Type()
	t, ok := v.(time.Time)
	if !ok {
		return sqlfn.ToText(ctx, v, typ)
	}
	if types.IsDateType(typ) {
		return t.Format(sql.DateLayout), nil
	}
	if digits := typ.(sql.DatetimeType).Precision(); digits > 0 && precise(x.Child) {
		return t.Format("2006-01-02 15:04:05." + strings.Repeat("0", digits)), nil
	}
	if t.Nanosecond() != 0 {
		return t.Format("2006-01-02 15:04:05.000000"), nil
	}
	return t.Format(time.DateTime), nil
}

// precise says that the digits of an expression's type are those it has in MySQL: the engine gives many functions all six.
func precise(e sql.Expression) bool {
	switch e := e.(type) {
	case *expression.Convert:
		return true
	case sql.FunctionExpression:
		return e.FunctionName() == "utc_timestamp" || e.FunctionName() == sqlfn.NameCastDatetime
	case *expression.GetField:
		return true
	case *expression.Alias:
		return precise(e.Child)
	}
	return false
}
