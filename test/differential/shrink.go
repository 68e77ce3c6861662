package main

import (
	"regexp"
	"strings"
)

// shrinkTries bounds how many statements are asked to shorten one.
const shrinkTries = 400

// shrink shortens a query as long as differs holds; "" if it cannot. It knows nothing of SQL but parentheses, commas and
// clauses: what it makes of them may be nonsense, of which differs does not hold.
func shrink(query string, differs func(string) bool) string {
	tries, best := 0, query
	if !differs(query) {
		return "" // it does not happen again
	}
	for again := true; again; {
		again = false
		for _, c := range shorter(best) {
			if tries++; tries > shrinkTries {
				again = false
				break
			}
			if differs(c) {
				best, again = c, true
				break
			}
		}
	}
	if best == query {
		return ""
	}
	return best
}

var (
	clauses  = regexp.MustCompile(` (WHERE|GROUP BY|HAVING|ORDER BY|LIMIT|UNION|UNION ALL|INTERSECT|EXCEPT|JOIN|LEFT JOIN|RIGHT JOIN) `)
	junction = regexp.MustCompile(` (AND|OR|XOR|\+|-|\*|=|<>|<|>|<=|>=|<=>) `)
)

// shorter are queries that a cut makes of one, the shortest first in each kind.
func shorter(q string) (out []string) {
	depth := depths(q)
	add := func(from, to int, with string) {
		if len(with) < to-from {
			out = append(out, q[:from]+with+q[to:])
		}
	}
	// A clause up to the next one on its level, or to the end of the level.
	at := clauses.FindAllStringIndex(q, -1)
	for i, c := range at {
		end := levelEnd(depth, c[0])
		for _, next := range at[i+1:] {
			if next[0] < end && depth[next[0]] == depth[c[0]] {
				add(c[0], next[0], "")
				break
			}
		}
		add(c[0], end, "")
	}
	for i := range q {
		if q[i] != '(' || depth[i] < 0 {
			continue
		}
		end := levelEnd(depth, i+1)
		inner := q[i+1 : end]
		name := i
		for name > 0 && (q[name-1] == '_' || q[name-1] >= 'A' && q[name-1] <= 'Z') {
			name--
		}
		for _, constant := range []string{"NULL", "1", "'a'"} {
			add(name, end+1, constant)
		}
		// One side of an operator, an argument of a function, what is negated.
		inside := depths(inner)
		for _, j := range junction.FindAllStringIndex(inner, -1) {
			if inside[j[0]] == 0 {
				add(i, end+1, inner[:j[0]])
				add(i, end+1, inner[j[1]:])
			}
		}
		if rest, ok := strings.CutPrefix(inner, "NOT "); ok {
			add(i, end+1, rest)
		}
		if strings.HasPrefix(inner, "(") {
			add(i, end+1, inner)
		}
		start := 0
		for j := 0; j <= len(inner); j++ {
			if j == len(inner) || inner[j] == ',' && inside[j] == 0 {
				add(name, end+1, strings.TrimSpace(inner[start:j]))
				start = j + 1
			}
		}
	}
	// An item of a list.
	for i := range q {
		if q[i] != ',' || depth[i] < 0 {
			continue
		}
		end := i + 1
		for end < len(q) && depth[end] >= depth[i] && (q[end] != ',' || depth[end] != depth[i]) && !strings.HasPrefix(q[end:], " FROM ") {
			end++
		}
		add(i, end, "")
		start := i
		for start > 0 && depth[start-1] >= depth[i] && (q[start-1] != ',' || depth[start-1] != depth[i]) && !strings.HasSuffix(q[:start], "SELECT ") {
			start--
		}
		add(start, i+1, "")
	}
	return out
}

// sameOrder says whether a query still ends with the order of the one that it was made of; its LIMIT may be gone.
func sameOrder(of, query string) bool {
	order := of[max(strings.LastIndex(of, " ORDER BY "), 0):]
	unlimited, _, _ := strings.Cut(order, " LIMIT ")
	return strings.HasSuffix(query, order) || strings.HasSuffix(query, unlimited)
}

// depths are how many parentheses are open at each byte; -1 within a string.
func depths(q string) []int {
	out := make([]int, len(q)+1)
	open, quoted := 0, false
	for i := range len(q) {
		switch {
		case quoted:
			out[i] = -1
			if q[i] == '\'' {
				quoted = false
			}
			continue
		case q[i] == '\'':
			out[i], quoted = -1, true
			continue
		case q[i] == ')':
			open--
		}
		out[i] = open
		if q[i] == '(' {
			open++
		}
	}
	return out
}

// levelEnd is where the parentheses close that are open at i.
func levelEnd(depth []int, i int) int {
	of := depth[i]
	if of < 0 {
		return i
	}
	for i < len(depth)-1 && (depth[i] >= of || depth[i] < 0) {
		i++
	}
	return i
}
