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
	Topics                                       []string // by name
	Regex                                        string   // "" none
	Assignment, Target                           []state.TopicPartition
}

// DescribeConsumer returns one group of the consumer protocol; ErrNotConsumerGroup for one of
// another protocol, ErrGroupNotFound when there is none.
func (c *Coordinator) DescribeConsumer(name string) (ConsumerDescription, error) {
	g := c.lookupConsumer(name)
	if g == nil {
		if _, ok := c.Describe(name); ok {
			return ConsumerDescription{}, ErrNotConsumerGroup
		}
		return ConsumerDescription{}, ErrGroupNotFound
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dead {
		return ConsumerDescription{}, ErrGroupNotFound
	}
	d := ConsumerDescription{Group: name, State: g.state(), Epoch: g.epoch, AssignmentEpoch: g.targetEpoch, Assignor: g.assignor}
	if d.Assignor == "" {
		d.Assignor = c.opts.ConsumerAssignors[0]
	}
	for _, m := range g.members {
		d.Members = append(d.Members, ConsumerMemberDescription{
			ID: m.id, InstanceID: m.instanceID, RackID: m.rackID, ClientID: m.clientID, ClientHost: m.clientHost,
			Epoch: m.epoch, Topics: slices.Clone(m.topics), Regex: m.regex,
			Assignment: sorted(m.assigned), Target: sorted(m.target),
		})
	}
	slices.SortFunc(d.Members, func(a, b ConsumerMemberDescription) int { return strings.Compare(a.ID, b.ID) })
	return d, nil
}

// deleteGroup removes a group without members.
func (g *consumerGroup) deleteGroup(reply func(error)) {
	g.mu.Lock()
	defer g.unlock()
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
			if g.c.enter() { // this may be the store's publisher, which must not wait
				go func() {
					defer g.c.active.Done()
					g.deleteGroup(reply)
				}()
				return
			}
			reply(ErrClosed)
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

// commitFor stores offsets of a group of the consumer protocol. They are submitted with no lock held: a
// member that loses its epoch in between committed just before it did.
func (c *Coordinator) commitFor(g *consumerGroup, r CommitRequest, reply func([]error, error)) {
	g.mu.Lock()
	err := g.mayCommit(r)
	g.mu.Unlock()
	if err != nil {
		reply(nil, err)
		return
	}
	intent, done := c.commitIntent(r, reply)
	if intent == nil {
		done(nil, nil)
		return
	}
	c.submit(intent, done)
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
	if r.OldClient && r.Transaction == nil {
		return ErrTooOldForConsumers
	}
	return nil
}

func (g *consumerGroup) checkEpoch(memberID string, epoch int32) error {
	switch m := g.members[memberID]; {
	case m == nil:
		return ErrUnknownMember
	case m.epoch != epoch:
		return ErrStaleMemberEpoch
	}
	return nil
}

// CheckFetch says whether a member may ask for the group's offsets with its epoch; without a
// member id and with an epoch below 0 everyone may.
func (c *Coordinator) CheckFetch(name, memberID string, epoch int32) error {
	g := c.lookupConsumer(name)
	if g == nil || (memberID == "" && epoch < 0) {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.checkEpoch(memberID, epoch)
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

// leave takes members out at an administrator's wish.
func (g *consumerGroup) leave(leaving []Leaving) ([]error, error) {
	g.mu.Lock()
	defer g.unlock()
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
