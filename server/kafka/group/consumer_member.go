package group

import (
	"slices"
	"time"

	"millrace/server/kafka/group/assign"
	"millrace/store/state"
)

// leftForNow is the epoch of a static member that is away and expected back.
const leftForNow int32 = -2

// memberState says how far a member is on its way to its target.
type memberState uint8

const (
	settled    memberState = iota // it has its target of the epoch it is in
	unrevoked                     // it must give partitions up first
	unreleased                    // it waits for partitions that others have not given up
)

// consumerMember is one member of a consumer group, guarded by the group's mu. Its sets are
// replaced, never changed.
type consumerMember struct {
	id, instanceID, rackID, clientID, clientHost string

	rebalanceTimeout time.Duration
	topics           []string // subscribed by name; sorted, once each
	regex            string   // "" none
	resolved         []string // what the regex matches of resolvedIn; sorted
	resolvedIn       Topics   // nil: not resolved since the start
	assignor         string   // that it asks for; "" any

	epoch, previousEpoch int32
	state                memberState
	assigned             assign.Partitions
	revoking             assign.Partitions // it was told to give these up
	target               assign.Partitions

	classic *classicSide // nil: it speaks the consumer protocol

	deadline time.Time
	session  *time.Timer
	turn     *time.Timer // runs while the group waits for it; nil: it does not
	turns    uint64      // tells a stale firing
}

func newConsumerMember(id, instanceID string) *consumerMember {
	return &consumerMember{id: id, instanceID: instanceID, assigned: assign.Partitions{}, revoking: assign.Partitions{}, target: assign.Partitions{}}
}

// subscribed are the topics that the member reads, by name and by regex; sorted, once each.
func (m *consumerMember) subscribed() []string {
	if m.regex == "" {
		return m.topics
	}
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(m.topics, m.resolved))))
}

// reconcile brings m as near to its target as may be at this moment. owned is what the member
// says that it has; nil: it says nothing new. It reports whether anything changed.
func (g *consumerGroup) reconcile(m *consumerMember, owned assign.Partitions) bool {
	switch m.state {
	case settled:
		if m.epoch == g.targetEpoch {
			return false
		}
		return g.advance(m, m.epoch, owned)
	case unrevoked:
		if owned == nil || intersects(owned, m.revoking) {
			return false
		}
		return g.advance(m, m.epoch+1, owned)
	case unreleased:
	}
	return g.advance(m, m.epoch, owned)
}

func (g *consumerGroup) advance(m *consumerMember, epoch int32, owned assign.Partitions) bool {
	kept, revoking := assign.Partitions{}, assign.Partitions{}
	for tp := range m.assigned {
		if _, ok := m.target[tp]; ok {
			kept[tp] = struct{}{}
		} else {
			revoking[tp] = struct{}{}
		}
	}
	if len(revoking) > 0 && (owned == nil || intersects(owned, revoking)) {
		return g.place(m, epoch, unrevoked, kept, revoking)
	}
	next := settled
	for tp := range m.target {
		if owner := g.owners[tp]; owner == "" || owner == m.id {
			kept[tp] = struct{}{}
		} else {
			next = unreleased
		}
	}
	return g.place(m, g.targetEpoch, next, kept, assign.Partitions{})
}

// place puts m into a state and notes who owns what.
func (g *consumerGroup) place(m *consumerMember, epoch int32, s memberState, assigned, revoking assign.Partitions) bool {
	if m.epoch == epoch && m.state == s && equal(m.assigned, assigned) && equal(m.revoking, revoking) {
		return false
	}
	g.disown(m)
	if m.epoch != epoch {
		m.previousEpoch, m.epoch = m.epoch, epoch
	}
	m.state, m.assigned, m.revoking = s, assigned, revoking
	g.own(m)
	return true
}

func (g *consumerGroup) own(m *consumerMember) {
	for _, set := range []assign.Partitions{m.assigned, m.revoking} {
		for tp := range set {
			g.owners[tp] = m.id
		}
	}
}

func (g *consumerGroup) disown(m *consumerMember) {
	for _, set := range []assign.Partitions{m.assigned, m.revoking} {
		for tp := range set {
			if g.owners[tp] == m.id {
				delete(g.owners, tp)
			}
		}
	}
}

func intersects(a, b assign.Partitions) bool {
	for tp := range a {
		if _, ok := b[tp]; ok {
			return true
		}
	}
	return false
}

func subset(a, of assign.Partitions) bool {
	for tp := range a {
		if _, ok := of[tp]; !ok {
			return false
		}
	}
	return true
}

func equal(a, b assign.Partitions) bool { return len(a) == len(b) && subset(a, b) }

// sorted lists a set by topic and partition.
func sorted(set assign.Partitions) []state.TopicPartition {
	list := make([]state.TopicPartition, 0, len(set))
	for tp := range set {
		list = append(list, tp)
	}
	slices.SortFunc(list, state.TopicPartition.Compare)
	return list
}
