package exec

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// sortBuffer holds rows to be sorted: each is a record of its key's length and its row's (varints), its
// key and its row, in chunks that never move.
type sortBuffer struct {
	chunks [][]byte
	used   int // chunks in use
	items  []sortItem
}

// sortItem is a row: the beginning of its key and where its record lies.
type sortItem struct {
	prefix uint64
	chunk  uint32
	at     uint32
}

// A chunk is of sortChunk bytes, but for rows that are longer; the first are smaller, for the many sorts of few rows.
const (
	sortChunk = 1 << 20
	sortFirst = 16 << 10
)

// add appends a row. grow is asked before memory is taken, with what the buffer will hold; its
// error is add's, and nothing was added.
func (b *sortBuffer) add(key, row []byte, grow func(bytes int64) error) error {
	need := len(key) + len(row) + 2*binary.MaxVarintLen32
	if b.used == 0 || cap(b.chunks[b.used-1])-len(b.chunks[b.used-1]) < need {
		if b.used == len(b.chunks) || cap(b.chunks[b.used]) < need {
			size := max(min(sortFirst<<(2*min(b.used, 3)), sortChunk), need)
			if err := grow(b.size() + int64(size) + 16*int64(len(b.items))/8); err != nil {
				return err
			}
			b.chunks = slices.Insert(b.chunks, b.used, make([]byte, 0, size))
		}
		b.used++
	}
	c := &b.chunks[b.used-1]
	b.items = append(b.items, sortItem{keyPrefix(key), uint32(b.used - 1), uint32(len(*c))})
	*c = binary.AppendUvarint(*c, uint64(len(key)))
	*c = binary.AppendUvarint(*c, uint64(len(row)))
	*c = append(append(*c, key...), row...)
	return nil
}

func (b *sortBuffer) size() int64 {
	n := 16 * int64(cap(b.items))
	for _, c := range b.chunks {
		n += int64(cap(c))
	}
	return n
}

// reset drops the rows and keeps the memory.
func (b *sortBuffer) reset() {
	for i := range b.chunks {
		b.chunks[i] = b.chunks[i][:0]
	}
	b.used, b.items = 0, b.items[:0]
}

// record is a row's record, with what follows it.
func (b *sortBuffer) record(it sortItem) []byte { return b.chunks[it.chunk][it.at:] }

// splitRecord cuts a record.
func splitRecord(b []byte) (key, row, rest []byte) {
	k, n := binary.Uvarint(b)
	b = b[n:]
	r, n := binary.Uvarint(b)
	b = b[n:]
	return b[:k], b[k : k+r], b[k+r:]
}

func (b *sortBuffer) key(it sortItem) []byte {
	key, _, _ := splitRecord(b.record(it))
	return key
}

// sort orders the rows; those with equal keys stay in the order in which they came.
func (b *sortBuffer) sort() {
	slices.SortFunc(b.items, func(x, y sortItem) int {
		switch {
		case x.prefix < y.prefix:
			return -1
		case x.prefix > y.prefix:
			return 1
		}
		if c := bytes.Compare(b.key(x), b.key(y)); c != 0 {
			return c
		}
		if x.chunk != y.chunk {
			return int(x.chunk) - int(y.chunk)
		}
		return int(x.at) - int(y.at)
	})
}
