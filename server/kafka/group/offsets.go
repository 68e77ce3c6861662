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
	h, err := c.hold(r.Group)
	end := func() {}
	switch {
	case err != nil:
	case h.classic != nil:
		err = h.classic.mayCommit(r)
	case h.consumer != nil:
		err = h.consumer.mayCommit(r)
	case r.Generation >= 0 && c.known(r.Group):
		err = ErrUnknownMember
	case r.Generation >= 0:
		err = ErrGroupNotFound
	default:
		if end = c.beginFirst(r.Group); end == nil {
			err = ErrGroupNotFound
		}
	}
	if err != nil {
		h.unlock()
		reply(nil, err)
		return
	}
	errs := make([]error, len(r.Offsets))
	for i, o := range r.Offsets {
		if len(o.Metadata) > c.opts.MaxMetadataBytes {
			errs[i] = ErrMetadataTooLarge
		}
	}
	kept, done := withoutFailed(r.Offsets, errs, func(errs []error, err error) {
		end()
		reply(errs, err)
	})
	h.submit(c, r.intent(kept), done)
}

// intent stores those offsets; nil when there are none.
func (r *CommitRequest) intent(offsets []state.OffsetCommit) state.Intent {
	switch t := r.Transaction; {
	case len(offsets) == 0:
		return nil
	case t != nil:
		return state.CommitTransactionOffsets{TransactionRef: t.Ref, Group: r.Group, Offsets: offsets, AddGroup: t.AddGroup}
	}
	return state.CommitOffsets{Group: r.Group, Offsets: offsets}
}

// withoutFailed are the items that have no error yet, and the function that takes the store's
// answer about them: it puts the errors together and replies.
func withoutFailed[T any](items []T, errs []error, reply func([]error, error)) (kept []T, done func(any, error)) {
	at := make([]int, 0, len(items)) // kept[i] is items[at[i]]
	kept = make([]T, 0, len(items))
	for i, item := range items {
		if errs[i] == nil {
			kept, at = append(kept, item), append(at, i)
		}
	}
	return kept, func(result any, err error) {
		res, _ := result.(state.CommitOffsetsResult)
		if err == nil {
			err = res.Err
		}
		if err != nil {
			reply(nil, err)
			return
		}
		for i, err := range res.Errs {
			errs[at[i]] = err
		}
		reply(errs, nil)
	}
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
	if r.Generation != g.generationOf(m) {
		return ErrIllegalGeneration
	}
	g.keepAlive(m, m.sessionTimeout)
	// While others are still joining, the last generation's owners may commit what
	// they did: consumers do so before they give their partitions up.
	return nil
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
	h, err := c.hold(name)
	subscribed := func(string) bool { return false }
	switch g := h.classic; {
	case err != nil:
	case g != nil && g.state == Dead, h.consumer != nil && h.consumer.dead:
		err = ErrGroupNotFound
	case g != nil && g.state != Empty && g.protocolType != consumerProtocolType:
		err = ErrNonEmptyGroup // only consumers say what they are subscribed to
	case g != nil:
		subscribed = g.subscribedTo
	case h.consumer != nil:
		subscribed = h.consumer.subscribedTo
	case !c.known(name):
		err = ErrGroupNotFound
	}
	if err != nil {
		h.unlock()
		reply(nil, err)
		return
	}
	errs := make([]error, len(deletions))
	for i, d := range deletions {
		if subscribed(d.TopicName) {
			errs[i] = ErrSubscribedToTopic
		}
	}
	kept, done := withoutFailed(deletions, errs, reply)
	var intent state.Intent
	if len(kept) > 0 {
		partitions := make([]state.TopicPartition, len(kept))
		for i, d := range kept {
			partitions[i] = d.TopicPartition
		}
		intent = state.DeleteOffsets{Group: name, Partitions: partitions}
	}
	h.submit(c, intent, done)
}
