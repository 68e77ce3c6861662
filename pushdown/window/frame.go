package window

import (
	"math"
	"sort"
	"strings"
	"time"

	"millrace/pushdown/interval"
	"millrace/pushdown/number"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	vtmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/shopspring/decimal"
)

// MySQL's numbers for frames that there are not.
const (
	erWindowFrameBound   = 3586 // negative, NULL or of non-integral type
	erWindowRangeOrder   = 3587 // not exactly one ORDER BY expression of numeric or temporal type
	erWindowRangeNoUnit  = 3588 // a time without INTERVAL
	erWindowRangeNoTime  = 3589 // a number with INTERVAL
	unnamedWindow        = "<unnamed window>"
	windowErrorState     = "HY000"
	errFrameBoundText    = "Window '%s': frame start or end is negative, NULL or of non-integral type"
	errRangeOrderText    = "Window '%s' with RANGE N PRECEDING/FOLLOWING frame requires exactly one ORDER BY expression, of numeric or temporal type"
	errRangeTemporalText = "Window '%s' with RANGE frame has ORDER BY expression of datetime type. Only INTERVAL bound value allowed."
	errRangeNumericText  = "Window '%s' with RANGE frame has ORDER BY expression of numeric type, INTERVAL bound value not allowed."
)

func errWindow(number int, text string) error {
	return vtmysql.NewSQLError(number, windowErrorState, text, unnamedWindow)
}

// Frame is which rows around the current one a function looks at.
type Frame struct {
	byRows     bool // else by values, where peers stay together
	start, end bound
}

// bound is one end of a frame: n rows, or values, before or after the current row; without n the row itself,
// with its peers in frames by values.
type bound struct {
	unbounded bool
	n         sql.Expression
	before    bool
}

// FrameOf is the frame of a window: by default from the partition's start to the current row and its peers.
func FrameOf(w *sql.WindowDefinition) Frame {
	f := w.Frame
	if f == nil {
		return Frame{start: bound{unbounded: true}}
	}
	out := Frame{byRows: strings.HasPrefix(f.String(), "ROWS")}
	out.start = bound{unbounded: f.UnboundedPreceding()}
	if n := f.StartNPreceding(); n != nil {
		out.start.n, out.start.before = n, true
	} else {
		out.start.n = f.StartNFollowing()
	}
	out.end = bound{unbounded: f.UnboundedFollowing()}
	if n := f.EndNPreceding(); n != nil {
		out.end.n, out.end.before = n, true
	} else {
		out.end.n = f.EndNFollowing()
	}
	return out
}

// ByRows says that the ends are counted in rows; else by values, where peers stay together.
func (f Frame) ByRows() bool { return f.byRows }

// Growing says that the frame begins with the partition, and ends with it or the current row.
func (f Frame) Growing() bool { return f.start.unbounded && f.start.n == nil && f.end.n == nil }

// ToEnd says that it ends with the partition.
func (f Frame) ToEnd() bool { return f.end.unbounded }

// framer finds the frames of one partition's rows. From row to row, neither end of a frame moves back.
type framer struct {
	Frame
	p          *partition
	rows       [2]int // of ROWS: how far the ends are from the current row
	values     axis   // of RANGE with n
	start, end func(value any) any
}

func (p *partition) framer(ctx *sql.Context, f Frame) (*framer, error) {
	out := &framer{Frame: f, p: p}
	if f.byRows {
		for i, b := range [...]bound{f.start, f.end} {
			n, err := b.count(ctx)
			if err != nil {
				return nil, err
			}
			if b.before {
				n = -n
			}
			out.rows[i] = n
		}
		return out, nil
	}
	if f.start.n == nil && f.end.n == nil {
		return out, nil
	}
	err := out.values.open(p)
	if err != nil {
		return nil, err
	}
	if out.start, err = out.values.shift(ctx, f.start); err != nil {
		return nil, err
	}
	out.end, err = out.values.shift(ctx, f.end)
	return out, err
}

// count is a number of rows.
func (b bound) count(ctx *sql.Context) (int, error) {
	if b.n == nil {
		return 0, nil
	}
	if !types.IsInteger(b.n.Type()) {
		return 0, errWindow(erWindowFrameBound, errFrameBoundText)
	}
	v, err := b.n.Eval(ctx, nil)
	if err != nil {
		return 0, err
	}
	if v == nil {
		return 0, errWindow(erWindowFrameBound, errFrameBoundText)
	}
	d, ok := number.Decimal(v)
	if !ok || d.Sign() < 0 {
		return 0, errWindow(erWindowFrameBound, errFrameBoundText)
	}
	if !d.LessThan(decimal.NewFromInt(math.MaxInt32)) {
		return math.MaxInt32, nil // more rows than there can be
	}
	return int(d.IntPart()), nil
}

// at is the frame [start, end) of the row at a position of the partition.
func (f *framer) at(pos int) (start, end int, err error) {
	n := len(f.p.rows)
	if f.byRows {
		if !f.Frame.start.unbounded {
			start = min(max(pos+f.rows[0], 0), n)
		}
		end = n
		if !f.Frame.end.unbounded {
			end = min(max(pos+f.rows[1]+1, 0), n)
		}
		return start, max(end, start), nil
	}
	peers, last := f.p.peers(pos)
	end = n
	if !f.Frame.start.unbounded {
		start = peers
		if f.start != nil {
			if start, err = f.values.find(pos, f.start, false); err != nil {
				return 0, 0, err
			}
		}
	}
	if !f.Frame.end.unbounded {
		end = last
		if f.end != nil {
			if end, err = f.values.find(pos, f.end, true); err != nil {
				return 0, 0, err
			}
		}
	}
	return start, max(end, start), nil
}

// axis is the one ORDER BY expression of a RANGE frame with n: its values without NULLs lie at positions
// [from, to) of the partition.
type axis struct {
	p          *partition
	values     []any // decimals, doubles or times by position
	descending bool
	from, to   int
	kind       axisKind
	typ        sql.Type
}

type axisKind uint8

const (
	exactAxis axisKind = iota
	doubleAxis
	timeAxis
	spanAxis
)

func (a *axis) open(p *partition) error {
	s := p.sort
	if len(s.exprs) != s.partitions+1 {
		return errWindow(erWindowRangeOrder, errRangeOrderText)
	}
	a.p, a.descending, a.typ = p, s.descending[s.partitions], s.exprs[s.partitions].Type()
	switch {
	case types.IsTimespan(a.typ):
		a.kind = spanAxis
	case types.IsTime(a.typ):
		a.kind = timeAxis
	case types.IsFloat(a.typ):
		a.kind = doubleAxis
	case types.IsNumber(a.typ):
	default:
		return errWindow(erWindowRangeOrder, errRangeOrderText)
	}
	a.values = make([]any, len(p.order))
	a.from, a.to = 0, len(p.order)
	for i, row := range p.order {
		v := s.key(row, s.partitions)
		if v == nil {
			if a.descending {
				a.to = min(a.to, i)
			} else {
				a.from = i + 1
			}
			continue
		}
		switch a.kind {
		case exactAxis:
			d, ok := number.Decimal(v)
			if !ok {
				return errWindow(erWindowRangeOrder, errRangeOrderText)
			}
			v = d
		case doubleAxis:
			f, err := number.Double(v)
			if err != nil {
				return err
			}
			v = f
		case timeAxis:
			if _, ok := v.(time.Time); !ok {
				return errWindow(erWindowRangeOrder, errRangeOrderText)
			}
		case spanAxis:
			t, ok := v.(types.Timespan)
			if !ok {
				return errWindow(erWindowRangeOrder, errRangeOrderText)
			}
			v = spanZero.Add(t.AsTimeDuration())
		}
		a.values[i] = v
	}
	return nil
}

// spanZero is the time that stands for a TIME of zero.
var spanZero = time.Date(5000, 1, 1, 0, 0, 0, 0, time.UTC)

// shift is what moves a value by a bound's n; nil for bounds without.
func (a *axis) shift(ctx *sql.Context, b bound) (func(any) any, error) {
	if b.n == nil {
		return nil, nil
	}
	before := b.before != a.descending
	span, isInterval := b.n.(*expression.Interval)
	if a.kind == timeAxis || a.kind == spanAxis {
		if !isInterval {
			return nil, errWindow(erWindowRangeNoUnit, errRangeTemporalText)
		}
		delta, err := span.EvalDelta(ctx, nil)
		if err != nil {
			return nil, err
		}
		if delta == nil || delta.Add(spanZero).Before(spanZero) {
			return nil, errWindow(erWindowFrameBound, errFrameBoundText)
		}
		sign, beyond := int64(1), time.Date(20_000, 1, 1, 0, 0, 0, 0, time.UTC)
		if before {
			sign, beyond = -1, time.Date(-20_000, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		return func(v any) any {
			t, ok := interval.Add(v.(time.Time), delta, sign)
			if !ok {
				return beyond // all times that there are lie within
			}
			return t
		}, nil
	}
	if isInterval {
		return nil, errWindow(erWindowRangeNoTime, errRangeNumericText)
	}
	v, err := b.n.Eval(ctx, nil)
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, errWindow(erWindowFrameBound, errFrameBoundText)
	}
	if a.kind == doubleAxis {
		n, err := number.Double(v)
		if err != nil || n < 0 {
			return nil, errWindow(erWindowFrameBound, errFrameBoundText)
		}
		if before {
			n = -n
		}
		return func(v any) any { return v.(float64) + n }, nil
	}
	n, ok := number.Decimal(v)
	if !ok || n.Sign() < 0 {
		return nil, errWindow(erWindowFrameBound, errFrameBoundText)
	}
	if before {
		n = n.Neg()
	}
	return func(v any) any { return v.(decimal.Decimal).Add(n) }, nil
}

// find is where a frame of the row at pos starts: the first value not before shift's. With after it is where a frame
// ends: the first value after that. Rows of NULL have the others of NULL.
func (a *axis) find(pos int, shift func(any) any, after bool) (int, error) {
	v := a.values[pos]
	if v == nil {
		first, last := a.p.peers(pos)
		if after {
			return last, nil
		}
		return first, nil
	}
	target := shift(v)
	at := sort.Search(a.to-a.from, func(i int) bool {
		c := a.compare(a.values[a.from+i], target)
		if a.descending {
			c = -c
		}
		return c > 0 || c == 0 && !after
	})
	return a.from + at, nil
}

func (a *axis) compare(x, y any) int {
	switch x := x.(type) {
	case decimal.Decimal:
		return x.Cmp(y.(decimal.Decimal))
	case float64:
		y := y.(float64)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	default:
		return x.(time.Time).Compare(y.(time.Time))
	}
}
