package wal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"millrace/store/commitlog"
)

// CheckBatches compares the CRC of each record batch in an entry's payload, which
// neither Read nor ReadAt does. A payload that is not made of v2 batches is
// covered by the log's own checksum and passes.
func CheckBatches(payload []byte) error {
	for at := 0; at < len(payload); {
		n, ok := batchBytes(payload[at:])
		if !ok {
			return nil
		}
		b := payload[at : at+n]
		if crc32.Checksum(b[batchSummedAt:], castagnoli) != binary.BigEndian.Uint32(b[batchCRCAt:]) {
			return fmt.Errorf("%w: record batch at byte %d of the payload does not match its checksum", commitlog.ErrCorrupt, at)
		}
		at += n
	}
	return nil
}
