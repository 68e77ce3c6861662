package scan

import (
	"millrace/blobexpand"
	"millrace/catalog"

	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

// Expr is a filter: a tree of And, Or, Not, Const, Compare, In and IsNull, with
// SQL's three-valued logic.
type Expr interface{ expr() }

// And is true when all arguments are; true when it has none.
type And struct{ Args []Expr }

// Or is true when one argument is; false when it has none.
type Or struct{ Args []Expr }

// Not keeps NULL.
type Not struct{ Arg Expr }

// Const is the same for every row.
type Const struct{ Value Tri }

// Compare is NULL when the column is.
type Compare struct {
	Column Column
	Op     Op
	Value  Literal
}

// In is true when the column equals a value; otherwise NULL when the column is
// NULL or Null is set (the list held a NULL); otherwise false.
type In struct {
	Column Column
	Values []Literal
	Null   bool
}

// IsNull is never NULL.
type IsNull struct{ Column Column }

func (And) expr()     {}
func (Or) expr()      {}
func (Not) expr()     {}
func (Const) expr()   {}
func (Compare) expr() {}
func (In) expr()      {}
func (IsNull) expr()  {}

// Tri is a truth value.
type Tri uint8

const (
	False Tri = 0
	True  Tri = 1
	Null  Tri = 2
)

// Op is a comparison operator.
type Op uint8

const (
	EQ Op = iota
	NE
	LT
	LE
	GT
	GE
)

func (o Op) String() string { return [...]string{"=", "<>", "<", "<=", ">", ">="}[o] }

// negate is the operator that is true exactly where o is false, NULLs aside.
func (o Op) negate() Op { return [...]Op{NE, EQ, GE, GT, LE, LT}[o] }

// Literal is a constant in a column's own domain; the field that the domain names
// is set. The caller has converted it without loss: the kernels never coerce.
type Literal struct {
	Int     int64          // Ints, in the vector's own unit
	Uint    uint64         // Uints
	Float   float64        // Floats
	Decimal decimal256.Num // Decimals: unscaled, at the column's scale
	String  string         // Strings, compared byte by byte
}

// Domain is the family of values that a column's kernels compare.
type Domain uint8

const (
	NoDomain Domain = iota // not filterable here
	Ints                   // Int32, Int64, Boolean (0, 1), Date32 (days), Timestamp and Duration in their unit
	Uints
	Floats
	Decimals
	Strings
)

// DomainOf tells how column c of table t is compared.
func DomainOf(t *catalog.Table, c Column) Domain {
	switch c.Kind {
	case Partition, Offset, Timestamp, LeaderEpoch, TimestampProducer, TimestampBroker, ProducerID:
		return Ints
	case Key, Error, TimestampType:
		return Strings
	case Expanded:
		if c.Index < 0 || c.Index >= len(t.Expanded) {
			return NoDomain
		}
		switch typ := t.Expanded[c.Index].Type; typ.Kind {
		case blobexpand.Bool, blobexpand.Int64, blobexpand.Date, blobexpand.Time,
			blobexpand.DateTime, blobexpand.Timestamp, blobexpand.Year:
			return Ints
		case blobexpand.Uint64:
			return Uints
		case blobexpand.Float64:
			return Floats
		case blobexpand.Decimal:
			return Decimals
		case blobexpand.Text:
			return Strings
		}
	}
	return NoDomain
}

// system says that a column is known before a value is looked into.
func (c Column) system() bool { return c.Kind != Expanded && c.Kind != Error && c.Kind != Rest }

// columnsOf appends the columns that e reads.
func columnsOf(e Expr, dst []Column) []Column {
	switch e := e.(type) {
	case And:
		for _, a := range e.Args {
			dst = columnsOf(a, dst)
		}
	case Or:
		for _, a := range e.Args {
			dst = columnsOf(a, dst)
		}
	case Not:
		dst = columnsOf(e.Arg, dst)
	case Compare:
		dst = append(dst, e.Column)
	case In:
		dst = append(dst, e.Column)
	case IsNull:
		dst = append(dst, e.Column)
	}
	return dst
}

// Conjuncts splits e at its topmost Ands.
func Conjuncts(e Expr) []Expr {
	switch e := e.(type) {
	case nil:
		return nil
	case And:
		var out []Expr
		for _, a := range e.Args {
			out = append(out, Conjuncts(a)...)
		}
		return out
	}
	return []Expr{e}
}

// stages splits a filter into what the system columns decide, evaluated before
// any value is looked into, and the rest.
func stages(e Expr) (early, late Expr) {
	var first, second []Expr
conjunct:
	for _, c := range Conjuncts(e) {
		for _, col := range columnsOf(c, nil) {
			if !col.system() {
				second = append(second, c)
				continue conjunct
			}
		}
		first = append(first, c)
	}
	if len(first) > 0 {
		early = And{first}
	}
	if len(second) > 0 {
		late = And{second}
	}
	return early, late
}
