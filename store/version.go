package store

import (
	"sync"
	"sync/atomic"

	"millrace/store/commitlog"
)

// version is what there is to read: the sealed segments and the memtables over
// the rest of the log. It is immutable but for the active memtable, and
// reference-counted: while one lives, its segments stay open and the log
// is not truncated at or above its first unsealed LSN.
type version struct {
	set  *versionSet
	refs atomic.Int32
	segs []*segmentFile // in LSN order
	mems []*memtable    // in LSN order; the last one is active, the others frozen
}

func (v *version) active() *memtable { return v.mems[len(v.mems)-1] }

// sealed is the highest LSN whose batches lie in segments.
func (v *version) sealed() commitlog.LSN { return v.mems[0].first - 1 }

func (v *version) ref() *version {
	v.refs.Add(1)
	return v
}

func (v *version) unref() {
	if v.refs.Add(-1) == 0 {
		v.set.drop(v)
	}
}

// unsealedBytes is what the memtables' range of the log holds. Under the publish lock.
func (v *version) unsealedBytes() (n int64) {
	for _, m := range v.mems {
		n += m.payloadBytes + m.metaBytes
	}
	return n
}

// lost returns the first segment whose directory could not be read, or nil.
func (v *version) lost() *segmentFile {
	for _, f := range v.segs {
		if f.lost != nil {
			return f
		}
	}
	return nil
}

// versionSet knows all living versions, oldest first.
type versionSet struct {
	dropped func() // called after a version is gone, without locks

	mu   sync.Mutex
	live []*version
}

// add makes a version with one reference, the caller's, and takes references of its segments.
func (vs *versionSet) add(segs []*segmentFile, mems []*memtable) *version {
	v := &version{set: vs, segs: segs, mems: mems}
	v.refs.Store(1)
	for _, s := range segs {
		s.ref()
	}
	vs.mu.Lock()
	vs.live = append(vs.live, v)
	vs.mu.Unlock()
	return v
}

func (vs *versionSet) drop(v *version) {
	vs.mu.Lock()
	for i, x := range vs.live {
		if x == v {
			vs.live = append(vs.live[:i], vs.live[i+1:]...)
			break
		}
	}
	vs.mu.Unlock()
	for _, s := range v.segs {
		s.unref()
	}
	if vs.dropped != nil {
		vs.dropped()
	}
}

// neededLSN is the lowest LSN that some living version reads from the log.
// Later versions never need less than earlier ones.
func (vs *versionSet) neededLSN() commitlog.LSN {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	return vs.live[0].mems[0].first
}
