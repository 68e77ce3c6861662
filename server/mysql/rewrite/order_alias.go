package rewrite

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// orderByAliases replaces, in ORDER BY, aliases that are part of an expression by what they stand for: the engine knows them
// alone only. As in MySQL a column of that name comes first. Aliases of windows are sortByWindows'.
func (r *starRewriter) orderByAliases(sel *sqlparser.Select) {
	var aliases map[string]sqlparser.Expr
	for _, o := range sel.OrderBy {
		if _, alone := o.Expr.(*sqlparser.ColName); alone {
			continue
		}
		if _, number := o.Expr.(*sqlparser.SQLVal); number {
			continue
		}
		if aliases == nil {
			if aliases = r.aliases(sel, false); len(aliases) == 0 {
				return
			}
		}
		w := Walk{expr: func(e sqlparser.Expr) sqlparser.Expr {
			if name, ok := e.(*sqlparser.ColName); ok && name.Qualifier.IsEmpty() {
				if meant, ok := aliases[name.Name.Lowered()]; ok {
					return &sqlparser.ParenExpr{Expr: copyNode(meant)}
				}
			}
			return e
		}, Node: func(n any) bool {
			_, inner := n.(*sqlparser.Subquery) // has names of its own
			return !inner
		}}
		w.Statement(&sqlparser.Select{OrderBy: sqlparser.OrderBy{o}})
	}
}

// aliases are those of sel, of windows or of all else, that no column of its tables hides; none if the columns are not known.
func (r *starRewriter) aliases(sel *sqlparser.Select, windows bool) map[string]sqlparser.Expr {
	out := map[string]sqlparser.Expr{}
	for _, e := range sel.SelectExprs {
		if a, ok := e.(*sqlparser.AliasedExpr); ok && !a.As.IsEmpty() && hasWindow(a.Expr) == windows {
			out[a.As.Lowered()] = a.Expr
		}
	}
	if len(out) == 0 {
		return nil
	}
	for _, t := range sel.From {
		if !r.hide(t, out) {
			return nil
		}
	}
	return out
}

// hide takes the names of t's columns out of aliases; false if they are not known.
func (r *starRewriter) hide(t sqlparser.TableExpr, aliases map[string]sqlparser.Expr) bool {
	switch t := t.(type) {
	case *sqlparser.AliasedTableExpr:
		if sub, ok := t.Expr.(*sqlparser.Subquery); ok {
			return hideColumns(sub, aliases)
		}
		var one []source
		r.sources(t, &one)
		if r.err != nil || len(one) != 1 || one[0].columns == nil {
			name, ok := t.Expr.(sqlparser.TableName)
			return ok && name.DbQualifier.IsEmpty() && strings.EqualFold(name.Name.String(), "dual")
		}
		for _, c := range append([]string{"_headers", "_value", "_error", "_rest"}, one[0].columns...) {
			delete(aliases, strings.ToLower(c))
		}
		return true
	case *sqlparser.ParenTableExpr:
		for _, inner := range t.Exprs {
			if !r.hide(inner, aliases) {
				return false
			}
		}
		return true
	case *sqlparser.JoinTableExpr:
		return r.hide(t.LeftExpr, aliases) && r.hide(t.RightExpr, aliases)
	}
	return false
}

func hideColumns(sub *sqlparser.Subquery, aliases map[string]sqlparser.Expr) bool {
	for _, c := range sub.Columns {
		delete(aliases, c.Lowered())
	}
	if len(sub.Columns) > 0 {
		return true
	}
	sel, ok := sub.Select.(*sqlparser.Select)
	if !ok {
		return false
	}
	for _, e := range sel.SelectExprs {
		a, ok := e.(*sqlparser.AliasedExpr)
		if !ok {
			return false
		}
		if !a.As.IsEmpty() {
			delete(aliases, a.As.Lowered())
		} else if c, ok := a.Expr.(*sqlparser.ColName); ok {
			delete(aliases, c.Name.Lowered())
		}
	}
	return true
}
