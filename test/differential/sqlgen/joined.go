package sqlgen

// on joins a and b, mostly by equal columns alone.
func (g *Gen) on() string {
	family := g.family(integer, integer, text, date, decimal)
	on := g.column("a", family) + " = " + g.column("b", family)
	if g.chance(30) {
		on += " AND " + g.condition(g.pick("a", "b"), 1)
	}
	return on
}

// joined is a and b, joined.
func (g *Gen) joined(kinds ...string) rows {
	return rows{from: g.table() + " a " + g.pick(kinds...) + " " + g.table() + " b ON " + g.on(), alias: g.pick("a", "b")}
}

func (g *Gen) join() Query {
	s := g.joined("JOIN", "JOIN", "LEFT JOIN")
	if g.chance(60) {
		s.where = g.condition(g.pick("a", "b"), 1)
	}
	return Query{SQL: "SELECT COUNT(*), SUM(a._offset), SUM(b._offset), MIN(b.s), COUNT(b.i)" + s.String(), rows: s}
}

func (g *Gen) joinGroups() Query {
	s := g.joined("JOIN", "LEFT JOIN")
	return Query{SQL: "SELECT " + g.key("b") + " AS k, COUNT(*), " + g.aggregate("a") + s.String() + " GROUP BY k", rows: s}
}

func (g *Gen) outer() Query {
	s := g.joined("LEFT JOIN", "LEFT JOIN", "RIGHT JOIN")
	s.where = g.pick("b."+g.pick("i", "s", "d")+" IS "+g.not()+"NULL", g.condition("b", 1), "("+g.condition("a", 0)+" OR "+g.condition("b", 0)+")",
		"COALESCE(b.j, 0) > "+g.between(-3, 5), "a.j "+g.pick("<", "=", "<>")+" b.j")
	return Query{SQL: "SELECT " + g.pick("COUNT(*), SUM(a._offset), COUNT(b._offset), MAX(b.n)", "a.g, COUNT(*), COUNT(b.s), SUM(b.n)") + s.String() + " GROUP BY a.g", rows: s}
}

// inequality joins few rows by what is no equality.
func (g *Gen) inequality() Query {
	s := rows{from: g.Small + " a " + g.pick("JOIN", "LEFT JOIN") + " " + g.Small + " b ON " + g.pick("a.j < b.j", "a.n BETWEEN b.n AND b.n + 2", "a.j <> b.j AND a.g = b.g", "a.d >= b.d AND a.b", "a.s LIKE CONCAT(b.g, '%')"), alias: "a"}
	if g.chance(50) {
		s.from = g.Small + " a" + g.pick(", ", " CROSS JOIN ") + g.table() + " b"
		s.where = "(" + g.pick("a.j = b.j", "a.g = b.g AND a._offset < b._offset", "a.i = b.i OR a.n = b.n") + " AND " + g.condition("b", 1) + ")"
	}
	return Query{SQL: "SELECT " + g.pick("COUNT(*), SUM(b.j), MAX(a.s), MIN(b.n)", "COUNT(b.i), COUNT(DISTINCT a.g, b.g)") + s.String(), rows: s}
}

// joinDerived joins rows with groups.
func (g *Gen) joinDerived() Query {
	inner := g.source("", 1)
	s := rows{from: g.table() + " a " + g.pick("JOIN", "LEFT JOIN") + " (SELECT g AS h, COUNT(*) AS c, " + g.aggregate("") + " AS v" + inner.String() + " GROUP BY g) x ON a.g = x.h", alias: "a"}
	if g.chance(50) {
		s.where = g.pick("(x.c > "+g.between(0, 9)+")", g.condition("a", 1), "(x.c IS NULL)")
	}
	return Query{SQL: "SELECT " + g.pick("COUNT(*), SUM(x.c), MAX(a.j)", "a.g, x.c, x.v, COUNT(*)") + s.String() + " GROUP BY a.g, x.c, x.v", rows: s}
}

// rowsIn looks for rows of columns among those of a subquery.
func (g *Gen) rowsIn() Query {
	pair := [][2]string{{"a.j, a.g", "b.j, b.g"}, {"a.g, a.d", "b.g, b.d"}, {"a.b, a.e", "b.b, b.e"}}[g.IntN(3)]
	s := rows{from: g.table() + " a", alias: "a", where: "((" + pair[0] + ") " + g.not() + "IN (SELECT " + pair[1] + g.source("b", 1).String() + "))"}
	return Query{SQL: "SELECT COUNT(*), SUM(a.j), MIN(a.s)" + s.String(), rows: s}
}

func (g *Gen) using() Query {
	of := [][2]string{{"j", "j"}, {"g", "g"}, {"j, g", "j"}, {"d", "d"}, {"n", "n"}, {"_offset", "_offset"}, {"j, b", "j"}, {"e", "e"}}[g.IntN(8)]
	s := rows{from: g.table() + " a " + g.pick("JOIN", "LEFT JOIN", "RIGHT JOIN") + " " + g.table() + " b USING (" + of[0] + ")", alias: "a"}
	if g.chance(50) {
		s.where = g.condition("a", 1)
	}
	return Query{SQL: "SELECT " + of[1] + ", COUNT(*), SUM(a._partition), COUNT(b.i), MAX(" + g.pick("a", "b") + ".s)" + s.String() + " GROUP BY " + of[1], rows: s}
}

func (g *Gen) three() Query {
	s := rows{from: g.table() + " a " + g.pick("JOIN", "LEFT JOIN") + " " + g.Small + " b ON a.j = b.j AND a.g = b.g " + g.pick("JOIN", "LEFT JOIN") + " " + g.table() + " c ON " +
		g.pick("b.i = c.i", "b.d = c.d AND b.g = c.g", "a._offset = c._offset", "c.n = b.n AND c.s = a.s"), alias: g.pick("a", "b", "c")}
	s.where = g.condition(g.pick("a", "b", "c"), 1)
	return Query{SQL: "SELECT " + g.pick("", "c.g, ") + "COUNT(*), SUM(a.j), MIN(b.s), COUNT(c.i)" + s.String() + " GROUP BY c.g", rows: s}
}

func (g *Gen) subquery() Query {
	s := rows{from: g.table() + " a", alias: "a"}
	family := g.family(integer, text, date)
	b := g.source("b", 1)
	inner := b.String()
	switch g.IntN(4) {
	case 0:
		s.where = g.column("a", family) + " " + g.not() + "IN (SELECT " + g.column("b", family) + inner + ")"
	case 1:
		s.where = g.not() + "EXISTS (SELECT 1 FROM " + b.from + " WHERE " + g.column("b", family) + " = " + g.column("a", family) + ")"
	case 2:
		s.where = g.column("a", integer) + " " + g.pick(">", "<", "=") + " (SELECT " + g.pick("MAX", "MIN") + "(b.j)" + inner + ")"
	default:
		s.where = g.column("a", decimal) + " > (SELECT AVG(b.n)" + inner + ")"
	}
	return Query{SQL: "SELECT COUNT(*), SUM(a.j), MIN(a.s)" + s.String(), rows: s}
}

// correlated runs a subquery for each row of the small table.
func (g *Gen) correlated() Query {
	s := rows{from: g.Small + " a", alias: "a"}
	from := " FROM " + g.table() + " b WHERE " + g.pick("b.g = a.g", "b.j = a.j", "b.d <= a.d", "b.i = a.i AND b.j > a.j", "b._offset = a._offset", "b.g <=> a.g")
	sub := g.draw(
		func() string {
			return "(SELECT " + g.aggregate("b") + from + g.pick("", " AND "+g.condition("b", 0)) + ")"
		},
		func() string { return "(SELECT b.s" + from + " ORDER BY b._partition, b._offset LIMIT 1)" },
		func() string { return "EXISTS (SELECT 1" + from + " AND " + g.condition("b", 0) + ")" },
		func() string { return "(a.j " + g.not() + "IN (SELECT b.j" + from + "))" })
	if g.chance(50) {
		if g.chance(70) {
			s.where = g.condition("a", 1)
		}
		return Query{SQL: "SELECT a._offset, " + sub + s.String(), rows: s}
	}
	s.where = "(" + sub + " IS " + g.not() + "NULL" + g.pick("", " AND "+g.condition("a", 1)) + ")"
	return Query{SQL: "SELECT a._offset, a.g" + s.String(), rows: s}
}
