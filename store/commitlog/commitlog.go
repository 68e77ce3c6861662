// Package commitlog is the seam between Millrace's deterministic state and the
// place where its ordered log is kept. Nothing above it knows whether the log
// is local files (store/wal), memory (Mem, for tests) or, later, a table shared
// by several gateways.
package commitlog

import (
	"errors"
	"fmt"
	"io"
)

// LSN is the log sequence number of an entry: 1 for the first, +1 for each
// following one, never reused. 0 means "none".
type LSN uint64

// Errors that an Append can end in. They say different things to the caller:
// after ErrConflict or ErrFenced the entry is certainly not in the log, after
// ErrInDoubt it may be.
var (
	// ErrConflict: the entry was decided against another last LSN than the log's.
	ErrConflict = errors.New("commit log: conflict")
	// ErrFenced: this writer has lost the right to append.
	ErrFenced = errors.New("commit log: fenced")
	// ErrInDoubt: whether the entry is durable is not known.
	ErrInDoubt = errors.New("commit log: in doubt")
	// ErrStorage: a write or sync failed; the entry was not acknowledged and
	// will not come back. The log takes no appends until Resume succeeds. When
	// the log could not even record that the entry is given up, the error is
	// ErrInDoubt as well: the entry still cannot come back once Resume
	// succeeded, but it can if the process ends before that.
	ErrStorage = errors.New("commit log: storage failed")
	// ErrNoSpace is ErrStorage for want of space (errors.Is both).
	ErrNoSpace = fmt.Errorf("%w: no space", ErrStorage)
	// ErrCorrupt: bytes that were known to be synced do not match their checksum.
	ErrCorrupt = errors.New("commit log: corrupt")
	// ErrClosed: the log was closed.
	ErrClosed = errors.New("commit log: closed")
	// ErrTruncated: the LSN lies below First.
	ErrTruncated = errors.New("commit log: truncated")
	// ErrTooLarge: the entry is larger than the log can hold in one frame.
	ErrTooLarge = errors.New("commit log: entry too large")
)

// Entry is the unit of atomicity: after a crash it is there whole or not at all.
type Entry struct {
	// Meta is what state.Apply replays. The log sums it.
	Meta []byte
	// Payload is the record batches that Meta names, in its order. Each is a
	// Kafka v2 batch whose own CRC32C covers its bytes from attributes on; the
	// log sums their headers and CRCs, not the payload a second time.
	// The log reads Meta and Payload until done is called, then drops them.
	Payload [][]byte
	// Reserved entries may use the small preallocated reserve, so that
	// DeleteTopic, DeleteRecords, retention and checkpoints work on a full disk.
	Reserved bool
}

// Location is where an entry's payload begins: byte Offset of file File. The
// payload's batches lie there one after the other without gaps.
type Location struct {
	File   uint32
	Offset uint32
}

// Replayed is one entry as Read returns it.
type Replayed struct {
	LSN  LSN
	Meta []byte
	// Payload is all batches back to back, valid until the callback returns.
	Payload  []byte
	Location Location
}

// Log is an ordered, durable log with one appender at a time.
type Log interface {
	// Append queues e as entry after+1. It does not wait for the disk and must be
	// called with after = the LSN of the last queued entry (ErrConflict
	// otherwise, ErrStorage while failed, ErrNoSpace while a full disk lets
	// Reserved entries through only, ErrTooLarge, ErrClosed; then done is not
	// called).
	// Otherwise done is called exactly once, in LSN order, on the log's own
	// goroutine: with the location and nil once the entry is durable, or with
	// an error. When one entry fails, all entries queued behind it fail too,
	// and Append fails with ErrStorage until Resume. done must not block and
	// must not call Resume or Close.
	Append(after LSN, e Entry, done func(Location, error)) error

	// Resume makes a failed log take appends again (a new file under a new log
	// epoch, synced before it returns). Entries that failed can never come
	// back. No-op on a healthy log; ErrNoSpace on one that did not fail but lets only
	// Reserved entries through, and still must.
	Resume() error

	// Read calls fn for each durable entry with LSN >= from, in order.
	// ErrTruncated if from < First().
	Read(from LSN, fn func(Replayed) error) error

	// ReadAt fills p with payload bytes from loc on. Safe for concurrent use, and
	// valid as long as the entry's LSN >= First().
	ReadAt(p []byte, loc Location) error

	// First is the lowest LSN that can still be read, Last the highest durable
	// one; an empty log has Last() = First()-1.
	First() LSN
	Last() LSN

	// Size is the bytes of entries from First to Last, as they lie on disk.
	Size() int64

	// Truncate gives up all entries below before (whole files at a time: First
	// may stay lower). The caller guarantees that nothing reads them any more.
	Truncate(before LSN) error

	// SaveSnapshot atomically replaces the saved snapshot: write produces its
	// bytes, which are synced and checksummed before they replace the old one.
	SaveSnapshot(write func(io.Writer) error) error
	// LoadSnapshot hands the last saved snapshot to read; false when there is
	// none. ErrCorrupt if its checksum does not match.
	LoadSnapshot(read func(io.Reader) error) (bool, error)

	// Close waits for queued entries, writes a sync point and releases everything.
	Close() error
}

// MetaReader is implemented by logs that can replay without fetching payloads.
type MetaReader interface {
	// ReadMeta is Log.Read with Replayed.Payload nil.
	ReadMeta(from LSN, fn func(Replayed) error) error
}

// PayloadBytes is the length of e's payload.
func (e *Entry) PayloadBytes() int64 {
	var n int64
	for _, p := range e.Payload {
		n += int64(len(p))
	}
	return n
}
