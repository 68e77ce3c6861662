package sqlgen

import (
	"fmt"
	"strings"
)

// Query is a statement whose answer is determined.
type Query struct {
	Shape   string // which kind of statement it is
	SQL     string
	Ordered bool // the order of its rows is told
	rows    rows // what it reads, where that is a filter over tables
}

// rows are what a FROM and a WHERE give.
type rows struct {
	from  string
	where string // "": all
	alias string // of the table whose columns are shown
}

func (s rows) String() string {
	if s.where == "" {
		return " FROM " + s.from
	}
	return " FROM " + s.from + " WHERE " + s.where
}

var shapes = []struct {
	name   string
	weight int
	draw   func(*Gen) Query
}{
	{"rows", 2, (*Gen).plain},
	{"top", 1, (*Gen).top},
	{"total", 1, (*Gen).total},
	{"groups", 3, (*Gen).groups},
	{"few values", 2, (*Gen).fewValues},
	{"distinct", 1, (*Gen).distinct},
	{"join", 1, (*Gen).join},
	{"join groups", 1, (*Gen).joinGroups},
	{"subquery", 1, (*Gen).subquery},
	{"derived", 1, (*Gen).derived},
	{"union", 1, (*Gen).union},
	{"window", 1, (*Gen).window},
	{"top groups", 1, (*Gen).topGroups},
	{"having", 1, (*Gen).having},
	{"outer join", 1, (*Gen).outer},
	{"correlated", 1, (*Gen).correlated},
	{"three tables", 1, (*Gen).three},
	{"with", 1, (*Gen).with},
	{"set operation", 1, (*Gen).setOperation},
	{"nested", 1, (*Gen).nested},
	{"frames", 1, (*Gen).frames},
	{"ratios", 1, (*Gen).ratios},
	{"by alias", 1, (*Gen).byAlias},
	{"group positions", 1, (*Gen).groupPositions},
	{"using", 1, (*Gen).using},
	{"cases", 1, (*Gen).cases},
	{"aggregates within", 1, (*Gen).within},
	{"recursive", 1, (*Gen).recursive},
	{"inequality", 1, (*Gen).inequality},
	{"distinct order", 1, (*Gen).distinctOrder},
	{"total having", 1, (*Gen).totalHaving},
	{"order by aggregate", 1, (*Gen).orderByAggregate},
	{"union order", 1, (*Gen).unionOrder},
	{"rows in", 1, (*Gen).rowsIn},
	{"join derived", 1, (*Gen).joinDerived},
	{"window over groups", 1, (*Gen).windowOverGroups},
	{"top of each", 1, (*Gen).topOfEach},
	{"scalar", 1, (*Gen).scalar},
}

// Query draws a statement.
func (g *Gen) Query() Query {
	all := 0
	for _, s := range shapes {
		all += s.weight
	}
	n := g.IntN(all)
	for _, s := range shapes {
		if n -= s.weight; n < 0 {
			q := s.draw(g)
			q.Shape = s.name
			return q
		}
	}
	panic("unreachable")
}

// source is a table, mostly filtered.
func (g *Gen) source(alias string, depth int) rows {
	s := rows{from: g.table(), alias: alias}
	if alias != "" {
		s.from += " " + alias
	}
	if g.chance(70) {
		s.where = g.condition(alias, depth)
	}
	return s
}

func (g *Gen) columns(alias string) string {
	return g.list(1+g.IntN(3), func() string {
		return g.draw(func() string { return g.number(alias, 2) }, func() string { return g.text(alias, 2) }, func() string { return g.condition(alias, 1) },
			func() string { return g.column(alias, date, moment, integer, text, decimal, double) },
			func() string { return g.when(alias, 1) })
	})
}

func (g *Gen) aggregates(alias string) string {
	return g.list(1+g.IntN(3), func() string { return g.aggregate(alias) })
}

func (g *Gen) plain() Query {
	s := g.source("", 2)
	return Query{SQL: "SELECT " + g.columns("") + s.String(), rows: s}
}

func (g *Gen) top() Query {
	s := g.source("", 2)
	var keys []string
	for range g.IntN(3) {
		keys = append(keys, g.draw(func() string { return g.column("", integer, text, decimal, date, moment, double) }, func() string { return g.number("", 1) })+g.desc())
	}
	keys = append(keys, "_partition"+g.desc(), "_offset"+g.desc())
	limit := g.pick("", " LIMIT "+g.between(0, 30), " LIMIT "+g.between(0, 30)+" OFFSET "+g.between(0, 20))
	return Query{SQL: "SELECT _partition, _offset, " + g.columns("") + s.String() + " ORDER BY " + strings.Join(keys, ", ") + limit, Ordered: true, rows: s}
}

func (g *Gen) total() Query {
	s := g.source("", 2)
	return Query{SQL: "SELECT " + g.aggregates("") + s.String(), rows: s}
}

func (g *Gen) groups() Query {
	s := g.source("", 2)
	var keys, by []string
	for i := range 1 + g.IntN(2) {
		keys = append(keys, fmt.Sprintf("%s AS k%d", g.key(""), i))
		by = append(by, fmt.Sprintf("k%d", i))
	}
	having := ""
	if g.chance(30) {
		having = " HAVING " + g.pick("COUNT(*) > "+g.between(0, 20), "SUM(j) IS NOT NULL", "MAX(i) > 0", "MIN(s) < "+g.literal(text))
	}
	return Query{SQL: "SELECT " + strings.Join(keys, ", ") + ", " + g.aggregates("") + s.String() + " GROUP BY " + strings.Join(by, ", ") + having, rows: s}
}

func (g *Gen) topGroups() Query {
	s := g.source("", 2)
	return Query{SQL: "SELECT " + g.key("") + " AS k, COUNT(*) AS c, " + g.aggregate("") + s.String() + " GROUP BY k ORDER BY c" + g.desc() + ", k" + g.desc() +
		" LIMIT " + g.between(1, 8), Ordered: true, rows: s}
}

func (g *Gen) distinct() Query {
	s := g.source("", 2)
	return Query{SQL: "SELECT DISTINCT " + g.list(1+g.IntN(2), func() string { return g.key("") }) + s.String(), rows: s}
}

// having filters groups by more than a comparison.
func (g *Gen) having() Query {
	s := g.source("", 2)
	return Query{SQL: "SELECT " + g.key("") + " AS k, " + g.aggregate("") + ", " + g.aggregate("") + s.String() + " GROUP BY k HAVING " + g.groupCondition(), rows: s}
}

// groupCondition is one over a group by k of rows of one table.
func (g *Gen) groupCondition() string {
	n := g.between(-5, 40)
	return g.pick("COUNT(*) * 2 > "+n, "SUM(j) + COUNT(i) "+g.pick("<", ">")+" "+n, "MAX(j) - MIN(j) >= "+n, "COUNT(DISTINCT g) IN (1, 2) AND MIN(i) < "+n,
		"AVG(n) > "+n+" OR k IS NULL", "k > "+g.literal(text)+" AND COUNT(*) > 1", "NOT (SUM(n) < "+n+")", "CASE WHEN COUNT(*) > "+n+" THEN MAX(j) ELSE MIN(j) END > 3")
}

func (g *Gen) ratios() Query {
	s := g.source("", 1)
	if g.chance(50) {
		return Query{SQL: "SELECT " + g.ratio("") + ", " + g.ratio("") + s.String(), rows: s}
	}
	return Query{SQL: "SELECT " + g.key("") + " AS k, " + g.ratioOfAggregates("") + " AS p, " + g.ratioOfAggregates("") + s.String() + " GROUP BY k", rows: s}
}

// byAlias orders by positions, aliases and expressions of aliases, and at last totally.
func (g *Gen) byAlias() Query {
	s := g.source("", 1)
	keys := g.pick("x", "x DESC", "1, 2 DESC", "x IS NULL, x", "-x", "y, x", "ABS(x), 2", "CHAR_LENGTH(y) DESC, y", "CASE WHEN x > 3 THEN 0 ELSE 1 END, x", "ISNULL(y), x + 0")
	return Query{SQL: "SELECT " + g.number("", 1) + " AS x, " + g.text("", 1) + " AS y, _partition, _offset" + s.String() + " ORDER BY " + keys + ", _partition, _offset" +
		g.pick("", " LIMIT 20", " LIMIT 7 OFFSET 3"), Ordered: true, rows: s}
}

func (g *Gen) groupPositions() Query {
	s := g.source("", 1)
	return Query{SQL: "SELECT " + g.key("") + " AS k, " + g.key("") + " AS l, COUNT(*) AS c, " + g.aggregate("") + s.String() +
		" GROUP BY 1, 2 HAVING c " + g.pick(">", "<", "<>") + " " + g.between(0, 12) + " ORDER BY 3 DESC, k" + g.desc() + ", 2", rows: s}
}

func (g *Gen) cases() Query {
	s := g.source("", 1)
	c := g.column("", integer)
	return Query{SQL: "SELECT CASE WHEN " + g.condition("", 1) + " THEN " + g.text("", 0) + " WHEN " + g.condition("", 0) + " THEN " + g.literal(text) + " END AS x, " +
		"COUNT(DISTINCT CASE WHEN " + c + " > 0 THEN g END), SUM(IF(" + g.condition("", 0) + ", " + g.small("", 0) + ", NULL)), NULLIF(MAX(" + c + "), " + g.literal(integer) + ")" +
		s.String() + " GROUP BY x", rows: s}
}

// distinctOrder has but one column, so that its order is total.
func (g *Gen) distinctOrder() Query {
	s := g.source("", 1)
	return Query{SQL: "SELECT DISTINCT " + g.key("") + " AS k" + s.String() + " ORDER BY k" + g.desc() + g.pick("", " LIMIT "+g.between(1, 9)), Ordered: true, rows: s}
}

// totalHaving filters the one row of all.
func (g *Gen) totalHaving() Query {
	s := g.source("", 2)
	return Query{SQL: "SELECT COUNT(*) AS c, MAX(j) AS m, " + g.aggregate("") + s.String() + " HAVING " + g.pick("c > "+g.between(-1, 60), "m IS NOT NULL AND c % 2 = 0", "MIN(i) < m", "SUM(n) > 0"), rows: s}
}

func (g *Gen) orderByAggregate() Query {
	s := g.source("", 1)
	return Query{SQL: "SELECT " + g.key("") + " AS k, " + g.aggregate("") + s.String() + " GROUP BY k ORDER BY " +
		g.pick("COUNT(*)", "SUM(j)", "MAX(n)", "MIN(s)", "AVG(n)", "COUNT(DISTINCT g)", "SUM(j) IS NULL, MAX(j) - MIN(j)") + g.desc() + ", k LIMIT " + g.between(1, 9), Ordered: true, rows: s}
}
