package state

import "fmt"

// State is the whole state. It is not safe for concurrent use: Decide, Apply
// and Hash need it alone (Decide keeps scratch space in it); the other accessors
// may run beside each other. The store owns two: decided (ahead of the disk)
// and published (what readers see).
type State struct {
	limits Limits

	topics         map[TopicID]*topic
	byName         map[string]*topic
	sorted         []*topic // in name order
	topicsVersion  uint64   // +1 with every change of a topic's description
	partitionCount int

	nextProducerID int64
	bumped         map[int64]bump // epochs handed out beyond 0
	producerCount  int            // (partition, producer) pairs

	transactions   map[string]*transaction
	transactionOf  map[int64]*transaction               // by producer id
	pendingOffsets int                                  // that transactions hold
	holders        map[string]map[*transaction]struct{} // by group: the transactions that it was added to

	groups      map[string]*group
	offsetCount int

	kinds           map[string]*documentKind
	documentCount   int
	documentVersion uint64 // last version given out; never reused

	scratch scratch
}

// New returns the empty state with default limits.
func New() *State { return NewWithLimits(Limits{}) }

// NewWithLimits returns the empty state.
func NewWithLimits(l Limits) *State {
	return &State{
		limits: l.withDefaults(),
		topics: map[TopicID]*topic{},
		byName: map[string]*topic{},
		bumped: map[int64]bump{},

		transactions:  map[string]*transaction{},
		transactionOf: map[int64]*transaction{},
		holders:       map[string]map[*transaction]struct{}{},

		groups: map[string]*group{},
		kinds:  map[string]*documentKind{},
	}
}

// Decide checks intent against s at time now (Unix ms) and returns the entry
// that carries it out, or nil when nothing is to be appended (refused, duplicate
// or no-op), and the intent's result type as documented at the intent. It does
// not change s. buf is an optional scratch buffer that entry may be built in
// (from its start; its contents are overwritten).
func (s *State) Decide(now Millis, intent Intent, buf []byte) (entry []byte, result any) {
	switch in := intent.(type) {
	case Produce:
		return s.decideProduce(now, in, buf)
	case CreateTopic:
		return s.decideCreateTopic(now, in, buf)
	case DeleteTopic:
		return s.decideDeleteTopic(in, buf)
	case CreatePartitions:
		return s.decideCreatePartitions(in, buf)
	case SetTopicConfigs:
		return s.decideSetTopicConfigs(in, buf)
	case AdvanceLogStart:
		return s.decideAdvanceLogStart(in, buf)
	case AllocateProducerID:
		return s.decideProducerID(now, in, buf)
	case ExpireProducers:
		return s.decideExpireProducers(now, in, buf)
	case InitTransaction:
		return s.decideInitTransaction(now, in, buf)
	case AddPartitionsToTransaction:
		return s.decideAddPartitions(now, in, buf)
	case AddGroupToTransaction:
		return s.decideAddGroup(now, in, buf)
	case CommitTransactionOffsets:
		return s.decideTransactionOffsets(now, in, buf)
	case EndTransaction:
		return s.decideEndTransaction(now, in, buf)
	case ExpireTransaction:
		return s.decideExpireTransaction(now, in, buf)
	case ExpireTransactionalIDs:
		return s.decideExpireTransactionalIDs(now, in, buf)
	case CommitOffsets:
		return s.decideCommitOffsets(now, in, buf)
	case DeleteOffsets:
		return s.decideDeleteOffsets(in, buf)
	case PutGroup:
		return s.decidePutGroup(now, in, buf)
	case DeleteGroup:
		return s.decideDeleteGroup(in, buf)
	case ExpireOffsets:
		return s.decideExpireOffsets(now, in, buf)
	case PutDocument:
		return s.decidePutDocument(in, buf)
	}
	panic(fmt.Sprintf("state: Decide of %T", intent))
}

// Clone returns an independent copy with the same limits.
func (s *State) Clone() *State {
	c := NewWithLimits(s.limits)
	c.topicsVersion = s.topicsVersion
	c.partitionCount = s.partitionCount
	c.sorted = make([]*topic, len(s.sorted))
	for i, t := range s.sorted {
		n := t.clone()
		c.sorted[i] = n
		c.topics[n.ID] = n
		c.byName[n.Name] = n
	}
	c.nextProducerID = s.nextProducerID
	c.producerCount = s.producerCount
	for id, b := range s.bumped {
		c.bumped[id] = b
	}
	for id, t := range s.transactions {
		n := t.clone()
		c.transactions[id] = n
		c.transactionOf[n.producerID] = n
		for group := range n.offsets {
			c.hold(group, n)
		}
	}
	c.pendingOffsets = s.pendingOffsets
	c.offsetCount = s.offsetCount
	for name, g := range s.groups {
		c.groups[name] = g.clone()
	}
	c.documentCount = s.documentCount
	c.documentVersion = s.documentVersion
	for name, k := range s.kinds {
		c.kinds[name] = k.clone()
	}
	return c
}
