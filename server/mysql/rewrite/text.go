package rewrite

import "strings"

// literals doubles the backslash of \% and \_ in string literals: MySQL leaves these two as they are written, for LIKE to read,
// and the parser drops the backslash. Doubled ones are not doubled again. And it parts two dashes that begin no comment, as in 1--1.
func literals(text string, ansiQuotes bool) (changes []change) {
	if !strings.Contains(text, `\%`) && !strings.Contains(text, `\_`) && !strings.Contains(text, "--") {
		return nil
	}
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
					changes = append(changes, change{i, i, `\`})
				}
				i++
			}
			i++
		case c == '#', strings.HasPrefix(text[i:], "--") && (i+2 == len(text) || text[i+2] <= ' ' || text[i+2] == 0x7f):
			i = skip(i, "\n")
		case strings.HasPrefix(text[i:], "--"):
			i++
			changes = append(changes, change{i, i, " "})
		case strings.HasPrefix(text[i:], "/*") && !strings.HasPrefix(text[i:], "/*!"):
			i = skip(i+2, "*/")
		default:
			i++
		}
	}
	return changes
}
