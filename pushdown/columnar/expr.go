package columnar

import (
	"math/big"
	"strings"

	"millrace/internal/sqlplan"
	"millrace/pushdown/exact"
	"millrace/pushdown/form"
	"millrace/pushdown/meaning"
	"millrace/pushdown/number"
	"millrace/pushdown/why"
	"millrace/scan/exec"

	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// condition converts what stands where a truth value is wanted.
func (p *planner) condition(e sql.Expression, r *relation) (exec.Expr, string) {
	x, reason := p.expr(e, r)
	if reason != "" {
		return nil, reason
	}
	return p.truth(x)
}

func (p *planner) truth(x typed) (exec.Expr, string) {
	switch x.form.Kind {
	case form.Bool:
		return x.expr, ""
	case form.Null:
		return exec.Const{T: exec.Bool, Null: true}, ""
	case form.Int, form.Uint, form.Float, form.Decimal:
		return exec.Compare{Op: exec.NE, L: x.expr, R: exec.Const{T: x.form.T}}, ""
	}
	return nil, "a text or time as condition"
}

// expr converts e over the rows of r: to operators where they mean the same, else to a function of one
// column that the engine computes once per distinct value.
func (p *planner) expr(e sql.Expression, r *relation) (typed, string) {
	e = sqlplan.Unalias(e)
	if x, ok := r.computed(e); ok {
		return x, ""
	}
	if f, ok := e.(*expression.GetField); ok {
		return r.field(f.Index())
	}
	if x, ok := p.folded(e); ok {
		return x, ""
	}
	x, reason := p.native(e, r, nil)
	if reason == "" {
		return x, ""
	}
	if x, why := p.mapped(e, r); why == "" {
		return x, ""
	}
	return typed{}, reason
}

// native converts by operators of the vectorised engine. as, if not nil, is the form that the branches of
// a CASE or the like are to have.
func (p *planner) native(e sql.Expression, r *relation, as *form.Form) (typed, string) {
	switch e := e.(type) {
	case *expression.And:
		return p.logic(e.LeftChild, e.RightChild, r, true)
	case *expression.Or:
		return p.logic(e.LeftChild, e.RightChild, r, false)
	case *expression.Xor:
		return p.xor(e, r)
	case *expression.Not:
		c, reason := p.condition(e.Child, r)
		return typed{exec.Not{Arg: c}, form.OfBool}, reason
	case *expression.IsNull:
		x, reason := p.expr(e.Child, r)
		if reason != "" {
			return typed{}, reason
		}
		return typed{exec.IsNull{Arg: x.expr}, form.OfBool}, ""
	case *expression.Between:
		return p.between(e, r)
	case *expression.NullSafeEquals:
		return p.compareSides(e, exec.NullSafeEQ, r)
	case *expression.Equals:
		return p.compareSides(e, exec.EQ, r)
	case *expression.LessThan:
		return p.compareSides(e, exec.LT, r)
	case *expression.LessThanOrEqual:
		return p.compareSides(e, exec.LE, r)
	case *expression.GreaterThan:
		return p.compareSides(e, exec.GT, r)
	case *expression.GreaterThanOrEqual:
		return p.compareSides(e, exec.GE, r)
	case *expression.InTuple:
		return p.inList(e, r)
	case *expression.HashInTuple:
		return p.inList(e, r)
	case *expression.Like:
		return p.like(e, r)
	case *expression.Case:
		return p.cases(e, r, as)
	case *function.If:
		return p.ifElse(e, r, as)
	case *function.IfNull:
		return p.firstValue(e.Children(), e.Type(), r, as)
	case *function.NullIf:
		return p.nullIf(e, r)
	case *function.Coalesce:
		return p.firstValue(e.Children(), e.Type(), r, as)
	case *exact.Number:
		return p.exactNumber(e, r)
	case meaning.EnumText:
		x, reason := p.expr(e.Enum(), r)
		if reason == "" && x.form.Kind != form.Enum {
			reason = why.NotType
		}
		return typed{x.expr, form.Form{Kind: form.Text, SQL: e.Type(), T: form.StringType}}, reason
	case meaning.Checked:
		op, left, right := e.Arithmetic()
		if op == "div" {
			if x, reason := p.intDivideTwice(e, left, right, r); reason == "" {
				return x, ""
			}
		}
		return p.arithmetic(e, op, left, right, r)
	case *expression.Arithmetic:
		return p.arithmetic(e, e.Op, e.LeftChild, e.RightChild, r)
	case *expression.Div:
		return p.divide(e, r)
	case *expression.IntDiv:
		if x, reason := p.intDivideTwice(e, e.LeftChild, e.RightChild, r); reason == "" {
			return x, ""
		}
		return p.intDivide(e, r)
	case *expression.Mod:
		return p.modulo(e, r)
	case sql.FunctionExpression:
		if strings.EqualFold(e.FunctionName(), "concat") {
			return p.concat(e, r)
		}
		return p.unixTime(e, r)
	}
	return typed{}, why.NotExpression
}

// folded evaluates what has no columns and is the same for the whole statement.
func (p *planner) folded(e sql.Expression) (typed, bool) {
	if !meaning.Deterministic(e) || len(columnsIn(e)) > 0 {
		return typed{}, false
	}
	f, ok := form.Of(e.Type())
	if !ok {
		return typed{}, false
	}
	v, err := e.Eval(p.ctx, nil)
	if err != nil {
		return typed{}, false // the engine will say so, if it comes to that
	}
	if v == nil {
		return typed{exec.Const{T: f.T, Null: true}, f}, true
	}
	if _, isBool := v.(bool); isBool && f.Kind == form.Int {
		f = form.OfBool
	}
	if f.Kind == form.Decimal {
		// A literal has the digits that it was written with; a computed one may have more than its type.
		d, ok := number.Of(expression.NewLiteral(v, e.Type()))
		if !ok || -d.Exponent() > f.T.Scale && !d.Equal(d.Truncate(f.T.Scale)) {
			return typed{}, false
		}
	}
	c, ok := f.Constant(p.ctx, v)
	if !ok {
		return typed{}, false
	}
	return typed{c, f}, true
}

// columnsIn lists the fields that e reads.
func columnsIn(e sql.Expression) []*expression.GetField {
	var out []*expression.GetField
	sql.Inspect(e, func(e sql.Expression) bool {
		if f, ok := e.(*expression.GetField); ok {
			out = append(out, f)
		}
		return true
	})
	return out
}

// isConst is x as a constant.
func isConst(x typed) (exec.Const, bool) {
	c, ok := x.expr.(exec.Const)
	return c, ok
}

// logic converts AND and OR, of any number of arguments.
func (p *planner) logic(left, right sql.Expression, r *relation, and bool) (typed, string) {
	l, reason := p.condition(left, r)
	if reason != "" {
		return typed{}, reason
	}
	x, reason := p.condition(right, r)
	if reason != "" {
		return typed{}, reason
	}
	if and {
		return typed{joined[exec.And](l, x), form.OfBool}, ""
	}
	return typed{joined[exec.Or](l, x), form.OfBool}, ""
}

// joined is a AND b, or a OR b, in one list.
func joined[T exec.And | exec.Or](a, b exec.Expr) exec.Expr {
	var args []exec.Expr
	for _, x := range []exec.Expr{a, b} {
		if same, ok := x.(T); ok {
			args = append(args, exec.And(same).Args...)
		} else {
			args = append(args, x)
		}
	}
	return any(T(exec.And{Args: args})).(exec.Expr)
}

// xor is NULL when a side is.
func (p *planner) xor(e *expression.Xor, r *relation) (typed, string) {
	l, reason := p.condition(e.LeftChild, r)
	if reason != "" {
		return typed{}, reason
	}
	x, reason := p.condition(e.RightChild, r)
	if reason != "" {
		return typed{}, reason
	}
	return typed{exec.Compare{Op: exec.NE, L: l, R: x}, form.OfBool}, ""
}

func (p *planner) between(e *expression.Between, r *relation) (typed, string) {
	low, reason := p.expr(expression.NewLessThanOrEqual(e.Lower, e.Val), r)
	if reason != "" {
		return typed{}, reason
	}
	high, reason := p.expr(expression.NewGreaterThanOrEqual(e.Upper, e.Val), r)
	if reason != "" {
		return typed{}, reason
	}
	return typed{joined[exec.And](low.expr, high.expr), form.OfBool}, ""
}

// decimalsOf brings numbers to decimals of one type with the given scale; false when one
// has no place there.
func (p *planner) decimalsOf(scale int, xs ...typed) ([]exec.Expr, exec.Type, bool) {
	whole := 0
	for _, x := range xs {
		switch x.form.Kind {
		case form.Decimal:
			if int(x.form.T.Scale) > scale {
				return nil, exec.Type{}, false
			}
			whole = max(whole, form.WholeDigits(x.form.SQL), boundDigits(x))
		case form.Int, form.Bool, form.Uint:
			whole = max(whole, 20)
		default:
			return nil, exec.Type{}, false
		}
	}
	if whole+scale > form.MaxDecimal256 {
		return nil, exec.Type{}, false
	}
	t := form.DecimalType(whole+scale, scale)
	out := make([]exec.Expr, len(xs))
	for i, x := range xs {
		out[i] = toDecimal(x, t)
	}
	return out, t, true
}

// boundDigits are the digits before the point that a vector of this form may hold at most, where that is more
// than the SQL type says.
func boundDigits(x typed) int {
	if c, ok := isConst(x); ok && !c.Null {
		return len(c.Dec.BigInt().String()) - int(x.form.T.Scale)
	}
	return 0
}

// toDecimal is x as a decimal of type t, whose scale is no smaller.
func toDecimal(x typed, t exec.Type) exec.Expr {
	if x.form.T == t {
		return x.expr
	}
	if c, ok := isConst(x); ok {
		n := new(big.Int)
		switch x.form.Kind {
		case form.Uint:
			n.SetUint64(c.Uint)
		case form.Decimal:
			n = c.Dec.BigInt()
		default:
			n.SetInt64(c.Int)
		}
		n.Mul(n, tenTo(t.Scale-x.form.T.Scale))
		return exec.Const{T: t, Null: c.Null, Dec: decimal256.FromBigInt(n)}
	}
	return exec.Convert{Arg: x.expr, T: t, Text: "decimal"}
}

// toFloat is a number as the engine makes a DOUBLE of it; false for what it does in other ways.
func toFloat(x typed) (exec.Expr, bool) {
	c, constant := isConst(x)
	switch x.form.Kind {
	case form.Float:
		if x.form.SQL == types.Float32 {
			return nil, false
		}
		return x.expr, true
	case form.Int, form.Bool:
		if types.IsYear(x.form.SQL) {
			return nil, false
		}
		if constant {
			return exec.Const{T: form.FloatType, Null: c.Null, Float: float64(c.Int)}, true
		}
		return exec.Convert{Arg: x.expr, T: form.FloatType, Text: "double"}, true
	case form.Uint:
		if constant {
			return exec.Const{T: form.FloatType, Null: c.Null, Float: float64(c.Uint)}, true
		}
		return exec.Convert{Arg: x.expr, T: form.FloatType, Text: "double"}, true
	case form.Decimal:
		if constant {
			f, _ := number.FromVector(c.Dec, x.form.T.Scale).Float64()
			return exec.Const{T: form.FloatType, Null: c.Null, Float: f}, true
		}
	}
	return nil, false
}

// tenTo is a power of ten.
func tenTo(n int32) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
