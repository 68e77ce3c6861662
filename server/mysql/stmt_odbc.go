package mysql

import (
	"regexp"
	"strings"
)

// MariaDB's ODBC driver asks for columns (SQLColumns, SQLSpecialColumns) with variables assigned in the select
// list, which the parser does not know: a type's number is @dt in every branch of a CASE, and is used by
// later items. In general that is no more than an order of evaluation that MySQL warns of; in the driver's
// statements a variable is always the value of the item that assigns it, so that item can stand for it.
var (
	odbcCatalog    = regexp.MustCompile(`(?is)^SELECT\s+((?:TABLE_SCHEMA AS TABLE_CAT|NULL AS SCOPE)\b.*@dt\s*:=.*?)(\s+FROM INFORMATION_SCHEMA\.COLUMNS\b.*)$`)
	odbcAssignment = regexp.MustCompile(`@(\w+)\s*:=`)
	odbcVariable   = regexp.MustCompile(`@\w+`)
	odbcAlias      = regexp.MustCompile(`(?is)\s+AS\s+\w+\s*$`)
)

// withoutAssignments is the driver's statement with each variable replaced by what it is.
func withoutAssignments(m []string) string {
	values := map[string]string{}
	items := topLevelItems(m[1])
	for i, item := range items {
		assigned := odbcAssignment.FindStringSubmatch(item)
		item = odbcAssignment.ReplaceAllString(item, "")
		item = odbcVariable.ReplaceAllStringFunc(item, func(name string) string {
			if v, ok := values[strings.ToLower(name)]; ok {
				return "(" + v + ")"
			}
			return name
		})
		if assigned != nil {
			values["@"+strings.ToLower(assigned[1])] = odbcAlias.ReplaceAllString(item, "")
		}
		items[i] = item
	}
	return "SELECT " + strings.Join(items, ",") + m[2]
}

// topLevelItems splits a select list at the commas outside of parentheses and quotes.
func topLevelItems(list string) []string {
	var items []string
	depth, from, quoted := 0, 0, false
	for i := range len(list) {
		switch c := list[i]; {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			items, from = append(items, list[from:i]), i+1
		}
	}
	return append(items, list[from:])
}
