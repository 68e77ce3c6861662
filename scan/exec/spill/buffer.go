package spill

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Buffer holds rows to be sorted: each is a record of its key's length and its row's (varints), its
// key and its row, in chunks that never move.
type Buffer struct {
	chunks [][]byte
	used   int // chunks in use
	Items  []Item
}

// Item is a row: the beginning of its key and where its record lies.
type Item struct {
	prefix uint64
	chunk  uint32
	at     uint32
}

// A chunk is of sortChunk bytes, but for rows that are longer; the first are smaller, for the many sorts of few rows.
const (
	sortChunk = 1 << 20
	sortFirst = 16 << 10
)

// Add appends a row. grow is asked before memory is taken, with what the buffer will hold; its
// error is Add's, and nothing was added.
func (b *Buffer) Add(key, row []byte, grow func(bytes int64) error) error {
	need := len(key) + len(row) + 2*binary.MaxVarintLen32
	if b.used == 0 || cap(b.chunks[b.used-1])-len(b.chunks[b.used-1]) < need {
		if b.used == len(b.chunks) || cap(b.chunks[b.used]) < need {
			size := max(min(sortFirst<<(2*min(b.used, 3)), sortChunk), need)
			if err := grow(b.Size() + int64(size) + 16*int64(len(b.Items))/8); err != nil {
				return err
			}
			b.chunks = slices.Insert(b.chunks, b.used, make([]byte, 0, size))
		}
		b.used++
	}
	c := &b.chunks[b.used-1]
	b.Items = append(b.Items, Item{keyPrefix(key), uint32(b.used - 1), uint32(len(*c))})
	*c = binary.AppendUvarint(*c, uint64(len(key)))
	*c = binary.AppendUvarint(*c, uint64(len(row)))
	*c = append(append(*c, key...), row...)
	return nil
}

// Size is the memory that the buffer takes, in bytes.
func (b *Buffer) Size() int64 {
	n := 16 * int64(cap(b.Items))
	for _, c := range b.chunks {
		n += int64(cap(c))
	}
	return n
}

// Reset drops the rows and keeps the memory.
func (b *Buffer) Reset() {
	for i := range b.chunks {
		b.chunks[i] = b.chunks[i][:0]
	}
	b.used, b.Items = 0, b.Items[:0]
}

// Record is a row's record, with what follows it.
func (b *Buffer) Record(it Item) []byte { return b.chunks[it.chunk][it.at:] }

// Split cuts a record.
func Split(b []byte) (key, row, rest []byte) {
	k, n := binary.Uvarint(b)
	b = b[n:]
	r, n := binary.Uvarint(b)
	b = b[n:]
	return b[:k], b[k : k+r], b[k+r:]
}

func (b *Buffer) key(it Item) []byte {
	key, _, _ := Split(b.Record(it))
	return key
}

// Sort orders the rows; those with equal keys stay in the order in which they came.
func (b *Buffer) Sort() {
	slices.SortFunc(b.Items, func(x, y Item) int {
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

// keyPrefix is the first eight bytes of a key, as a number that orders like them.
func keyPrefix(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}
