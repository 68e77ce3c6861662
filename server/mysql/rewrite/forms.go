package rewrite

import (
	"regexp"
	"slices"
	"strings"

	"millrace/server/mysql/sqlerr"
	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/go-mysql-server/sql"
)

var (
	// mayHaveForms finds, quickly, what forms may have to change.
	mayHaveForms = regexp.MustCompile(`(?is)^\s*SHOW\s+SCHEMAS\b|\bUNKNOWN\b|\b(?:ANY|SOME|ALL)\s*\(|\bROLLUP\b|\bNAMES\b.+COLLATE\b|\b(?:YEAR|DAY|HOUR|MINUTE|SECOND)_(?:MONTH|HOUR|MINUTE|SECOND|MICROSECOND)\b|\b(?:DATE|TIME|TIMESTAMP)\s*['"]|\bSOUNDS\s+LIKE\b|\b(?:SUBSTRING|SUBSTR|MID)\s*\(|^\s*ALTER\b.+\bVIEW\b|\bCONSISTENT\s+SNAPSHOT\b`)
	isUnknown    = regexp.MustCompile(`(?i)\bIS(\s+NOT)?\s+(UNKNOWN)\b`)
	quantified   = regexp.MustCompile(`(?i)(<=|>=|<>|!=|=|<|>)(\s*)(ANY|SOME|ALL)\s*\((?:\s|\()*(?:SELECT|WITH|TABLE|VALUES)\b`)
	// timeLiteral is found where quotes are blanked; what is in them begins its last part.
	timeLiteral = regexp.MustCompile(`(?i)(?:(\w+|[.@` + "`" + `])\s*)?\b(DATE|TIME|TIMESTAMP)\s*(q+)`)
	withRollup  = regexp.MustCompile(`(?is)\bGROUP\s+BY\b.*?\b(WITH\s+ROLLUP)\b`)
	// compoundUnit is one of an interval; behind a parenthesis it is what EXTRACT takes from a time.
	compoundUnit = regexp.MustCompile(`(?i)(\(\s*)?\b(YEAR_MONTH|DAY_(?:HOUR|MINUTE|SECOND|MICROSECOND)|HOUR_(?:MINUTE|SECOND|MICROSECOND)|MINUTE_(?:SECOND|MICROSECOND)|SECOND_MICROSECOND)\b`)
	// alterView has no rest, which is CREATE VIEW's.
	alterView = regexp.MustCompile(`(?is)^\s*(ALTER)\b(?:\s+(?:ALGORITHM\s*=\s*\w+|DEFINER\s*=\s*\S+|SQL\s+SECURITY\s+\w+))*\s+VIEW\b`)
	// snapshot is one beside another characteristic of a transaction; alone, the parser knows it.
	snapshot      = regexp.MustCompile(`(?i)^\s*START\s+TRANSACTION\s+(?:(WITH\s+CONSISTENT\s+SNAPSHOT\s*,)|READ\s+\w+\s*(,\s*WITH\s+CONSISTENT\s+SNAPSHOT))`)
	schemas       = regexp.MustCompile(`(?i)^\s*SHOW\s+(SCHEMAS)\b`)
	collatedNames = regexp.MustCompile(`(?i)^\s*SET\b(?:[^;]*,)?\s*NAMES\s+(\w+)\s+(COLLATE)\s+(\w+)`)
)

// forms writes forms that the parser does not know as such that mean the same:
//
//   - IS UNKNOWN is IS NULL; = ANY (SELECT …) is IN, and <> ALL (SELECT …) NOT IN. Other comparisons with ANY, SOME or ALL are
//     refused, with what to write instead.
//   - WITH ROLLUP is one more name to group by (rollUp).
//   - DATE'…' is a call, and compound units of intervals are names in backticks.
//   - SUBSTRING(a FROM b FOR c) is SUBSTRING(a, b, c), and a SOUNDS LIKE b is SOUNDEX(a) = SOUNDEX(b).
//   - ALTER VIEW is CREATE OR REPLACE VIEW of one that there is (Source.AltersView).
//   - START TRANSACTION READ ONLY, WITH CONSISTENT SNAPSHOT is one without: the snapshot is a statement's.
//   - SHOW SCHEMAS is SHOW DATABASES.
//   - SET NAMES … COLLATE sets the collation after the rest, as the parser leaves it out.
func forms(text string, ansiQuotes bool) ([]change, error) {
	if !mayHaveForms.MatchString(text) {
		return nil, nil
	}
	bare := bareText(text, ansiQuotes)
	var changes []change
	if m := schemas.FindStringSubmatchIndex(bare); m != nil {
		changes = append(changes, change{m[2], m[3], "DATABASES"})
	}
	if m := alterView.FindStringSubmatchIndex(bare); m != nil {
		changes = append(changes, change{m[2], m[3], "CREATE OR REPLACE"})
	}
	if m := snapshot.FindStringSubmatchIndex(bare); m != nil {
		from, to := max(m[2], m[4]), max(m[3], m[5])
		changes = append(changes, change{from, to, ""})
	}
	changes = append(changes, soundsLike(bare)...)
	changes = append(changes, substringParts(bare)...)
	for _, m := range isUnknown.FindAllStringSubmatchIndex(bare, -1) {
		changes = append(changes, change{m[4], m[5], "NULL"})
	}
	for _, m := range quantified.FindAllStringSubmatchIndex(bare, -1) {
		op, word := bare[m[2]:m[3]], strings.ToUpper(bare[m[6]:m[7]])
		switch {
		case m[2] > 0 && strings.ContainsRune("<>=!:", rune(bare[m[2]-1])): // <=> or :=, which take none
		case op == "=" && word != "ALL":
			changes = append(changes, change{m[2], m[7], " IN "})
		case (op == "<>" || op == "!=") && word == "ALL":
			changes = append(changes, change{m[2], m[7], " NOT IN "})
		default:
			return nil, sqlerr.New(1235, "42000", "This version of Millrace doesn't yet support '%s %s (SELECT …)': compare with (SELECT MIN(…) …) or (SELECT MAX(…) …), or write EXISTS", op, word)
		}
	}
	for _, m := range timeLiteral.FindAllStringSubmatchIndex(bare, -1) {
		if c, ok := literalOfTime(text, bare, m, ansiQuotes); ok {
			changes = append(changes, c...)
		}
	}
	for _, m := range compoundUnit.FindAllStringSubmatchIndex(bare, -1) {
		if m[2] < 0 { // the parser takes names for units
			changes = append(changes, change{m[4], m[5], "`" + strings.ToUpper(bare[m[4]:m[5]]) + "`"})
		}
	}
	for _, m := range withRollup.FindAllStringSubmatchIndex(bare, -1) {
		changes = append(changes, change{m[2], m[3], ", `" + rollupMarker + "`"})
	}
	for _, m := range collatedNames.FindAllStringSubmatchIndex(bare, -1) {
		c, err := collate(text[m[2]:m[3]], text[m[6]:m[7]])
		if err != nil {
			return nil, err
		}
		changes = append(changes, change{m[4], m[7], c})
	}
	slices.SortStableFunc(changes, func(a, b change) int { return a.from - b.from })
	return changes, nil
}

// AltersView says whether what was written is ALTER VIEW.
func (s *Source) AltersView(ansiQuotes bool) bool {
	return alterView.MatchString(bareText(s.original, ansiQuotes))
}

// notBeforeLiteral are words behind which DATE, TIME or TIMESTAMP with a text is another form, or the word is a name.
var notBeforeLiteral = map[string]bool{".": true, "@": true, "`": true, "OF": true, "DEFAULT": true}

// literalOfTime makes a call of DATE'…', TIME'…' or TIMESTAMP'…'.
func literalOfTime(text, bare string, m []int, ansiQuotes bool) ([]change, bool) {
	if m[2] >= 0 && notBeforeLiteral[strings.ToUpper(text[m[2]:m[3]])] {
		return nil, false
	}
	if q := text[m[6]]; q != '\'' && (q != '"' || ansiQuotes) {
		return nil, false
	}
	end := m[6] + 1 // two texts one behind the other are one
	for end < m[7] && text[end] != text[m[6]] {
		if text[end] == '\\' {
			end++
		}
		end++
	}
	if end != m[7]-1 {
		return nil, false
	}
	name := "`" + sqlfn.NameTimeLiteral + strings.ToLower(bare[m[4]:m[5]]) + "`("
	return []change{{m[4], m[6], name}, {m[7], m[7], ")"}}, true
}

// collate is what in a SET sets the collation that a SET NAMES asks for beside its character set.
func collate(charset, collation string) (string, error) {
	charset, collation = strings.ToLower(strings.Trim(charset, `'"`)), strings.ToLower(strings.Trim(collation, `'"`))
	if collation == "default" || charset == "default" {
		return "", nil
	}
	c, err := sql.ParseCollation("", collation, false)
	if err != nil {
		return "", err
	}
	if set, err := sql.ParseCharacterSet(charset); err == nil && c.CharacterSet() != set {
		return "", sql.ErrCollationInvalidForCharSet.New(collation, charset)
	}
	return ", collation_connection = '" + collation + "'", nil
}

// bareText is text, as long, without what stands in quotes and comments.
func bareText(text string, ansiQuotes bool) string {
	out := []byte(text)
	blank := func(from, to int, with byte) {
		for i := from; i < min(to, len(out)); i++ {
			out[i] = with
		}
	}
	skip := func(i int, end string) int {
		j := strings.Index(text[i:], end)
		if j < 0 {
			return len(text)
		}
		return i + j + len(end)
	}
	for i := 0; i < len(text); {
		from := i
		switch c := text[i]; {
		case c == '`' || c == '"' && ansiQuotes:
			i = skip(i+1, text[i:i+1])
			blank(from, i, 'q')
		case c == '\'' || c == '"':
			for i++; i < len(text) && text[i] != c; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(text))
			blank(from, i, 'q')
		case c == '#', strings.HasPrefix(text[i:], "--") && (i+2 == len(text) || text[i+2] <= ' ' || text[i+2] == 0x7f):
			i = skip(i, "\n")
			blank(from, i, ' ')
		case strings.HasPrefix(text[i:], "/*") && !strings.HasPrefix(text[i:], "/*!"):
			i = skip(i+2, "*/")
			blank(from, i, ' ')
		default:
			i++
		}
	}
	return string(out)
}
