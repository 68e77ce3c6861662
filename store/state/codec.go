package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrCorrupt is what Apply, Batches and Decode wrap when bytes are not what
// Decide or Encode wrote. It never comes from Decide.
var ErrCorrupt = errors.New("state: corrupt entry or snapshot")

// All integers are varints as in encoding/binary (unsigned, or zigzag where they can be
// negative); strings and byte strings carry their length in front.

func putString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func putBytes(b, v []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

// reader decodes with a sticky error; after it every read returns zero.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s (%d bytes before the end)", ErrCorrupt, what, len(r.b))
		r.b = nil
	}
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail("short")
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *reader) uvarint() uint64 {
	if len(r.b) > 0 && r.b[0] < 0x80 { // the common case, without a call
		v := r.b[0]
		r.b = r.b[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail("bad varint")
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) varint() int64 {
	u := r.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// upTo reads an unsigned number of at most limit.
func (r *reader) upTo(limit uint64, what string) uint64 {
	v := r.uvarint()
	if v > limit {
		r.fail(what)
		return 0
	}
	return v
}

func (r *reader) int32(what string) int32 { return int32(r.upTo(math.MaxInt32, what)) }
func (r *reader) int64(what string) int64 { return int64(r.upTo(math.MaxInt64, what)) }

// count reads a number of elements that take at least minBytes each, so that
// it may be allocated for.
func (r *reader) count(minBytes int, what string) int {
	return int(r.upTo(uint64(len(r.b)/minBytes), what))
}

// bytes reads a byte string of at most limit bytes; it aliases the input.
func (r *reader) bytes(limit int, what string) []byte {
	n := r.uvarint()
	if n > uint64(limit) || n > uint64(len(r.b)) {
		r.fail(what)
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) string(limit int, what string) string { return string(r.bytes(limit, what)) }

func (r *reader) topicID() (id TopicID) {
	if len(r.b) < len(id) {
		r.fail("short topic id")
		return id
	}
	copy(id[:], r.b)
	r.b = r.b[len(id):]
	return id
}

// end reports the sticky error, or that bytes are left over.
func (r *reader) end() error {
	if r.err == nil && len(r.b) > 0 {
		r.fail("bytes left over")
	}
	return r.err
}
