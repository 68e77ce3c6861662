package exec

import (
	"fmt"
	"math"

	"millrace/internal/vector"
)

// function makes the evaluator of a Func.
func (c *compiler) function(e Func) (evaluator, error) {
	bad := func() (evaluator, error) {
		return nil, fmt.Errorf("%w: function %d of %d arguments", ErrNotSupported, e.Fn, len(e.Args))
	}
	if len(e.Args) == 0 {
		return bad()
	}
	t := e.Args[0].Type()
	intArg := func(i int) (int64, bool) {
		if i >= len(e.Args) {
			return 0, false
		}
		k, ok := asConst(e.Args[i])
		return k.Int, ok && !k.Null && k.T.Kind == vector.Int
	}
	args, err := c.all(e.Args...)
	if err != nil {
		return nil, err
	}
	switch e.Fn {
	case FloorTo:
		step, ok1 := intArg(1)
		origin, ok2 := intArg(2)
		from, bounded := intArg(3)
		if !bounded {
			from = math.MinInt64
		}
		if len(e.Args) != 3 && !(len(e.Args) == 4 && bounded) || !ok1 || !ok2 || step <= 0 || t.Kind != vector.Int || e.T.Kind != vector.Int {
			return bad()
		}
		return &floorEval{arg: args[0], by: newFloorer(step, origin), from: from}, nil
	case Year, Month, Day, Hour, Minute, Second, DayOfWeek, DayOfYear, Quarter, DateOf:
		units, ok1 := intArg(1)
		shift, ok2 := intArg(2)
		if len(e.Args) != 3 || !ok1 || !ok2 || units <= 0 || t.Kind != vector.Int || e.T.Kind != vector.Int {
			return bad()
		}
		return newDatePart(e.Fn, args[0], units, shift), nil
	case Length, CharLength:
		if len(e.Args) != 1 || t.Kind != vector.String || e.T.Kind != vector.Int {
			return bad()
		}
		return &lengthEval{arg: args[0], chars: e.Fn == CharLength}, nil
	case Lower, Upper:
		if len(e.Args) != 1 || t.Kind != vector.String || e.T.Kind != vector.String {
			return bad()
		}
		return &foldEval{arg: args[0], upper: e.Fn == Upper}, nil
	case Substring:
		pos, ok := intArg(1)
		length, limited := intArg(2)
		if !ok || len(e.Args) > 3 || len(e.Args) == 3 && !limited || t.Kind != vector.String || e.T.Kind != vector.String {
			return bad()
		}
		return &substringEval{arg: args[0], pos: pos, length: length, limited: limited}, nil
	case Concat:
		for _, a := range e.Args {
			if a.Type().Kind != vector.String {
				return bad()
			}
		}
		if e.T.Kind != vector.String {
			return bad()
		}
		return &concatEval{args: operands{args: args}}, nil
	case Tuple:
		if e.T.Kind != vector.String {
			return bad()
		}
		return &tupleEval{args: operands{args: args}}, nil
	case Abs, Round, Floor, Ceil:
		digits := int64(0)
		if e.Fn == Round && len(e.Args) == 2 {
			var ok bool
			if digits, ok = intArg(1); !ok {
				return bad()
			}
		} else if len(e.Args) != 1 {
			return bad()
		}
		return newRounding(e, args[0], t, digits)
	}
	return bad()
}
