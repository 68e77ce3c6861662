package group

import (
	"millrace/store/state"
)

// CommitRequest commits offsets. Generation < 0 without member and instance id is a
// consumer that assigns partitions itself, or a tool; it may commit while the
// group has no members.
type CommitRequest struct {
	Group      string
	MemberID   string
	InstanceID string
	Generation int32
	Offsets    []state.OffsetCommit // the coordinator's from here on
	// Transaction: the offsets count when it commits. Nil: at once.
	Transaction *TransactionCommit
	// OldClient: the request's version cannot carry a member epoch.
	OldClient bool
}

// TransactionCommit is the transaction that offsets belong to; see state.CommitTransactionOffsets.
type TransactionCommit struct {
	Ref      state.TransactionRef
	AddGroup bool
}

// Commit checks that the member may commit and stores the offsets. The reply has
// one error (or nil) per offset, in order, or an error for all of them, and comes
// when the offsets are durable.
func (c *Coordinator) Commit(r CommitRequest, reply func(errs []error, err error)) {
	g, err := c.lookup(r.Group)
	if err != nil {
		reply(nil, err)
		return
	}
	if cg := c.lookupConsumer(r.Group); cg != nil {
		c.commitFor(cg, r, reply)
		return
	}
	if g == nil {
		if r.Generation >= 0 {
			if _, ok := c.store.CommittedOffsets(r.Group); ok && !c.isShareGroup(r.Group) {
				reply(nil, ErrUnknownMember)
			} else {
				reply(nil, ErrGroupNotFound)
			}
			return
		}
		intent, done := c.commitIntent(r, reply)
		if intent == nil {
			done(nil, nil)
			return
		}
		end := c.beginFirst(r.Group)
		if end == nil {
			reply(nil, ErrGroupNotFound)
			return
		}
		c.submit(intent, func(result any, err error) {
			end()
			done(result, err)
		})
		return
	}
	g.mu.Lock()
	defer g.unlock()
	if err := g.mayCommit(r); err != nil {
		g.later(func() { reply(nil, err) })
		return
	}
	intent, done := c.commitIntent(r, reply)
	if intent == nil {
		g.later(func() { done(nil, nil) })
		return
	}
	g.writes = append(g.writes, write{intent: intent, done: done})
}

// mayCommit checks the member's standing; a commit keeps its session like a heartbeat.
func (g *group) mayCommit(r CommitRequest) error {
	switch {
	case g.state == Dead:
		return ErrNotAvailable
	case r.Transaction != nil && r.Generation < 0 && r.MemberID == "" && r.InstanceID == "":
		return nil // its producer's epoch alone fences it (before KIP-447)
	case r.Generation < 0 && g.state == Empty:
		return nil
	case r.Generation < 0 && r.MemberID == "" && r.InstanceID == "":
		return ErrUnknownMember
	}
	m, err := g.check(r.MemberID, r.InstanceID)
	if err != nil {
		return err
	}
	// Between the end of the joining and the assignment nobody owns a partition. A
	// member that commits then has just learned, or is about to learn, of the new
	// generation: it must re-join, not give up its state.
	if g.state == CompletingRebalance && r.Transaction == nil && (r.Generation == g.generation || nextGeneration(r.Generation) == g.generation) {
		return ErrRebalanceInProgress
	}
	if r.Generation != g.generation {
		return ErrIllegalGeneration
	}
	g.keepAlive(m, m.sessionTimeout)
	// While others are still joining, the last generation's owners may commit what
	// they did: consumers do so before they give their partitions up.
	return nil
}

// commitIntent makes the intent for the offsets whose metadata is not too long, and a
// done function that puts the errors together. A nil intent: nothing to store.
func (c *Coordinator) commitIntent(r CommitRequest, reply func([]error, error)) (state.Intent, func(any, error)) {
	errs := make([]error, len(r.Offsets))
	kept := make([]state.OffsetCommit, 0, len(r.Offsets))
	at := make([]int, 0, len(r.Offsets)) // kept[i] is r.Offsets[at[i]]
	for i, o := range r.Offsets {
		if len(o.Metadata) > c.opts.MaxMetadataBytes {
			errs[i] = ErrMetadataTooLarge
			continue
		}
		kept, at = append(kept, o), append(at, i)
	}
	done := func(result any, err error) {
		if err != nil {
			reply(nil, err)
			return
		}
		if res, ok := result.(state.CommitOffsetsResult); ok {
			if res.Err != nil {
				reply(nil, res.Err)
				return
			}
			for i, err := range res.Errs {
				errs[at[i]] = err
			}
		}
		reply(errs, nil)
	}
	if len(kept) == 0 {
		return nil, done
	}
	if t := r.Transaction; t != nil {
		return state.CommitTransactionOffsets{TransactionRef: t.Ref, Group: r.Group, Offsets: kept, AddGroup: t.AddGroup}, done
	}
	return state.CommitOffsets{Group: r.Group, Offsets: kept}, done
}

// Committed returns a group's committed offsets; nil when the group is unknown,
// which to a consumer means the same as no offsets.
// So are those of a share group: they are no consumer's.
func (c *Coordinator) Committed(name string) map[state.TopicPartition]state.CommittedOffset {
	if c.isShareGroup(name) {
		return nil
	}
	offsets, _ := c.store.CommittedOffsets(name)
	return offsets
}

// OffsetDeletion names one partition whose committed offset shall go. TopicName is
// compared with what the group is subscribed to.
type OffsetDeletion struct {
	state.TopicPartition
	TopicName string
}

// DeleteOffsets removes committed offsets of topics that the group is not
// subscribed to. The reply is as for Commit.
func (c *Coordinator) DeleteOffsets(name string, deletions []OffsetDeletion, reply func(errs []error, err error)) {
	g, err := c.lookup(name)
	if err != nil {
		reply(nil, err)
		return
	}
	errs := make([]error, len(deletions))
	if cg := c.lookupConsumer(name); cg != nil {
		cg.mu.Lock()
		for i, d := range deletions {
			if cg.subscribedTo(d.TopicName) {
				errs[i] = ErrSubscribedToTopic
			}
		}
		cg.mu.Unlock()
		intent, done := deletionIntent(name, deletions, errs, reply)
		if intent == nil {
			done(nil, nil)
			return
		}
		c.submit(intent, done)
		return
	}
	if g == nil {
		if _, ok := c.store.CommittedOffsets(name); !ok || c.isShareGroup(name) {
			reply(nil, ErrGroupNotFound)
			return
		}
		intent, done := deletionIntent(name, deletions, errs, reply)
		if intent == nil {
			done(nil, nil)
			return
		}
		c.submit(intent, done)
		return
	}
	g.mu.Lock()
	defer g.unlock()
	if g.state == Dead {
		g.later(func() { reply(nil, ErrGroupNotFound) })
		return
	}
	if g.state != Empty && g.protocolType != consumerProtocolType {
		// Only consumers say what they are subscribed to.
		g.later(func() { reply(nil, ErrNonEmptyGroup) })
		return
	}
	for i, d := range deletions {
		if g.subscribedTo(d.TopicName) {
			errs[i] = ErrSubscribedToTopic
		}
	}
	intent, done := deletionIntent(name, deletions, errs, reply)
	if intent == nil {
		g.later(func() { done(nil, nil) })
		return
	}
	g.writes = append(g.writes, write{intent: intent, done: done})
}

func deletionIntent(name string, deletions []OffsetDeletion, errs []error, reply func([]error, error)) (state.Intent, func(any, error)) {
	var kept []state.TopicPartition
	var at []int
	for i, d := range deletions {
		if errs[i] == nil {
			kept, at = append(kept, d.TopicPartition), append(at, i)
		}
	}
	done := func(result any, err error) {
		if err != nil {
			reply(nil, err)
			return
		}
		if res, ok := result.(state.CommitOffsetsResult); ok {
			for i, err := range res.Errs {
				errs[at[i]] = err
			}
		}
		reply(errs, nil)
	}
	if len(kept) == 0 {
		return nil, done
	}
	return state.DeleteOffsets{Group: name, Partitions: kept}, done
}
