package pushdown

import (
	"math"
	"unicode/utf8"

	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// compareSides converts a comparison, made exact first as everywhere (exact.go).
func (p *planner) compareSides(e expression.Comparer, op exec.CompareOp, r *relation) (typed, string) {
	if x := Exact(p.ctx, e); x != nil {
		return p.expr(x, r)
	}
	l, reason := p.expr(e.Left(), r)
	if reason != "" {
		return typed{}, reason
	}
	x, reason := p.expr(e.Right(), r)
	if reason != "" {
		return typed{}, reason
	}
	out, reason := p.compare(op, l, x, e)
	return typed{out, boolForm}, reason
}

// flipped is the operator for exchanged sides.
var flipped = [...]exec.CompareOp{exec.EQ: exec.EQ, exec.NE: exec.NE, exec.LT: exec.GT, exec.LE: exec.GE, exec.GT: exec.LT, exec.GE: exec.LE, exec.NullSafeEQ: exec.NullSafeEQ}

// compare converts l op r; e is the comparison as SQL has it, which knows the collation.
func (p *planner) compare(op exec.CompareOp, l, r typed, e expression.Comparer) (exec.Expr, string) {
	if _, ok := isConst(l); ok {
		if _, both := isConst(r); !both {
			l, r, op = r, l, flipped[op]
		}
	}
	c, constant := isConst(r)
	if l.form.kind == kindNull || r.form.kind == kindNull || constant && c.Null {
		if op == exec.NullSafeEQ {
			if constant && c.Null {
				return exec.IsNull{Arg: l.expr}, ""
			}
			return nil, notFamilies
		}
		return exec.Const{T: exec.Bool, Null: true}, ""
	}
	same := func(_ exec.Type, l, r exec.Expr) (exec.Expr, string) {
		return exec.Compare{Op: op, L: l, R: r}, ""
	}
	year := types.IsYear(l.form.sql) != types.IsYear(r.form.sql)
	switch {
	case year:
		return nil, notFamilies
	case l.form.integer() && r.form.integer(), l.form.kind == kindUint && r.form.kind == kindUint:
		return same(l.form.t, l.expr, r.expr)
	case l.form.kind == kindFloat || r.form.kind == kindFloat:
		lf, ok1 := toFloat(l)
		rf, ok2 := toFloat(r)
		if !ok1 || !ok2 || !constant && l.form.kind != r.form.kind {
			return nil, notFamilies
		}
		return same(floatType, lf, rf)
	case l.form.kind == kindDecimal || r.form.kind == kindDecimal:
		// The engine compares decimals of different types with at most 30 digits behind and 35 before
		// the point.
		const before = 35
		if l.form.t == r.form.t && l.form.sql.Equals(r.form.sql) {
			return same(l.form.t, l.expr, r.expr)
		}
		if wholeDigits(l.form.sql) > before || wholeDigits(r.form.sql) > before {
			return nil, notFamilies
		}
		out, t, ok := p.decimalsOf(int(max(l.form.t.Scale, r.form.t.Scale)), l, r)
		if !ok {
			return nil, notFamilies
		}
		return same(t, out[0], out[1])
	case l.form.kind == kindText && r.form.kind == kindText:
		lc, lp := sql.GetCoercibility(p.ctx, e.Left())
		rc, rp := sql.GetCoercibility(p.ctx, e.Right())
		if coll, _ := sql.ResolveCoercibility(lc, lp, rc, rp); coll != sql.Collation_utf8mb4_0900_bin {
			return nil, byCollation
		}
		if constant && !utf8.Valid(c.Bytes) {
			return nil, notText
		}
		return same(stringType, l.expr, r.expr)
	case l.form.kind == kindBytes && r.form.kind == kindBytes:
		return same(stringType, l.expr, r.expr)
	case l.form.kind == kindInstant && r.form.kind == kindInstant:
		if l.form.unit != r.form.unit || !p.zone.Fixed() {
			return nil, "times whose order depends on the zone"
		}
		return same(intType, l.expr, r.expr)
	case l.form.kind == kindInstant || l.form.kind == kindWall:
		if r.form.kind == l.form.kind && r.form.unit == l.form.unit {
			return same(intType, l.expr, r.expr)
		}
		if !constant {
			return nil, notFamilies
		}
		return p.compareTimes(op, l, r, c)
	case l.form.kind == kindSpan && r.form.kind == kindSpan:
		return same(intType, l.expr, r.expr)
	}
	return nil, notFamilies
}

// compareTimes compares a time with a constant time or text.
func (p *planner) compareTimes(op exec.CompareOp, l, r typed, c exec.Const) (exec.Expr, string) {
	var micros int64
	switch r.form.kind {
	case kindWall:
		micros = c.Int * r.form.unit
	case kindText:
		at, ok := datetime(p.ctx, string(c.Bytes))
		if !ok {
			return nil, otherFamily
		}
		micros = at.UnixMicro()
	default:
		return nil, otherFamily
	}
	if l.form.kind == kindInstant {
		earliest, _, exact := p.zone.Instant(timeOf(micros))
		if !exact {
			return nil, nearChange
		}
		micros = earliest
	}
	n := decimal.New(micros, 0).DivRound(decimal.New(l.form.unit, 0), 12)
	floor := n.Floor()
	bound := exec.Const{T: intType, Int: floor.IntPart()}
	if !floor.Equal(n) {
		switch op {
		case exec.EQ:
			return never(l.expr), ""
		case exec.NE:
			return exec.Not{Arg: never(l.expr)}, ""
		case exec.NullSafeEQ:
			return exec.Const{T: exec.Bool}, ""
		case exec.LT:
			op = exec.LE
		case exec.GE:
			op = exec.GT
		}
	}
	return exec.Compare{Op: op, L: l.expr, R: bound}, ""
}

// never is false, but NULL where e is.
func never(e exec.Expr) exec.Expr {
	return exec.Compare{Op: exec.LT, L: e, R: exec.Const{T: intType, Int: math.MinInt64}}
}

// inList converts a list of constants that are compared as the values beside it are.
func (p *planner) inList(e expression.Comparer, r *relation) (typed, string) {
	if x := Exact(p.ctx, e); x != nil {
		return p.expr(x, r)
	}
	l, reason := p.expr(e.Left(), r)
	if reason != "" {
		return typed{}, reason
	}
	list, ok := e.Right().(expression.Tuple)
	if !ok || types.IsYear(l.form.sql) {
		return typed{}, notConstant
	}
	if l.form.kind == kindText && !comparableBytes(l.form.sql) {
		return typed{}, byCollation
	}
	out := exec.In{Arg: l.expr}
	for _, el := range list {
		x, ok := p.folded(el)
		if !ok {
			return typed{}, notConstant
		}
		c, ok := isConst(x)
		if !ok {
			return typed{}, notConstant
		}
		if c.Null {
			out.Null = true
			continue
		}
		switch {
		case l.form.integer() && x.form.integer(), l.form.kind == kindUint && x.form.kind == kindUint:
		case l.form.kind == kindText && x.form.kind == kindText && utf8.Valid(c.Bytes):
		case l.form.kind == kindDecimal && (x.form.kind == kindDecimal || x.form.kind == kindInt) && x.form.t.Scale <= l.form.t.Scale && wholeDigits(x.form.sql) <= wholeDigits(l.form.sql):
			if c, ok = toDecimal(x, l.form.t).(exec.Const); !ok {
				return typed{}, notFamilies
			}
		default:
			return typed{}, notFamilies
		}
		c.T = l.form.t
		out.List = append(out.List, c)
	}
	return typed{out, boolForm}, ""
}

// like converts LIKE with a constant pattern over text that compares byte by byte.
func (p *planner) like(e *expression.Like, r *relation) (typed, string) {
	l, reason := p.expr(e.LeftChild, r)
	if reason != "" {
		return typed{}, reason
	}
	x, ok := p.folded(e.RightChild)
	if !ok {
		return typed{}, notConstant
	}
	c, ok := isConst(x)
	if !ok || c.Null || x.form.kind != kindText || !utf8.Valid(c.Bytes) {
		return typed{}, notConstant
	}
	if l.form.kind != kindText {
		return typed{}, notFamilies
	}
	if coll, _ := sql.GetCoercibility(p.ctx, e); coll != sql.Collation_utf8mb4_0900_bin {
		return typed{}, byCollation
	}
	escape := '\\'
	if e.Escape != nil {
		v, ok := p.folded(e.Escape)
		if !ok {
			return typed{}, notConstant
		}
		ec, ok := isConst(v)
		if !ok || ec.Null || utf8.RuneCount(ec.Bytes) != 1 {
			return typed{}, notPrefix
		}
		escape, _ = utf8.DecodeRune(ec.Bytes)
	}
	// What stands behind an escape that escapes nothing special, or a last one, has readings of its own.
	rest := string(c.Bytes)
	for len(rest) > 0 {
		ch, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
		if ch != escape {
			continue
		}
		next, size := utf8.DecodeRuneInString(rest)
		if size == 0 || next != escape && next != '%' && next != '_' {
			return typed{}, "a pattern with an escape before an ordinary character"
		}
		rest = rest[size:]
	}
	return typed{exec.Like{Arg: l.expr, Pattern: c.Bytes, Escape: escape}, boolForm}, ""
}
