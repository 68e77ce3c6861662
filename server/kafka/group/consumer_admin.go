package group

import (
	"errors"
	"slices"
	"strings"
	"time"

	"millrace/store/state"
)

// ConsumerDescription is one group of the consumer protocol.
type ConsumerDescription struct {
	Group           string
	State           State
	Epoch           int32
	AssignmentEpoch int32
	Assignor        string
	Members         []ConsumerMemberDescription // by id
}

// ConsumerMemberDescription is one of its members.
type ConsumerMemberDescription struct {
	ID, InstanceID, RackID, ClientID, ClientHost string
	Epoch                                        int32
	Classic                                      bool     // it speaks the classic protocol
	Topics                                       []string // by name
	Regex                                        string   // "" none
	Assignment, Target                           []state.TopicPartition
}

// DescribeConsumer returns one group of the consumer protocol; ErrNotConsumerGroup for one of
// another protocol, ErrGroupNotFound when there is none.
func (c *Coordinator) DescribeConsumer(name string) (ConsumerDescription, error) {
	h, err := c.hold(name)
	defer h.unlock()
	g := h.consumer
	switch {
	case err != nil:
		return ConsumerDescription{}, err
	case h.classic != nil && h.classic.state != Dead, h.classic == nil && g == nil && c.known(name):
		return ConsumerDescription{}, ErrNotConsumerGroup
	case g == nil || g.dead:
		return ConsumerDescription{}, ErrGroupNotFound
	}
	d := ConsumerDescription{Group: name, State: g.state(), Epoch: g.epoch, AssignmentEpoch: g.targetEpoch, Assignor: g.assignor}
	if d.Assignor == "" {
		d.Assignor = c.opts.ConsumerAssignors[0]
	}
	for _, m := range g.members {
		d.Members = append(d.Members, ConsumerMemberDescription{
			ID: m.id, InstanceID: m.instanceID, RackID: m.rackID, ClientID: m.clientID, ClientHost: m.clientHost,
			Epoch: m.epoch, Classic: m.classic != nil, Topics: slices.Clone(m.topics), Regex: m.regex,
			Assignment: sorted(m.assigned), Target: sorted(m.target),
		})
	}
	slices.SortFunc(d.Members, func(a, b ConsumerMemberDescription) int { return strings.Compare(a.ID, b.ID) })
	return d, nil
}

// deleteGroup removes a group without members. With mu held.
func (g *consumerGroup) deleteGroup(reply func(error)) {
	switch {
	case g.dead:
		g.effects = append(g.effects, func() { reply(ErrGroupNotFound) })
	case len(g.members) > 0:
		g.effects = append(g.effects, func() { reply(ErrNonEmptyGroup) })
	case !g.idle():
		g.whenStored(func(err error) {
			if err != nil {
				reply(err)
				return
			}
			// This may be the store's publisher, which must not wait.
			if !g.c.apart(func() { g.c.Delete(g.name, reply) }) {
				reply(ErrClosed)
			}
		})
	default:
		g.dead = true
		g.effects = append(g.effects, func() {
			g.c.submit(state.DeleteGroup{Group: g.name}, func(result any, err error) {
				err = deleteError(result, err)
				if err == nil || errors.Is(err, ErrGroupNotFound) {
					g.c.forgetConsumer(g)
					reply(nil)
					return
				}
				g.mu.Lock()
				g.dead = false
				g.unlockFromStore()
				reply(err)
			})
		})
	}
}

// mayCommit checks the member's standing.
func (g *consumerGroup) mayCommit(r CommitRequest) error {
	unnamed := r.MemberID == "" && r.InstanceID == ""
	switch {
	case g.dead:
		return ErrNotAvailable
	case r.Generation < 0 && (len(g.members) == 0 || (unnamed && r.Transaction != nil)):
		return nil
	}
	if err := g.checkEpoch(r.MemberID, r.Generation); err != nil {
		return err
	}
	if r.OldClient && r.Transaction == nil && g.members[r.MemberID].classic == nil {
		return ErrTooOldForConsumers
	}
	return nil
}

func (g *consumerGroup) checkEpoch(memberID string, epoch int32) error {
	switch m := g.members[memberID]; {
	case m == nil:
		return ErrUnknownMember
	case m.epoch != epoch && m.classic != nil:
		return ErrIllegalGeneration
	case m.epoch != epoch:
		return ErrStaleMemberEpoch
	}
	return nil
}

// CheckFetch says whether a member may ask for the group's offsets with its epoch; without a
// member id and with an epoch below 0 everyone may.
func (c *Coordinator) CheckFetch(name, memberID string, epoch int32) error {
	h, err := c.hold(name)
	defer h.unlock()
	if err != nil || h.consumer == nil || (memberID == "" && epoch < 0) {
		return err
	}
	return h.consumer.checkEpoch(memberID, epoch)
}

// subscribedTo reports whether a member reads the topic.
func (g *consumerGroup) subscribedTo(topic string) bool {
	for _, m := range g.members {
		if slices.Contains(m.topics, topic) || slices.Contains(m.resolved, topic) {
			return true
		}
	}
	return false
}

// leave takes members out: those that speak the classic protocol leave so, others at an
// administrator's wish.
func (g *consumerGroup) leave(leaving []Leaving) ([]error, error) {
	if g.dead {
		return nil, ErrNotAvailable
	}
	errs := make([]error, len(leaving))
	for i, l := range leaving {
		id := l.MemberID
		if l.InstanceID != "" {
			present, ok := g.instances[l.InstanceID]
			switch {
			case !ok:
				errs[i] = ErrUnknownMember
				continue
			case id != "" && id != present:
				errs[i] = ErrFencedInstance
				continue
			}
			id = present
		}
		m := g.members[id]
		if m == nil {
			errs[i] = ErrUnknownMember
			continue
		}
		g.c.log.Info("group member removed", "group", g.name, "member", m.id, "reason", l.Reason)
		g.remove(m)
	}
	return errs, nil
}

// expire ends a group without members that the store has forgotten, and reports whether it did.
func (g *consumerGroup) expire() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dead || len(g.members) > 0 || !g.idle() {
		return false
	}
	_, ok := g.c.store.CommittedOffsets(g.name)
	g.dead = !ok
	return g.dead
}

// shutDown stops all timers and answers everyone who waits for a write.
func (g *consumerGroup) shutDown() {
	g.mu.Lock()
	defer g.unlock()
	g.dead = true
	for _, m := range g.members {
		m.stopTimers()
	}
	for _, f := range g.waiting {
		g.effects = append(g.effects, func() { f(ErrClosed) })
	}
	g.waiting = nil
}

// consumerDefaults are Kafka's.
func (o *Options) consumerDefaults() {
	if o.GroupConfig == nil {
		o.GroupConfig = func(string) map[string]string { return nil }
	}
	if o.ConsumerSessionTimeout == 0 {
		o.ConsumerSessionTimeout = 45 * time.Second
	}
	if o.ConsumerHeartbeatInterval == 0 {
		o.ConsumerHeartbeatInterval = 5 * time.Second
	}
	if o.ConsumerMaxSize == 0 {
		o.ConsumerMaxSize = 10_000
	}
	if len(o.ConsumerAssignors) == 0 {
		o.ConsumerAssignors = []string{"uniform", "range"}
	}
}
