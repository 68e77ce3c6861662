package sqlgen

// number is an integer or decimal.
func (g *Gen) number(alias string, depth int) string {
	if depth <= 0 || g.chance(45) {
		family := g.family(integer, integer, decimal)
		if g.chance(80) {
			return g.column(alias, family)
		}
		return g.literal(family)
	}
	switch g.IntN(30) {
	case 0, 1:
		return "(" + g.small(alias, depth-1) + g.pick(" + ", " - ", " * ") + g.small(alias, depth-1) + ")"
	case 2:
		return "(" + g.small(alias, depth-1) + g.pick(" DIV ", " % ") + g.pick("2", "3", "7", "60", "0", "-4") + ")"
	case 3:
		return "ABS(" + g.number(alias, depth-1) + ")"
	case 4:
		return g.pick("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "DAYOFYEAR") + "(" + g.column(alias, moment) + ")"
	case 5:
		return g.pick("LENGTH", "CHAR_LENGTH") + "(" + g.text(alias, depth-1) + ")"
	case 6:
		return "CASE WHEN " + g.condition(alias, depth-1) + " THEN " + g.small(alias, 0) + " ELSE " + g.small(alias, 0) + " END"
	case 7:
		return g.pick("COALESCE", "IFNULL") + "(" + g.column(alias, integer) + ", " + g.literal(integer) + ")"
	case 8:
		return g.pick("GREATEST", "LEAST") + "(" + g.small(alias, 1) + ", " + g.small(alias, 0) + ", " + g.small(alias, 0) + ")"
	case 9:
		return "INSTR(" + g.text(alias, depth-1) + ", " + g.literal(text) + ")"
	case 10:
		return "CAST(" + g.column(alias, decimal, text, integer) + " AS SIGNED)"
	case 11:
		return "CAST(" + g.small(alias, 1) + " AS DECIMAL(" + g.pick("10,1", "20,4", "12,0") + "))"
	case 12:
		return g.pick("ROUND", "TRUNCATE") + "(" + g.column(alias, decimal) + ", " + g.pick("0", "1", "-1") + ")"
	case 13:
		return g.pick("FLOOR", "CEIL", "SIGN") + "(" + g.small(alias, 1) + ")"
	case 14:
		return "DATEDIFF(" + g.column(alias, date, moment) + ", " + g.pick(g.column(alias, date), g.literal(date)) + ")"
	case 15:
		return "TIMESTAMPDIFF(" + g.pick("SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR") + ", " + g.column(alias, moment) + ", " + g.when(alias, 1) + ")"
	case 16:
		return g.pick("DAYOFWEEK", "WEEKDAY", "QUARTER", "TO_DAYS", "SECOND", "MICROSECOND") + "(" + g.column(alias, moment) + ")"
	case 17:
		t := g.column(alias, moment, date)
		return g.pick("WEEK("+t+")", "WEEK("+t+", "+g.between(0, 8)+")", "YEARWEEK("+t+")", "YEARWEEK("+t+", 1)",
			"EXTRACT("+g.pick("YEAR_MONTH", "HOUR", "DAY", "QUARTER", "WEEK")+" FROM "+t+")", "UNIX_TIMESTAMP("+g.column(alias, date)+")")
	case 18:
		o := g.column(alias, document)
		return g.pick("JSON_LENGTH("+o+")", "JSON_LENGTH("+o+", '$.b.c')", "JSON_CONTAINS_PATH("+o+", 'one', '$.a', '$.b')",
			"JSON_CONTAINS_PATH("+o+", 'all', '$.a', '$.b')", "JSON_VALID("+g.column(alias, text)+")", "JSON_DEPTH("+o+")")
	case 19:
		return "CASE " + g.column(alias, integer) + " WHEN " + g.literal(integer) + " THEN " + g.small(alias, 0) +
			" WHEN " + g.small(alias, 0) + " THEN " + g.small(alias, 0) + " END"
	case 20:
		// Not a decimal as UNSIGNED: MariaDB makes 0 of negative ones.
		return g.pick("CAST("+g.column(alias, unsigned, wide, boolean)+" AS SIGNED) % 1000", "CAST("+g.column(alias, unsigned, boolean)+" AS UNSIGNED) % 1000")
	case 21:
		return "CAST(JSON_UNQUOTE(JSON_EXTRACT(" + g.column(alias, document) + ", '$.a')) AS SIGNED)"
	case 22:
		// Not ORD: MariaDB's has but 31 bits.
		t := g.text(alias, depth-1)
		return g.pick("LOCATE("+g.literal(text)+", "+t+")", "LOCATE("+g.literal(text)+", "+t+", "+g.pick("0", "1", "2", "-1")+")", "POSITION("+g.literal(text)+" IN "+t+")",
			"ASCII("+t+")", "BIT_LENGTH("+t+")", "FIELD("+t+", "+g.literal(text)+", "+g.literal(text)+")", "STRCMP("+t+", "+g.literal(text)+")", "CRC32("+t+")")
	case 23:
		a, b := g.column(alias, integer), g.small(alias, 0)
		return g.pick("MOD("+b+", "+g.pick("3", "-7", "0", "1.5")+")", "BIT_COUNT("+a+")", "("+a+g.pick(" & ", " | ", " ^ ")+g.pick("5", "-1", "255", a)+")",
			"("+named(alias, "b")+" << "+g.pick("1", "3", "63", "64")+")", "("+a+" >> "+g.pick("1", "8", "64")+")", "-("+b+")")
	case 24:
		t := g.column(alias, moment)
		// Not TIME_TO_SEC: MariaDB's has a fraction.
		return g.pick("DAYOFMONTH("+t+")", "WEEKOFYEAR("+t+")", "PERIOD_DIFF(EXTRACT(YEAR_MONTH FROM "+t+"), 202401)", "UNIX_TIMESTAMP("+t+")",
			"("+g.column(alias, date)+" + 0)", "DAYOFYEAR("+g.when(alias, 1)+")", "YEAR("+g.when(alias, 1)+")")
	case 25:
		return "IF(" + g.condition(alias, depth-1) + ", " + g.number(alias, depth-1) + ", " + g.small(alias, 0) + ")"
	case 26:
		return g.pick("COALESCE", "IFNULL") + "(" + g.column(alias, integer, decimal) + ", " + g.small(alias, 1) + ")"
	case 27:
		return g.pick("FLOOR", "CEIL", "ROUND") + "(" + g.column(alias, double, wide, decimal) + ")"
	case 28:
		return "NULLIF(" + g.small(alias, 0) + ", " + g.small(alias, 0) + ")"
	default:
		return "NULLIF(" + g.column(alias, integer) + ", " + g.literal(integer) + ")"
	}
}

// small is a number that does not overflow when a few are multiplied.
func (g *Gen) small(alias string, depth int) string {
	if depth > 0 && g.chance(40) {
		return "(" + g.small(alias, depth-1) + g.pick(" + ", " - ") + g.small(alias, depth-1) + ")"
	}
	return g.pick(named(alias, "j"), named(alias, "n"), named(alias, "_offset"), named(alias, "b"), g.between(-5, 12), "1.5", "0.25")
}

// ratio is a quotient, which has its digits only where it stands for itself or in arithmetic.
func (g *Gen) ratio(alias string) string {
	a, b := g.small(alias, 1), g.small(alias, 0)
	return g.pick(a+" / "+b, a+" / "+b+" * 100", "100 * "+a+" / "+b, a+" / NULLIF("+b+", 0) + 1", a+" / 3 / 7", "-("+a+" / "+b+")")
}
