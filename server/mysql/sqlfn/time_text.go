package sqlfn

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
)

// NameTimeText is put around the times that functions take; no user can write its name unquoted.
const NameTimeText = "millrace time text"

var looseTime = regexp.MustCompile(`^\s*(\d{4})[-/.:^@](\d{1,2})[-/.:^@](\d{1,2})(?:[ T]+(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(\.\d+)?)?)?)?\s*$`)

// timeText spells a time with dashes and colons and all digits, those behind the sixth of a second rounded; other text stays.
func timeText(s string) string {
	if !strings.ContainsAny(s, "/.:^@ ") { // a date with dashes, or none
		return s
	}
	m := looseTime.FindStringSubmatch(s)
	if m == nil {
		return s
	}
	part := func(i int) int {
		n, err := strconv.Atoi(m[i])
		if err != nil {
			return 0 // not there
		}
		return n
	}
	date := fmt.Sprintf("%s-%02d-%02d", m[1], part(2), part(3))
	if m[4] == "" {
		return date
	}
	text := fmt.Sprintf("%s %02d:%02d:%02d", date, part(4), part(5), part(6))
	if len(m[7]) < 8 {
		return text + m[7]
	}
	at, err := time.Parse(time.DateTime, text)
	if err != nil {
		return s
	}
	return at.Add(time.Duration(fractionMicros(m[7])) * time.Microsecond).Format("2006-01-02 15:04:05.000000")
}

// timeTextFunctions change text, and leave what is a time already.
func timeTextFunctions() []sql.Function {
	return []sql.Function{scalarFunction(scalar{
		name: NameTimeText, text: asArgument, strict: true,
		typeOf: func(args []sql.Expression) sql.Type { return args[0].Type() },
		eval: func(_ *sql.Context, args []any, _ []sql.Expression) (any, error) {
			if s, ok := args[0].(string); ok {
				return timeText(s), nil
			}
			return args[0], nil
		},
	}, 1, 1)}
}
