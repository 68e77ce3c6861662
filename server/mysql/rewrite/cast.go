package rewrite

import (
	"math/bits"
	"strconv"
	"strings"

	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// rewriteDecimalCast replaces the cast, if its digits are MySQL's; else the engine says what is wrong.
func rewriteDecimalCast(e *sqlparser.ConvertExpr) sqlparser.Expr {
	digits := [2]int{10, 0}
	for i, v := range [2]*sqlparser.SQLVal{e.Type.Length, e.Type.Scale} {
		if v == nil {
			continue
		}
		n, err := strconv.Atoi(string(v.Val))
		if err != nil {
			return e
		}
		digits[i] = n
	}
	if digits[0] == 0 {
		digits[0] = 10
	}
	if digits[0] < 1 || digits[0] > types.DecimalTypeMaxPrecision || digits[1] < 0 || digits[1] > types.DecimalTypeMaxScale || digits[1] > digits[0] {
		return e
	}
	number := func(n int) sqlparser.Expr { return sqlparser.NewIntVal([]byte(strconv.Itoa(n))) }
	return call(sqlfn.NameCastDecimal, e.Expr, number(digits[0]), number(digits[1]))
}

// rewriteTextCast spells what is cast to text as MySQL does, and cuts it to the length asked for.
func rewriteTextCast(e *sqlparser.ConvertExpr) {
	if strings.EqualFold(e.Type.Type, "binary") {
		e.Expr = call(sqlfn.NameDoubleText, e.Expr)
		return
	}
	if e.Type.Length == nil {
		e.Expr = call(sqlfn.NameBytesText, call(sqlfn.NameDoubleText, e.Expr))
		return
	}
	e.Expr = call(sqlfn.NameCharText, e.Expr, e.Type.Length)
	e.Type.Length = nil
}

// numberOfBytes is a literal of bytes, as X'20', as the number that it is where one is asked for: of its last 64 bits.
func numberOfBytes(e sqlparser.Expr) sqlparser.Expr {
	v, ok := e.(*sqlparser.SQLVal)
	if !ok {
		return e
	}
	base, digits := 16, string(v.Val)
	switch v.Type {
	case sqlparser.HexVal:
	case sqlparser.HexNum:
		digits = digits[2:]
	case sqlparser.BitVal:
		base = 2
	default:
		return e
	}
	if most := 64 / bits.Len(uint(base-1)); len(digits) > most {
		digits = digits[len(digits)-most:]
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		n = 0 // X''
	}
	return sqlparser.NewIntVal(strconv.AppendUint(nil, n, 10))
}

// castWithDigits is the cast as a call of name, with the digits of a second that are asked for; more than six are the engine's to refuse.
func castWithDigits(name string, e *sqlparser.ConvertExpr) sqlparser.Expr {
	if e.Type.Length == nil {
		return call(name, e.Expr, sqlparser.NewIntVal([]byte("0")))
	}
	if n, ok := wholeNumberOf(e.Type.Length); !ok || n > 6 {
		return e
	}
	return call(name, e.Expr, e.Type.Length)
}

// rewriteCast reads text before it becomes a time: the engine makes NULL of text with anything
// after the time, of which MySQL takes the time and warns. Text becomes an integer by the
// digits that it begins with, JSON with all digits, a DOUBLE text in MySQL's spelling,
// and what a DECIMAL cannot hold the nearest one.
func rewriteCast(e *sqlparser.ConvertExpr) sqlparser.Expr {
	switch strings.ToLower(e.Type.Type) {
	case "decimal", "double", "float", "real":
		e.Expr = quotientOf(numberOfBytes(e.Expr))
	}
	switch strings.ToLower(e.Type.Type) {
	case "date":
		e.Expr = call(sqlfn.NameCleanTime, e.Expr)
	case "signed":
		e.Expr = call(sqlfn.NameIntegerText, e.Expr, sqlparser.NewIntVal([]byte("1")))
	case "unsigned":
		e.Expr = call(sqlfn.NameIntegerText, e.Expr, sqlparser.NewIntVal([]byte("0")))
	case "char", "nchar", "binary":
		rewriteTextCast(e)
	case "time":
		return castWithDigits(sqlfn.NameCastTime, e)
	case "datetime", "timestamp":
		return castWithDigits(sqlfn.NameCastDatetime, e)
	case "decimal":
		return rewriteDecimalCast(e)
	case "json":
		return call(sqlfn.NameCastJSON, e.Expr)
	}
	return e
}
