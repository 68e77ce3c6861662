package execplan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"millrace/internal/vector"
	"millrace/pushdown/number"
	"millrace/scan/exec"
)

// The operators of a columnar plan and their expressions as EXPLAIN shows them.

var (
	arithSigns   = map[exec.ArithOp]string{exec.Add: "+", exec.Sub: "-", exec.Mul: "*", exec.Div: "/", exec.IntDiv: "DIV", exec.Mod: "%"}
	compareSigns = map[exec.CompareOp]string{exec.EQ: "=", exec.NE: "<>", exec.LT: "<", exec.LE: "<=", exec.GT: ">", exec.GE: ">=", exec.NullSafeEQ: "<=>"}
	functions    = map[exec.Fn]string{
		exec.FloorTo: "FLOOR_TO", exec.Year: "YEAR", exec.Month: "MONTH", exec.Day: "DAY", exec.Hour: "HOUR", exec.Minute: "MINUTE",
		exec.Second: "SECOND", exec.DayOfWeek: "DAYOFWEEK", exec.DayOfYear: "DAYOFYEAR", exec.Quarter: "QUARTER", exec.DateOf: "DATE",
		exec.Length: "LENGTH", exec.CharLength: "CHAR_LENGTH", exec.Lower: "LOWER", exec.Upper: "UPPER", exec.Substring: "SUBSTRING",
		exec.Concat: "CONCAT", exec.Tuple: "ROW", exec.Abs: "ABS", exec.Round: "ROUND", exec.Floor: "FLOOR", exec.Ceil: "CEIL",
	}
	aggregates = map[exec.AggKind]string{
		exec.CountRows: "COUNT", exec.Count: "COUNT", exec.Sum: "SUM", exec.Avg: "AVG", exec.Min: "MIN", exec.Max: "MAX",
		exec.VarPop: "VAR_POP", exec.VarSamp: "VAR_SAMP", exec.StdPop: "STDDEV_POP", exec.StdSamp: "STDDEV_SAMP",
		exec.BitAnd: "BIT_AND", exec.BitOr: "BIT_OR", exec.BitXor: "BIT_XOR", exec.AnyValue: "ANY_VALUE", exec.GroupConcat: "GROUP_CONCAT",
	}
	joins = map[exec.JoinKind]string{
		exec.Inner: "inner", exec.LeftOuter: "left outer", exec.Semi: "semi", exec.Anti: "anti", exec.AntiNull: "anti with NULLs",
		exec.Mark: "mark", exec.MarkNull: "mark with NULLs",
	}
)

// Operator is one node of a columnar plan: what it does, and the names of what it yields.
func Operator(n exec.Node) (what string, names []string) {
	switch n := n.(type) {
	case *exec.Scan:
		for _, c := range n.Columns {
			names = append(names, c.Name(n.Table))
		}
		what = "Scan " + n.Table.Topic.Name
		if n.Filter != nil {
			what += " where " + Spell(n.Filter, names)
		}
		return what, names
	case *exec.Filter:
		_, names = Operator(n.Child)
		return "Filter " + Spell(n.Cond, names), names
	case *exec.Project:
		_, below := Operator(n.Child)
		for _, e := range n.Exprs {
			names = append(names, Spell(e, below))
		}
		return "Project " + strings.Join(names, ", "), names
	case *exec.Aggregate:
		_, below := Operator(n.Child)
		for _, e := range n.By {
			names = append(names, Spell(e, below))
		}
		by := strings.Join(names, ", ")
		var aggs []string
		for _, a := range n.Aggs {
			aggs = append(aggs, spellAgg(a, below))
		}
		what = "Aggregate"
		if len(aggs) > 0 {
			what += " " + strings.Join(aggs, ", ")
		}
		if len(n.By) > 0 {
			what += " by " + by
		}
		return what, append(names, aggs...)
	case *exec.Sort:
		_, names = Operator(n.Child)
		var keys []string
		for _, k := range n.Keys {
			s := Spell(k.Expr, names)
			if k.Desc {
				s += " DESC"
			}
			keys = append(keys, s)
		}
		what = "Sort by " + strings.Join(keys, ", ")
		if n.Limit >= 0 {
			what = fmt.Sprintf("Top %d by %s", n.Offset+n.Limit, strings.Join(keys, ", "))
		}
		return what, names
	case *exec.Limit:
		_, names = Operator(n.Child)
		what = fmt.Sprintf("Limit %d", n.Count)
		if n.Count < 0 {
			what = "All rows"
		}
		if n.Offset > 0 {
			what += fmt.Sprintf(" after %d", n.Offset)
		}
		return what, names
	case *exec.Join:
		_, left := Operator(n.Left)
		_, right := Operator(n.Right)
		var on []string
		for i := range n.LeftKeys {
			on = append(on, Spell(n.LeftKeys[i], left)+" = "+Spell(n.RightKeys[i], right))
		}
		names = append(append(names, left...), right...)
		if n.Residual != nil {
			on = append(on, Spell(n.Residual, names))
		}
		switch n.Kind {
		case exec.Semi, exec.Anti, exec.AntiNull:
			names = left
		case exec.Mark, exec.MarkNull:
			names = append(slices.Clip(left), "match")
		}
		return fmt.Sprintf("Join (%s) on %s", joins[n.Kind], strings.Join(on, " AND ")), names
	case *exec.Union:
		_, names = Operator(n.Children[0])
		return "Union all", names
	case *exec.Values:
		for i := range n.Types {
			names = append(names, "#"+strconv.Itoa(i+1))
		}
		return fmt.Sprintf("Values, %d rows (counts from partition bounds)", n.Rows), names
	case *exec.Window:
		return spellWindow(n)
	}
	return fmt.Sprintf("%T", n), nil
}

// Inputs of a node.
func Inputs(n exec.Node) []exec.Node {
	switch n := n.(type) {
	case *exec.Filter:
		return []exec.Node{n.Child}
	case *exec.Project:
		return []exec.Node{n.Child}
	case *exec.Aggregate:
		return []exec.Node{n.Child}
	case *exec.Sort:
		return []exec.Node{n.Child}
	case *exec.Limit:
		return []exec.Node{n.Child}
	case *exec.Join:
		return []exec.Node{n.Left, n.Right}
	case *exec.Union:
		return n.Children
	case *exec.Window:
		return []exec.Node{n.Child}
	}
	return nil
}

func spellAgg(a exec.Agg, names []string) string {
	var sb strings.Builder
	sb.WriteString(aggregates[a.Kind] + "(")
	if a.Distinct {
		sb.WriteString("DISTINCT ")
	}
	if a.Arg == nil {
		sb.WriteString("*")
	} else {
		sb.WriteString(Spell(a.Arg, names))
	}
	return sb.String() + ")"
}

// Spell writes e with the names of its input's columns.
func Spell(e exec.Expr, names []string) string {
	list := func(es []exec.Expr, sep string) string {
		parts := make([]string, len(es))
		for i, x := range es {
			parts[i] = Spell(x, names)
		}
		return strings.Join(parts, sep)
	}
	switch e := e.(type) {
	case exec.Col:
		if e.Index < len(names) {
			return names[e.Index]
		}
		return "?"
	case exec.Const:
		return spellConst(e)
	case exec.Arith:
		if e.Op == exec.Neg {
			return "-" + Spell(e.L, names)
		}
		return "(" + Spell(e.L, names) + " " + arithSigns[e.Op] + " " + Spell(e.R, names) + ")"
	case exec.Convert:
		return Spell(e.Arg, names)
	case exec.Compare:
		return "(" + Spell(e.L, names) + " " + compareSigns[e.Op] + " " + Spell(e.R, names) + ")"
	case exec.And:
		return "(" + list(e.Args, " AND ") + ")"
	case exec.Or:
		return "(" + list(e.Args, " OR ") + ")"
	case exec.Not:
		return "NOT " + Spell(e.Arg, names)
	case exec.IsNull:
		return "(" + Spell(e.Arg, names) + " IS NULL)"
	case exec.In:
		parts := make([]string, 0, len(e.List))
		const most = 8
		for i, c := range e.List {
			if i == most {
				parts = append(parts, "…")
				break
			}
			parts = append(parts, spellConst(c))
		}
		return "(" + Spell(e.Arg, names) + " IN (" + strings.Join(parts, ", ") + "))"
	case exec.Like:
		return "(" + Spell(e.Arg, names) + " LIKE '" + string(e.Pattern) + "')"
	case exec.Case:
		var sb strings.Builder
		sb.WriteString("CASE")
		for _, w := range e.When {
			sb.WriteString(" WHEN " + Spell(w.Cond, names) + " THEN " + Spell(w.Then, names))
		}
		if e.Else != nil {
			sb.WriteString(" ELSE " + Spell(e.Else, names))
		}
		return sb.String() + " END"
	case exec.Func:
		return functions[e.Fn] + "(" + list(e.Args, ", ") + ")"
	case exec.Map:
		return "each(" + e.Text + ")"
	}
	return fmt.Sprintf("%T", e)
}

func spellConst(c exec.Const) string {
	if c.Null {
		return "NULL"
	}
	switch c.T.Kind {
	case vector.Int:
		return strconv.FormatInt(c.Int, 10)
	case vector.Uint:
		return strconv.FormatUint(c.Uint, 10)
	case vector.Float:
		return strconv.FormatFloat(c.Float, 'g', -1, 64)
	case vector.Decimal128, vector.Decimal256:
		return number.FromVector(c.Dec, c.T.Scale).String()
	}
	const most = 64
	s := string(c.Bytes)
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

var windows = map[exec.WindowKind]string{
	exec.RowNumber: "ROW_NUMBER", exec.Rank: "RANK", exec.DenseRank: "DENSE_RANK", exec.Lag: "LAG", exec.Lead: "LEAD",
	exec.FirstValue: "FIRST_VALUE", exec.LastValue: "LAST_VALUE",
}

func spellWindow(n *exec.Window) (string, []string) {
	_, in := Operator(n.Child)
	names := slices.Clone(in)
	for _, f := range n.Funcs {
		switch {
		case f.Kind == exec.WindowAgg:
			names = append(names, spellAgg(f.Agg, in))
		case f.Arg != nil:
			names = append(names, windows[f.Kind]+"("+Spell(f.Arg, in)+")")
		default:
			names = append(names, windows[f.Kind]+"()")
		}
	}
	var by, order []string
	for _, e := range n.Partition {
		by = append(by, Spell(e, in))
	}
	for _, k := range n.Order {
		s := Spell(k.Expr, in)
		if k.Desc {
			s += " DESC"
		}
		order = append(order, s)
	}
	text := "Window " + strings.Join(names[len(in):], ", ")
	if len(by) > 0 {
		text += " partition by " + strings.Join(by, ", ")
	}
	if len(order) > 0 {
		text += " order by " + strings.Join(order, ", ")
	}
	return text, names
}
