package store

import "sync/atomic"

// segmentFile is an open sealed segment. It is referenced by each version that
// contains it and, while the saved checkpoint names it, by the store.
type segmentFile struct {
	id   uint64
	size int64
	refs atomic.Int32
}

func (f *segmentFile) ref() { f.refs.Add(1) }

func (f *segmentFile) unref() { f.refs.Add(-1) }
