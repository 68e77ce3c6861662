package sqltable

import (
	"fmt"
	"strconv"
	"time"
	_ "time/tzdata" // named zones on machines without a zone database

	"github.com/dolthub/go-mysql-server/sql"
)

// Zone converts between instants and the wall time of a session. It caches the
// offset in force and is used by one goroutine.
type Zone struct {
	loc        *time.Location
	from, to   int64 // Unix seconds, [from, to), in which offset holds
	offsetSecs int64
}

// SessionZone is the zone of the session's time_zone.
func SessionZone(ctx *sql.Context) (*Zone, error) {
	v, err := ctx.GetSessionVariable(ctx, "time_zone")
	if err != nil {
		return nil, err
	}
	name, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("time_zone is not text but %T", v)
	}
	loc, err := ParseZone(name)
	if err != nil {
		return nil, err
	}
	return &Zone{loc: loc}, nil
}

// ParseZone reads a MySQL time zone: SYSTEM, an offset such as +05:30, or a name. A name costs
// a look into the zone database.
func ParseZone(name string) (*time.Location, error) {
	if name == "SYSTEM" {
		return time.Local, nil
	}
	if len(name) > 1 && (name[0] == '+' || name[0] == '-') {
		for i := 1; i < len(name); i++ {
			if name[i] != ':' {
				continue
			}
			h, err1 := strconv.Atoi(name[1:i])
			m, err2 := strconv.Atoi(name[i+1:])
			if err1 == nil && err2 == nil && h <= 14 && m < 60 {
				secs := h*3600 + m*60
				if name[0] == '-' {
					secs = -secs
				}
				return time.FixedZone(name, secs), nil
			}
		}
	}
	loc, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" { // the latter two are Go's, not MySQL's
		return nil, fmt.Errorf("unknown or incorrect time zone: '%s'", name)
	}
	return loc, nil
}

// offset in seconds at an instant.
func (z *Zone) offset(unixSecs int64) int64 {
	if unixSecs >= z.from && unixSecs < z.to {
		return z.offsetSecs
	}
	t := time.Unix(unixSecs, 0).In(z.loc)
	_, off := t.Zone()
	start, end := t.ZoneBounds()
	z.from, z.to = -1<<62, 1<<62
	if !start.IsZero() {
		z.from = start.Unix()
	}
	if !end.IsZero() {
		z.to = end.Unix()
	}
	z.offsetSecs = int64(off)
	return z.offsetSecs
}

// Wall is the wall time of an instant given in Unix microseconds, as a time.Time
// whose UTC fields are that wall time.
func (z *Zone) Wall(unixMicros int64) time.Time {
	secs := floorDiv(unixMicros, 1e6)
	return time.UnixMicro(unixMicros + z.offset(secs)*1e6).UTC()
}

// wallWindowSecs is how far around a wall time changes of offset are looked for: no
// offset in use exceeds it.
const wallWindowSecs = 26 * 3600

// Instant is the inverse of Wall: the instant, in Unix microseconds, whose wall time
// is t. exact is false when the offset changes nearby; there the order of wall times
// is not that of instants, and the caller must not translate comparisons. earliest
// and latest then bound the instants that can be meant.
func (z *Zone) Instant(t time.Time) (earliest, latest int64, exact bool) {
	wall := t.UnixMicro()
	secs := floorDiv(wall, 1e6)
	lo, hi := z.offset(secs-wallWindowSecs), z.offset(secs-wallWindowSecs)
	// Step over every zone period in the window.
	for at := secs - wallWindowSecs; at <= secs+wallWindowSecs; {
		o := z.offset(at)
		lo, hi = min(lo, o), max(hi, o)
		if z.to > secs+wallWindowSecs {
			break
		}
		at = z.to
	}
	return wall - hi*1e6, wall - lo*1e6, lo == hi
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Fixed says that the zone's offset never changes, so that wall times have the order
// of instants.
func (z *Zone) Fixed() bool {
	z.offset(0)
	return z.from <= -1<<62 && z.to >= 1<<62
}

// Step is the largest number of seconds of which seconds and all offsets of the zone since 1970 are
// multiples: over as much, from one multiple to the next, neither the offset changes
// nor a wall clock passes a multiple of seconds.
func (z *Zone) Step(seconds int64) int64 {
	// The last change that a zone's rules tell of; from then on only the same two alternate.
	const until = 2145916800 // 2038
	step := seconds
	for at := int64(0); at < until; {
		step = gcd(step, z.offset(at))
		if z.to >= until {
			break
		}
		step = gcd(step, z.to)
		at = z.to
	}
	return step
}

func gcd(a, b int64) int64 {
	if b < 0 {
		b = -b
	}
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
