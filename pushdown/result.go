package pushdown

import (
	"context"

	"millrace/catalog/sqltable"
	"millrace/internal/vector"
	"millrace/scan/exec"

	"github.com/dolthub/go-mysql-server/sql"
)

// Kind is a family of values as vectors hold them.
type Kind = kind

// The kinds.
const (
	Null    = kindNull    // nothing but NULL
	Bool    = kindBool    // Int: 0 and 1
	Int     = kindInt     // Int
	Uint    = kindUint    // Uint
	Float   = kindFloat   // Float
	Decimal = kindDecimal // Decimal128 or Decimal256, of the vector's scale
	Text    = kindText    // String: UTF-8
	Bytes   = kindBytes   // String: bytes
	JSON    = kindJSON    // String: JSON's text
	Enum    = kindEnum    // String: the member's text
	Instant = kindInstant // Int: Unix time, shown in the session's zone
	Wall    = kindWall    // Int: wall time as if it were UTC
	Span    = kindSpan    // Int: microseconds
)

// Output is a column of a Result.
type Output struct {
	Column     int // of the batches
	Kind       Kind
	Type       sql.Type
	UnitMicros int64 // of Instant and Wall: microseconds of a unit
}

// Value reads a vector of the column as the engine's values, for what is not worth an encoder.
func (o Output) Value(v *vector.Vector, zone *sqltable.Zone) func(i int) any {
	return form{kind: o.Kind, sql: o.Type, t: exec.Type{Kind: v.Kind, Scale: v.Scale}, unit: o.UnitMicros}.read(v, zone)
}

// Result is the answer of a statement in batches of columns: for a writer that makes no rows of them.
type Result struct {
	Outputs []Output
	Zone    *sqltable.Zone
	iter    exec.Iter
}

// Result starts plan n if all of it is carried out in columns; nil if not, and then Build is what
// carries it out. Result is for the root of a statement's plan.
func (b *Builder) Result(ctx *sql.Context, n sql.Node) (*Result, error) {
	if !b.enabled(ctx) {
		return nil, nil
	}
	if t := traceFrom(ctx); t != nil && readsTopic(n) {
		t.mu.Lock()
		t.topics = true
		t.mu.Unlock()
	}
	c, declined, err := b.columnar(ctx, n)
	if err != nil || c == nil {
		b.stays(ctx, declined)
		return nil, err
	}
	it, err := c.start(ctx, true)
	if err != nil {
		return nil, err
	}
	r := &Result{iter: it, Zone: c.zone}
	for _, col := range c.rel.cols[:c.rel.width] {
		r.Outputs = append(r.Outputs, Output{Column: col.at, Kind: col.form.kind, Type: col.form.sql, UnitMicros: col.form.unit})
	}
	return r, nil
}

// Next is exec.Iter's.
func (r *Result) Next(ctx context.Context) (*exec.Batch, error) { return r.iter.Next(ctx) }

// Close ends the work. It may be called again.
func (r *Result) Close() {
	if r.iter != nil {
		r.iter.Close()
		r.iter = nil
	}
}

// SpelledWith says whether decimals with so many digits after the point are spelled with all of them in a
// column of type t.
func SpelledWith(t sql.Type, scale int32) bool {
	d, ok := t.(sql.DecimalType)
	return ok && (int32(d.Scale()) == scale || !fixedDigits(t))
}
