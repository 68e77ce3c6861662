package sqlfn

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// timeFormat is TIME_FORMAT, whose hours may be more than 23 or negative; the engine's makes a time of day of them first. Of a date there
// is nothing in a TIME: its numbers are 0, and NULL is the answer to names, weeks and days of the year.
func timeFormat() sql.Function {
	return scalarFunction(scalar{name: "time_format", strict: true, typeOf: fixed(types.LongText), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
		c, ok := timeOf(ctx, args[0], exprs[0].Type())
		if !ok {
			return nil, nil
		}
		format, err := ToText(ctx, args[1], exprs[1].Type())
		if err != nil || format == "" {
			return nil, err
		}
		if 8*len(format) > maxFunctionBytes { // %r has as many letters
			return tooLong(ctx, "time_format"), nil
		}
		s, ok := spellTime(c.micros, format)
		if !ok {
			return nil, nil
		}
		return s, nil
	}}, 2, 2)
}

func spellTime(micros int64, format string) (string, bool) {
	var out strings.Builder
	if micros < 0 {
		micros = -micros
		out.WriteByte('-')
	}
	seconds := micros / microsPerSecond
	hour, minute, second := seconds/3600, seconds/60%60, seconds%60
	hour12, half := (hour+11)%12+1, "AM"
	if hour%24 >= 12 {
		half = "PM"
	}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			out.WriteByte(format[i])
			continue
		}
		i++
		switch format[i] {
		case 'H':
			fmt.Fprintf(&out, "%02d", hour)
		case 'k':
			fmt.Fprintf(&out, "%d", hour)
		case 'h', 'I':
			fmt.Fprintf(&out, "%02d", hour12)
		case 'l':
			fmt.Fprintf(&out, "%d", hour12)
		case 'i':
			fmt.Fprintf(&out, "%02d", minute)
		case 's', 'S':
			fmt.Fprintf(&out, "%02d", second)
		case 'f':
			fmt.Fprintf(&out, "%06d", micros%microsPerSecond)
		case 'p':
			out.WriteString(half)
		case 'r':
			fmt.Fprintf(&out, "%02d:%02d:%02d %s", hour12, minute, second, half)
		case 'T':
			fmt.Fprintf(&out, "%02d:%02d:%02d", hour, minute, second)
		case 'Y':
			out.WriteString("0000")
		case 'y', 'm', 'd':
			out.WriteString("00")
		case 'c', 'e':
			out.WriteByte('0')
		case 'D':
			out.WriteString("0th")
		case 'M', 'b', 'W', 'a', 'j', 'U', 'u', 'V', 'v', 'X', 'x', 'w':
			return "", false
		default:
			out.WriteByte(format[i])
		}
	}
	return out.String(), true
}
