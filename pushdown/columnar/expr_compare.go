package columnar

import (
	"math"
	"unicode/utf8"

	"millrace/pushdown/compare"
	"millrace/pushdown/exact"
	"millrace/pushdown/form"
	"millrace/pushdown/why"
	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/shopspring/decimal"
)

// compareSides converts a comparison, made exact first as everywhere (package exact).
func (p *planner) compareSides(e expression.Comparer, op exec.CompareOp, r *relation) (typed, string) {
	if x := exact.Comparison(p.ctx, e); x != nil {
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
	return typed{out, form.OfBool}, reason
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
	if l.form.Kind == form.Null || r.form.Kind == form.Null || constant && c.Null {
		if op == exec.NullSafeEQ {
			if constant && c.Null {
				return exec.IsNull{Arg: l.expr}, ""
			}
			return nil, why.NotFamilies
		}
		return exec.Const{T: exec.Bool, Null: true}, ""
	}
	same := func(_ exec.Type, l, r exec.Expr) (exec.Expr, string) {
		return exec.Compare{Op: op, L: l, R: r}, ""
	}
	year := types.IsYear(l.form.SQL) != types.IsYear(r.form.SQL)
	switch {
	case year:
		return nil, why.NotFamilies
	case l.form.Integer() && r.form.Integer(), l.form.Kind == form.Uint && r.form.Kind == form.Uint:
		return same(l.form.T, l.expr, r.expr)
	case l.form.Kind == form.Float || r.form.Kind == form.Float:
		lf, ok1 := toFloat(l)
		rf, ok2 := toFloat(r)
		if !ok1 || !ok2 || !constant && l.form.Kind != r.form.Kind {
			return nil, why.NotFamilies
		}
		return same(form.FloatType, lf, rf)
	case l.form.Kind == form.Decimal || r.form.Kind == form.Decimal:
		// The engine compares decimals of different types with at most 30 digits behind and 35 before
		// the point.
		const before = 35
		if l.form.T == r.form.T && l.form.SQL.Equals(r.form.SQL) {
			return same(l.form.T, l.expr, r.expr)
		}
		if form.WholeDigits(l.form.SQL) > before || form.WholeDigits(r.form.SQL) > before {
			return nil, why.NotFamilies
		}
		out, t, ok := p.decimalsOf(int(max(l.form.T.Scale, r.form.T.Scale)), l, r)
		if !ok {
			return nil, why.NotFamilies
		}
		return same(t, out[0], out[1])
	case l.form.Kind == form.Text && r.form.Kind == form.Text:
		lc, lp := sql.GetCoercibility(p.ctx, e.Left())
		rc, rp := sql.GetCoercibility(p.ctx, e.Right())
		if coll, _ := sql.ResolveCoercibility(lc, lp, rc, rp); coll != sql.Collation_utf8mb4_0900_bin {
			return nil, why.ByCollation
		}
		if constant && !utf8.Valid(c.Bytes) {
			return nil, why.NotText
		}
		return same(form.StringType, l.expr, r.expr)
	case l.form.Kind == form.Bytes && r.form.Kind == form.Bytes:
		return same(form.StringType, l.expr, r.expr)
	case l.form.Kind == form.Instant && r.form.Kind == form.Instant:
		if l.form.Unit != r.form.Unit || !p.zone.Fixed() {
			return nil, "times whose order depends on the zone"
		}
		return same(form.IntType, l.expr, r.expr)
	case l.form.Kind == form.Instant || l.form.Kind == form.Wall:
		if r.form.Kind == l.form.Kind && r.form.Unit == l.form.Unit {
			return same(form.IntType, l.expr, r.expr)
		}
		if !constant {
			return nil, why.NotFamilies
		}
		return p.compareTimes(op, l, r, c)
	case l.form.Kind == form.Span && r.form.Kind == form.Span:
		return same(form.IntType, l.expr, r.expr)
	}
	return nil, why.NotFamilies
}

// compareTimes compares a time with a constant time or text.
func (p *planner) compareTimes(op exec.CompareOp, l, r typed, c exec.Const) (exec.Expr, string) {
	var micros int64
	switch r.form.Kind {
	case form.Wall:
		micros = c.Int * r.form.Unit
	case form.Text:
		at, ok := exact.Datetime(p.ctx, string(c.Bytes))
		if !ok {
			return nil, why.OtherFamily
		}
		micros = at.UnixMicro()
	default:
		return nil, why.OtherFamily
	}
	if l.form.Kind == form.Instant {
		earliest, _, exact := p.zone.Instant(timeOf(micros))
		if !exact {
			return nil, why.NearChange
		}
		micros = earliest
	}
	n := decimal.New(micros, 0).DivRound(decimal.New(l.form.Unit, 0), 12)
	floor := n.Floor()
	bound := exec.Const{T: form.IntType, Int: floor.IntPart()}
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
	return exec.Compare{Op: exec.LT, L: e, R: exec.Const{T: form.IntType, Int: math.MinInt64}}
}

// inList converts a list of constants that are compared as the values beside it are.
func (p *planner) inList(e expression.Comparer, r *relation) (typed, string) {
	if x := exact.Comparison(p.ctx, e); x != nil {
		return p.expr(x, r)
	}
	l, reason := p.expr(e.Left(), r)
	if reason != "" {
		return typed{}, reason
	}
	list, ok := e.Right().(expression.Tuple)
	if !ok || types.IsYear(l.form.SQL) {
		return typed{}, why.NotConstant
	}
	if l.form.Kind == form.Text && !compare.ByBytes(l.form.SQL) {
		return typed{}, why.ByCollation
	}
	out := exec.In{Arg: l.expr}
	for _, el := range list {
		x, ok := p.folded(el)
		if !ok {
			return typed{}, why.NotConstant
		}
		c, ok := isConst(x)
		if !ok {
			return typed{}, why.NotConstant
		}
		if c.Null {
			out.Null = true
			continue
		}
		switch {
		case l.form.Integer() && x.form.Integer(), l.form.Kind == form.Uint && x.form.Kind == form.Uint:
		case l.form.Kind == form.Text && x.form.Kind == form.Text && utf8.Valid(c.Bytes):
		case l.form.Kind == form.Decimal && (x.form.Kind == form.Decimal || x.form.Kind == form.Int) && x.form.T.Scale <= l.form.T.Scale && form.WholeDigits(x.form.SQL) <= form.WholeDigits(l.form.SQL):
			if c, ok = toDecimal(x, l.form.T).(exec.Const); !ok {
				return typed{}, why.NotFamilies
			}
		default:
			return typed{}, why.NotFamilies
		}
		c.T = l.form.T
		out.List = append(out.List, c)
	}
	return typed{out, form.OfBool}, ""
}

// like converts LIKE with a constant pattern over text that compares byte by byte.
func (p *planner) like(e *expression.Like, r *relation) (typed, string) {
	l, reason := p.expr(e.LeftChild, r)
	if reason != "" {
		return typed{}, reason
	}
	x, ok := p.folded(e.RightChild)
	if !ok {
		return typed{}, why.NotConstant
	}
	c, ok := isConst(x)
	if !ok || c.Null || x.form.Kind != form.Text || !utf8.Valid(c.Bytes) {
		return typed{}, why.NotConstant
	}
	if l.form.Kind != form.Text {
		return typed{}, why.NotFamilies
	}
	if coll, _ := sql.GetCoercibility(p.ctx, e); coll != sql.Collation_utf8mb4_0900_bin {
		return typed{}, why.ByCollation
	}
	escape := '\\'
	if e.Escape != nil {
		v, ok := p.folded(e.Escape)
		if !ok {
			return typed{}, why.NotConstant
		}
		ec, ok := isConst(v)
		if !ok || ec.Null || utf8.RuneCount(ec.Bytes) != 1 {
			return typed{}, why.NotPrefix
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
	return typed{exec.Like{Arg: l.expr, Pattern: c.Bytes, Escape: escape}, form.OfBool}, ""
}
