package rewrite

import (
	"regexp"
	"strings"
)

// plainWords name anything in MySQL; the parser takes them in forms of its own only.
var plainWords = regexp.MustCompile(`(?i)\b(?:COPY|ESCAPE|NEXT|OFF)\b`)

// QuotedNames puts backticks around words that are names in MySQL and not for the parser. It is for texts that the parser refuses: where
// it knows the word's form, that is meant. false: there are none.
func QuotedNames(text string, ansiQuotes bool) (string, bool) {
	found := plainWords.FindAllStringIndex(bareText(text, ansiQuotes), -1)
	var out strings.Builder
	copied := 0
	for _, m := range found {
		rest := strings.TrimSpace(text[m[1]:])
		if strings.EqualFold(text[m[0]:m[1]], "ESCAPE") && rest != "" && strings.ContainsAny(rest[:1], `'"?`) {
			continue // LIKE 'a' ESCAPE 'b'
		}
		out.WriteString(text[copied:m[0]])
		out.WriteString("`" + text[m[0]:m[1]] + "`")
		copied = m[1]
	}
	out.WriteString(text[copied:])
	return out.String(), copied > 0
}
