package rewrite

import (
	"strconv"
	"strings"

	"millrace/server/mysql/sqlerr"
	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// Windows over time. TUMBLE(ts, INTERVAL 10 SECOND) is the beginning of the window that ts lies in. HOP(topic, ts, size,
// slide) is a table: the topic's rows, each once for every window that it falls into, with window_start and window_end.
// Windows are half open, [start, end), and counted from 1970-01-01 00:00:00 of the time as it is shown: hours and days
// begin where the session's clock says so.
//
// Both become plain SQL before anything else looks at the statement, so that names, rights and pushdown are those of
// plain SQL. The parser's own way, a table function of the engine, would hide the topic in a string.

const (
	windowSource = "millrace source"
	windowList   = "millrace windows"
	windowNumber = "millrace window"

	// maxWindows bounds the windows that one row falls into: so many times the topic's rows are made.
	maxWindows = 1000
	// maxUnionWindows is up to how many windows the rows are made by as many reads of the topic, in columns,
	// rather than by a join.
	maxUnionWindows = 8
)

// nothingToCheck is of table expressions that are no tables.
var nothingToCheck = sqlparser.AuthInformation{AuthType: sqlparser.AuthType_IGNORE, TargetType: sqlparser.AuthTargetType_Ignore}

// expandWindows replaces, in place, what stmt says of windows. For any statement once, before views and stars.
func expandWindows(stmt sqlparser.Statement) error {
	var err error
	w := Walk{
		Node: func(n any) bool {
			switch n := n.(type) {
			case *sqlparser.Select:
				for i, t := range n.From {
					if n.From[i] = hopIn(t, &err); err != nil {
						return false
					}
				}
			case *sqlparser.JoinTableExpr:
				n.LeftExpr, n.RightExpr = hopIn(n.LeftExpr, &err), hopIn(n.RightExpr, &err)
			case *sqlparser.ParenTableExpr:
				for i, t := range n.Exprs {
					n.Exprs[i] = hopIn(t, &err)
				}
			}
			return err == nil
		},
		expr: func(e sqlparser.Expr) sqlparser.Expr {
			f, ok := e.(*sqlparser.FuncExpr)
			if !ok || !f.Name.EqualString("tumble") || err != nil {
				return e
			}
			var out sqlparser.Expr
			if out, err = tumble(f); err != nil {
				return e
			}
			return out
		},
	}
	w.Statement(stmt)
	return err
}

func tumble(f *sqlparser.FuncExpr) (sqlparser.Expr, error) {
	args, ok := plainArguments(f.Exprs)
	if !ok || len(args) != 2 {
		return nil, sqlerr.New(1582, "42000", "Incorrect parameter count in the call to native function 'TUMBLE': write TUMBLE(time, INTERVAL n unit)")
	}
	size, err := windowMicros("TUMBLE", args[1])
	if err != nil {
		return nil, err
	}
	return call(sqlfn.NameTumble, args[0], microsLiteral(size)), nil
}

func plainArguments(exprs sqlparser.SelectExprs) ([]sqlparser.Expr, bool) {
	out := make([]sqlparser.Expr, len(exprs))
	for i, e := range exprs {
		a, ok := e.(*sqlparser.AliasedExpr)
		if !ok {
			return nil, false
		}
		out[i] = a.Expr
	}
	return out, true
}

func microsLiteral(n int64) sqlparser.Expr {
	return sqlparser.NewIntVal(strconv.AppendInt(nil, n, 10))
}

// unitMicros are the units that are always as long.
var unitMicros = map[string]int64{
	"microsecond": 1, "second": 1e6, "minute": 60e6, "hour": 3600e6, "day": 86400e6, "week": 7 * 86400e6,
}

// windowMicros reads INTERVAL n unit.
func windowMicros(what string, e sqlparser.Expr) (int64, error) {
	bad := func(why string) (int64, error) {
		return 0, sqlerr.New(1210, "HY000", "Incorrect arguments to %s: %s", what, why)
	}
	i, ok := e.(*sqlparser.IntervalExpr)
	if !ok {
		return bad("an INTERVAL is needed")
	}
	unit, ok := unitMicros[strings.ToLower(i.Unit)]
	if !ok {
		return bad("an INTERVAL of MICROSECOND, SECOND, MINUTE, HOUR, DAY or WEEK is needed")
	}
	n, ok := wholeNumberOf(i.Expr)
	if !ok || n < 1 || n > 1e15/unit {
		return bad("a constant INTERVAL of at least 1 is needed")
	}
	return n * unit, nil
}

// hopIn replaces t if it is HOP(…).
func hopIn(t sqlparser.TableExpr, err *error) sqlparser.TableExpr {
	f, ok := t.(*sqlparser.TableFuncExpr)
	if !ok || !strings.EqualFold(f.Name, "hop") || *err != nil {
		return t
	}
	out, herr := hop(f)
	if herr != nil {
		*err = herr
		return t
	}
	return out
}

func hop(f *sqlparser.TableFuncExpr) (sqlparser.TableExpr, error) {
	args, ok := plainArguments(f.Exprs)
	if !ok || len(args) != 4 {
		return nil, sqlerr.New(1582, "42000", "Incorrect parameter count in the call to native function 'HOP': write HOP(topic, time, INTERVAL size unit, INTERVAL slide unit)")
	}
	name, ok := args[0].(*sqlparser.ColName)
	if !ok || !name.Qualifier.DbQualifier.IsEmpty() {
		return nil, sqlerr.New(1210, "HY000", "Incorrect arguments to HOP: the name of a topic is needed")
	}
	table := sqlparser.TableName{Name: sqlparser.NewTableIdent(name.Name.String()), DbQualifier: name.Qualifier.Name}
	size, err := windowMicros("HOP", args[2])
	if err != nil {
		return nil, err
	}
	slide, err := windowMicros("HOP", args[3])
	if err != nil {
		return nil, err
	}
	windows := (size + slide - 1) / slide
	if windows > maxWindows {
		return nil, sqlerr.New(1210, "HY000", "Incorrect arguments to HOP: a row would fall into %d windows, at most %d are possible", windows, maxWindows)
	}
	source := sqlparser.TableName{Name: sqlparser.NewTableIdent(windowSource)}
	ts := args[1]
	qualifyColumns(&ts, table, source)
	own := func() sqlparser.Expr { return copyNode(ts) } // rewriting changes expressions in place
	var query sqlparser.SelectStatement
	if windows <= maxUnionWindows {
		for k := range windows {
			s := hopSelect(table, source, own, size, slide, func() sqlparser.Expr { return microsLiteral(k) })
			if query == nil {
				query = s
			} else {
				query = &sqlparser.SetOp{Type: sqlparser.UnionAllStr, Left: query, Right: s}
			}
		}
	} else {
		s := hopSelect(table, source, own, size, slide, func() sqlparser.Expr {
			return &sqlparser.ColName{Name: sqlparser.NewColIdent(windowNumber), Qualifier: sqlparser.TableName{Name: sqlparser.NewTableIdent(windowList)}}
		})
		rows := make(sqlparser.Values, windows)
		for k := range windows {
			rows[k] = sqlparser.ValTuple{microsLiteral(k)}
		}
		s.From = append(s.From, &sqlparser.AliasedTableExpr{
			Expr: &sqlparser.ValuesStatement{Rows: rows, Columns: sqlparser.Columns{sqlparser.NewColIdent(windowNumber)}}, As: sqlparser.NewTableIdent(windowList),
			Auth: nothingToCheck,
		})
		query = s
	}
	alias := f.Alias
	if alias.IsEmpty() {
		alias = table.Name
	}
	return &sqlparser.AliasedTableExpr{Expr: &sqlparser.Subquery{Select: query}, As: alias, Auth: nothingToCheck}, nil
}

// hopSelect is the rows of table that fall into the k-th window back.
func hopSelect(table, source sqlparser.TableName, ts func() sqlparser.Expr, size, slide int64, k func() sqlparser.Expr) *sqlparser.Select {
	begin := func(shift int64) sqlparser.Expr {
		return call(sqlfn.NameHop, ts(), microsLiteral(size), microsLiteral(slide), k(), microsLiteral(shift))
	}
	return &sqlparser.Select{
		SelectExprs: sqlparser.SelectExprs{
			&sqlparser.StarExpr{TableName: source},
			&sqlparser.AliasedExpr{Expr: begin(0), As: sqlparser.NewColIdent("window_start")},
			&sqlparser.AliasedExpr{Expr: begin(size), As: sqlparser.NewColIdent("window_end")},
		},
		From: sqlparser.TableExprs{&sqlparser.AliasedTableExpr{
			Expr: table, As: source.Name,
			Auth: sqlparser.AuthInformation{AuthType: sqlparser.AuthType_SELECT, TargetType: sqlparser.AuthTargetType_SingleTableIdentifier, TargetNames: []string{table.DbQualifier.String(), table.Name.String()}},
		}},
		Where: sqlparser.NewWhere(sqlparser.WhereStr, &sqlparser.IsExpr{Operator: sqlparser.IsNotNullStr, Expr: begin(0)}),
	}
}

// qualifyColumns makes columns that e takes from table, by its name, columns of source.
func qualifyColumns(e *sqlparser.Expr, table, source sqlparser.TableName) {
	holder := &sqlparser.ParenExpr{Expr: *e}
	w := Walk{Node: func(n any) bool {
		if c, ok := n.(*sqlparser.ColName); ok && (c.Qualifier.IsEmpty() || c.Qualifier.Name.String() == table.Name.String()) {
			c.Qualifier = source
		}
		return true
	}}
	w.Statement(&sqlparser.Select{SelectExprs: sqlparser.SelectExprs{&sqlparser.AliasedExpr{Expr: holder}}})
	*e = holder.Expr
}
