package rewrite

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// maxRollupKeys bounds the keys, as the rows are grouped once for each of them and once more.
const maxRollupKeys = 16

// rollupMarker is, as last of the names to group by, what WITH ROLLUP became, which is not in the parser.
const rollupMarker = "millrace rollup"

// rollUp has a query WITH ROLLUP look at a derived table of its groups: those by all keys, and below them those by all but the last, but
// the last two and so on, with NULL for the keys left out. Around the derived table keys and aggregates are columns, so
// that IFNULL(key, 'total') and HAVING see these NULLs, and windows all the rows. The order is MySQL's: by the keys, each total behind what it sums up.
func (r *starRewriter) rollUp(sel *sqlparser.Select) error {
	n := len(sel.GroupBy) - 1
	if n < 0 {
		return nil
	}
	if c, ok := sel.GroupBy[n].(*sqlparser.ColName); !ok || c.Name.String() != rollupMarker {
		return nil
	}
	if n > maxRollupKeys {
		return sqlerr.Instead(fmt.Sprintf("WITH ROLLUP of more than %d keys", maxRollupKeys), "Group by fewer.")
	}
	u := rollup{aggregates: map[string]string{}, base: &sqlparser.Select{From: sel.From, Where: sel.Where}}
	u.base.QueryOpts.StraightJoinHint = sel.QueryOpts.StraightJoinHint
	aliases := r.aliases(sel, false)
	for _, by := range sel.GroupBy[:n] {
		key, err := groupedBy(by, sel.SelectExprs, aliases)
		if err != nil {
			return err
		}
		u.keys = append(u.keys, key)
	}
	shown := map[string]sqlparser.Expr{} // what the result's columns are
	for i, e := range sel.SelectExprs {
		a, ok := e.(*sqlparser.AliasedExpr)
		if !ok {
			return sqlerr.Instead("* beside WITH ROLLUP", "Name the columns.")
		}
		out := &sqlparser.AliasedExpr{As: shownName(a), Expr: u.above(a.Expr, "SELECT list", i+1, nil)}
		shown[out.As.Lowered()] = out.Expr
		sel.SelectExprs[i] = out
	}
	for i, o := range sel.OrderBy {
		if c, ok := o.Expr.(*sqlparser.ColName); ok && c.Qualifier.IsEmpty() && shown[c.Name.Lowered()] != nil {
			continue
		}
		if _, position := wholeNumberOf(o.Expr); !position {
			o.Expr = u.above(o.Expr, "ORDER BY", i+1, nil)
		}
	}
	sel.Where = nil
	if sel.Having != nil {
		sel.Where = sqlparser.NewWhere(sqlparser.WhereStr, u.above(sel.Having.Expr, "HAVING", 1, shown))
	}
	for _, w := range sel.Window {
		for i := range w.PartitionBy {
			w.PartitionBy[i] = u.above(w.PartitionBy[i], "WINDOW", i+1, nil)
		}
		for i, o := range w.OrderBy {
			o.Expr = u.above(o.Expr, "WINDOW", i+1, nil)
		}
	}
	if u.err != nil {
		return u.err
	}
	if len(sel.OrderBy) == 0 && !sel.QueryOpts.Distinct {
		sel.OrderBy = u.order()
	}
	sel.From = sqlparser.TableExprs{&sqlparser.AliasedTableExpr{
		Expr: &sqlparser.Subquery{Select: u.levels()}, As: sqlparser.NewTableIdent(groupsTable), Auth: nothingToCheck,
	}}
	sel.GroupBy, sel.Having, sel.QueryOpts.StraightJoinHint = nil, nil, false
	return nil
}

// groupedBy is what a position or a name in GROUP BY stands for.
func groupedBy(by sqlparser.Expr, selected sqlparser.SelectExprs, aliases map[string]sqlparser.Expr) (sqlparser.Expr, error) {
	key := by
	if c, ok := by.(*sqlparser.ColName); ok && c.Qualifier.IsEmpty() && aliases[c.Name.Lowered()] != nil {
		key = aliases[c.Name.Lowered()]
	}
	if n, ok := wholeNumberOf(by); ok {
		if n < 1 || int(n) > len(selected) {
			return nil, sqlerr.New(1054, "42S22", "Unknown column '%d' in 'group statement'", n)
		}
		if a, ok := selected[n-1].(*sqlparser.AliasedExpr); ok {
			key = a.Expr
		}
	}
	if hasAggregate(key) || hasWindow(key) {
		return nil, sqlerr.New(1056, "42000", "Can't group on '%s'", sqlparser.String(key))
	}
	return copyNode(key), nil
}

// rollup is the derived table in the making.
type rollup struct {
	keys       []sqlparser.Expr
	columns    sqlparser.SelectExprs // aggregates
	aggregates map[string]string     // their columns' names by their texts
	base       *sqlparser.Select     // what is grouped
	err        error                 // the first one
}

func rollupKey(i int) string { return "millrace key " + strconv.Itoa(i) }

// rollupLevel is the column that says by how many keys a row is grouped.
const rollupLevel = "millrace level"

// above is e as it is written over the derived table. Names in aliases stand for what these are there.
func (u *rollup) above(e sqlparser.Expr, clause string, number int, aliases map[string]sqlparser.Expr) sqlparser.Expr {
	return replaceExpr(e, func(e sqlparser.Expr) (sqlparser.Expr, bool) {
		for i, key := range u.keys {
			if sameExpr(e, key) {
				return groupsColumnOf(rollupKey(i)), false
			}
		}
		if isAggregate(e) {
			text := sqlparser.String(e)
			name, ok := u.aggregates[text]
			if !ok {
				name = groupsColumn + strconv.Itoa(len(u.columns))
				u.aggregates[text] = name
				u.columns = append(u.columns, &sqlparser.AliasedExpr{Expr: e, As: sqlparser.NewColIdent(name)})
			}
			return groupsColumnOf(name), false
		}
		switch e := e.(type) {
		case *sqlparser.Subquery:
			u.inSubquery(e)
			return e, false
		case *sqlparser.FuncExpr:
			if e.Name.EqualString("grouping") {
				return u.grouping(e.Exprs), false
			}
		case *sqlparser.ColName:
			switch meant := aliases[e.Name.Lowered()]; {
			case strings.HasPrefix(e.Name.String(), "@"):
			case e.Qualifier.IsEmpty() && meant != nil:
				return copyNode(meant), false
			case u.err == nil:
				u.err = sqlerr.New(1055, "42000", "Expression #%d of %s is not in GROUP BY clause and contains nonaggregated column '%s' which is not functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by",
					number, clause, strings.Trim(sqlparser.String(e), "`"))
			}
			return e, false
		}
		return nil, true
	})
}

// inSubquery has a subquery find the keys that it names with their table, unless it has one of that name itself.
func (u *rollup) inSubquery(sub *sqlparser.Subquery) {
	own := map[string]bool{}
	tables := Walk{Node: func(n any) bool {
		if t, ok := n.(*sqlparser.AliasedTableExpr); ok {
			own[strings.ToLower(t.As.String())] = true
			if name, ok := t.Expr.(sqlparser.TableName); ok && t.As.IsEmpty() {
				own[strings.ToLower(name.Name.String())] = true
			}
		}
		return true
	}}
	tables.value(reflect.ValueOf(sub))
	names := Walk{Node: func(n any) bool {
		c, ok := n.(*sqlparser.ColName)
		if !ok || c.Qualifier.IsEmpty() || own[strings.ToLower(c.Qualifier.Name.String())] {
			return true
		}
		for i, key := range u.keys {
			if sameExpr(c, key) {
				*c = *groupsColumnOf(rollupKey(i))
				break
			}
		}
		return false
	}}
	names.value(reflect.ValueOf(sub))
}

// grouping is GROUPING(args): a bit for each, set where the row is grouped by less.
func (u *rollup) grouping(args sqlparser.SelectExprs) sqlparser.Expr {
	var sum sqlparser.Expr
	for n, arg := range args {
		bit := sqlparser.Expr(nil)
		for i, key := range u.keys {
			if a, ok := arg.(*sqlparser.AliasedExpr); ok && sameExpr(a.Expr, key) {
				bit = u.leftOut(i)
			}
		}
		if bit == nil {
			if u.err == nil {
				u.err = sqlerr.New(3602, "HY000", "Argument #%d of GROUPING function is not in GROUP BY", n)
			}
			return sqlparser.NewIntVal([]byte("0"))
		}
		if sum == nil {
			sum = bit
			continue
		}
		sum = &sqlparser.BinaryExpr{Operator: sqlparser.PlusStr, Left: bit, Right: &sqlparser.ParenExpr{
			Expr: &sqlparser.BinaryExpr{Operator: sqlparser.MultStr, Left: &sqlparser.ParenExpr{Expr: sum}, Right: sqlparser.NewIntVal([]byte("2"))},
		}}
	}
	return sum
}

// leftOut says, as 0 or 1, whether a row is not grouped by key i.
func (u *rollup) leftOut(i int) sqlparser.Expr {
	return call("if", &sqlparser.ComparisonExpr{
		Operator: sqlparser.LessEqualStr, Left: groupsColumnOf(rollupLevel), Right: sqlparser.NewIntVal([]byte(strconv.Itoa(i))),
	}, sqlparser.NewIntVal([]byte("1")), sqlparser.NewIntVal([]byte("0")))
}

// order has each total come behind what it sums up.
func (u *rollup) order() (by sqlparser.OrderBy) {
	for i := range u.keys {
		by = append(by, &sqlparser.Order{Expr: u.leftOut(i), Direction: sqlparser.AscScr},
			&sqlparser.Order{Expr: groupsColumnOf(rollupKey(i)), Direction: sqlparser.AscScr})
	}
	return by
}

// levels are the groups by all keys, by all but one, and so on down to none, of which there is one group unless there is no row at all.
func (u *rollup) levels() sqlparser.SelectStatement {
	var all sqlparser.SelectStatement
	for level := len(u.keys); level >= 0; level-- {
		s := copyNode(u.base)
		for i, key := range u.keys {
			e := sqlparser.Expr(&sqlparser.NullVal{})
			if i < level {
				e = copyNode(key)
				s.GroupBy = append(s.GroupBy, copyNode(key))
			}
			s.SelectExprs = append(s.SelectExprs, &sqlparser.AliasedExpr{Expr: e, As: sqlparser.NewColIdent(rollupKey(i))})
		}
		s.SelectExprs = append(s.SelectExprs, &sqlparser.AliasedExpr{Expr: sqlparser.NewIntVal([]byte(strconv.Itoa(level))), As: sqlparser.NewColIdent(rollupLevel)})
		s.SelectExprs = append(s.SelectExprs, copyNode(u.columns)...)
		if level == 0 {
			rows := &sqlparser.FuncExpr{Name: sqlparser.NewColIdent("count"), Exprs: sqlparser.SelectExprs{&sqlparser.StarExpr{}}}
			s.Having = sqlparser.NewWhere(sqlparser.HavingStr, &sqlparser.ComparisonExpr{Operator: sqlparser.GreaterThanStr, Left: rows, Right: sqlparser.NewIntVal([]byte("0"))})
		}
		if all == nil {
			all = s
		} else {
			all = &sqlparser.SetOp{Type: sqlparser.UnionAllStr, Left: all, Right: s}
		}
	}
	return all
}
