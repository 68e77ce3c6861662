package execplan

import "millrace/scan/exec"

// Walk calls f for e and everything in it.
func Walk(e exec.Expr, f func(exec.Expr)) {
	if e == nil {
		return
	}
	f(e)
	for _, c := range children(e) {
		Walk(c, f)
	}
}

func children(e exec.Expr) []exec.Expr {
	switch e := e.(type) {
	case exec.Arith:
		if e.R == nil {
			return []exec.Expr{e.L}
		}
		return []exec.Expr{e.L, e.R}
	case exec.Convert:
		return []exec.Expr{e.Arg}
	case exec.Compare:
		return []exec.Expr{e.L, e.R}
	case exec.And:
		return e.Args
	case exec.Or:
		return e.Args
	case exec.Not:
		return []exec.Expr{e.Arg}
	case exec.IsNull:
		return []exec.Expr{e.Arg}
	case exec.In:
		return []exec.Expr{e.Arg}
	case exec.Like:
		return []exec.Expr{e.Arg}
	case exec.Case:
		var out []exec.Expr
		for _, w := range e.When {
			out = append(out, w.Cond, w.Then)
		}
		if e.Else != nil {
			out = append(out, e.Else)
		}
		return out
	case exec.Func:
		return e.Args
	case exec.Map:
		return []exec.Expr{e.Arg}
	}
	return nil
}

// Rewritten is e with each column replaced.
func Rewritten(e exec.Expr, f func(exec.Col) exec.Expr) exec.Expr {
	list := func(in []exec.Expr) []exec.Expr {
		out := make([]exec.Expr, len(in))
		for i, x := range in {
			out[i] = Rewritten(x, f)
		}
		return out
	}
	switch e := e.(type) {
	case nil:
		return nil
	case exec.Col:
		return f(e)
	case exec.Arith:
		e.L, e.R = Rewritten(e.L, f), Rewritten(e.R, f)
		return e
	case exec.Convert:
		e.Arg = Rewritten(e.Arg, f)
		return e
	case exec.Compare:
		e.L, e.R = Rewritten(e.L, f), Rewritten(e.R, f)
		return e
	case exec.And:
		return exec.And{Args: list(e.Args)}
	case exec.Or:
		return exec.Or{Args: list(e.Args)}
	case exec.Not:
		return exec.Not{Arg: Rewritten(e.Arg, f)}
	case exec.IsNull:
		return exec.IsNull{Arg: Rewritten(e.Arg, f)}
	case exec.In:
		e.Arg = Rewritten(e.Arg, f)
		return e
	case exec.Like:
		e.Arg = Rewritten(e.Arg, f)
		return e
	case exec.Case:
		when := make([]exec.When, len(e.When))
		for i, w := range e.When {
			when[i] = exec.When{Cond: Rewritten(w.Cond, f), Then: Rewritten(w.Then, f)}
		}
		e.When, e.Else = when, Rewritten(e.Else, f)
		return e
	case exec.Func:
		e.Args = list(e.Args)
		return e
	case exec.Map:
		e.Arg = Rewritten(e.Arg, f)
		return e
	}
	return e
}
