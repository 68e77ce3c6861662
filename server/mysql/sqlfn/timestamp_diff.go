package sqlfn

import (
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
)

// timestampDiff is how many whole units lie from the second argument to the third.
func timestampDiff(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
	unit, _ := args[0].(string)
	from, ok1 := wallTime(ctx, args[1])
	to, ok2 := wallTime(ctx, args[2])
	if !ok1 || !ok2 {
		return nil, nil
	}
	sign := int64(1)
	if to.Before(from) {
		from, to, sign = to, from, -1
	}
	seconds, nanos := to.Unix()-from.Unix(), int64(to.Nanosecond()-from.Nanosecond())
	if nanos < 0 {
		seconds, nanos = seconds-1, nanos+int64(time.Second)
	}
	switch strings.TrimPrefix(strings.ToLower(unit), "sql_tsi_") {
	case "microsecond":
		return sign * (seconds*1e6 + nanos/1e3), nil
	case "second":
		return sign * seconds, nil
	case "minute":
		return sign * (seconds / 60), nil
	case "hour":
		return sign * (seconds / 3600), nil
	case "day":
		return sign * (seconds / 86400), nil
	case "week":
		return sign * (seconds / (7 * 86400)), nil
	case "month":
		return sign * wholeMonths(from, to), nil
	case "quarter":
		return sign * (wholeMonths(from, to) / 3), nil
	case "year":
		return sign * (wholeMonths(from, to) / 12), nil
	}
	return nil, sql.ErrInvalidArgumentDetails.New("TIMESTAMPDIFF", unit)
}

// wholeMonths are those from one time to a later one. A month ends at the same day and time of the next one.
func wholeMonths(from, to time.Time) int64 {
	n := int64(to.Year()-from.Year())*12 + int64(to.Month()-from.Month())
	clock := func(t time.Time) time.Duration {
		return time.Duration(t.Day())*24*time.Hour + time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
	}
	if clock(to) < clock(from) {
		n--
	}
	return n
}
