package pushdown

import (
	"math/big"
	"strings"

	"millrace/scan/exec"

	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Reasons why an expression stays with the engine.
const (
	notExpression = "no exact equivalent, and not a function of one column"
	notRandom     = "not a function of its arguments alone"
	notType       = "its type is computed by the engine only"
	notFamilies   = "operands of different type families"
)

// EnumText is the text of an ENUM, of which the engine knows the number.
type EnumText interface {
	sql.Expression
	// Enum is the expression whose text it is.
	Enum() sql.Expression
}

// Checked is an arithmetic expression of the SQL server whose integers do not wrap around
// (error 1690) and whose doubles do not become infinite.
type Checked interface {
	sql.Expression
	// Arithmetic is the operator (+, - or *) and its operands.
	Arithmetic() (op string, left, right sql.Expression)
}

// condition converts what stands where a truth value is wanted.
func (p *planner) condition(e sql.Expression, r *relation) (exec.Expr, string) {
	x, reason := p.expr(e, r)
	if reason != "" {
		return nil, reason
	}
	return p.truth(x)
}

func (p *planner) truth(x typed) (exec.Expr, string) {
	switch x.form.kind {
	case kindBool:
		return x.expr, ""
	case kindNull:
		return exec.Const{T: exec.Bool, Null: true}, ""
	case kindInt, kindUint, kindFloat, kindDecimal:
		return exec.Compare{Op: exec.NE, L: x.expr, R: exec.Const{T: x.form.t}}, ""
	}
	return nil, "a text or time as condition"
}

// expr converts e over the rows of r: to operators where they mean the same, else to a function of one
// column that the engine computes once per distinct value.
func (p *planner) expr(e sql.Expression, r *relation) (typed, string) {
	e = unalias(e)
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
func (p *planner) native(e sql.Expression, r *relation, as *form) (typed, string) {
	switch e := e.(type) {
	case *expression.And:
		return p.logic(e.LeftChild, e.RightChild, r, true)
	case *expression.Or:
		return p.logic(e.LeftChild, e.RightChild, r, false)
	case *expression.Xor:
		return p.xor(e, r)
	case *expression.Not:
		c, reason := p.condition(e.Child, r)
		return typed{exec.Not{Arg: c}, boolForm}, reason
	case *expression.IsNull:
		x, reason := p.expr(e.Child, r)
		if reason != "" {
			return typed{}, reason
		}
		return typed{exec.IsNull{Arg: x.expr}, boolForm}, ""
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
	case *exactNumber:
		return p.exactNumber(e, r)
	case EnumText:
		x, reason := p.expr(e.Enum(), r)
		if reason == "" && x.form.kind != kindEnum {
			reason = notType
		}
		return typed{x.expr, form{kind: kindText, sql: e.Type(), t: stringType}}, reason
	case Checked:
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
	return typed{}, notExpression
}

// folded evaluates what has no columns and is the same for the whole statement.
func (p *planner) folded(e sql.Expression) (typed, bool) {
	if !deterministic(e) || len(columnsIn(e)) > 0 {
		return typed{}, false
	}
	f, ok := formOf(e.Type())
	if !ok {
		return typed{}, false
	}
	v, err := e.Eval(p.ctx, nil)
	if err != nil {
		return typed{}, false // the engine will say so, if it comes to that
	}
	if v == nil {
		return typed{exec.Const{T: f.t, Null: true}, f}, true
	}
	if _, isBool := v.(bool); isBool && f.kind == kindInt {
		f = boolForm
	}
	if f.kind == kindDecimal {
		// A literal has the digits that it was written with; a computed one may have more than its type.
		d, ok := number(expression.NewLiteral(v, e.Type()))
		if !ok || -d.Exponent() > f.t.Scale && !d.Equal(d.Truncate(f.t.Scale)) {
			return typed{}, false
		}
	}
	c, ok := f.constant(p.ctx, v)
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

// unsteady are functions whose value is not made of their arguments alone, or that do more than
// to compute one.
var unsteady = map[string]bool{
	"rand": true, "uuid": true, "uuid_short": true, "sleep": true, "benchmark": true, "random_bytes": true,
	"get_lock": true, "release_lock": true, "release_all_locks": true, "is_free_lock": true, "is_used_lock": true,
	"load_file": true, "row_count": true, "found_rows": true, "last_insert_id": true, "sysdate": true,
	"master_pos_wait": true, "source_pos_wait": true, "nextval": true, "values": true,
}

// deterministic says whether e gives the same value for the same row in one statement, and does nothing else.
func deterministic(e sql.Expression) bool {
	ok := true
	sql.Inspect(e, func(e sql.Expression) bool {
		switch x := e.(type) {
		case nil:
			return false
		case sql.Aggregation, sql.WindowAdaptableExpression, *expression.Star, *expression.DistinctExpression,
			*expression.UserVar, *expression.ProcedureParam, *expression.BindVar, *expression.AutoIncrement,
			*expression.DefaultColumn, *expression.Interval:
			ok = false
		case sql.NonDeterministicExpression:
			ok = ok && !x.IsNonDeterministic()
		}
		if _, nodes := e.(sql.ExpressionWithNodes); nodes {
			ok = false // a subquery
		}
		if f, is := e.(sql.FunctionExpression); is && unsteady[strings.ToLower(f.FunctionName())] {
			ok = false
		}
		return ok
	})
	return ok
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
		return typed{joined[exec.And](l, x), boolForm}, ""
	}
	return typed{joined[exec.Or](l, x), boolForm}, ""
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
	return typed{exec.Compare{Op: exec.NE, L: l, R: x}, boolForm}, ""
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
	return typed{joined[exec.And](low.expr, high.expr), boolForm}, ""
}

// decimalsOf brings numbers to decimals of one type with the given scale; false when one
// has no place there.
func (p *planner) decimalsOf(scale int, xs ...typed) ([]exec.Expr, exec.Type, bool) {
	whole := 0
	for _, x := range xs {
		switch x.form.kind {
		case kindDecimal:
			if int(x.form.t.Scale) > scale {
				return nil, exec.Type{}, false
			}
			whole = max(whole, wholeDigits(x.form.sql), boundDigits(x))
		case kindInt, kindBool, kindUint:
			whole = max(whole, 20)
		default:
			return nil, exec.Type{}, false
		}
	}
	if whole+scale > maxDecimal256 {
		return nil, exec.Type{}, false
	}
	t := decimalType(whole+scale, scale)
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
		return len(c.Dec.BigInt().String()) - int(x.form.t.Scale)
	}
	return 0
}

// toDecimal is x as a decimal of type t, whose scale is no smaller.
func toDecimal(x typed, t exec.Type) exec.Expr {
	if x.form.t == t {
		return x.expr
	}
	if c, ok := isConst(x); ok {
		n := new(big.Int)
		switch x.form.kind {
		case kindUint:
			n.SetUint64(c.Uint)
		case kindDecimal:
			n = c.Dec.BigInt()
		default:
			n.SetInt64(c.Int)
		}
		n.Mul(n, tenTo(t.Scale-x.form.t.Scale))
		return exec.Const{T: t, Null: c.Null, Dec: decimal256.FromBigInt(n)}
	}
	return exec.Convert{Arg: x.expr, T: t, Text: "decimal"}
}

// toFloat is a number as the engine makes a DOUBLE of it; false for what it does in other ways.
func toFloat(x typed) (exec.Expr, bool) {
	c, constant := isConst(x)
	switch x.form.kind {
	case kindFloat:
		if x.form.sql == types.Float32 {
			return nil, false
		}
		return x.expr, true
	case kindInt, kindBool:
		if types.IsYear(x.form.sql) {
			return nil, false
		}
		if constant {
			return exec.Const{T: floatType, Null: c.Null, Float: float64(c.Int)}, true
		}
		return exec.Convert{Arg: x.expr, T: floatType, Text: "double"}, true
	case kindUint:
		if constant {
			return exec.Const{T: floatType, Null: c.Null, Float: float64(c.Uint)}, true
		}
		return exec.Convert{Arg: x.expr, T: floatType, Text: "double"}, true
	case kindDecimal:
		if constant {
			f, _ := decimalValue(c.Dec, x.form.t.Scale).Float64()
			return exec.Const{T: floatType, Null: c.Null, Float: f}, true
		}
	}
	return nil, false
}
