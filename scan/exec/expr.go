package exec

import (
	"millrace/internal/vector"

	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

// Type is how an expression's values are represented. What they mean in SQL (a date, a
// boolean, a text's collation) is the business of who builds the plan.
type Type struct {
	Kind  vector.Kind
	Scale int32 // of decimals
}

// Truth values are of type Bool: 0, 1, or NULL.
var Bool = Type{Kind: vector.Int}

// Expr is a scalar expression over the columns of its operator's input, with SQL's
// NULLs. Expressions are plain immutable data; the builder has resolved all types: an
// operator's operands have the type that its comment asks for, and nothing is coerced
// here.
type Expr interface{ Type() Type }

// Col is column Index of the input.
type Col struct {
	Index int
	T     Type
}

// Const is the same value for every row; the field that its kind names is set.
type Const struct {
	T     Type
	Null  bool
	Int   int64
	Uint  uint64
	Float float64
	Dec   decimal256.Num // Decimal128 and Decimal256
	Bytes []byte
}

// Arith is an arithmetic operation over operands of one type, T: Int, Uint, Float, Decimal128
// or Decimal256. Decimal operands of Add and Sub have T's scale; those of Mul have scales
// that add up to T's. A result outside T is a *RangeError with Text. Division by zero is NULL.
type Arith struct {
	Op   ArithOp
	L, R Expr // R is nil for Neg
	T    Type
	Text string // the expression as SQL spells it, for the error
}

// ArithOp is an arithmetic operator.
type ArithOp uint8

const (
	Add ArithOp = iota + 1
	Sub
	Mul
	Div    // of floats; of decimals with the result's scale, rounded half away from zero
	IntDiv // DIV, truncating
	Mod    // the sign is the dividend's
	Neg
)

// Convert changes the representation without loss: Int or Uint to decimals or (up to 2^53) Float,
// decimals to a wider decimal or a larger scale, Int to Uint and back where Text's range error is
// raised for what does not fit. Int to String gives the decimal digits.
type Convert struct {
	Arg  Expr
	T    Type
	Text string
}

// Compare compares operands of one type. NULL when one is.
type Compare struct {
	Op   CompareOp
	L, R Expr
}

// CompareOp is a comparison.
type CompareOp uint8

const (
	EQ CompareOp = iota
	NE
	LT
	LE
	GT
	GE
	NullSafeEQ // <=>: never NULL
)

// And, Or and Not are SQL's, over truth values.
type (
	And struct{ Args []Expr }
	Or  struct{ Args []Expr }
	Not struct{ Arg Expr }
)

// IsNull is never NULL.
type IsNull struct{ Arg Expr }

// In is true when Arg equals a value of List; otherwise NULL when Arg is NULL or Null is set
// (the list held a NULL); otherwise false. The values have Arg's type.
type In struct {
	Arg  Expr
	List []Const
	Null bool
}

// Like matches text by bytes. Escape is 0 for none. Bytes of a character stay together: `_` is one
// UTF-8 character. Fold also folds ASCII case.
type Like struct {
	Arg     Expr
	Pattern []byte
	Escape  rune
	Fold    bool
}

// Case is the Then of the first When that is true, else Else (nil: NULL). All of type T. A branch is
// evaluated only for the rows that take it.
type Case struct {
	When []When
	Else Expr
	T    Type
}

// When is a branch of a Case.
type When struct {
	Cond Expr
	Then Expr
}

// Func is a built-in function with a kernel of its own; see the Fn constants for operands.
type Func struct {
	Fn   Fn
	Args []Expr
	T    Type
}

// Map is any other deterministic function of one argument, computed by Apply once per
// distinct argument (per dictionary entry, or memoised). Apply must be safe for concurrent use.
type Map struct {
	Arg   Expr
	Apply func(arg Const) (Const, error)
	T     Type
	Text  string // for EXPLAIN
}

// Type implements Expr.
func (e Col) Type() Type     { return e.T }
func (e Const) Type() Type   { return e.T }
func (e Arith) Type() Type   { return e.T }
func (e Convert) Type() Type { return e.T }
func (e Compare) Type() Type { return Bool }
func (e And) Type() Type     { return Bool }
func (e Or) Type() Type      { return Bool }
func (e Not) Type() Type     { return Bool }
func (e IsNull) Type() Type  { return Bool }
func (e In) Type() Type      { return Bool }
func (e Like) Type() Type    { return Bool }
func (e Case) Type() Type    { return e.T }
func (e Func) Type() Type    { return e.T }
func (e Map) Type() Type     { return e.T }

// Fn names a function with a kernel.
type Fn uint8

const (
	// FloorTo (Int; Const Int step > 0, Const Int origin[, Const Int least]): the largest origin + k·step that is ≤ the
	// argument: time windows. Below least the argument itself.
	FloorTo Fn = iota + 1
	// DatePart functions of an instant or wall time in units given by the second argument (Const
	// Int: units per second); the third is the zone's fixed offset from UTC in seconds.
	Year
	Month
	Day
	Hour
	Minute
	Second
	DayOfWeek // 1 is Sunday
	DayOfYear
	Quarter
	DateOf // days since 1970
	// Length in bytes and CharLength in characters (String).
	Length
	CharLength
	Lower // by Unicode's simple mapping, as MySQL's utf8mb4_0900 does
	Upper
	// Substring (String; Const Int position, 1-based, negative from the end; Const Int length or
	// none) counts characters.
	Substring
	Concat // of Strings; NULL when one is
	// Tuple (any) is a String that is the same for the same values of all arguments, and for no others; NULL when one is.
	Tuple
	Abs
	// Round (Float or decimal; Const Int digits).
	Round
	Floor
	Ceil
)
