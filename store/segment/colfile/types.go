package colfile

import (
	"errors"
	"fmt"

	"millrace/internal/vector"
	"millrace/store/state"
)

// ErrCorrupt says that a file is damaged, or none of ours.
var ErrCorrupt = errors.New("colfile: corrupt")

// ErrVersion says that a file was written by a newer version.
var ErrVersion = errors.New("colfile: unknown version")

// Logical is what a column's values mean to others.
type Logical uint8

const (
	Plain  Logical = iota // of kind Int BIGINT, of Uint UBIGINT, of Float DOUBLE, of String bytes
	Bool                  // Int 0 and 1
	Int32                 // Int within 32 bits
	Date                  // Int: days since 1970
	Millis                // Int: an instant, in milliseconds
	Micros                // Int: an instant, in microseconds
	Wall                  // Int: wall time without a zone, in microseconds
	Text                  // String in UTF-8
	JSON                  // String
	Number                // Decimal128 or Decimal256 of Precision digits
	maxLogical
)

// Column of a file.
type Column struct {
	Name      string // as SQL has it
	Key       string // the writer's name for it, opaque here; unique in a file
	Kind      vector.Kind
	Logical   Logical
	Precision uint8 // of decimals
	Scale     uint8
}

// check refuses what the package cannot write.
func (c *Column) check() error {
	ok := false
	switch c.Logical {
	case Plain:
		ok = c.Kind == vector.Int || c.Kind == vector.Uint || c.Kind == vector.Float || c.Kind == vector.String
	case Bool, Int32, Date, Millis, Micros, Wall:
		ok = c.Kind == vector.Int
	case Text, JSON:
		ok = c.Kind == vector.String
	case Number:
		ok = c.Kind == vector.Decimal128 && c.Precision <= 38 || c.Kind == vector.Decimal256 && c.Precision <= 76
		ok = ok && c.Precision > 0 && c.Scale <= c.Precision
	}
	if !ok {
		return fmt.Errorf("colfile: column %q: kind %d cannot be shown as %d", c.Name, c.Kind, c.Logical)
	}
	return nil
}

// Block is a row group: rows of one partition, in offset order.
type Block struct {
	Partition int32
	From, End int64 // the offsets that it stands for
	Rows      int
	Dense     bool // every offset is a row
	// Complete says that members of values that no column of the file shows are not there.
	Complete bool
	// Copy is the compacted copy that the records came from; 0: none.
	Copy uint64
	// Committed is the highest LSN of a commit that made some of its records visible; 0: none.
	Committed        uint64
	RawBytes         int64        // of the batches it was made of
	MinTime, MaxTime state.Millis // of the records, if Timed
	Timed            bool
	Chunks           []Chunk // one per column of the file; Add makes them
}

// Chunk is one column of a block.
type Chunk struct {
	Stats
	At, Size           int64
	CRC                uint32 // CRC32C of the bytes there
	BloomAt, BloomSize int64  // 0: no filter
	BloomCRC           uint32
	BloomPieces        []uint32 // sums of its pieces; nil: not known
	Zstd               bool     // its pages are compressed
	Pages              []Page   // in order, of which a dictionary is the first; nil: not known
	TallyAt, TallySize int64    // 0: no tally; of size alone: it is in Tally
	TallyCRC           uint32
	Tally              []byte // as encoded, if it is small
	Summed             bool   // the sums of the block are of its values, too
	SumsAt, SumsSize   int64  // of the summed columns for each value of its tally; 0: none
	SumsCRC            uint32
}

// Page is a part of a chunk that can be read alone, or after the dictionary.
type Page struct {
	Rows int32 // 0: it is the dictionary
	Size int32
	CRC  uint32
}

// Stats are a column's bounds in a block. Values are 8 bytes little endian of kinds Int, Uint
// and Float, 32 bytes of decimals, and text as it is.
type Stats struct {
	Nulls          int
	HasMin, HasMax bool
	Exact          bool // Min and Max are values of the column, not cut
	HasSum         bool
	Min, Max       []byte
	Sum            []byte // a decimal of the column's scale
}

// Info is what a file says of itself.
type Info struct {
	Topic     state.TopicID
	TopicName string
	ID        uint64 // of files with the same rows the one with the greatest holds
	Created   int64  // when it was written first, Unix milliseconds; 0: not known
	Zstd      bool   // chunks are compressed where it pays
	Columns   []Column
	Blocks    []Block
}

// Column returns the index of the column with that key, or -1.
func (f *Info) Column(key string) int {
	for i := range f.Columns {
		if f.Columns[i].Key == key {
			return i
		}
	}
	return -1
}
