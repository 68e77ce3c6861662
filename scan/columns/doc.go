// Package columns keeps the columns of topics: it cuts partitions into blocks of at most
// exec.MaxBlockRows rows, and gives a block's columns as vectors, from a bounded cache, or
// by expanding the raw batches.
//
// Columns are derived. A block is used for a snapshot only if it holds what the snapshot
// sees of its offsets (see part.cover); otherwise the snapshot gets blocks of its own. So
// whatever is missing, old or dropped costs time, never a row.
package columns
