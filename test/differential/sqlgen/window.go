package sqlgen

import (
	"fmt"
)

func (g *Gen) partitionBy(families ...Family) string {
	if g.chance(50) {
		return ""
	}
	return "PARTITION BY " + g.column("", families...) + " "
}

func (g *Gen) window() Query {
	s := g.source("", 1)
	return Query{SQL: "SELECT _partition, _offset, " + g.pick("ROW_NUMBER()", "RANK()", "DENSE_RANK()", "SUM(j)", "COUNT(*)", "LAG(j)", "LEAD(i)", "FIRST_VALUE(j)", "MAX(j)") +
		" OVER (" + g.partitionBy(text, boolean, integer) + "ORDER BY " + g.column("", integer, date, decimal) + g.desc() + ", _partition, _offset)" + s.String(), rows: s}
}

// frames are windows with a frame of rows or of values, or over peers.
func (g *Gen) frames() Query {
	s := g.source("", 1)
	part := g.partitionBy(text, boolean, integer)
	total := part + "ORDER BY " + g.column("", integer, date, decimal, text) + g.desc() + ", _partition, _offset"
	n, m := g.IntN(5), g.IntN(5)
	show := "SELECT _partition, _offset, "
	switch g.IntN(3) {
	case 0:
		f := g.pick("SUM(j)", "COUNT(*)", "COUNT(i)", "MIN(i)", "MAX(j)", "AVG(n)", "SUM(n)", "FIRST_VALUE(j)", "LAST_VALUE(i)", "NTH_VALUE(j, 2)", "MIN(n)", "MAX(d)", "STDDEV(j + 0e0)")
		frame := g.pick(fmt.Sprintf("ROWS %d PRECEDING", n), fmt.Sprintf("ROWS BETWEEN %d PRECEDING AND %d FOLLOWING", n, m), fmt.Sprintf("ROWS BETWEEN %d FOLLOWING AND %d FOLLOWING", n, n+m),
			fmt.Sprintf("ROWS BETWEEN %d PRECEDING AND %d PRECEDING", n+m, n), "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", "ROWS UNBOUNDED PRECEDING",
			"ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING")
		return Query{SQL: show + f + " OVER (" + total + " " + frame + "), " + f + " OVER (" + total + ")" + s.String(), rows: s}
	case 1:
		f := g.pick("SUM(j)", "COUNT(*)", "MIN(i)", "MAX(j)", "AVG(n)", "COUNT(s)", "MAX(n)")
		frame := g.pick("", fmt.Sprintf(" RANGE BETWEEN %d PRECEDING AND %d FOLLOWING", n, m), fmt.Sprintf(" RANGE %d PRECEDING", n),
			fmt.Sprintf(" RANGE BETWEEN %d FOLLOWING AND UNBOUNDED FOLLOWING", n), " RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING")
		return Query{SQL: show + f + " OVER (" + part + "ORDER BY " + g.pick("j", "j DESC", "n", "i", "_offset DESC") + frame + ")" + s.String(), rows: s}
	default:
		f := g.pick("RANK()", "DENSE_RANK()", "COUNT(*)", "SUM(j)", "MAX(n)", "MIN(s)", "PERCENT_RANK()", "CUME_DIST()")
		over := f + " OVER (" + part + "ORDER BY " + g.pick("s", "g", "d", "n", "b, g", "j", "t") + ")"
		if f == "PERCENT_RANK()" || f == "CUME_DIST()" {
			over = "ROUND(" + over + ", 6)" // MariaDB gives ten digits
		}
		return Query{SQL: fmt.Sprintf("%s%s, NTILE(%d) OVER (%s), LAG(s, %d) OVER (%s), LEAD(j, %d) OVER (%s)%s", show, over, n+1, total, n, total, m, total, s), rows: s}
	}
}
