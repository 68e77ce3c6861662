package exec

import (
	"errors"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"millrace/internal/vector"
	"millrace/scan/exec/wideint"
)

// A plain interpreter of the same plans, a row at a time, as the oracle. It shares nothing with the
// engine but the plans and wideint.Int256 as a carrier of decimals.

var errNaive = errors.New("out of range")

func naiveBig(v any) *big.Int {
	switch v := v.(type) {
	case int64:
		return big.NewInt(v)
	case uint64:
		return new(big.Int).SetUint64(v)
	case wideint.Int256:
		return v.Big()
	}
	panic("not a number")
}

func naiveOf(t Type, x *big.Int) (any, error) {
	switch t.Kind {
	case vector.Int:
		if !x.IsInt64() {
			return nil, errNaive
		}
		return x.Int64(), nil
	case vector.Uint:
		if !x.IsUint64() {
			return nil, errNaive
		}
		return x.Uint64(), nil
	}
	digits := int64(38)
	if t.Kind == vector.Decimal256 {
		digits = 65
	}
	if x.CmpAbs(new(big.Int).Exp(big.NewInt(10), big.NewInt(digits), nil)) >= 0 {
		return nil, errNaive
	}
	out, _ := wideint.FromBig(x)
	return out, nil
}

func naiveRound(num, den *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(num, den, new(big.Int))
	if r.Abs(r).Lsh(r, 1).CmpAbs(den) >= 0 {
		q.Add(q, big.NewInt(int64(num.Sign()*den.Sign())))
	}
	return q
}

func tenTo(n int32) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

func truth(b bool) any { return int64(b2i(b)) }

func naive(e Expr, row []any) (any, error) {
	switch e := e.(type) {
	case Col:
		return row[e.Index], nil
	case Const:
		return anyOfConst(e), nil
	case Arith:
		return naiveArith(e, row)
	case Convert:
		return naiveConvert(e, row)
	case Compare:
		l, err := naive(e.L, row)
		if err != nil {
			return nil, err
		}
		r, err := naive(e.R, row)
		if err != nil {
			return nil, err
		}
		if l == nil || r == nil {
			if e.Op == NullSafeEQ {
				return truth(l == nil && r == nil), nil
			}
			return nil, nil
		}
		c := compareAny(l, r)
		switch e.Op {
		case EQ, NullSafeEQ:
			return truth(c == 0), nil
		case NE:
			return truth(c != 0), nil
		case LT:
			return truth(c < 0), nil
		case LE:
			return truth(c <= 0), nil
		case GT:
			return truth(c > 0), nil
		}
		return truth(c >= 0), nil
	case And:
		return naiveLogic(e.Args, row, int64(1))
	case Or:
		return naiveLogic(e.Args, row, int64(0))
	case Not:
		v, err := naive(e.Arg, row)
		if err != nil || v == nil {
			return nil, err
		}
		return 1 - v.(int64), nil
	case IsNull:
		v, err := naive(e.Arg, row)
		return truth(v == nil), err
	case In:
		v, err := naive(e.Arg, row)
		if err != nil || v == nil {
			return nil, err
		}
		null := e.Null
		for _, c := range e.List {
			if c.Null {
				null = true
			} else if compareAny(v, anyOfConst(c)) == 0 {
				return int64(1), nil
			}
		}
		if null {
			return nil, nil
		}
		return int64(0), nil
	case Like:
		v, err := naive(e.Arg, row)
		if err != nil || v == nil {
			return nil, err
		}
		return truth(naiveLike(e, v.(string))), nil
	case Case:
		for _, w := range e.When {
			v, err := naive(w.Cond, row)
			if err != nil {
				return nil, err
			}
			if v != nil && v.(int64) != 0 {
				return naive(w.Then, row)
			}
		}
		if e.Else == nil {
			return nil, nil
		}
		return naive(e.Else, row)
	case Func:
		return naiveFunc(e, row)
	case Map:
		v, err := naive(e.Arg, row)
		if err != nil {
			return nil, err
		}
		c, err := e.Apply(constAny(e.Arg.Type(), v))
		if err != nil {
			return nil, err
		}
		return anyOfConst(c), nil
	}
	panic("unknown expression")
}

func naiveLogic(args []Expr, row []any, neutral int64) (any, error) {
	null := false
	for _, a := range args {
		v, err := naive(a, row)
		switch {
		case err != nil:
			return nil, err
		case v == nil:
			null = true
		case v.(int64) != neutral:
			return 1 - neutral, nil
		}
	}
	if null {
		return nil, nil
	}
	return neutral, nil
}

func naiveArith(e Arith, row []any) (any, error) {
	l, err := naive(e.L, row)
	if err != nil {
		return nil, err
	}
	var r any = int64(0)
	if e.R != nil {
		if r, err = naive(e.R, row); err != nil {
			return nil, err
		}
	}
	if l == nil || r == nil {
		return nil, nil
	}
	if a, ok := l.(float64); ok {
		b, _ := r.(float64)
		x := 0.0
		switch e.Op {
		case Add:
			x = a + b
		case Sub:
			x = a - b
		case Mul:
			x = a * b
		case Neg:
			x = -a
		case Div, Mod:
			if b == 0 {
				return nil, nil
			}
			if x = a / b; e.Op == Mod {
				x = math.Mod(a, b)
			}
		}
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return nil, errNaive
		}
		return x, nil
	}
	a, b, x := naiveBig(l), naiveBig(r), new(big.Int)
	switch e.Op {
	case Add:
		x.Add(a, b)
	case Sub:
		x.Sub(a, b)
	case Mul:
		x.Mul(a, b)
	case Neg:
		x.Neg(a)
	default:
		if b.Sign() == 0 {
			return nil, nil
		}
		switch e.Op {
		case IntDiv:
			x.Quo(a, b)
		case Mod:
			x.Rem(a, b)
		case Div:
			x = naiveRound(new(big.Int).Mul(a, tenTo(e.T.Scale-e.L.Type().Scale+e.R.Type().Scale)), b)
		}
	}
	return naiveOf(e.T, x)
}

func naiveConvert(e Convert, row []any) (any, error) {
	v, err := naive(e.Arg, row)
	if err != nil || v == nil {
		return nil, err
	}
	from := e.Arg.Type()
	switch e.T.Kind {
	case from.Kind:
		if from == e.T {
			return v, nil
		}
	case vector.Float:
		f, _ := new(big.Rat).SetFrac(naiveBig(v), tenTo(from.Scale)).Float64()
		return f, nil
	case vector.String:
		return strconv.FormatInt(v.(int64), 10), nil
	}
	return naiveOf(e.T, new(big.Int).Mul(naiveBig(v), tenTo(e.T.Scale-from.Scale)))
}

// naiveLike turns the pattern into a regular expression.
func naiveLike(e Like, s string) bool {
	re := "(?s)^"
	esc := false
	p := string(e.Pattern)
	for i, r := range p {
		last := i+utf8.RuneLen(r) == len(p)
		switch {
		case esc:
			re += regexp.QuoteMeta(string(r))
			esc = false
		case e.Escape != 0 && r == e.Escape && !last:
			esc = true
		case r == '%':
			re += ".*"
		case r == '_':
			re += "."
		default:
			re += regexp.QuoteMeta(string(r))
		}
	}
	re += "$"
	if e.Fold {
		low := func(s string) string {
			return strings.Map(func(r rune) rune {
				if 'A' <= r && r <= 'Z' {
					return r + 32
				}
				return r
			}, s)
		}
		re, s = low(re), low(s)
	}
	return regexp.MustCompile(re).MatchString(s)
}

func naiveFunc(e Func, row []any) (any, error) {
	args := make([]any, len(e.Args))
	for i, a := range e.Args {
		var err error
		if args[i], err = naive(a, row); err != nil {
			return nil, err
		}
	}
	for _, a := range args {
		if a == nil {
			return nil, nil
		}
	}
	switch e.Fn {
	case FloorTo:
		x, step, origin := naiveBig(args[0]), naiveBig(args[1]), naiveBig(args[2])
		if len(args) == 4 && x.Cmp(naiveBig(args[3])) < 0 {
			return args[0], nil
		}
		d := new(big.Int).Sub(x, origin)
		d.Mod(d, step)
		return naiveOf(e.T, d.Sub(x, d))
	case Length:
		return int64(len(args[0].(string))), nil
	case CharLength:
		return int64(utf8.RuneCountInString(args[0].(string))), nil
	case Lower:
		return strings.ToLower(args[0].(string)), nil
	case Upper:
		return strings.ToUpper(args[0].(string)), nil
	case Concat:
		s := ""
		for _, a := range args {
			s += a.(string)
		}
		return s, nil
	case Substring:
		r := []rune(args[0].(string))
		pos, n := args[1].(int64), int64(len(r))
		if len(args) == 3 {
			n = args[2].(int64)
		}
		if pos == 0 || n <= 0 || pos < 0 && -pos > int64(len(r)) || pos > int64(len(r)) {
			return "", nil
		}
		if pos < 0 {
			pos += int64(len(r)) + 1
		}
		r = r[pos-1:]
		return string(r[:min(n, int64(len(r)))]), nil
	case Abs, Round, Floor, Ceil:
		return naiveRounding(e, args)
	}
	units, zone := args[1].(int64), args[2].(int64)
	secs := new(big.Int).Div(naiveBig(args[0]), big.NewInt(units)) // Euclid's: downwards
	t := time.Unix(secs.Int64()+zone, 0).UTC()
	switch e.Fn {
	case Year:
		return int64(t.Year()), nil
	case Month:
		return int64(t.Month()), nil
	case Day:
		return int64(t.Day()), nil
	case Hour:
		return int64(t.Hour()), nil
	case Minute:
		return int64(t.Minute()), nil
	case Second:
		return int64(t.Second()), nil
	case DayOfWeek:
		return int64(t.Weekday()) + 1, nil
	case DayOfYear:
		return int64(t.YearDay()), nil
	case Quarter:
		return int64(t.Month()-1)/3 + 1, nil
	case DateOf:
		return new(big.Int).Div(big.NewInt(secs.Int64()+zone), big.NewInt(86400)).Int64(), nil
	}
	panic("unknown function")
}

func naiveRounding(e Func, args []any) (any, error) {
	switch x := args[0].(type) {
	case int64:
		if e.Fn == Abs {
			return naiveOf(e.T, new(big.Int).Abs(big.NewInt(x)))
		}
		return x, nil
	case uint64:
		return x, nil
	case float64:
		switch e.Fn {
		case Abs:
			return math.Abs(x), nil
		case Floor:
			return math.Floor(x), nil
		case Ceil:
			return math.Ceil(x), nil
		}
		return math.RoundToEven(x), nil
	case wideint.Int256:
		r := new(big.Rat).SetFrac(x.Big(), tenTo(e.Args[0].Type().Scale))
		n := new(big.Int)
		scale := int32(0)
		switch e.Fn {
		case Abs:
			return naiveOf(e.T, new(big.Int).Abs(new(big.Int).Mul(x.Big(), tenTo(e.T.Scale-e.Args[0].Type().Scale))))
		case Floor:
			n.Div(r.Num(), r.Denom())
		case Ceil:
			n.Neg(n.Div(n.Neg(r.Num()), r.Denom()))
		case Round:
			if len(args) == 2 {
				scale = int32(args[1].(int64))
			}
			n = naiveRound(new(big.Int).Mul(r.Num(), tenTo(scale)), r.Denom())
		}
		return naiveOf(e.T, n.Mul(n, tenTo(e.T.Scale-scale)))
	}
	panic("not a number")
}

// naiveRow is a row and the morsel that it came in.
type naiveRow struct {
	vals   []any
	morsel int
}

// naiveRun is all rows of a plan.
func naiveRun(n Node) ([]naiveRow, error) {
	switch n := n.(type) {
	case *Scan:
		var out []naiveRow
		for m, b := range n.Source.(*memSource).blocks {
			b := b.(*memBlock)
			for i := range b.to - b.from {
				row := make([]any, len(b.vals))
				for c := range row {
					row[c] = b.vals[c][i]
				}
				out = append(out, naiveRow{row, m})
			}
		}
		return naiveFilter(out, n.Filter)
	case *Filter:
		rows, err := naiveRun(n.Child)
		if err != nil {
			return nil, err
		}
		return naiveFilter(rows, n.Cond)
	case *Project:
		rows, err := naiveRun(n.Child)
		if err != nil {
			return nil, err
		}
		for i, r := range rows {
			vals := make([]any, len(n.Exprs))
			for k, e := range n.Exprs {
				if vals[k], err = naive(e, r.vals); err != nil {
					return nil, err
				}
			}
			rows[i].vals = vals
		}
		return rows, nil
	case *Limit:
		rows, err := naiveRun(n.Child)
		if err != nil {
			return nil, err
		}
		rows = rows[min(n.Offset, int64(len(rows))):]
		if n.Count >= 0 {
			rows = rows[:min(n.Count, int64(len(rows)))]
		}
		return rows, nil
	case *Sort:
		rows, err := naiveRun(n.Child)
		if err != nil {
			return nil, err
		}
		if err := naiveSort(rows, n.Keys); err != nil {
			return nil, err
		}
		rows = rows[min(n.Offset, int64(len(rows))):]
		if n.Limit >= 0 {
			rows = rows[:min(n.Limit, int64(len(rows)))]
		}
		return rows, nil
	case *Aggregate:
		return naiveAggregate(n)
	}
	panic("unknown operator")
}

func naiveFilter(rows []naiveRow, cond Expr) ([]naiveRow, error) {
	if cond == nil {
		return rows, nil
	}
	var out []naiveRow
	for _, r := range rows {
		v, err := naive(cond, r.vals)
		if err != nil {
			return nil, err
		}
		if v != nil && v.(int64) != 0 {
			out = append(out, r)
		}
	}
	return out, nil
}

func naiveSort(rows []naiveRow, keys []SortKey) error {
	var fail error
	for _, r := range rows { // also where nothing is compared
		for _, k := range keys {
			if _, err := naive(k.Expr, r.vals); err != nil {
				return err
			}
		}
	}
	slices.SortStableFunc(rows, func(x, y naiveRow) int {
		for _, k := range keys {
			a, err1 := naive(k.Expr, x.vals)
			b, err2 := naive(k.Expr, y.vals)
			if err := errors.Join(err1, err2); err != nil {
				fail = err
				return 0
			}
			c := 0
			switch {
			case a == nil || b == nil:
				c = b2i(b == nil) - b2i(a == nil)
			default:
				c = compareAny(a, b)
			}
			if k.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	return fail
}

// naiveKey is the same text for equal values.
func naiveKey(v any) string {
	switch v := v.(type) {
	case nil:
		return "n"
	case int64:
		return "i" + strconv.FormatInt(v, 10)
	case uint64:
		return "u" + strconv.FormatUint(v, 10)
	case float64:
		return "f" + strconv.FormatFloat(v+0, 'g', -1, 64)
	case string:
		return "s" + strconv.Quote(v)
	}
	return "d" + naiveBig(v).String()
}

func naiveAggregate(n *Aggregate) ([]naiveRow, error) {
	rows, err := naiveRun(n.Child)
	if err != nil {
		return nil, err
	}
	type group struct {
		keys []any
		rows []naiveRow
	}
	var groups []*group
	byKey := map[string]*group{}
	if len(n.By) == 0 {
		groups = []*group{{}}
		byKey[""] = groups[0]
	}
	for _, r := range rows {
		key := ""
		keys := make([]any, len(n.By))
		for i, e := range n.By {
			if keys[i], err = naive(e, r.vals); err != nil {
				return nil, err
			}
			key += naiveKey(keys[i]) + ","
		}
		g := byKey[key]
		if g == nil {
			g = &group{keys: keys}
			byKey[key] = g
			groups = append(groups, g)
		}
		g.rows = append(g.rows, r)
	}
	var out []naiveRow
	for _, g := range groups {
		vals := g.keys
		for _, a := range n.Aggs {
			v, err := naiveAgg(a, g.rows)
			if err != nil {
				return nil, err
			}
			vals = append(vals, v)
		}
		out = append(out, naiveRow{vals: vals})
	}
	return out, nil
}

func naiveAgg(a Agg, rows []naiveRow) (any, error) {
	if a.Kind == CountRows {
		return int64(len(rows)), nil
	}
	var vals []any
	var morsels []int
	var from []naiveRow
	seen := map[string]bool{}
	for i, r := range rows {
		v, err := naive(a.Arg, r.vals)
		if err != nil {
			return nil, err
		}
		if a.Kind == AnyValue {
			if i == 0 {
				vals = append(vals, v)
			}
			continue
		}
		if v == nil || a.Distinct && a.Kind != GroupConcat && seen[naiveKey(v)] {
			continue
		}
		seen[naiveKey(v)] = true
		vals, morsels, from = append(vals, v), append(morsels, r.morsel), append(from, r)
	}
	if a.Distinct && a.Kind != GroupConcat {
		slices.SortFunc(vals, compareAny)
		clear(morsels)
	}
	switch a.Kind {
	case Count:
		return int64(len(vals)), nil
	case AnyValue:
		if len(vals) == 0 {
			return nil, nil
		}
		return vals[0], nil
	case BitAnd, BitOr, BitXor:
		x := uint64(0)
		if a.Kind == BitAnd {
			x = math.MaxUint64
		}
		for _, v := range vals {
			y, ok := v.(uint64)
			if !ok {
				y = uint64(v.(int64))
			}
			switch a.Kind {
			case BitAnd:
				x &= y
			case BitOr:
				x |= y
			default:
				x ^= y
			}
		}
		return x, nil
	}
	if len(vals) == 0 {
		return nil, nil
	}
	switch a.Kind {
	case Min:
		return slices.MinFunc(vals, compareAny), nil
	case Max:
		return slices.MaxFunc(vals, compareAny), nil
	case Sum, Avg:
		if _, ok := vals[0].(float64); ok {
			total, cur := 0.0, 0.0
			for i, v := range vals {
				if i > 0 && morsels[i] != morsels[i-1] {
					total += cur
					cur = 0
				}
				cur += v.(float64)
			}
			total += cur
			if math.IsInf(total, 0) || math.IsNaN(total) {
				return nil, errNaive
			}
			if a.Kind == Avg {
				total /= float64(len(vals))
			}
			return total, nil
		}
		sum := new(big.Int)
		for _, v := range vals {
			sum.Add(sum, naiveBig(v))
		}
		if a.Kind == Avg {
			sum = naiveRound(sum.Mul(sum, tenTo(a.T.Scale-a.Arg.Type().Scale)), big.NewInt(int64(len(vals))))
		}
		out, _ := wideint.FromBig(sum)
		return out, nil
	case VarPop, VarSamp, StdPop, StdSamp:
		var f []float64
		for _, v := range vals {
			x, ok := v.(float64)
			if !ok {
				x, _ = new(big.Rat).SetFrac(naiveBig(v), tenTo(a.Arg.Type().Scale)).Float64()
			}
			f = append(f, x)
		}
		sum := new(big.Rat)
		for _, x := range f {
			sum.Add(sum, new(big.Rat).SetFloat64(x))
		}
		mean := sum.Quo(sum, big.NewRat(int64(len(f)), 1))
		m2 := new(big.Rat)
		for _, x := range f {
			d := new(big.Rat).SetFloat64(x)
			d.Sub(d, mean)
			m2.Add(m2, d.Mul(d, d))
		}
		n := int64(len(f))
		if a.Kind == VarSamp || a.Kind == StdSamp {
			if n--; n == 0 {
				return nil, nil
			}
		}
		x, _ := m2.Quo(m2, big.NewRat(n, 1)).Float64()
		if math.IsInf(x, 0) {
			return nil, errNaive
		}
		if a.Kind == StdPop || a.Kind == StdSamp {
			x = math.Sqrt(x)
		}
		return x, nil
	case GroupConcat:
		if err := naiveSort(from, a.Order); err != nil {
			return nil, err
		}
		var parts []string
		done := map[string]bool{}
		for _, r := range from {
			v, _ := naive(a.Arg, r.vals)
			if s := v.(string); !a.Distinct || !done[s] {
				done[s] = true
				parts = append(parts, s)
			}
		}
		s := strings.Join(parts, string(a.Separator))
		for a.MaxLen > 0 && len(s) > a.MaxLen {
			_, n := utf8.DecodeLastRuneInString(s)
			s = s[:len(s)-n]
		}
		return s, nil
	}
	panic("unknown aggregate")
}
