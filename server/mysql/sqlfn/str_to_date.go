package sqlfn

import (
	"strings"
	"time"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// strToDate is STR_TO_DATE: a DATE, TIME or DATETIME by what its format reads, and DATETIME(6) where the format is not known. Other than the
// engine's it knows PM, fractions, digits without anything between them, and weeks; what is no date of the calendar is NULL.
func strToDate() sql.Function {
	return scalarFunction(scalar{name: "str_to_date", strict: true, typeOf: func(args []sql.Expression) sql.Type {
		if literal, ok := args[1].(*expression.Literal); ok {
			if format, ok := literal.Value().(string); ok {
				return dateFormatType(format)
			}
		}
		return types.DatetimeMaxPrecision
	}, eval: func(ctx *sql.Context, values []any, exprs []sql.Expression) (any, error) {
		text, err := ToText(ctx, values[0], exprs[0].Type())
		if err != nil {
			return nil, err
		}
		format, err := ToText(ctx, values[1], exprs[1].Type())
		if err != nil {
			return nil, err
		}
		p := &dateParts{text: text, week: -1, weekYear: -1}
		incorrect := func(kind string) (any, error) {
			ctx.Warn(1411, "Incorrect %s value: '%s' for function str_to_date", kind, sqlerr.Clip(text))
			return nil, nil
		}
		typ := dateFormatType(format)
		if !p.read(format) || !p.complete() {
			return incorrect("datetime")
		}
		if rest := strings.TrimSpace(p.text); rest != "" {
			ctx.Warn(1292, "Truncated incorrect datetime value: '%s'", sqlerr.Clip(text))
		}
		if types.IsTimespan(typ) {
			return types.Timespan(clampTime(ctx, (int64(p.day)*86_400+int64(p.seconds()))*microsPerSecond+int64(p.micros))), nil
		}
		at := time.Date(p.year, time.Month(p.month), p.day, 0, 0, 0, 0, time.UTC)
		if p.year == 0 || at.Day() != p.day || at.Month() != time.Month(p.month) {
			return incorrect("datetime")
		}
		if types.IsDateType(typ) {
			return at, nil
		}
		return at.Add(time.Duration(p.seconds())*time.Second + time.Duration(p.micros)*time.Microsecond), nil
	}}, 2, 2)
}

// dateFormatType is the type of what format reads. A day alone beside a time is one more of its hours, as in TIME '1 02:00:00'.
func dateFormatType(format string) sql.Type {
	var date, clock, fraction bool
	for i := 0; i+1 < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		date = date || strings.IndexByte("MVUXYWabcjmvuxyw", format[i]) >= 0
		clock = clock || strings.IndexByte("HISThiklrsp", format[i]) >= 0
		fraction = fraction || format[i] == 'f'
	}
	digits := 0
	if fraction {
		digits = 6
	}
	switch {
	case date && (clock || fraction):
		return types.MustCreateDatetimeType(sqltypes.Datetime, digits)
	case clock || fraction:
		return types.Time
	}
	return types.Date
}

// dateParts are what STR_TO_DATE has read, and the text that is left.
type dateParts struct {
	text                      string
	year, month, day, yearDay int
	hour, minute, second      int
	micros                    int
	afternoon                 int  // 12 of PM
	halfDays                  bool // the hour is 1 to 12
	weekday                   int  // 1 is Monday, 7 Sunday; 0: not there
	week, weekYear            int  // -1: not there
	sunday, strict            bool // weeks begin on Sunday; the week is of weekYear
	yearSunday                bool // weekYear's weeks begin on Sunday
}

// seconds of the day.
func (p *dateParts) seconds() int { return p.hour*3600 + p.minute*60 + p.second }

// read takes from the text what format says; false: it is something else. Spaces before each part are left out on both sides, and a text
// may end before its format does.
func (p *dateParts) read(format string) bool {
	for i := 0; i < len(format); i++ {
		p.text = strings.TrimLeft(p.text, " \t\r\n\f\v")
		if p.text == "" {
			break
		}
		switch c := format[i]; {
		case c == '%' && i+1 < len(format):
			i++
			if !p.part(format[i]) {
				return false
			}
		case strings.IndexByte(" \t\r\n\f\v", c) >= 0:
		case p.text[0] != c:
			return false
		default:
			p.text = p.text[1:]
		}
	}
	return true
}

// number reads at most so many digits into n; the count of them is 0 where there is none.
func (p *dateParts) number(n *int, most int) (digits int) {
	*n = 0
	for digits < most && digits < len(p.text) && p.text[digits] >= '0' && p.text[digits] <= '9' {
		*n = *n*10 + int(p.text[digits]-'0')
		digits++
	}
	p.text = p.text[digits:]
	return digits
}

func (p *dateParts) part(c byte) bool {
	switch c {
	case 'Y', 'y':
		digits := p.number(&p.year, map[byte]int{'Y': 4, 'y': 2}[c])
		if digits < 3 && p.year < 70 {
			p.year += 2000
		} else if digits < 3 {
			p.year += 1900
		}
		return digits > 0
	case 'm', 'c':
		return p.number(&p.month, 2) > 0
	case 'd', 'e':
		return p.number(&p.day, 2) > 0
	case 'D': // with two letters behind it
		ok := p.number(&p.day, 2) > 0
		p.text = p.text[min(2, len(p.text)):]
		return ok
	case 'j':
		return p.number(&p.yearDay, 3) > 0
	case 'M', 'b':
		p.month = p.word(12, func(n int) string { return time.Month(n).String() }, c == 'b')
		return p.month > 0
	case 'W', 'a':
		p.weekday = p.word(7, func(n int) string { return time.Weekday(n % 7).String() }, c == 'a')
		return p.weekday > 0
	case 'w':
		ok := p.number(&p.weekday, 1) > 0 && p.weekday < 7
		if p.weekday == 0 {
			p.weekday = 7
		}
		return ok
	case 'U', 'u', 'V', 'v':
		p.sunday, p.strict = c == 'U' || c == 'V', c == 'V' || c == 'v'
		return p.number(&p.week, 2) > 0 && p.week <= 53 && (p.week > 0 || !p.strict)
	case 'X', 'x':
		p.yearSunday = c == 'X'
		return p.number(&p.weekYear, 4) > 0
	case 'H', 'k':
		return p.number(&p.hour, 2) > 0
	case 'h', 'I', 'l':
		p.halfDays = true
		return p.number(&p.hour, 2) > 0
	case 'i':
		return p.number(&p.minute, 2) > 0
	case 's', 'S':
		return p.number(&p.second, 2) > 0
	case 'f':
		digits := p.number(&p.micros, 6)
		for i := digits; i < 6; i++ {
			p.micros *= 10
		}
		return digits > 0
	case 'p':
		if !p.halfDays || len(p.text) < 2 {
			return false
		}
		half := strings.ToUpper(p.text[:2])
		if p.text = p.text[2:]; half == "PM" {
			p.afternoon = 12
		}
		return half == "AM" || half == "PM"
	case 'r':
		return p.read("%I:%i:%S %p")
	case 'T':
		return p.read("%H:%i:%S")
	case '.':
		p.text = strings.TrimLeft(p.text, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
		return true
	case '@':
		p.text = p.text[len(letters(p.text)):]
		return true
	case '#':
		p.text = strings.TrimLeft(p.text, "0123456789")
		return true
	}
	return false
}

// letters that s begins with.
func letters(s string) string {
	n := 0
	for n < len(s) && (s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z') {
		n++
	}
	return s[:n]
}

// word reads one of the names of 1 to most, or its first three letters if they are short; 0: it is none.
func (p *dateParts) word(most int, name func(int) string, short bool) int {
	w := letters(p.text)
	for n := 1; n <= most; n++ {
		full := name(n)
		if short {
			full = full[:3]
		}
		if strings.EqualFold(w, full) {
			p.text = p.text[len(w):]
			return n
		}
	}
	return 0
}

// complete computes the hour and the date from the parts that say them otherwise; false: they are out of range.
func (p *dateParts) complete() bool {
	if p.halfDays {
		if p.hour < 1 || p.hour > 12 {
			return false
		}
		p.hour = p.hour%12 + p.afternoon
	}
	if p.yearDay > 0 {
		p.setDate(time.Date(p.year, 1, p.yearDay, 0, 0, 0, 0, time.UTC))
	}
	if p.week >= 0 && p.weekday > 0 {
		year := p.year
		switch {
		case p.strict && (p.weekYear < 0 || p.yearSunday != p.sunday), !p.strict && p.weekYear >= 0:
			return false
		case p.strict:
			year = p.weekYear
		}
		first := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		var days int // from the first of January to the weekday of week p.week
		if p.sunday {
			days = (7-int(first.Weekday()))%7 + (p.week-1)*7 + p.weekday%7
		} else {
			monday := (int(first.Weekday()) + 6) % 7
			days = -monday + (p.week-1)*7 + p.weekday - 1
			if monday > 3 {
				days += 7
			}
		}
		p.setDate(first.AddDate(0, 0, days))
	}
	return p.year <= 9999 && p.month <= 12 && p.day <= 31 && p.hour <= 23 && p.minute <= 59 && p.second <= 59
}

func (p *dateParts) setDate(t time.Time) { p.year, p.month, p.day = t.Year(), int(t.Month()), t.Day() }
