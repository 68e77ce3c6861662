package exec

import "millrace/internal/vector"

// dateEval computes a part of a date or time of day, once per distinct unit of time in which the part
// does not change (day, hour, minute, second): a small cache remembers the units met last.
type dateEval struct {
	arg   evaluator
	fn    Fn
	unit  floorer // ticks of a unit
	ticks int64
	shift int64 // ticks of the zone's offset
	daily int64 // units a day

	out   column
	ints  []int64
	valid []uint64
	cache [dateCache]dateEntry
}

const dateCache = 256

type dateEntry struct {
	start int64 // ticks at the start of the unit
	used  bool
	value int64
}

func newDatePart(fn Fn, arg evaluator, units, shift int64) *dateEval {
	seconds := int64(86400)
	switch fn {
	case Hour:
		seconds = 3600
	case Minute:
		seconds = 60
	case Second:
		seconds = 1
	}
	e := &dateEval{arg: arg, fn: fn, ticks: seconds * units, shift: shift * units, daily: 86400 / seconds}
	e.unit = newFloorer(e.ticks, -e.shift)
	return e
}

func (e *dateEval) eval(in *input) (*vector.Vector, error) {
	v, err := e.arg.eval(in)
	if err != nil {
		return nil, err
	}
	n := in.n
	x := intsOf(v, n, &e.ints)
	out := e.out.ints(n)
	x = x[:len(out)]
	start, end, value := int64(1), int64(0), int64(0) // the unit of the row before
	for i, t := range x {
		if t < start || t >= end {
			start = e.unit.floor(t)
			end = start + e.ticks
			value = e.part(start)
		}
		out[i] = value
	}
	e.out.setNulls(validOf(v, n, &e.valid))
	return &e.out.v, nil
}

// part is the value of the unit that starts at so many ticks.
func (e *dateEval) part(start int64) int64 {
	slot := &e.cache[uint64(start+e.shift)/uint64(e.ticks)%dateCache]
	if !slot.used || slot.start != start {
		*slot = dateEntry{start: start, used: true, value: e.compute((start + e.shift) / e.ticks)}
	}
	return slot.value
}

// compute is the part of unit number u since 1970.
func (e *dateEval) compute(u int64) int64 {
	switch e.fn {
	case Hour:
		return mod(u, 24)
	case Minute, Second:
		return mod(u, 60)
	case DateOf:
		return u
	case DayOfWeek:
		return mod(u+4, 7) + 1 // 1970-01-01 was a Thursday, number 5
	}
	y, m, d := civil(u)
	switch e.fn {
	case Year:
		return y
	case Month:
		return m
	case Day:
		return d
	case Quarter:
		return (m + 2) / 3
	}
	return u - daysOf(y, 1, 1) + 1
}

func mod(x, m int64) int64 {
	if x %= m; x < 0 {
		x += m
	}
	return x
}

func floorDiv(x, d int64) int64 {
	q := x / d
	if x%d < 0 {
		q--
	}
	return q
}

// civil is the Gregorian date of a day since 1970-01-01. Years are counted from March, so
// that the leap day is the last.
func civil(days int64) (y, m, d int64) {
	days += 719468 // since 0000-03-01
	era := floorDiv(days, 146097)
	day := days - era*146097
	year := (day - day/1460 + day/36524 - day/146096) / 365
	inYear := day - (365*year + year/4 - year/100)
	month := (5*inYear + 2) / 153
	d = inYear - (153*month+2)/5 + 1
	y = year + era*400
	if m = month + 3; m > 12 {
		m -= 12
		y++
	}
	return y, m, d
}

// daysOf is the day since 1970-01-01 of a date.
func daysOf(y, m, d int64) int64 {
	if m <= 2 {
		y--
		m += 12
	}
	era := floorDiv(y, 400)
	year := y - era*400
	inYear := (153*(m-3)+2)/5 + d - 1
	return era*146097 + year*365 + year/4 - year/100 + inYear - 719468
}
