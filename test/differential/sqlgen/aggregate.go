package sqlgen

// aggregate is one over the rows of a group.
func (g *Gen) aggregate(alias string) string {
	switch g.IntN(18) {
	case 0, 1:
		return "COUNT(*)"
	case 2:
		return "COUNT(" + g.column(alias, integer, text, date, boolean) + ")"
	case 3:
		return "COUNT(DISTINCT " + g.column(alias, integer, text, decimal, date) + ")"
	case 4, 5, 6:
		return g.pick("SUM", "AVG") + "(" + g.small(alias, 1) + ")"
	case 7, 8, 9:
		return g.pick("MIN", "MAX") + "(" + g.column(alias, integer, decimal, text, date, moment, double) + ")"
	case 10:
		return "SUM(CASE WHEN " + g.condition(alias, 1) + " THEN 1 ELSE 0 END)"
	case 11:
		return g.pick("SUM", "AVG") + "(" + g.column(alias, integer, decimal, boolean) + ")"
	case 12:
		return g.pick("STDDEV", "STDDEV_SAMP", "VARIANCE", "VAR_SAMP") + "(" + g.column(alias, integer, decimal, boolean) + " % 1000 + 0e0)"
	case 13:
		c := g.column(alias, text, integer, date)
		return "GROUP_CONCAT(" + g.pick("", "DISTINCT ") + c + " ORDER BY " + c + g.desc() + g.pick("", " SEPARATOR '|'") + ")"
	case 14:
		return g.pick("SUM", "AVG", "COUNT", "MIN") + "(DISTINCT " + g.column(alias, integer, decimal) + ")"
	case 15:
		return "COUNT(DISTINCT " + g.column(alias, text) + ", " + g.column(alias, integer) + ")"
	case 16:
		return g.pick("BIT_AND", "BIT_OR", "BIT_XOR") + "(" + g.column(alias, boolean, unsigned) + ")"
	default:
		return g.pick("MIN", "MAX", "COUNT") + "(" + g.column(alias, unsigned, wide) + ")"
	}
}

func (g *Gen) ratioOfAggregates(alias string) string {
	c := g.column(alias, integer, boolean)
	return g.pick("AVG("+g.small(alias, 0)+") * 100", "100 * AVG("+c+" % 7)", "SUM("+g.small(alias, 0)+") / COUNT(*)",
		"SUM("+g.small(alias, 0)+") / NULLIF(COUNT("+c+"), 0) * 100", "COUNT("+c+") / COUNT(*) * 100",
		"AVG("+g.small(alias, 0)+") - AVG("+g.small(alias, 0)+")", "SUM("+g.column(alias, boolean)+") * 100 / COUNT(*)")
}

// key is what rows are grouped by.
func (g *Gen) key(alias string) string {
	return g.draw(
		func() string { return g.column(alias, text) }, func() string { return g.column(alias, integer) },
		func() string { return g.column(alias, boolean) }, func() string { return g.column(alias, date) },
		func() string { return g.column(alias, integer) + " DIV " + g.pick("2", "10", "60") },
		func() string { return "YEAR(" + g.column(alias, moment) + ")" },
		func() string { return "DATE_FORMAT(" + g.column(alias, moment) + ", '%Y-%m-%d %H')" },
		func() string { return "DATE(" + g.column(alias, moment) + ")" },
		func() string { return "SUBSTRING(" + g.column(alias, text) + ", 1, 1)" },
		func() string { return g.column(alias, decimal) }, func() string { return g.column(alias, enumeration) },
		func() string { return "IF(" + g.condition(alias, 1) + ", 'yes', 'no')" })
}
