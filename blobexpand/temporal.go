package blobexpand

// Reading ISO 8601, in all spellings of a calendar, ordinal or week date with or
// without a time of day, and MySQL's own spelling with a space. Everything is
// exact: digits below a microsecond must be zeros.

const (
	microsPerSecond = 1_000_000
	microsPerDay    = 86_400 * microsPerSecond
)

// Instant is a parsed date and time, offset already taken off.
type Instant struct {
	Micros  int64 // since 1970-01-01 UTC
	HasTime bool
	Zoned   bool // there was an offset, or a Z
}

// InTimestamp says whether a TIMESTAMP can hold it.
func (t Instant) InTimestamp() bool {
	return t.Micros >= minTimestampMicros && t.Micros <= maxTimestampMicros
}

// ParseInstant reads s as columns of DATE, DATETIME and TIMESTAMP do; ok is false if it is no ISO 8601 date, or not exact in
// microseconds, or outside the years 1 to 9999.
func ParseInstant(s []byte) (t Instant, ok bool) {
	p := textParser{s: s}
	days, ok := p.date()
	if !ok {
		return t, false
	}
	t.Micros = days * microsPerDay
	if p.end() {
		return t, true
	}
	if c := p.peek(); c != 'T' && c != 't' && c != ' ' {
		return t, false
	}
	p.i++
	micros, ok := p.timeOfDay()
	if !ok {
		return t, false
	}
	t.HasTime = true
	t.Micros += micros
	offset, zoned, ok := p.zone()
	if !ok || !p.end() {
		return t, false
	}
	t.Zoned = zoned
	t.Micros -= offset
	if t.Micros < minMicros || t.Micros > maxMicros {
		return t, false
	}
	return t, true
}

// Bounds of MySQL's DATETIME: years 1 to 9999 here.
var (
	minMicros = daysFromCivil(1, 1, 1) * microsPerDay
	maxMicros = daysFromCivil(10000, 1, 1)*microsPerDay - 1
)

// parseTimeSpan reads MySQL's TIME: an optional sign, hours to 838, minutes,
// optionally seconds with a fraction.
func parseTimeSpan(s []byte) (micros int64, ok bool) {
	p := textParser{s: s}
	neg := false
	if c := p.peek(); c == '-' || c == '+' {
		neg = c == '-'
		p.i++
	}
	h, n := p.digits(3)
	if n == 0 || p.peek() != ':' {
		return 0, false
	}
	p.i++
	m, ok := p.fixed(2)
	if !ok || m > 59 {
		return 0, false
	}
	micros = (h*3600 + m*60) * microsPerSecond
	if !p.end() {
		if p.peek() != ':' {
			return 0, false
		}
		p.i++
		sec, ok := p.fixed(2)
		if !ok || sec > 59 {
			return 0, false
		}
		f, ok := p.fraction()
		if !ok || !p.end() {
			return 0, false
		}
		micros += sec*microsPerSecond + f
	}
	if micros > (838*3600+59*60+59)*microsPerSecond {
		return 0, false
	}
	if neg {
		micros = -micros
	}
	return micros, true
}

type textParser struct {
	s []byte
	i int
}

func (p *textParser) end() bool { return p.i >= len(p.s) }

func (p *textParser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

// digits reads up to most digits.
func (p *textParser) digits(most int) (v int64, n int) {
	for n < most && p.i < len(p.s) && p.s[p.i]-'0' < 10 {
		v = v*10 + int64(p.s[p.i]-'0')
		p.i++
		n++
	}
	return v, n
}

// fixed reads exactly n digits.
func (p *textParser) fixed(n int) (int64, bool) {
	v, got := p.digits(n)
	return v, got == n
}

// run counts the digits ahead.
func (p *textParser) run() int {
	n := 0
	for p.i+n < len(p.s) && p.s[p.i+n]-'0' < 10 {
		n++
	}
	return n
}

// date reads YYYY-MM-DD, YYYYMMDD, YYYY-DDD, YYYYDDD, YYYY-Www-D, YYYYWwwD.
func (p *textParser) date() (days int64, ok bool) {
	run := p.run()
	if run != 4 && run != 7 && run != 8 {
		return 0, false
	}
	y, _ := p.fixed(4)
	if y < 1 {
		return 0, false
	}
	extended := false
	if run == 4 && p.peek() == '-' {
		extended = true
		p.i++
	}
	if c := p.peek(); c == 'W' || c == 'w' {
		p.i++
		w, ok := p.fixed(2)
		if !ok || w < 1 || w > 53 {
			return 0, false
		}
		if extended {
			if p.peek() != '-' {
				return 0, false
			}
			p.i++
		}
		d, ok := p.fixed(1)
		if !ok || d < 1 || d > 7 {
			return 0, false
		}
		days = weekDate(y, w, d)
		if w == 53 && days-int64(d-1) >= weekDate(y+1, 1, 1) {
			return 0, false // the year has 52 weeks
		}
		return days, true
	}
	switch run = p.run(); {
	case run == 3:
		n, _ := p.fixed(3)
		if n < 1 || n > 365 && !(n == 366 && leap(y)) {
			return 0, false
		}
		return daysFromCivil(y, 1, 1) + n - 1, true
	case extended && run == 2, !extended && run == 4:
		m, _ := p.fixed(2)
		if extended {
			if p.peek() != '-' {
				return 0, false
			}
			p.i++
		}
		d, ok := p.fixed(2)
		if !ok || m < 1 || m > 12 || d < 1 || d > daysIn(y, m) {
			return 0, false
		}
		return daysFromCivil(y, m, d), true
	}
	return 0, false
}

// timeOfDay reads hh, hh:mm, hh:mm:ss[.fff], hhmm, hhmmss[.fff]; 24:00 is the end of
// the day. (A separator is taken in either date spelling: "20260812T10:00" is
// common.)
func (p *textParser) timeOfDay() (micros int64, ok bool) {
	h, ok := p.fixed(2)
	if !ok || h > 24 {
		return 0, false
	}
	var m, s, f int64
	if c := p.peek(); c == ':' || c-'0' < 10 {
		colon := c == ':'
		if colon {
			p.i++
		}
		if m, ok = p.fixed(2); !ok || m > 59 {
			return 0, false
		}
		if c = p.peek(); colon && c == ':' || !colon && c-'0' < 10 {
			if colon {
				p.i++
			}
			if s, ok = p.fixed(2); !ok || s > 59 {
				return 0, false
			}
			if f, ok = p.fraction(); !ok {
				return 0, false
			}
		}
	}
	if h == 24 && (m != 0 || s != 0 || f != 0) {
		return 0, false
	}
	return (h*3600+m*60+s)*microsPerSecond + f, true
}

// fraction reads an optional fraction of a second.
func (p *textParser) fraction() (micros int64, ok bool) {
	if c := p.peek(); c != '.' && c != ',' {
		return 0, true
	}
	p.i++
	v, n := p.digits(6)
	if n == 0 {
		return 0, false
	}
	for ; n < 6; n++ {
		v *= 10
	}
	for p.peek() == '0' {
		p.i++
	}
	return v, p.peek()-'0' >= 10
}

// zone reads an optional Z or offset.
func (p *textParser) zone() (offsetMicros int64, zoned, ok bool) {
	c := p.peek()
	switch {
	case p.end():
		return 0, false, true
	case c == 'Z' || c == 'z':
		p.i++
		return 0, true, true
	case c != '+' && c != '-':
		return 0, false, false
	}
	p.i++
	h, ok := p.fixed(2)
	if !ok || h > 23 {
		return 0, false, false
	}
	var m int64
	if !p.end() {
		if p.peek() == ':' {
			p.i++
		}
		if m, ok = p.fixed(2); !ok || m > 59 {
			return 0, false, false
		}
	}
	offsetMicros = (h*3600 + m*60) * microsPerSecond
	if c == '-' {
		offsetMicros = -offsetMicros
	}
	return offsetMicros, true, true
}

func leap(y int64) bool { return y%4 == 0 && (y%100 != 0 || y%400 == 0) }

func daysIn(y, m int64) int64 {
	switch m {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if leap(y) {
			return 29
		}
		return 28
	}
	return 31
}

// daysFromCivil counts days from 1970-01-01 in the proleptic Gregorian calendar,
// with years that start in March so that the leap day comes last.
func daysFromCivil(y, m, d int64) int64 {
	if m <= 2 {
		y--
		m += 12
	}
	yearDay := (153*(m-3)+2)/5 + d - 1
	return 365*y + y/4 - y/100 + y/400 + yearDay - 719468
}

// weekDate is day d (1 = Monday) of week w of the ISO year y.
func weekDate(y, w, d int64) int64 {
	jan4 := daysFromCivil(y, 1, 4)    // always in week 1
	monday := jan4 - ((jan4+3)%7+7)%7 // 1970-01-01 was a Thursday
	return monday + (w-1)*7 + d - 1
}
