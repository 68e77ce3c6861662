package group

import (
	"maps"
	"slices"
	"strings"

	"millrace/server/kafka/group/assign"
	"millrace/store/state"
)

// A group changes its protocol while its members work (KIP-848,
// group.consumer.migration.policy=bidirectional):
//
//   - The first member of the consumer protocol turns a classic group into a consumer group. The
//     others go on speaking the classic protocol (consumer_classic.go); what they own, and their
//     generation, which is their member epoch from then on, stays.
//   - When the last member of the consumer protocol is gone, the group becomes a classic one again,
//     which rebalances at once.
//
// Upgrading stores the consumer group before anybody is told of it. Downgrading stores nothing: the
// consumer group's record stays true until the classic group has completed a generation, and after
// a crash it is the consumer group that comes back, and is downgraded again.

// upgrade makes a consumer group of a classic one, in whose place it comes; answers are to be run
// without locks. The caller holds mu, and old's.
func (c *Coordinator) upgrade(old *group) (g *consumerGroup, answers []func(), err error) {
	switch {
	case old.state == Dead || len(old.writes) > 0 || old.pumping:
		return nil, nil, ErrNotAvailable // for a moment
	case len(old.order) > 0 && (old.protocolType != consumerProtocolType || len(old.order) >= c.opts.ConsumerMaxSize):
		return nil, nil, ErrNotConsumerGroup
	}
	g = newConsumerGroup(c, old.name)
	g.mu.Lock()
	defer g.mu.Unlock()
	topics := c.opts.Topics()
	// Whatever nobody claims is free. Assignments are claims that cannot be in dispute, so they come first.
	later := map[*consumerMember]assign.Partitions{}
	for _, m := range old.order {
		if m.fresh {
			continue // it owns nothing yet, and may not know its id: it comes back
		}
		s, ok := parseSubscription(m.protocols[0].Metadata)
		assigned, sound := parseAssignment(m.assignment)
		if !ok || !sound {
			return nil, nil, ErrNotConsumerGroup
		}
		cm := newConsumerMember(m.id, m.instanceID)
		cm.classic = &classicSide{session: m.sessionTimeout, protocols: m.protocols}
		cm.clientID, cm.clientHost, cm.rackID = m.clientID, m.clientHost, s.rack
		cm.rebalanceTimeout = m.rebalanceTimeout
		cm.topics = s.names()
		cm.epoch, cm.previousEpoch = old.generation, old.generation
		g.add(cm)
		kept := owned(s.owned, topics)
		if old.knowsAssignment(m) {
			cm.assigned = g.free(owned(assigned, topics))
			cm.target = cm.assigned
			g.own(cm)
		}
		later[cm] = kept
	}
	// A member that joined has what it said then that it kept. So may one with an assignment: a cooperative
	// member gives the rest up once it has read it, and joins again to say so.
	for _, m := range old.order {
		cm := g.members[m.id]
		if cm == nil {
			continue
		}
		if kept := g.free(later[cm]); !old.knowsAssignment(m) {
			cm.assigned, cm.target = kept, kept
		} else if len(kept) > 0 {
			cm.revoking, cm.state = kept, unrevoked
		}
		g.own(cm)
	}
	if len(g.members) > 0 {
		g.epoch, g.targetEpoch = old.generation, old.generation
		g.dirty = true // nobody speaks for the consumer protocol before the record says so
		c.log.Info("group goes over to the consumer protocol", "group", g.name, "epoch", g.epoch, "members", len(g.members))
	}
	for _, m := range old.order {
		old.answerJoin(m, JoinResponse{Err: ErrRebalanceInProgress, MemberID: m.id, Generation: noGeneration})
		old.answerSync(m, SyncResponse{Err: ErrRebalanceInProgress})
	}
	old.shutDown()
	old.moved = true
	answers, old.effects = old.effects, nil
	for _, m := range g.members {
		g.keepAlive(m)
	}
	delete(c.groups, old.name)
	c.consumers[old.name] = g
	return g, answers, nil
}

// knowsAssignment: m's last assignment is in force, as far as the member has read it.
func (g *group) knowsAssignment(m *member) bool {
	return g.state == Stable || (g.state == PreparingRebalance && m.join == nil && m.assignment != nil)
}

// free are those of the partitions that have no owner.
func (g *consumerGroup) free(set assign.Partitions) assign.Partitions {
	maps.DeleteFunc(set, func(tp state.TopicPartition, _ struct{}) bool { return g.owners[tp] != "" })
	return set
}

// downgradable: the group's members all speak the classic protocol, and what it told them is stored.
func (g *consumerGroup) downgradable() bool {
	return !g.dead && g.native == 0 && g.c.ServesConsumers() && len(g.members) > 0 && len(g.members) <= g.c.opts.MaxSize && g.idle()
}

// downgrade makes a classic group of a consumer group, if it still is to become one, and
// has it rebalance.
func (c *Coordinator) downgrade(g *consumerGroup) {
	c.mu.Lock()
	g.mu.Lock()
	g.leaving = false
	if c.closed || c.consumers[g.name] != g || !g.downgradable() {
		g.mu.Unlock()
		c.mu.Unlock()
		return
	}
	topics := c.opts.Topics()
	to := newGroup(c, g.name)
	to.mu.Lock()
	to.protocolType, to.stored = consumerProtocolType, true
	// No member was told a later one, and the next is higher than that of any of them.
	to.generation = g.targetEpoch
	for _, m := range slices.SortedFunc(maps.Values(g.members), func(a, b *consumerMember) int { return strings.Compare(a.id, b.id) }) {
		m.stopTimers()
		cm := &member{
			id: m.id, instanceID: m.instanceID, clientID: m.clientID, clientHost: m.clientHost,
			sessionTimeout: m.classic.session, rebalanceTimeout: m.rebalanceTimeout,
			protocols: m.classic.protocols,
		}
		if m.epoch != to.generation {
			cm.behind = m.epoch
		}
		has := assign.Partitions{}
		maps.Copy(has, m.assigned)
		maps.Copy(has, m.revoking)
		cm.assignment = appendAssignment(nil, m.classic.version(), sorted(has), topics)
		to.add(cm, consumerProtocolType)
		to.keepAlive(cm, cm.sessionTimeout)
	}
	to.protocol = to.chooseProtocol()
	to.subscribed = to.subscribedTopics()
	to.transition(Stable)
	to.rebalance("the last member of the consumer protocol is gone")
	g.dead, g.moved = true, true
	delete(c.consumers, g.name)
	c.groups[g.name] = to
	g.mu.Unlock()
	c.mu.Unlock()
	to.unlock()
}

// owned are the partitions that are named, of topics that there are.
func owned(list []topicPartitions, topics Topics) assign.Partitions {
	set := assign.Partitions{}
	for _, l := range list {
		t, ok := topics.ByName(l.topic)
		if !ok {
			continue
		}
		for _, p := range l.partitions {
			if p >= 0 && p < t.Partitions {
				set[state.TopicPartition{Topic: t.ID, Partition: p}] = struct{}{}
			}
		}
	}
	return set
}
