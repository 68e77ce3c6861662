package store

import (
	"fmt"

	"millrace/internal/recordbatch"
)

// checkBatch compares a batch that was read from disk with what the index says
// of it. Together with the batch's CRC, which covers everything from the
// attributes on, this covers every byte.
func checkBatch(raw []byte, base, last int64) error {
	b, rest, err := recordbatch.Parse(raw)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	switch {
	case len(rest) != 0:
		return fmt.Errorf("%w: batch length %d, want %d", ErrCorrupt, len(b.Raw), len(raw))
	case b.BaseOffset != base:
		return fmt.Errorf("%w: base offset %d, want %d", ErrCorrupt, b.BaseOffset, base)
	case b.LeaderEpoch != 0:
		return fmt.Errorf("%w: leader epoch %d, want 0", ErrCorrupt, b.LeaderEpoch)
	case !b.CheckCRC():
		return fmt.Errorf("%w: batch checksum mismatch", ErrCorrupt)
	case b.LastOffset() != last:
		return fmt.Errorf("%w: last offset %d, want %d", ErrCorrupt, b.LastOffset(), last)
	}
	return nil
}
