// Package interval moves times by INTERVALs as MySQL does, by the calendar and within the years that there are.
package interval

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql/expression"
)

// What more of each unit leaves all years that there are. MostSeconds is of any time.
const (
	mostYears   = 10_000
	mostMonths  = 12 * mostYears
	mostDays    = 366 * mostYears
	mostHours   = 24 * mostDays
	mostMinutes = 60 * mostHours
	MostSeconds = 60 * mostMinutes
	mostMicros  = 1_000_000 * MostSeconds
)

// Add is t and, with sign 1 or -1, d later or earlier; false when that is outside of the years 0 to 9999.
func Add(t time.Time, d *expression.TimeDelta, sign int64) (time.Time, bool) {
	for _, part := range [...]struct{ n, most int64 }{
		{d.Years, mostYears},
		{d.Months, mostMonths},
		{d.Days, mostDays},
		{d.Hours, mostHours},
		{d.Minutes, mostMinutes},
		{d.Seconds, MostSeconds},
		{d.Microseconds, mostMicros},
	} {
		if part.n > part.most || part.n < -part.most {
			return t, false
		}
	}
	inYears := func() bool { return t.Year() >= 0 && t.Year() <= 9999 }
	t = addMonths(t, sign*(12*d.Years+d.Months))
	if !inYears() {
		return t, false
	}
	seconds := d.Days*86400 + d.Hours*3600 + d.Minutes*60 + d.Seconds + d.Microseconds/1_000_000 // below 2^42
	micros := d.Microseconds % 1_000_000
	t = time.Unix(t.Unix()+sign*seconds, int64(t.Nanosecond())+sign*micros*1000).In(t.Location())
	return t, inYears()
}

// addMonths is t so many months later, or earlier, at the same day or the last of a month that has no such day. The engine's
// is a year late where that is a December after t's year.
func addMonths(t time.Time, months int64) time.Time {
	if months == 0 {
		return t
	}
	year, month, day := t.Date()
	first := time.Date(year, month+time.Month(months), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(day, last)-1)
}
