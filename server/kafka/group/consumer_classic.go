package group

import (
	"encoding/binary"
	"slices"
	"time"
)

// Members of a consumer group that speak the classic protocol: the coordinator assigns for them, too.
// A heartbeat tells them to join, a join brings them to the next epoch, which they take
// for a generation that someone else leads, and a sync tells them what they have there.

// classicSide is what a member has that speaks the classic protocol.
type classicSide struct {
	session   time.Duration
	protocols []Protocol // at least one; its subscription is that of the first
}

// version of the consumer's formats that the member understands.
func (s *classicSide) version() int16 {
	return int16(binary.BigEndian.Uint16(s.protocols[0].Metadata))
}

func (s *classicSide) offers(protocol string) bool {
	for _, p := range s.protocols {
		if p.Name == protocol {
			return true
		}
	}
	return false
}

// speaks notes how m speaks from now on: the classic protocol, or (nil) the consumer protocol.
func (g *consumerGroup) speaks(m *consumerMember, classic *classicSide) {
	if m.classic == nil {
		g.native--
	}
	if m.classic = classic; classic == nil {
		g.native++
	}
	m.endTurn()
	g.dirty = true
}

// supports reports whether a member with these protocols can be in the group: one of them must
// be offered by all others that speak the classic protocol.
func (g *consumerGroup) supports(r *JoinRequest) bool {
	if r.ProtocolType != consumerProtocolType || !g.c.ServesConsumers() {
		return false
	}
next:
	for _, p := range r.Protocols {
		for _, m := range g.members {
			if m.classic != nil && m.id != r.MemberID && !m.classic.offers(p.Name) {
				continue next
			}
		}
		return true
	}
	return false
}

// join lets a member that speaks the classic protocol into the group, or brings it to the present epoch
// if it may go there.
func (g *consumerGroup) join(r JoinRequest, reply func(JoinResponse)) {
	fail := func(err error, memberID string) {
		g.effects = append(g.effects, func() { reply(JoinResponse{Err: err, MemberID: memberID, Generation: noGeneration}) })
	}
	if g.dead {
		fail(ErrNotAvailable, r.MemberID)
		return
	}
	var s consumerSubscription
	ok := g.supports(&r)
	if ok {
		s, ok = parseSubscription(r.Protocols[0].Metadata)
	}
	if !ok {
		fail(ErrInconsistentProtocol, r.MemberID)
		return
	}
	if !g.room(r.MemberID, topicBytes(s.topics)+protocolBytes(r.Protocols)) {
		fail(ErrGroupDataTooLarge, r.MemberID)
		return
	}
	m, fresh, err := g.classicMember(&r)
	if err != nil {
		fail(err, r.MemberID)
		return
	}
	topics := g.c.opts.Topics()
	changed := g.describeClassic(m, r, s) || fresh
	if changed {
		g.hashOf = nil
	}
	g.refresh(topics, changed)
	g.retarget(topics)
	if g.reconcile(m, owned(s.owned, topics)) {
		g.dirty = true
	}
	g.keepAlive(m)
	g.giveTurn(m, "did not ask for its assignment")
	res := JoinResponse{Generation: m.epoch, ProtocolType: consumerProtocolType, Protocol: m.classic.protocols[0].Name, MemberID: m.id}
	g.whenStored(func(err error) {
		if err != nil {
			res = JoinResponse{Err: err, MemberID: res.MemberID, Generation: noGeneration}
		}
		reply(res)
	})
}

// classicMember finds or makes the member that sent r, and gives a newcomer its id.
func (g *consumerGroup) classicMember(r *JoinRequest) (m *consumerMember, fresh bool, err error) {
	newcomer := r.MemberID == ""
	if r.InstanceID != "" && !newcomer {
		m, err = g.check(r.MemberID, r.InstanceID)
		return m, false, err
	}
	old := g.members[g.instances[r.InstanceID]]
	m = g.members[r.MemberID]
	if m == nil && (r.InstanceID == "" || old == nil) && len(g.members) >= g.c.opts.ConsumerMaxSize {
		return nil, false, ErrGroupMaxSize
	}
	switch {
	case newcomer && r.InstanceID != "":
		r.MemberID = r.InstanceID + "-" + g.c.opts.NewMemberIDSuffix()
		if old != nil {
			// The instance began anew, maybe by another protocol.
			return g.replace(old, r.MemberID), false, nil
		}
	case newcomer:
		r.MemberID = r.ClientID + "-" + g.c.opts.NewMemberIDSuffix()
		if r.RequireMemberID {
			return nil, false, ErrMemberIDRequired // unlike a classic group, this one need not remember the id
		}
	case m != nil:
		return m, false, nil
	}
	m = newConsumerMember(r.MemberID, r.InstanceID)
	g.add(m)
	return m, true, nil
}

// describeClassic takes over what a joining member says of itself, and reports whether the
// subscription is another.
func (g *consumerGroup) describeClassic(m *consumerMember, r JoinRequest, s consumerSubscription) (changed bool) {
	topics := s.names()
	changed = m.regex != "" || m.assignor != "" || !slices.Equal(m.topics, topics)
	m.clientID, m.clientHost, m.rackID = r.ClientID, r.ClientHost, s.rack
	m.rebalanceTimeout = r.RebalanceTimeout
	m.topics, m.regex, m.resolved, m.assignor = topics, "", nil, ""
	g.speaks(m, &classicSide{session: r.SessionTimeout, protocols: cloneProtocols(r.Protocols)})
	return changed
}

// sync tells a member that speaks the classic protocol what it has in the generation it joined.
func (g *consumerGroup) sync(r SyncRequest, reply func(SyncResponse)) {
	fail := func(err error) { g.effects = append(g.effects, func() { reply(SyncResponse{Err: err}) }) }
	m, err := g.checkClassic(r.MemberID, r.InstanceID, r.Generation)
	switch {
	case err != nil:
		fail(err)
	case r.ProtocolType != "" && r.ProtocolType != consumerProtocolType,
		r.Protocol != "" && r.Protocol != m.classic.protocols[0].Name:
		fail(ErrInconsistentProtocol)
	case m.epoch < g.epoch && m.state != unrevoked:
		// One that must give something up is to learn so first; it joins again anyway.
		g.mustJoin(m)
		fail(ErrRebalanceInProgress)
	default:
		m.endTurn()
		g.keepAlive(m)
		res := SyncResponse{
			ProtocolType: consumerProtocolType, Protocol: m.classic.protocols[0].Name,
			Assignment: appendAssignment(nil, m.classic.version(), sorted(m.assigned), g.c.opts.Topics()),
		}
		g.whenStored(func(err error) {
			if err != nil {
				res = SyncResponse{Err: err}
			}
			reply(res)
		})
	}
}

// classicHeartbeat keeps the session of a member that speaks the classic protocol, and says when it
// is to join: there is a new epoch, it must give something up, or what it waits for is free.
func (g *consumerGroup) classicHeartbeat(r HeartbeatRequest) error {
	m, err := g.checkClassic(r.MemberID, r.InstanceID, r.Generation)
	if err != nil {
		return err
	}
	g.keepAlive(m)
	if m.epoch < g.epoch || m.state == unrevoked || (m.state == unreleased && !g.waits(m)) {
		g.mustJoin(m)
		return ErrRebalanceInProgress
	}
	return nil
}

// mustJoin gives a member that was told to join its time for it, once.
func (g *consumerGroup) mustJoin(m *consumerMember) {
	if m.turn == nil {
		g.giveTurn(m, "did not re-join")
	}
}

// waits: partitions of m's target are still with others.
func (g *consumerGroup) waits(m *consumerMember) bool {
	for tp := range m.target {
		if owner := g.owners[tp]; owner != "" && owner != m.id {
			return true
		}
	}
	return false
}

// checkClassic finds the member that a request of the classic protocol names.
func (g *consumerGroup) checkClassic(memberID, instanceID string, generation int32) (*consumerMember, error) {
	if g.dead || !g.c.ServesConsumers() {
		return nil, ErrNotAvailable
	}
	m, err := g.check(memberID, instanceID)
	switch {
	case err != nil:
		return nil, err
	case m.classic == nil:
		return nil, ErrUnknownMember
	case m.epoch != generation:
		return nil, ErrIllegalGeneration
	}
	return m, nil
}

// check finds the member that a request of the classic protocol, or its instance, names.
func (g *consumerGroup) check(memberID, instanceID string) (*consumerMember, error) {
	if instanceID != "" {
		switch id, ok := g.instances[instanceID]; {
		case !ok:
			return nil, ErrUnknownMember
		case id != memberID:
			return nil, ErrFencedInstance
		}
	}
	if m := g.members[memberID]; m != nil {
		return m, nil
	}
	return nil, ErrUnknownMember
}
