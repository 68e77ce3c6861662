package mysql

import (
	"strconv"
	"unicode/utf8"

	"millrace/server/mysql/rewrite"
	"millrace/server/mysql/wire"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// countParams counts the ? of a statement.
func countParams(stmt sqlparser.Statement) int {
	n := 0
	w := rewrite.Walk{Node: func(x any) bool {
		if v, ok := x.(*sqlparser.SQLVal); ok && v.Type == sqlparser.ValArg {
			n++
		}
		return true
	}}
	w.Statement(stmt)
	return n
}

func paramName(i int) string { return "v" + strconv.Itoa(i+1) }

// literals turns bound parameters into typed values, exactly: no number passes through text that
// could be read as another type.
func literals(ctx *sql.Context, params []wire.Param) (map[string]sql.Expression, error) {
	out := make(map[string]sql.Expression, len(params))
	for i := range params {
		e, err := literal(ctx, &params[i])
		if err != nil {
			return nil, err
		}
		out[paramName(i)] = e
	}
	return out, nil
}

func literal(ctx *sql.Context, p *wire.Param) (sql.Expression, error) {
	if p.Null {
		return expression.NewLiteral(nil, types.Null), nil
	}
	switch p.Type {
	case wire.TypeTiny, wire.TypeShort, wire.TypeLong, wire.TypeInt24, wire.TypeLongLong, wire.TypeYear:
		if p.Unsigned {
			return expression.NewLiteral(p.Uint, types.Uint64), nil
		}
		return expression.NewLiteral(p.Int, types.Int64), nil
	case wire.TypeFloat, wire.TypeDouble:
		return expression.NewLiteral(p.Float, types.Float64), nil
	case wire.TypeDecimal, wire.TypeNewDecimal:
		v, _, err := types.InternalDecimalType.Convert(ctx, string(p.Text))
		if err != nil {
			return nil, err
		}
		return expression.NewLiteral(v, types.InternalDecimalType), nil
	case wire.TypeDate, wire.TypeDateTime, wire.TypeTimestamp:
		v, _, err := types.DatetimeMaxPrecision.Convert(ctx, string(p.Text))
		if err != nil {
			return nil, err
		}
		return expression.NewLiteral(v, types.DatetimeMaxPrecision), nil
	case wire.TypeTime:
		v, _, err := types.Time.Convert(ctx, string(p.Text))
		if err != nil {
			return nil, err
		}
		return expression.NewLiteral(v, types.Time), nil
	case wire.TypeTinyBlob, wire.TypeMediumBlob, wire.TypeLongBlob, wire.TypeBlob, wire.TypeBit, wire.TypeGeometry:
		if !utf8.Valid(p.Text) {
			return expression.NewLiteral(p.Text, types.LongBlob), nil
		}
		// Several drivers send text as a blob when it is long; valid UTF-8 compares the same.
	}
	t, err := types.CreateString(sqltypes.VarChar, int64(max(1, utf8.RuneCount(p.Text))), ctx.GetCollation())
	if err != nil {
		t = types.LongText
	}
	return expression.NewLiteral(string(p.Text), t), nil
}
