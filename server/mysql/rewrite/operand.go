package rewrite

import (
	"slices"
	"strings"
)

// token is a word, an operator or another character of a statement whose quotes and comments are blanked; words are in capitals.
type token struct {
	from, to int
	text     string
}

func tokens(bare string) []token {
	var out []token
	wordy := func(c byte) bool {
		return c == '_' || c == '$' || c == '@' || c == '.' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
	}
	for i := 0; i < len(bare); {
		from := i
		switch c := bare[i]; {
		case c <= ' ':
			i++
			continue
		case wordy(c):
			for i < len(bare) && wordy(bare[i]) {
				i++
			}
		default:
			i++
			for _, op := range [...]string{"<=>", "<=", ">=", "<>", "!=", "&&", "||", ":="} {
				if strings.HasPrefix(bare[from:], op) {
					i = from + len(op)
					break
				}
			}
		}
		out = append(out, token{from, i, strings.ToUpper(bare[from:i])})
	}
	return out
}

// beside are words that no operand of a comparison goes across, but as names of functions.
var beside = wordSet(`, ; && || ! := AND OR XOR NOT IS IN LIKE RLIKE REGEXP BETWEEN SOUNDS SELECT DISTINCT ALL FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET
	UNION EXCEPT INTERSECT ON USING JOIN LEFT RIGHT INNER CROSS NATURAL STRAIGHT_JOIN WINDOW WHEN THEN ELSE AS ASC DESC INTO FOR WITH VALUES SET SEPARATOR ESCAPE`)

var comparisons = wordSet("= <=> < <= > >= <> !=")

func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// operand is how far the operand beside ts[i] goes in steps of step, 1 or -1: the last of its tokens in that direction, or i itself where
// there is none. Comparisons are part of it if they may be.
func operand(ts []token, i, step int, compared bool) int {
	open, closed, begin, end := "(", ")", "CASE", "END"
	if step < 0 {
		open, closed, begin, end = closed, open, end, begin
	}
	depth, last := 0, i
	for j := i + step; j >= 0 && j < len(ts); j += step {
		switch t := ts[j].text; {
		case t == open, t == begin:
			depth++
		case depth == 0 && (t == closed || t == end || comparisons[t] && !compared || beside[t] && !called(ts, j)):
			return last
		case t == closed, t == end:
			depth--
		}
		last = j
	}
	return last
}

// called says whether ts[i] is the name of a function that is called, as LEFT may be.
func called(ts []token, i int) bool {
	switch ts[i].text {
	case "LEFT", "RIGHT", "VALUES":
		return i+1 < len(ts) && ts[i+1].text == "("
	}
	return false
}

// soundsLike writes a SOUNDS LIKE b as SOUNDEX(a) = SOUNDEX(b), which is what it means.
func soundsLike(bare string) (changes []change) {
	ts := tokens(bare)
	for i := 1; i+2 < len(ts); i++ {
		if ts[i].text != "SOUNDS" || ts[i+1].text != "LIKE" {
			continue
		}
		left, right := ts[operand(ts, i, -1, false)].from, ts[operand(ts, i+1, 1, false)].to
		changes = append(changes, change{left, left, "SOUNDEX("}, change{ts[i].from, ts[i+1].to, ") = SOUNDEX("}, change{right, right, ")"})
	}
	return changes
}

// substringParts writes commas for the FROM and FOR of SUBSTRING(a FROM b FOR c), of which the parser knows few forms.
func substringParts(bare string) (changes []change) {
	ts := tokens(bare)
	for i := 0; i+1 < len(ts); i++ {
		switch ts[i].text {
		case "SUBSTRING", "SUBSTR", "MID":
		default:
			continue
		}
		if ts[i+1].text != "(" {
			continue
		}
		depth, from := 0, false
		for j := i + 1; j < len(ts); j++ {
			switch t := ts[j].text; {
			case t == "(":
				depth++
			case t == ")":
				depth--
			case depth == 1 && (t == "FROM" || t == "FOR" && from):
				from = true
				changes = append(changes, change{ts[j].from, ts[j].to, ","})
			}
			if depth == 0 {
				break
			}
		}
	}
	return changes
}

// Chained is s with parentheses around all but the last comparison of each chain like a = b = c, which the parser does not know; false:
// there is none. It is for queries that cannot be parsed: elsewhere one of two = may be no comparison.
func (s *Source) Chained(ansiQuotes bool) (*Source, bool) {
	ts := tokens(bareText(s.Text, ansiQuotes))
	if len(ts) == 0 || !slices.Contains([]string{"SELECT", "WITH", "(", "EXPLAIN", "DESCRIBE", "DESC"}, ts[0].text) {
		return nil, false
	}
	var changes []change
	for i, t := range ts {
		if !comparisons[t.text] || i == 0 {
			continue
		}
		first := operand(ts, i, -1, true)
		if !compares(ts[first:i]) {
			continue
		}
		changes = append(changes, change{ts[first].from, ts[first].from, "("}, change{ts[i-1].to, ts[i-1].to, ")"})
	}
	if len(changes) == 0 {
		return nil, false
	}
	slices.SortStableFunc(changes, func(a, b change) int { return a.from - b.from })
	return s.changed(changes), true
}

// compares says whether there is a comparison among ts, but for those in parentheses.
func compares(ts []token) bool {
	depth := 0
	for _, t := range ts {
		switch {
		case t.text == "(" || t.text == "CASE":
			depth++
		case t.text == ")" || t.text == "END":
			depth--
		case depth == 0 && comparisons[t.text]:
			return true
		}
	}
	return false
}
