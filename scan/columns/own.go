package columns

import (
	"sync"

	"millrace/scan/exec"
	"millrace/store"
	"millrace/store/state"
)

// Own keeps, between the statements of an open transaction, the blocks from where the transaction begins on, as its owner alone
// sees them. Their columns are in the cache beside others', until Release. The zero value is ready. Safe for concurrent use.
type Own struct {
	mu       sync.Mutex
	parts    map[state.TopicPartition]*part
	released bool
}

// SourceOf is Source for a snapshot that shows the transaction that own belongs to (store.SnapshotOf).
func (s *Set) SourceOf(sn *store.Snapshot, own *Own) exec.Source {
	return &source{set: s, sn: sn, own: own}
}

// part is a partition from where the transaction begins; nil: nothing is kept, or no longer. It has no files: those hold what is
// decided.
func (o *Own) part(s *Set, t state.Topic, tp state.TopicPartition) *part {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.released {
		return nil
	}
	p := o.parts[tp]
	if p == nil {
		p = newPart(s, t, tp)
		p.loaded = true
		if o.parts == nil {
			o.parts = map[state.TopicPartition]*part{}
		}
		o.parts[tp] = p
	}
	return p
}

// Release drops what is kept, at the transaction's end. Statements that still read may go on. Idempotent.
func (o *Own) Release() {
	o.mu.Lock()
	parts := o.parts
	o.parts, o.released = nil, true
	o.mu.Unlock()
	for _, p := range parts {
		<-p.inside // who has it cuts blocks
		p.set.cache.drop(p.state.Load().list)
		p.leave()
	}
}
