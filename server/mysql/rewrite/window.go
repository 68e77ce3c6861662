package rewrite

import (
	"strconv"
	"strings"

	"millrace/server/mysql/sqlerr"
	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// windowFunctions may have OVER. The planner does not know more, and computes others as if it were not there.
var windowFunctionNames = map[string]bool{
	"row_number": true, "rank": true, "dense_rank": true, "percent_rank": true, "ntile": true, "lag": true, "lead": true, "first_value": true, "last_value": true,
	"count": true, sqlfn.NameSum: true, sqlfn.NameAvg: true, "min": true, "max": true, "any_value": true, "json_arrayagg": true,
	"std": true, "stddev": true, "stddev_pop": true, "stddev_samp": true, "variance": true, "var_pop": true, "var_samp": true,
}

// rewriteWindowCall spells two functions that the planner does not know as two that it does, with an argument more
// than these can have.
func rewriteWindowCall(e *sqlparser.FuncExpr) {
	switch e.Name.Lowered() {
	case "nth_value":
		e.Name = sqlparser.NewColIdent("first_value")
	case "cume_dist":
		e.Name = sqlparser.NewColIdent("percent_rank")
		e.Exprs = sqlparser.SelectExprs{&sqlparser.AliasedExpr{Expr: sqlparser.NewIntVal([]byte("1"))}}
	}
}

// rewriteWindows puts the definitions of named windows where they are used: the planner gives a function over one with
// ORDER BY the whole partition. And it takes two functions for the same that differ only in their
// frames or by case: each gets a constant of its own to be parted by. Called when the expressions were rewritten, as
// definitions are shared from here on.
func rewriteWindows(sel *sqlparser.Select) error {
	calls, err := windowCalls(sel)
	if err != nil || len(calls) == 0 {
		return err
	}
	named := make(map[string]*sqlparser.WindowDef, len(sel.Window))
	for _, w := range sel.Window {
		named[w.Name.Lowered()] = w
	}
	texts := make(map[string]int, len(calls))
	for _, c := range calls {
		def, err := unnamed((*sqlparser.WindowDef)(c.Over), named, len(named))
		if err != nil {
			return err
		}
		c.Over = (*sqlparser.Over)(def)
	}
	sel.Window = nil
	for _, c := range calls {
		text := sqlparser.String(c)
		n, seen := texts[text]
		if !seen {
			n = len(texts)
			texts[text] = n
		}
		if n > 0 {
			def := *c.Over
			def.PartitionBy = append(def.PartitionBy[:len(def.PartitionBy):len(def.PartitionBy)], sqlparser.NewIntVal([]byte(strconv.Itoa(n))))
			c.Over = &def
		}
	}
	return nil
}

// unnamed is def with what the window that it refers to says, through so many others at most.
func unnamed(def *sqlparser.WindowDef, named map[string]*sqlparser.WindowDef, most int) (*sqlparser.WindowDef, error) {
	if def.NameRef.IsEmpty() {
		return def, nil
	}
	ref, ok := named[def.NameRef.Lowered()]
	if !ok {
		return nil, sqlerr.New(3579, "HY000", "Window name '%s' is not defined.", def.NameRef.String())
	}
	if most == 0 {
		return nil, sqlerr.New(3580, "HY000", "There is a circularity in the window dependency graph.")
	}
	ref, err := unnamed(ref, named, most-1)
	if err != nil {
		return nil, err
	}
	name := def.Name.String()
	if name == "" {
		name = "<unnamed window>"
	}
	out := &sqlparser.WindowDef{PartitionBy: ref.PartitionBy, OrderBy: ref.OrderBy, Frame: ref.Frame}
	switch {
	case len(def.PartitionBy) > 0:
		return nil, sqlerr.New(3581, "HY000", "A window which depends on another cannot define partitioning.")
	case ref.Frame != nil && (len(def.OrderBy) > 0 || def.Frame != nil):
		return nil, sqlerr.New(3582, "HY000", "Window '%s' has a frame definition, so cannot be referenced by another window.", def.NameRef.String())
	case len(def.OrderBy) > 0 && len(ref.OrderBy) > 0:
		return nil, sqlerr.New(3583, "HY000", "Window '%s' cannot inherit '%s' since both contain an ORDER BY clause.", name, def.NameRef.String())
	case len(def.OrderBy) > 0:
		out.OrderBy = def.OrderBy
	}
	if def.Frame != nil {
		out.Frame = def.Frame
	}
	return out, nil
}

// windowCalls are the functions with OVER in sel, without those of its subqueries.
func windowCalls(sel *sqlparser.Select) ([]*sqlparser.FuncExpr, error) {
	var calls []*sqlparser.FuncExpr
	visit := func(node sqlparser.SQLNode) (bool, error) {
		switch n := node.(type) {
		case *sqlparser.Subquery, sqlparser.SelectStatement:
			return false, nil
		case *sqlparser.FuncExpr:
			if n.Over == nil {
				return true, nil
			}
			if n.Distinct {
				return false, sqlerr.Unsupported("<window function>(DISTINCT ..)")
			}
			if !windowFunctionNames[n.Name.Lowered()] {
				return false, sqlerr.Unsupported(strings.ToUpper(n.Name.String()) + " as window function")
			}
			calls = append(calls, n)
		}
		return true, nil
	}
	err := sqlparser.Walk(visit, sel.SelectExprs, sel.OrderBy, sel.Having)
	return calls, err
}
