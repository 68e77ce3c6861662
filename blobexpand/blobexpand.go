// Package blobexpand turns JSON values into typed column vectors: it infers
// columns, widens their types, and shreds values, exactly. It is pure: no I/O,
// no clock.
package blobexpand

import "github.com/apache/arrow-go/v18/arrow"

// Kind is the family of a column type.
type Kind uint8

const (
	Bool      Kind = iota + 1 // TINYINT(1); arrow Boolean
	Int64                     // declared TINYINT..BIGINT are Int64 with Bits; arrow Int64
	Uint64                    // declared UNSIGNED; arrow Uint64
	Float64                   // DOUBLE, FLOAT (Bits 32); arrow Float64
	Decimal                   // DECIMAL(Precision,Scale), Precision <= 65; arrow Decimal128 up to 38, else Decimal256
	Text                      // VARCHAR(Length), LONGTEXT when Length is 0; arrow String
	Binary                    // VARBINARY/BLOB from base64? declared only; arrow Binary
	JSON                      // the member's JSON text as spelled; arrow String
	Date                      // arrow Date32
	Time                      // arrow Duration microseconds (MySQL TIME is signed, up to 838 h)
	DateTime                  // UTC wall time; arrow Timestamp(us) without zone
	Timestamp                 // an instant; arrow Timestamp(us, UTC)
	Year                      // arrow Int64
)

// Type is a column's type, MySQL's as far as a declaration goes.
type Type struct {
	Kind      Kind
	Bits      uint8     // Int64/Uint64: 8,16,24,32,64; Float64: 32,64
	Precision uint8     // Decimal
	Scale     uint8     // Decimal
	FSP       uint8     // fractional second digits of Time, DateTime, Timestamp: 0..6
	Length    int       // Text, Binary: most characters (bytes); 0 = LONGTEXT/LONGBLOB
	Epoch     EpochUnit // DateTime, Timestamp: numbers are epochs of this unit (declared)
	Enum      []string  // declared ENUM: Text limited to these
}

// EpochUnit of numeric times.
type EpochUnit uint8

const (
	NoEpoch EpochUnit = iota
	EpochSeconds
	EpochMillis
	EpochMicros
	EpochNanos
)

// Column is one expanded column of a topic's table.
type Column struct {
	Name     string   // as SQL sees it: dotted path, escaped, unique ignoring case
	Path     []string // exact member names from the root
	Type     Type
	Declared bool
	Comment  string
}

// InferredTextLength is what inferred text reports until a longer value is seen.
const InferredTextLength = 16383

// Inference is what is known of a topic's values so far. Not safe for concurrent use.
type Inference struct{}

// NewInference starts with the declared columns (their paths are not inferred).
// reserved are names that are taken (system columns).
func NewInference(declared []Column, reserved []string) *Inference { panic("todo") }

// Observe takes in one value in log order and says whether columns or types
// changed. Invalid JSON and non-objects change nothing.
func (in *Inference) Observe(value []byte) (changed bool) { panic("todo") }

// Columns are declared ones first, then inferred in order of first sight.
// The slice is a copy.
func (in *Inference) Columns() []Column { panic("todo") }

// Encode and DecodeInference keep it across restarts (versioned).
func (in *Inference) Encode() []byte               { panic("todo") }
func DecodeInference(b []byte) (*Inference, error) { panic("todo") }

// Expander shreds values into arrow vectors for a chosen set of columns. Not safe for
// concurrent use; reused over batches.
type Expander struct{}

// ExpanderOptions choose what is produced beside the columns.
type ExpanderOptions struct {
	Errors bool // produce the error vector (why a row's expansion failed, any column of all); costs full validation against all
	// All is the full column list of the table: _error covers every column, not only the asked ones.
	All  []Column
	Rest bool // produce _rest
}

// NewExpander for columns cols, in that order.
func NewExpander(cols []Column, o ExpanderOptions) *Expander { panic("todo") }

// Append shreds one value as the next row; nil is a tombstone (all NULL, no error).
func (e *Expander) Append(value []byte) { panic("todo") }

// Rows appended since the last Take.
func (e *Expander) Rows() int { panic("todo") }

// Take returns one arrow array per column in order (then the error vector,
// String, and the rest vector, String, if asked for) and starts anew. The
// caller releases them.
func (e *Expander) Take() []arrow.Array { panic("todo") }

// ArrowType is the vector type of t.
func ArrowType(t Type) arrow.DataType { panic("todo") }
