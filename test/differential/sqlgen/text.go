package sqlgen

// text is a string.
func (g *Gen) text(alias string, depth int) string {
	if depth <= 0 || g.chance(60) {
		return g.column(alias, text)
	}
	t := func() string { return g.text(alias, depth-1) }
	switch g.IntN(25) {
	case 0:
		return "CONCAT(" + t() + ", '-', " + g.text(alias, 0) + ")"
	case 1:
		return g.pick("LOWER", "UPPER") + "(" + g.column(alias, text) + ")"
	case 2:
		return "SUBSTRING(" + t() + ", " + g.pick("1", "2", "-2") + ", " + g.pick("1", "2", "3") + ")"
	case 3:
		return "IF(" + g.condition(alias, depth-1) + ", " + g.text(alias, 0) + ", " + g.literal(text) + ")"
	case 4:
		return "COALESCE(" + g.text(alias, 0) + ", " + g.literal(text) + ")"
	case 5:
		return g.pick("TRIM", "LTRIM", "RTRIM", "REVERSE") + "(" + t() + ")"
	case 6:
		return "TRIM(" + g.pick("LEADING", "TRAILING", "BOTH") + " " + g.literal(text) + " FROM " + t() + ")"
	case 7:
		// Not NULL for what replaces: MariaDB gives the text where there is nothing to replace.
		with := column("s").values
		return "REPLACE(" + t() + ", " + g.pick("'a'", "'re'", "'k'", g.literal(text)) + ", " + with[g.IntN(len(with))].SQL + ")"
	case 8:
		return g.pick("LPAD", "RPAD") + "(" + t() + ", " + g.pick("0", "1", "3", "8", "-1") + ", " + g.pick("'*'", "'xy'", "'ä'") + ")"
	case 9:
		return g.pick("LEFT", "RIGHT") + "(" + t() + ", " + g.pick("0", "1", "2", "-1", "50") + ")"
	case 10:
		return "REPEAT(" + t() + ", " + g.pick("0", "1", "2", "-1") + ")"
	case 11:
		return "CAST(" + g.column(alias, integer, decimal, date, moment, unsigned, wide) + " AS CHAR)"
	case 12:
		return "DATE_FORMAT(" + g.when(alias, 1) + ", '" + g.pick("%Y-%m-%d", "%d.%m.%y %H:%i:%s", "%W %M %e %Y", "%j %U %u %V %v %X %x",
			"%h:%i %p", "%T.%f", "%a %b %D", "%c/%e %k %l %r", "%%%Y") + "')"
	case 13:
		return "CONCAT_WS('-', " + t() + ", " + g.column(alias, text) + ", " + g.column(alias, integer) + ")"
	case 14:
		return "SUBSTRING_INDEX(" + t() + ", " + g.pick("' '", "'e'", "'-'") + ", " + g.pick("1", "-1", "2", "0") + ")"
	case 15:
		// Not HEX and MD5: MariaDB compares these without regard to case.
		return "CONCAT('', " + t() + ")"
	case 16:
		return "JSON_UNQUOTE(JSON_EXTRACT(" + g.column(alias, document) + ", '$.s'))"
	case 17:
		e := g.column(alias, enumeration)
		return g.draw(func() string { return "CONCAT(" + e + ", '-', " + t() + ")" }, func() string { return "UPPER(" + e + ")" },
			func() string { return "COALESCE(" + e + ", " + t() + ")" },
			func() string {
				return "CASE " + g.column(alias, integer) + " WHEN " + g.literal(integer) + " THEN " + t() + " WHEN 3 THEN " + e + " ELSE " + g.literal(text) + " END"
			})
	case 18:
		return g.pick("DAYNAME", "MONTHNAME") + "(" + g.column(alias, moment, date) + ")"
	case 19:
		return "INSERT(" + t() + ", " + g.pick("0", "1", "2", "-1", "9") + ", " + g.pick("0", "1", "3", "-1") + ", " + g.literal(text) + ")"
	case 20:
		return g.pick("ELT("+named(alias, "j")+", 'one', "+g.column(alias, text)+", 'three')", "MID("+t()+", 2, 2)", "SUBSTRING("+g.column(alias, text)+" FROM -3 FOR 2)", "QUOTE("+t()+")")
	case 21:
		return g.pick("LPAD("+named(alias, "j")+", 5, '0')", "FORMAT("+named(alias, "n")+", "+g.pick("0", "1", "3")+")", "CONV("+named(alias, "j")+", 10, 2)",
			"BIN("+named(alias, "j")+")", "OCT("+named(alias, "j")+")", "CONCAT("+named(alias, "d")+", ' ', "+named(alias, "j")+")")
	case 22:
		return g.pick("NULLIF", "IFNULL", "GREATEST", "LEAST") + "(" + t() + ", " + g.literal(text) + ")"
	case 23:
		return "CASE " + g.column(alias, text) + " WHEN " + g.literal(text) + " THEN " + t() + " WHEN 'red' THEN " + g.literal(text) + " ELSE " + g.text(alias, 0) + " END"
	default:
		return "JSON_UNQUOTE(JSON_EXTRACT(" + g.column(alias, document) + ", '" + g.pick("$.b.c[0]", "$.b.c[2]", "$.a", "$.nothing") + "'))"
	}
}

// when is a date and time.
func (g *Gen) when(alias string, depth int) string {
	if depth <= 0 || g.chance(30) {
		return g.column(alias, moment)
	}
	t := g.when(alias, depth-1)
	interval := "INTERVAL " + g.pick(g.between(-40, 40), g.column(alias, boolean), named(alias, "j")) + " " +
		g.pick("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
	return g.pick("("+t+g.pick(" + ", " - ")+interval+")", g.pick("DATE_ADD", "DATE_SUB")+"("+t+", "+interval+")", "LAST_DAY("+t+")", "CAST("+t+" AS DATE)",
		"DATE("+t+")", "ADDDATE("+t+", "+named(alias, "j")+")", "TIMESTAMP("+g.column(alias, date)+")", "CAST("+g.column(alias, date)+" AS DATETIME)",
		"TIMESTAMPADD("+g.pick("MINUTE", "DAY", "MONTH")+", "+named(alias, "j")+", "+t+")", "STR_TO_DATE(DATE_FORMAT("+t+", '%d.%m.%Y'), '%d.%m.%Y')",
		"MAKEDATE(YEAR("+t+"), ABS("+named(alias, "j")+") + 1)", "FROM_DAYS(TO_DAYS("+t+") + "+named(alias, "j")+")")
}
