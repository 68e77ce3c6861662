package sqlgen

// What follows reads other statements' answers, so that no single filter parts its rows.

func (g *Gen) derived() Query {
	return Query{SQL: "SELECT COUNT(*), SUM(c), MIN(k), MAX(k) FROM (SELECT " + g.key("") + " AS k, COUNT(*) AS c" + g.source("", 2).String() + " GROUP BY k) x" +
		g.pick("", " WHERE c > 3", " WHERE k IS NOT NULL")}
}

func (g *Gen) union() Query {
	family := g.family(integer, text)
	both := "SELECT " + g.column("", family) + " AS x" + g.source("", 1).String() + " UNION " + g.pick("ALL ", "ALL ", "") + "SELECT " + g.column("", family) + g.source("", 1).String()
	return Query{SQL: g.pick(both, "SELECT x, COUNT(*) FROM ("+both+") u GROUP BY x")}
}

func (g *Gen) setOperation() Query {
	family := g.family(integer, text, date, decimal, moment)
	both := "SELECT " + g.column("", family) + " AS x, " + g.column("", boolean) + " AS y" + g.source("", 1).String() + " " + g.pick("INTERSECT", "EXCEPT", "UNION", "UNION ALL") +
		" SELECT " + g.column("", family) + ", " + g.column("", boolean) + g.source("", 1).String()
	return Query{SQL: g.pick(both, "SELECT y, COUNT(*), MIN(x), MAX(x) FROM ("+both+") u GROUP BY y")}
}

func (g *Gen) with() Query {
	key := g.column("", text, integer, date)
	with := "WITH x AS (SELECT " + key + " AS k, COUNT(*) AS c, " + g.aggregate("") + " AS v" + g.source("", 1).String() + " GROUP BY k)"
	return Query{SQL: with + g.pick(" SELECT COUNT(*), SUM(c), MIN(k), MAX(c) FROM x", " SELECT p.k, p.c, q.c FROM x p JOIN x q ON p.k = q.k WHERE p.c > "+g.between(0, 5),
		", y AS (SELECT c, COUNT(*) AS n FROM x GROUP BY c) SELECT x.k, y.n FROM x JOIN y ON x.c = y.c",
		" SELECT COUNT(*), SUM(j) FROM "+g.table()+" WHERE "+key+" IN (SELECT k FROM x)")}
}

func (g *Gen) nested() Query {
	inner := "SELECT " + g.key("") + " AS k, " + g.number("", 1) + " AS v, " + g.text("", 1) + " AS s" + g.source("", 1).String()
	if g.chance(50) {
		inner += " ORDER BY _partition, _offset LIMIT " + g.between(1, 200)
	}
	middle := "SELECT k, COUNT(*) AS c, SUM(v) AS v, MIN(s) AS s FROM (" + inner + ") i GROUP BY k"
	return Query{SQL: g.pick("SELECT COUNT(*), SUM(c), SUM(v), MAX(s) FROM ("+middle+") m WHERE c > "+g.between(0, 4), "SELECT * FROM ("+middle+") m WHERE v IS NOT NULL AND c < 50",
		"SELECT c, COUNT(*) FROM ("+middle+") m GROUP BY c HAVING COUNT(*) >= 1")}
}

// within has aggregates of aggregates, by derived tables and subqueries.
func (g *Gen) within() Query {
	b := g.table()
	a := g.source("", 1)
	inner := "SELECT g, " + g.pick("d", "b", "j") + " AS h, COUNT(*) AS c, " + g.aggregate("") + " AS v" + a.String() + " GROUP BY g, h"
	return Query{SQL: g.pick("SELECT g, SUM(c), MAX(c), AVG(c) * 2 FROM ("+inner+") x GROUP BY g",
		"SELECT COUNT(*) FROM "+b+" b WHERE b.j IN (SELECT MAX(j) FROM "+a.from+" GROUP BY g HAVING COUNT(*) > "+g.between(0, 9)+")",
		"SELECT b.g, (SELECT COUNT(*) FROM ("+inner+") y WHERE y.g = b.g) AS z, COUNT(*) FROM "+b+" b GROUP BY b.g",
		"SELECT MAX(x.c) - MIN(x.c), COUNT(DISTINCT x.h) FROM ("+inner+") x JOIN ("+inner+") y ON x.g = y.g AND x.h = y.h")}
}

func (g *Gen) recursive() Query {
	with := "WITH RECURSIVE r AS (SELECT " + g.between(-2, 3) + " AS x UNION ALL SELECT x + " + g.pick("1", "2") + " FROM r WHERE x < " + g.between(3, 12) + ")"
	return Query{SQL: with + g.pick(" SELECT r.x, COUNT(t.i), SUM(t.n) FROM r LEFT JOIN "+g.table()+" t ON t.j = r.x GROUP BY r.x",
		" SELECT COUNT(*), SUM(j) FROM "+g.table()+" WHERE j "+g.not()+"IN (SELECT x FROM r)", " SELECT COUNT(*), MIN(x), MAX(x), SUM(x) FROM r WHERE x <> 4")}
}

// unionOrder orders a union by its one column.
func (g *Gen) unionOrder() Query {
	family := g.family(integer, text, date)
	return Query{SQL: "SELECT " + g.column("", family) + " AS x" + g.source("", 1).String() + " UNION " + g.pick("ALL ", "") + "SELECT " + g.column("", family) + g.source("", 1).String() +
		" UNION " + g.pick("ALL ", "") + "SELECT " + g.literal(family) + " ORDER BY x" + g.desc() + g.pick("", " LIMIT "+g.between(0, 20)+" OFFSET 1"), Ordered: true}
}

func (g *Gen) windowOverGroups() Query {
	over := g.pick("RANK() OVER (ORDER BY c DESC, k)", "SUM(c) OVER ()", "SUM(c) OVER (ORDER BY k)", "c / SUM(c) OVER () * 100", "LAG(c) OVER (ORDER BY k)", "MAX(c) OVER (PARTITION BY c % 2)")
	return Query{SQL: "SELECT k, c, " + over + " FROM (SELECT " + g.key("") + " AS k, COUNT(*) AS c" + g.source("", 1).String() + " GROUP BY k) x"}
}

// topOfEach are the first rows of each group.
func (g *Gen) topOfEach() Query {
	inner := "SELECT _partition, _offset, g, j, " + g.pick("ROW_NUMBER()", "RANK()", "DENSE_RANK()") + " OVER (PARTITION BY " + g.column("", text, boolean, enumeration) + " ORDER BY " +
		g.column("", integer, decimal, date) + g.desc() + ", _partition, _offset) AS rn" + g.source("", 1).String()
	return Query{SQL: g.pick("SELECT * FROM ("+inner+") x WHERE rn <= "+g.between(1, 4), "SELECT g, COUNT(*), SUM(j) FROM ("+inner+") x WHERE rn = 1 GROUP BY g")}
}

func (g *Gen) scalar() Query {
	t := g.table()
	sub := "(SELECT " + g.pick("MAX(j)", "MIN(n)", "COUNT(*)", "SUM(j)", "AVG(j)") + g.source("", 1).String() + ")"
	return Query{SQL: "SELECT " + g.pick("j, j - "+sub, "CASE WHEN j > "+sub+" THEN 'more' ELSE 'less' END", sub+", "+sub+" + 1", "COALESCE(n, "+sub+")") + " FROM " + t + " WHERE " + g.condition("", 1)}
}
