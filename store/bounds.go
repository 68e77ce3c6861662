package store

import (
	"sync/atomic"

	"millrace/store/state"
)

// boundsPerChunk balances what one publish copies after a snapshot (4 KiB a
// chunk) against the length of the chunk list that the first one copies.
const boundsPerChunk = 128

// boundsTable keeps all partitions' published bounds by slot number. A snapshot
// takes the chunk list as it is and thereby freezes it: the first write to a
// frozen chunk copies it. Writers hold the publish lock exclusively, view needs
// it shared.
type boundsTable struct {
	epoch     atomic.Uint64 // raised by every view
	listEpoch uint64        // epoch at which chunks was last copied
	chunks    []*boundsChunk
}

type boundsChunk struct {
	epoch  uint64
	bounds [boundsPerChunk]state.Bounds
}

func (t *boundsTable) get(slot int) state.Bounds {
	return boundsView(t.chunks).get(slot)
}

func (t *boundsTable) set(slot int, b state.Bounds) {
	e := t.epoch.Load()
	if t.listEpoch < e {
		t.chunks = append(make([]*boundsChunk, 0, len(t.chunks)+1), t.chunks...)
		t.listEpoch = e
	}
	i := slot / boundsPerChunk
	for i >= len(t.chunks) {
		t.chunks = append(t.chunks, &boundsChunk{epoch: e})
	}
	c := t.chunks[i]
	if c.epoch < e {
		n := *c
		n.epoch = e
		c = &n
		t.chunks[i] = c
	}
	c.bounds[slot%boundsPerChunk] = b
}

// view returns the bounds as they are now, for ever.
func (t *boundsTable) view() boundsView {
	t.epoch.Add(1)
	return t.chunks
}

// boundsView is an immutable state of a boundsTable.
type boundsView []*boundsChunk

func (v boundsView) get(slot int) state.Bounds {
	return v[slot/boundsPerChunk].bounds[slot%boundsPerChunk]
}
