// Package blobexpand turns JSON values into typed column vectors: it infers
// columns, widens their types, and shreds values, exactly. It is pure: no I/O,
// no clock.
//
// A cell is the value as stored, or NULL with an error; nothing is rounded,
// wrapped or guessed. Numbers are read as text.
//
// # What a member becomes when its kind changes
//
//   - scalars of several kinds, or a scalar and an array: text, each value as
//     spelled, strings without quotes;
//   - an object contributes only its members. Where scalars or arrays stand at the
//     same path too, both are kept: column "a" has the scalars and is NULL (without
//     error) where "a" is an object, columns "a.x" have the members and are NULL
//     where "a" is not an object;
//   - null, and an empty object, bring nothing.
//
// A member that stands twice in one object counts once: the last one wins, whole.
package blobexpand

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
	// Field is for CSV values: the column reads the record's field of this number,
	// the first being 1, and Path means nothing. 0: the value is JSON. One
	// table's columns are all of one sort.
	Field int
}

// InferredTextLength is what inferred text reports until a longer value is seen.
const InferredTextLength = 16383
