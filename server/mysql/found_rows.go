package mysql

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// foundRows is what a query with SQL_CALC_FOUND_ROWS has instead of its LIMIT: all rows are made, some of them are sent, and FOUND_ROWS()
// tells how many there were.
type foundRows struct {
	sql.RowIter
	offset, most int64
	found        int64 // so far
}

// withoutLimit takes the LIMIT of a query with SQL_CALC_FOUND_ROWS away; nil: stmt is another one, or its LIMIT is not known.
func withoutLimit(ctx *sql.Context, stmt sqlparser.Statement, bindings map[string]sql.Expression) *foundRows {
	var limit **sqlparser.Limit
	switch s := stmt.(type) {
	case *sqlparser.Select:
		limit = &s.Limit
	case *sqlparser.SetOp:
		limit = &s.Limit
	default:
		return nil
	}
	if *limit == nil || !asksForFoundRows(stmt.(sqlparser.SelectStatement)) {
		return nil
	}
	most, ok := limitOf(ctx, (*limit).Rowcount, bindings)
	if !ok {
		return nil
	}
	offset := int64(0)
	if (*limit).Offset != nil {
		if offset, ok = limitOf(ctx, (*limit).Offset, bindings); !ok {
			return nil
		}
	}
	*limit = nil
	return &foundRows{offset: offset, most: most}
}

func asksForFoundRows(s sqlparser.SelectStatement) bool {
	switch s := s.(type) {
	case *sqlparser.Select:
		return s.QueryOpts.SQLCalcFoundRows
	case *sqlparser.SetOp: // its first SELECT says so
		return asksForFoundRows(s.Left)
	case *sqlparser.ParenSelect:
		return asksForFoundRows(s.Select)
	}
	return false
}

// limitOf is a number of rows, written down or a parameter.
func limitOf(ctx *sql.Context, e sqlparser.Expr, bindings map[string]sql.Expression) (int64, bool) {
	v, ok := e.(*sqlparser.SQLVal)
	if !ok {
		return 0, false
	}
	var value any
	switch v.Type {
	case sqlparser.IntVal:
		value = string(v.Val)
	case sqlparser.ValArg:
		bound, ok := bindings[string(v.Val[1:])] // behind a colon
		if !ok {
			return 0, false
		}
		var err error
		if value, err = bound.Eval(ctx, nil); err != nil {
			return 0, false
		}
	}
	n, inRange, err := types.Int64.Convert(ctx, value)
	if err != nil || !bool(inRange) || n == nil {
		return 0, false
	}
	return n.(int64), n.(int64) >= 0
}

func (f *foundRows) Next(ctx *sql.Context) (sql.Row, error) {
	for {
		row, err := next(ctx, f.RowIter)
		if err != nil {
			return nil, err
		}
		f.found++
		if f.found > f.offset && f.found-f.offset <= f.most {
			return row, nil
		}
	}
}
