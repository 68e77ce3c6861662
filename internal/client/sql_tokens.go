package client

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// token is a word, a name in backticks, or a sign of a statement. Texts and comments are left out.
type token struct {
	text       string // of names without their backticks
	begin, end int
	quoted     bool // a name in backticks
}

func (t token) word() bool {
	r, _ := utf8.DecodeRuneInString(t.text)
	return t.quoted || nameRune(r)
}

func (t token) is(words ...string) bool {
	return !t.quoted && slices.Contains(words, strings.ToUpper(t.text))
}

// tokens reads text, which may be the beginning of a statement; unfinished says that it ends inside
// of a text or comment.
func tokens(text string) (out []token, unfinished bool) {
	for i := 0; i < len(text); {
		c := text[i]
		rest := text[i:]
		switch {
		case c <= ' ':
			i++
		case c == '#' || strings.HasPrefix(rest, "-- "):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				return out, true
			}
			i += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest, "*/")
			if end < 0 {
				return out, true
			}
			i += end + 2
		case c == '\'' || c == '"' || c == '`':
			end, closed := quotedEnd(rest)
			if c == '`' {
				name := rest[1:end]
				if closed {
					name = rest[1 : end-1]
				}
				out = append(out, token{strings.ReplaceAll(name, "``", "`"), i, i + end, true})
			} else {
				if !closed {
					return out, true
				}
				out = append(out, token{"'", i, i + end, false})
			}
			i += end
		default:
			r, n := utf8.DecodeRuneInString(rest)
			end := n
			for nameRune(r) && end < len(rest) {
				next, n := utf8.DecodeRuneInString(rest[end:])
				if !nameRune(next) {
					break
				}
				end += n
			}
			out = append(out, token{rest[:end], i, i + end, false})
			i += end
		}
	}
	return out, false
}

// quotedEnd is where the quoted text that s begins with ends.
func quotedEnd(s string) (end int, closed bool) {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] != '`':
			i++
		case s[i] == s[0]:
			if i+1 < len(s) && s[i+1] == s[0] {
				i++
				continue
			}
			return i + 1, true
		}
	}
	return len(s), false
}

// tableRef is a table that a statement names.
type tableRef struct{ database, table, alias string }

// beforeTables are the words that a table's name follows.
var beforeTables = []string{"FROM", "JOIN", "STRAIGHT_JOIN", "INTO", "UPDATE", "TABLE", "DESCRIBE", "DESC", "HOP"}

// tableRefs are the tables that a statement names, with their aliases.
func tableRefs(ts []token) (refs []tableRef) {
	for i := 0; i < len(ts); i++ {
		if !ts[i].is(beforeTables...) {
			continue
		}
		list := ts[i].is("FROM")
		for i++; i < len(ts); i++ {
			if ts[i].text == "(" && ts[i-1].is("HOP") {
				continue
			}
			if !ts[i].word() || ts[i].is("SELECT", "LATERAL", "HOP") {
				break
			}
			ref := tableRef{table: ts[i].text}
			if i+2 < len(ts) && ts[i+1].text == "." && ts[i+2].word() {
				ref.database, ref.table = ref.table, ts[i+2].text
				i += 2
			} else if i+1 < len(ts) && ts[i+1].text == "." {
				break // a database, whose table is still to be typed
			}
			if i+1 < len(ts) && ts[i+1].is("AS") {
				i++
			}
			if i+1 < len(ts) && ts[i+1].word() && (ts[i+1].quoted || !slices.Contains(sqlKeywords, strings.ToUpper(ts[i+1].text))) {
				ref.alias = ts[i+1].text
				i++
			}
			refs = append(refs, ref)
			if !list || i+1 >= len(ts) || ts[i+1].text != "," {
				break
			}
			i++
		}
		i--
	}
	return refs
}

// statementAround cuts text down to the statement that pos lies in; both are in bytes.
func statementAround(text string, pos int) (statement string, begin int) {
	ts, _ := tokens(text)
	end := len(text)
	for _, t := range ts {
		if t.text != ";" || t.quoted {
			continue
		}
		if t.end <= pos {
			begin = t.end
		} else {
			end = t.begin
			break
		}
	}
	return text[begin:end], begin
}
