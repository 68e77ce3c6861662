package store

import (
	"errors"
	"fmt"

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
