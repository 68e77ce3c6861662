// Package sqlgen draws random tables, and statements over them in the dialect that Millrace and MariaDB share.
//
// The answer of a statement is determined: without ORDER BY it is a bag, and LIMIT stands only behind
// an order that is total.
package sqlgen

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// Gen draws from a random source over tables that each have Columns, _partition and _offset.
type Gen struct {
	*rand.Rand
	Tables []string
	Small  string // the one of Tables that a correlated subquery, which runs once a row, is put to
}

// pick is one of texts.
func (g *Gen) pick(of ...string) string { return of[g.IntN(len(of))] }

// draw is one of texts of which only that one is made.
func (g *Gen) draw(of ...func() string) string { return of[g.IntN(len(of))]() }

func (g *Gen) family(of ...Family) Family { return of[g.IntN(len(of))] }

func (g *Gen) chance(percent int) bool { return g.IntN(100) < percent }

// between is an integer from lo to below hi.
func (g *Gen) between(lo, hi int) string { return strconv.Itoa(lo + g.IntN(hi-lo)) }

func (g *Gen) table() string { return g.Tables[g.IntN(len(g.Tables))] }

// not is NOT before IN, LIKE and the like, or nothing.
func (g *Gen) not() string { return g.pick("", "NOT ") }

func (g *Gen) desc() string { return g.pick("", " DESC") }

func (g *Gen) comparison() string { return g.pick("=", "<>", "<", "<=", ">", ">=", "<=>") }

// list is n drawn texts with commas between.
func (g *Gen) list(n int, of func() string) string {
	s := make([]string, n)
	for i := range s {
		s[i] = of()
	}
	return strings.Join(s, ", ")
}

// named is a column as it is called beside an alias; "" is no alias.
func named(alias, name string) string {
	if alias != "" {
		alias += "."
	}
	return alias + "`" + name + "`"
}

// column is one of a family.
func (g *Gen) column(alias string, of ...Family) string {
	family := g.family(of...)
	var names []string
	for _, c := range Columns {
		if c.family == family {
			names = append(names, c.Name)
		}
	}
	if family == integer {
		names = append(names, "_partition", "_offset")
	}
	return named(alias, g.pick(names...))
}

// literal is a constant that belongs beside columns of a family.
func (g *Gen) literal(of ...Family) string {
	if g.chance(6) {
		return "NULL"
	}
	return g.constant(of...)
}

// constant is a literal that is not NULL.
func (g *Gen) constant(of ...Family) string {
	family := g.family(of...)
	name := ""
	switch family {
	case integer:
		name = g.pick("i", "j", "j")
	case text:
		name = g.pick("s", "s", "g")
	case document, enumeration:
		name = "e"
	default:
		for _, c := range Columns {
			if c.family == family {
				name = c.Name
			}
		}
	}
	values := column(name).values
	return values[g.IntN(len(values))].SQL
}
