package catalog

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The parser reads declarations inside of a statement.
const (
	columnsBefore = "CREATE TABLE t (\n"
	columnsAfter  = "\n)"
)

// maxQuoted bounds what a message repeats of a declaration, in bytes.
const maxQuoted = 40

var (
	parserNear = regexp.MustCompile(`^line \d+ column \d+ near "`)
	// nameBefore finds the name of a column whose type comes next.
	nameBefore = regexp.MustCompile("(?:^|,)\\s*(?:`(?:[^`]|``)+`|[\\p{L}_$][\\p{L}\\p{N}_$.]*)\\s+$")
	// word is what could be meant for a type.
	word = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_]*`)
)

// syntaxError words the parser's error about declarations ddl by their own lines and
// columns (in characters, from 1).
func syntaxError(ddl string, err error) error {
	at, ok := placeOf(ddl, err.Error())
	if !ok {
		return errors.New("cannot be read: a quote or comment without its end?")
	}
	if at >= len(ddl) {
		switch open, closed := strings.Count(ddl, "("), strings.Count(ddl, ")"); {
		case closed > open:
			return errors.New("a closing parenthesis too many")
		case closed < open:
			return errors.New("a closing parenthesis is missing at the end")
		}
		return errors.New("something is missing at the end: a column has a name and a type")
	}
	before, near := ddl[:at], ddl[at:]
	line := 1 + strings.Count(before, "\n")
	column := 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	if name := word.FindString(near); name != "" && nameBefore.MatchString(before) &&
		strings.Count(before, "(") == strings.Count(before, ")") {
		return fmt.Errorf("unknown type %s at line %d, column %d", quoted(name), line, column)
	}
	return fmt.Errorf("syntax error at line %d, column %d, near %q", line, column, quoted(near))
}

// placeOf finds where in ddl the parser stopped. Its own line and column are those after
// the token that it cannot take; but it repeats the statement from that token on.
func placeOf(ddl, message string) (at int, ok bool) {
	prefix := parserNear.FindString(message)
	if prefix == "" {
		return 0, false
	}
	rest := message[len(prefix):]
	statement := columnsBefore + ddl + columnsAfter
	from := -1
	var total int
	if i := strings.LastIndex(rest, "(total length "); i >= 0 {
		_, err := fmt.Sscanf(rest[i:], "(total length %d)", &total)
		if err == nil && total <= len(statement) && strings.HasSuffix(rest, fmt.Sprintf(`" (total length %d)`, total)) {
			from = len(statement) - total
		}
	}
	for n := min(len(rest)-1, len(statement)); from < 0 && n >= 0; n-- {
		if rest[n] == '"' && rest[:n] == statement[len(statement)-n:] {
			from = len(statement) - n
		}
	}
	if from < len(columnsBefore) {
		return 0, false
	}
	return min(from-len(columnsBefore), len(ddl)), true
}

// quoted is the beginning of s.
func quoted(s string) string {
	if len(s) <= maxQuoted {
		return s
	}
	n := maxQuoted
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
