package rewrite

import "strings"

// Text is a statement's text as the parser has to get it to read it as MySQL does. It doubles the backslash of \% and \_ in
// string literals: MySQL leaves these two as they are written, for LIKE to read, and the parser drops the backslash.
// Doubled ones are not doubled again. And it parts two dashes that begin no comment, as in 1--1.
func Text(text string, ansiQuotes bool) string {
	if !strings.Contains(text, `\%`) && !strings.Contains(text, `\_`) && !strings.Contains(text, "--") {
		return text
	}
	var out strings.Builder
	copied := 0
	skip := func(i int, end string) int { // the index after end
		j := strings.Index(text[i:], end)
		if j < 0 {
			return len(text)
		}
		return i + j + len(end)
	}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '`' || c == '"' && ansiQuotes:
			i = skip(i+1, text[i:i+1])
		case c == '\'' || c == '"':
			for i++; i < len(text) && text[i] != c; i++ {
				if text[i] != '\\' || i+1 == len(text) {
					continue
				}
				if text[i+1] == '%' || text[i+1] == '_' {
					out.WriteString(text[copied:i])
					out.WriteByte('\\')
					copied = i
				}
				i++
			}
			i++
		case c == '#', strings.HasPrefix(text[i:], "--") && (i+2 == len(text) || text[i+2] <= ' ' || text[i+2] == 0x7f):
			i = skip(i, "\n")
		case strings.HasPrefix(text[i:], "--"):
			out.WriteString(text[copied:i])
			out.WriteString("- ")
			i++
			copied = i
		case strings.HasPrefix(text[i:], "/*") && !strings.HasPrefix(text[i:], "/*!"):
			i = skip(i+2, "*/")
		default:
			i++
		}
	}
	out.WriteString(text[copied:])
	return out.String()
}
