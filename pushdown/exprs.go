package pushdown

import "millrace/scan/exec"

// walk calls f for e and everything in it.
func walk(e exec.Expr, f func(exec.Expr)) {
	if e == nil {
		return
	}
	f(e)
	for _, c := range children(e) {
		walk(c, f)
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

// rewritten is e with each column replaced.
func rewritten(e exec.Expr, f func(exec.Col) exec.Expr) exec.Expr {
	list := func(in []exec.Expr) []exec.Expr {
		out := make([]exec.Expr, len(in))
		for i, x := range in {
			out[i] = rewritten(x, f)
		}
		return out
	}
	switch e := e.(type) {
	case nil:
		return nil
	case exec.Col:
		return f(e)
	case exec.Arith:
		e.L, e.R = rewritten(e.L, f), rewritten(e.R, f)
		return e
	case exec.Convert:
		e.Arg = rewritten(e.Arg, f)
		return e
	case exec.Compare:
		e.L, e.R = rewritten(e.L, f), rewritten(e.R, f)
		return e
	case exec.And:
		return exec.And{Args: list(e.Args)}
	case exec.Or:
		return exec.Or{Args: list(e.Args)}
	case exec.Not:
		return exec.Not{Arg: rewritten(e.Arg, f)}
	case exec.IsNull:
		return exec.IsNull{Arg: rewritten(e.Arg, f)}
	case exec.In:
		e.Arg = rewritten(e.Arg, f)
		return e
	case exec.Like:
		e.Arg = rewritten(e.Arg, f)
		return e
	case exec.Case:
		when := make([]exec.When, len(e.When))
		for i, w := range e.When {
			when[i] = exec.When{Cond: rewritten(w.Cond, f), Then: rewritten(w.Then, f)}
		}
		e.When, e.Else = when, rewritten(e.Else, f)
		return e
	case exec.Func:
		e.Args = list(e.Args)
		return e
	case exec.Map:
		e.Arg = rewritten(e.Arg, f)
		return e
	}
	return e
}
