package rewrite

import (
	"regexp"
	"strings"
)

// plainWords name anything in MySQL; the parser takes them in forms of its own only.
var plainWords = regexp.MustCompile(`(?i)\b(?:COPY|ESCAPE|NEXT|OFF)\b`)

// QuotedNames puts backticks around words that are names in MySQL and not for the parser. It is for texts that the parser refuses: where
// it knows the word's form, that is meant. false: there are none.
func (s *Source) QuotedNames(ansiQuotes bool) (*Source, bool) {
	var changes []change
	for _, m := range plainWords.FindAllStringIndex(bareText(s.Text, ansiQuotes), -1) {
		rest := strings.TrimSpace(s.Text[m[1]:])
		if strings.EqualFold(s.Text[m[0]:m[1]], "ESCAPE") && rest != "" && strings.ContainsAny(rest[:1], `'"?`) {
			continue // LIKE 'a' ESCAPE 'b'
		}
		changes = append(changes, change{m[0], m[1], "`" + s.Text[m[0]:m[1]] + "`"})
	}
	return s.changed(changes), len(changes) > 0
}
