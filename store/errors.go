package store

import (
	"errors"
	"fmt"

	"millrace/store/commitlog"
	"millrace/store/segment"
	"millrace/store/state"
)

// ErrCorrupt: stored bytes do not match their checksum or index. What failed
// exactly is told by the *ReadError around it.
var ErrCorrupt = errors.New("store: corrupt data")

// ReadError says which stored records could not be read, and where they lie.
// Other partitions, and other offsets of this one, are not concerned.
type ReadError struct {
	state.TopicPartition
	Name        string // of the topic; "" when it is gone
	FirstOffset int64
	LastOffset  int64
	File        string // relative to the data directory
	FileOffset  int64
	Err         error // wraps ErrCorrupt, or the file system's error
}

func (e *ReadError) Error() string {
	name := e.Name
	if name == "" {
		name = e.Topic.String()
	}
	return fmt.Sprintf("topic %q partition %d offsets %d-%d: %s at byte %d: %v",
		name, e.Partition, e.FirstOffset, e.LastOffset, e.File, e.FileOffset, e.Err)
}

func (e *ReadError) Unwrap() error { return e.Err }

func logFileName(file uint32) string { return fmt.Sprintf("log file %d", file) }

// segmentError is readError for an index that could not be read.
func (s *Store) segmentError(tp state.TopicPartition, f *segmentFile, first, last int64, err error) error {
	at := int64(0)
	var ce *segment.CorruptError
	if errors.As(err, &ce) {
		at, err = ce.Offset, fmt.Errorf("%w: %s", ErrCorrupt, ce.Reason)
	}
	return s.readError(tp, first, last, f.relName(), at, err)
}

// readError wraps err with what it concerns and counts it.
func (s *Store) readError(tp state.TopicPartition, first, last int64, file string, at int64, err error) error {
	s.metrics.readErrors.Inc()
	if errors.Is(err, segment.ErrCorrupt) || errors.Is(err, commitlog.ErrCorrupt) {
		err = fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	name := s.topicName(tp)
	e := &ReadError{TopicPartition: tp, Name: name, FirstOffset: first, LastOffset: last, File: file, FileOffset: at, Err: err}
	// A consumer comes back for the same batch again and again: one line a second tells enough.
	if now := s.o.Now().Unix(); s.readErrorLogged.Swap(now) == now {
		return e
	}
	s.o.Logger.Error("stored records cannot be read", "topic", name, "topic id", tp.Topic, "partition", tp.Partition,
		"first offset", first, "last offset", last, "file", file, "file offset", at, "error", err)
	return e
}

// topicName is "" when the topic is gone.
func (s *Store) topicName(tp state.TopicPartition) string {
	t, _ := s.Topics().ByID(tp.Topic)
	return t.Name
}
