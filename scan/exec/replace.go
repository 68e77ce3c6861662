package exec

import "reflect"

// replaced is e with part in the place of each expression equal to old.
func replaced(e, old, part Expr) Expr {
	return rebuilt(e, func(e Expr) (Expr, bool) { return part, reflect.DeepEqual(e, old) })
}

// rebuilt is e with what f gives in the place of each expression for which it is asked and says true, from the top.
func rebuilt(e Expr, f func(Expr) (Expr, bool)) Expr {
	if e == nil {
		return nil
	}
	if part, ok := f(e); ok {
		return part
	}
	in := func(e Expr) Expr { return rebuilt(e, f) }
	all := func(args []Expr) []Expr {
		out := make([]Expr, len(args))
		for i, a := range args {
			out[i] = in(a)
		}
		return out
	}
	switch e := e.(type) {
	case Arith:
		e.L, e.R = in(e.L), in(e.R)
		return e
	case Convert:
		e.Arg = in(e.Arg)
		return e
	case Compare:
		e.L, e.R = in(e.L), in(e.R)
		return e
	case And:
		return And{all(e.Args)}
	case Or:
		return Or{all(e.Args)}
	case Not:
		return Not{in(e.Arg)}
	case IsNull:
		return IsNull{in(e.Arg)}
	case In:
		e.Arg = in(e.Arg)
		return e
	case Like:
		e.Arg = in(e.Arg)
		return e
	case Case:
		when := make([]When, len(e.When))
		for i, w := range e.When {
			when[i] = When{in(w.Cond), in(w.Then)}
		}
		e.When, e.Else = when, in(e.Else)
		return e
	case Func:
		e.Args = all(e.Args)
		return e
	case Map:
		e.Arg = in(e.Arg)
		return e
	}
	return e
}
