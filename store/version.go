package store

import (
	"sync"
	"sync/atomic"

	"millrace/store/commitlog"
	"millrace/store/segment"
	"millrace/store/state"
)

// version is what there is to read: the sealed segments and the memtables over
// the rest of the log. It is immutable but for the active memtable, and
// reference-counted: while one lives, its segments stay open and the log
// is not truncated at or above its first unsealed LSN.
type version struct {
	set    *versionSet
	refs   atomic.Int32
	segs   []*segmentFile // compacted copies in the order they were made, then the rest in LSN order
	copies int            // how many segs the former are
	mems   []*memtable    // in LSN order; the last one is active, the others frozen
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

// compacted returns the partition's compacted copy, which takes the place of all that v.segs[v.copies:]
// have of it below end; without one f is nil and end 0.
func (v *version) compacted(tp state.TopicPartition) (f *segmentFile, p *segment.Partition, end int64) {
	for i := v.copies - 1; i >= 0; i-- {
		if p := v.segs[i].Find(tp); p != nil {
			return v.segs[i], p, p.EndOffset
		}
	}
	return nil, nil, 0
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
	for i, f := range segs {
		if f.Level == segment.Compacted {
			v.copies = i + 1
		}
	}
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
