package sqlgen

import "strings"

// condition is true, false or NULL, and in parentheses.
func (g *Gen) condition(alias string, depth int) string {
	if depth > 0 && g.chance(50) {
		a := g.condition(alias, depth-1)
		b := func() string { return g.condition(alias, depth-1) }
		return g.draw(func() string { return "(" + a + " AND " + b() + ")" }, func() string { return "(" + a + " OR " + b() + ")" },
			func() string { return "(NOT " + a + ")" }, func() string { return "(" + a + " XOR " + b() + ")" })
	}
	return "(" + g.predicate(alias, depth) + ")"
}

func (g *Gen) predicate(alias string, depth int) string {
	op := " " + g.comparison() + " "
	not := " " + g.not()
	switch g.IntN(31) {
	case 0:
		return g.column(alias, integer, decimal, text, date, moment, boolean, double) + " IS" + not + "NULL"
	case 1:
		family := g.family(integer, text, decimal, date)
		return g.column(alias, family) + not + "IN (" + g.list(1+g.IntN(4), func() string { return g.literal(family) }) + ")"
	case 2:
		family := g.family(integer, decimal, text, date, moment)
		return g.column(alias, family) + not + "BETWEEN " + g.literal(family) + " AND " + g.literal(family)
	case 3:
		return g.column(alias, text) + not + "LIKE '" + g.pick("%a%", "a%", "%b", "%", "", "k1%", "_", "__", "%o w%", `x\\_y`, `50\\%`, "%ä%", "re_", "R%d") + "'"
	case 4:
		return g.number(alias, depth) + op + g.number(alias, depth-1)
	case 5:
		return g.text(alias, depth) + op + g.literal(text)
	case 6:
		return g.column(alias, double) + " " + g.pick("<", ">", "<=", ">=") + " " + g.literal(double, integer)
	case 7:
		return g.column(alias, unsigned, wide, integer) + op + g.literal(unsigned, wide, integer, decimal)
	case 8:
		return g.when(alias, depth) + op + g.pick(g.literal(moment), g.literal(date), g.column(alias, moment))
	case 9:
		return g.column(alias, integer, boolean, decimal) + " IS" + not + g.pick("TRUE", "FALSE")
	case 10:
		// Not =, and no NULL in a pair: MariaDB takes (1, x) = (2, NULL) for unknown, or (NULL, x) = (1, NULL) for false.
		pair := func() string { return "(" + g.constant(integer) + ", " + g.constant(text) + ")" }
		return "(" + g.column(alias, integer) + ", " + g.column(alias, text) + ")" + not + "IN (" + g.list(2+g.IntN(3), pair) + ")"
	case 11:
		return g.column(alias, text) + not + "REGEXP '" + g.pick("^r", "e+", "[ab]$", "k1.", "x|y", "^$") + "'"
	case 12:
		mark := g.pick("|", "!", "#")
		return g.text(alias, 0) + not + "LIKE '" + strings.ReplaceAll(g.pick("x|_y", "50|%", "%|%%", "|__", "a%", "%|_%"), "|", mark) + "' ESCAPE '" + mark + "'"
	case 13:
		family := g.family(integer, decimal, unsigned, wide)
		return g.column(alias, family) + not + "IN (" + g.list(1+g.IntN(4), func() string { return g.literal(integer, decimal, boolean, family) }) + ")"
	case 14:
		bound := func() string {
			family := g.family(integer, decimal, wide)
			return g.pick(g.column(alias, family), g.literal(family))
		}
		return g.column(alias, integer, decimal, wide, unsigned) + not + "BETWEEN " + bound() + " AND " + bound()
	case 15:
		e := g.column(alias, enumeration)
		return g.pick(e+" "+g.pick("=", "<>", "<=>")+" "+g.pick("'small'", "'large'", "'Big'"), e+not+"IN ('small', 'Big')",
			e+" LIKE '%"+g.pick("a", "B", "g")+"%'", g.column(alias, decimal)+op+g.column(alias, wide))
	case 16, 17:
		family := g.family(integer, decimal, date, text)
		return g.column(alias, family) + not + "BETWEEN " + g.column(alias, family) + " AND " + g.pick(g.column(alias, family), g.literal(family))
	case 18:
		return g.column(alias, text) + not + "LIKE CONCAT(" + g.pick("", "'%', ") + g.column(alias, text) + ", '%')"
	case 19:
		return g.text(alias, 0) + op + g.text(alias, depth-1)
	case 20:
		return g.condition(alias, depth-1) + " IS" + not + g.pick("TRUE", "FALSE", "UNKNOWN", "NULL")
	case 21:
		return g.column(alias, enumeration) + op + g.pick("'small'", "'m'", "''", g.column(alias, text))
	case 22:
		return g.column(alias, text) + op + g.between(-1, 9) // as numbers
	case 23:
		return g.small(alias, 1) + not + "BETWEEN " + g.small(alias, 0) + " AND " + g.small(alias, 1)
	case 24:
		if depth <= 0 {
			return g.column(alias, double) + op + g.literal(double)
		}
		inner := g.source("z", 0)
		return g.pick(g.column(alias, integer)+" "+not+"IN (SELECT z.j"+inner.String()+")", g.column(alias, text)+" "+not+"IN (SELECT z.g"+inner.String()+")",
			g.column(alias, integer)+op+"(SELECT "+g.pick("MAX", "MIN", "COUNT")+"(z.j)"+inner.String()+")", not+"EXISTS (SELECT 1"+inner.String()+")")
	default:
		family := g.family(integer, integer, decimal, text, date, moment, boolean)
		return g.column(alias, family) + op + g.literal(family)
	}
}
