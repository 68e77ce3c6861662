package account

import (
	"strings"
	"unicode/utf8"
)

type tokenKind uint8

const (
	end        tokenKind = iota // of the text, or of the statement
	word                        // without quotes: a keyword, or a name
	identifier                  // in backticks
	text                        // in quotes
	symbol                      // one character
)

type token struct {
	kind tokenKind
	text string // unquoted
	at   int    // where it begins
}

// lexer takes tokens off the front of a statement.
type lexer struct {
	src string
	pos int
}

// skip passes over white space and comments.
func (l *lexer) skip() {
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		switch {
		case strings.IndexByte(" \t\r\n\f\v", rest[0]) >= 0:
			l.pos++
		case strings.HasPrefix(rest, "/*") && !strings.HasPrefix(rest, "/*!"):
			i := strings.Index(rest[2:], "*/")
			if i < 0 {
				return
			}
			l.pos += i + 4
		case rest[0] == '#', strings.HasPrefix(rest, "--") && (len(rest) == 2 || strings.IndexByte(" \t\r\n", rest[2]) >= 0):
			i := strings.IndexByte(rest, '\n')
			if i < 0 {
				l.pos = len(l.src)
				return
			}
			l.pos += i + 1
		default:
			return
		}
	}
}

// next is the next token. A quote without its end is a symbol, which nothing takes.
func (l *lexer) next() token {
	l.skip()
	if l.pos >= len(l.src) {
		return token{end, "", l.pos}
	}
	at := l.pos
	switch c := l.src[at]; c {
	case ';':
		return token{end, "", at}
	case '\'', '"', '`':
		if s, n, ok := unquote(l.src[at:]); ok {
			l.pos += n
			kind := text
			if c == '`' {
				kind = identifier
			}
			return token{kind, s, at}
		}
	}
	for l.pos < len(l.src) && isWordByte(l.src[l.pos]) {
		l.pos++
	}
	if l.pos > at {
		return token{word, l.src[at:l.pos], at}
	}
	_, n := utf8.DecodeRuneInString(l.src[at:])
	l.pos += n
	return token{symbol, l.src[at:l.pos], at}
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c == '-' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf
}

// unquote reads the quoted text that s begins with: its value, and how many bytes it takes.
func unquote(s string) (value string, n int, ok bool) {
	quote := s[0]
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote && i+1 < len(s) && s[i+1] == quote:
			b.WriteByte(quote)
			i++
		case c == quote:
			return b.String(), i + 1, true
		case c == '\\' && quote != '`' && i+1 < len(s):
			i++
			b.WriteString(escaped(s[i]))
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, false
}

// escaped is what a backslash and c stand for.
func escaped(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'r':
		return "\r"
	case '0':
		return "\x00"
	case 'b':
		return "\b"
	case 'Z':
		return "\x1a"
	case '%', '_':
		return "\\" + string(c) // kept for patterns, as in MySQL
	default:
		return string(c)
	}
}
