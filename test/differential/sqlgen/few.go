package sqlgen

import "strings"

// few are columns of few values each, with conditions and keys that look at them alone; @ is the column.
var few = []struct {
	column     string
	conditions []string
	keys       []string
}{
	{"g", []string{"@ = 'red'", "@ LIKE '%e%'", "@ NOT IN ('blue', 'Red')", "@ IS NULL", "LOWER(@) = 'red'", "@ >= 'c'"}, []string{"@", "@", "UPPER(@)", "CASE @ WHEN 'red' THEN 1 WHEN 'blue' THEN 2 END", "@ LIKE 'r%'", "SUBSTRING(@, 1, 1)"}},
	{"j", []string{"@ > 2", "@ BETWEEN -1 AND 4", "@ IN (1, 2, 30)", "@ IS NOT NULL", "NOT (@ < 5)"}, []string{"@", "@", "@ % 3", "@ > 3", "@ DIV 2"}},
	{"b", []string{"@", "NOT @", "@ IS NULL", "@ <> 1"}, []string{"@", "IF(@, 'yes', 'no')"}},
	{"d", []string{"@ >= '2024-02-29'", "YEAR(@) = 2024", "@ IS NOT NULL"}, []string{"@", "YEAR(@)", "MONTH(@)"}},
	{"e", []string{"@ = 'large'", "@ IS NOT NULL"}, []string{"@"}},
	{"s", []string{"@ LIKE 'a%'", "@ IN ('a', 'zoo', '')", "@ IS NULL"}, []string{"@", "LENGTH(@)", "LOWER(@)"}},
}

// fewValues asks for numbers by the values of a column that has few, perhaps through a join on that column: it may be answered by what is kept
// of each block.
func (g *Gen) fewValues() Query {
	c := few[g.IntN(len(few))]
	of := func(alias, s string) string { return strings.ReplaceAll(s, "@", alias+"."+c.column) }
	s := rows{from: g.table() + " a", alias: "a"}
	key := "a"
	if g.chance(40) {
		s.from += " " + g.pick("JOIN", "JOIN", "LEFT JOIN") + " " + g.Small + " b ON a." + c.column + " = b." + c.column
		key = g.pick("a", "b", "b")
	}
	if g.chance(60) {
		s.where = "(" + of("a", g.pick(c.conditions...)) + ")"
	}
	by := of(key, g.pick(c.keys...))
	if key == "b" && g.chance(50) {
		by = g.column("b", text, boolean, date)
	}
	aggregates := ", COUNT(*)"
	for range 1 + g.IntN(3) {
		x := g.draw(
			func() string { return g.pick("SUM", "AVG") + "(" + g.column("a", integer, decimal, boolean) + ")" },
			func() string {
				return g.pick("MIN", "MAX", "COUNT") + "(" + g.column("a", integer, decimal, boolean, date, moment) + ")"
			},
			func() string { return "COUNT(DISTINCT a." + c.column + ")" })
		if !strings.Contains(aggregates, x) {
			aggregates += ", " + x
		}
	}
	if g.chance(30) {
		return Query{SQL: "SELECT " + aggregates[2:] + s.String(), rows: s}
	}
	having := ""
	if g.chance(25) {
		having = " HAVING COUNT(*) " + g.pick(">", "<=") + " " + g.between(1, 60)
	}
	return Query{SQL: "SELECT " + by + " AS k" + aggregates + s.String() + " GROUP BY k" + having, rows: s}
}
