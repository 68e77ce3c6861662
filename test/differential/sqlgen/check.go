package sqlgen

import "strings"

// Check is a statement, and others whose answers together must be its answer.
type Check struct {
	Name  string
	Whole string
	Parts []string
	Set   bool // a row that several parts have counts once
}

// Checks are what must hold of the rows that a query reads, or of others where it has no filter of its own: a condition
// is true, false or NULL, so that three filters part the rows (TLP), and what a filter keeps is what a sum over all
// rows counts (NoREC).
func (g *Gen) Checks(q Query) []Check {
	s := q.rows
	if s.from == "" {
		s = g.source("", 2)
	}
	if s.where == "" {
		s.where = g.condition(s.alias, 2)
	}
	all := rows{from: s.from}
	part := func(select_, behind string) []string {
		out := make([]string, 0, 3)
		for _, where := range []string{s.where, "NOT (" + s.where + ")", "(" + s.where + ") IS NULL"} {
			out = append(out, select_+rows{from: s.from, where: where}.String()+behind)
		}
		return out
	}
	norec := Check{Name: "NoREC", Whole: "SELECT COUNT(*)" + s.String(), Parts: []string{"SELECT COALESCE(SUM(CASE WHEN " + s.where + " THEN 1 ELSE 0 END), 0)" + all.String()}}
	tlp := Check{Name: "TLP"}
	switch g.IntN(6) {
	case 0, 1:
		show := "SELECT " + g.columns(s.alias)
		tlp.Whole, tlp.Parts = show+all.String(), part(show, "")
	case 2:
		show := "SELECT DISTINCT " + g.list(1+g.IntN(2), func() string { return g.key(s.alias) })
		tlp.Whole, tlp.Parts, tlp.Set = show+all.String(), part(show, ""), true
	case 3:
		show := "SELECT " + g.key(s.alias) + " AS k, COUNT(*) AS c, " + g.combinable(s.alias)
		tlp.Whole = show + all.String() + " GROUP BY k"
		tlp.Parts = []string{"SELECT k, SUM(c), SUM(x), SUM(y), MIN(p), MAX(q) FROM (" + strings.Join(part(show, " GROUP BY k"), " UNION ALL ") + ") u GROUP BY k"}
	case 4:
		show := "SELECT COUNT(*) AS c, " + g.combinable(s.alias)
		tlp.Whole = show + all.String()
		tlp.Parts = []string{"SELECT SUM(c), SUM(x), SUM(y), MIN(p), MAX(q) FROM (" + strings.Join(part(show, ""), " UNION ALL ") + ") u"}
	default:
		// The groups of one table, parted by HAVING.
		t := g.source("", 1)
		tlp.Whole = "SELECT " + g.key("") + " AS k, " + g.aggregates("") + t.String() + " GROUP BY k"
		h := g.groupCondition()
		tlp.Parts = []string{tlp.Whole + " HAVING " + h, tlp.Whole + " HAVING NOT (" + h + ")", tlp.Whole + " HAVING (" + h + ") IS NULL"}
	}
	return []Check{tlp, norec}
}

// combinable are aggregates x, y, p and q of a part of the rows from which those of all can be told.
func (g *Gen) combinable(alias string) string {
	return "COUNT(" + g.column(alias, integer, text, date, boolean) + ") AS x, SUM(" + g.small(alias, 1) + ") AS y, MIN(" +
		g.column(alias, integer, decimal, text, date, moment, double) + ") AS p, MAX(" + g.column(alias, integer, decimal, text, date, moment, double) + ") AS q"
}
