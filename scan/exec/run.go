package exec

import (
	"context"
	"errors"
	"fmt"

	"millrace/scan/exec/spill"
)

// Options of a run.
type Options struct {
	// Parallel is how many goroutines work on one query; 0: GOMAXPROCS.
	Parallel int
	// Budget is asked for memory; nil: none is counted.
	Budget Budget
	// Spill makes temporary files; nil: operators fail instead of spilling.
	Spill spill.Files
	// Explain collects what each operator did when it is set (EXPLAIN ANALYZE).
	Explain *Explain
}

// Budget bounds what a query and all queries keep. Safe for concurrent use.
type Budget interface {
	// Grow takes n bytes more; false when they are not to be had (then nothing was taken).
	Grow(n int64) bool
	// Shrink gives n bytes back.
	Shrink(n int64)
}

// ErrNotSupported says that a plan holds something that Run cannot carry out; Check says so
// beforehand.
var ErrNotSupported = errors.New("exec: not supported")

// RangeError is an arithmetic result outside its type.
type RangeError struct {
	Type string // BIGINT, BIGINT UNSIGNED, DECIMAL or DOUBLE
	Text string // the expression
}

// Error implements error, in MySQL's words.
func (e *RangeError) Error() string {
	return fmt.Sprintf("%s value is out of range in '%s'", e.Type, e.Text)
}

// Iter yields the batches of a plan, in order. Used by one goroutine; Close ends the work and gives
// everything back.
type Iter interface {
	// Next returns the next batch of at least one row, valid until the next call, or io.EOF.
	Next(ctx context.Context) (*Batch, error)
	Close()
}

// Explain is what was done, for EXPLAIN ANALYZE.
type Explain struct {
	Operators []OperatorStats
}

// OperatorStats of one node of the plan, in pre-order.
type OperatorStats struct {
	Node                     Node
	Rows                     int64 // yielded
	Nanos                    int64 // of work, over all goroutines
	Blocks, Pruned           int64 // of scans
	Answered                 int64 // of scans: blocks of which no row was looked at, because bounds, tallies or sums said it all
	RowsScanned, BytesOpened int64 // of scans
	Spilled                  int64 // bytes
}
