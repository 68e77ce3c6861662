package group

import "time"

// noGeneration is the generation of a failed join.
const noGeneration = -1

// JoinRequest asks to become, or stay, a member of a group. Byte slices are
// copied; the request may be reused after Join returns.
type JoinRequest struct {
	Group            string
	MemberID         string // "" for a newcomer
	InstanceID       string // "" for a dynamic member
	ClientID         string
	ClientHost       string
	SessionTimeout   time.Duration
	RebalanceTimeout time.Duration // <= 0: the session timeout (JoinGroup v0 has none)
	ProtocolType     string
	Protocols        []Protocol
	Reason           string // of the client, for the log

	// RequireMemberID: a newcomer must come back with the id it is given (v4+).
	RequireMemberID bool
	// SkipAssignment: the client understands that a returning leader need not assign (v9+).
	SkipAssignment bool
}

// JoinResponse answers Join. On error only Err, MemberID and Generation count.
type JoinResponse struct {
	Err            error
	Generation     int32 // -1 on error
	ProtocolType   string
	Protocol       string
	Leader         string
	MemberID       string
	SkipAssignment bool
	Members        []JoinMember // for the leader only
}

// JoinMember is a member as the leader sees it. Metadata is read-only.
type JoinMember struct {
	ID         string
	InstanceID string
	Metadata   []byte
}

// Join lets a member into the group, or a present one re-join. The reply comes when
// the rebalance that it takes part in completes.
func (c *Coordinator) Join(r JoinRequest, reply func(JoinResponse)) {
	fail := func(err error, memberID string) {
		reply(JoinResponse{Err: err, MemberID: memberID, Generation: noGeneration})
	}
	if r.Group == "" {
		fail(ErrInvalidGroupID, r.MemberID)
		return
	}
	if r.SessionTimeout < c.opts.MinSessionTimeout || r.SessionTimeout > c.opts.MaxSessionTimeout {
		fail(ErrInvalidSessionTimeout, r.MemberID)
		return
	}
	if r.RebalanceTimeout <= 0 {
		r.RebalanceTimeout = r.SessionTimeout
	}
	hold := c.hold
	if r.MemberID == "" {
		hold = c.holdOrCreate
	}
	h, err := hold(r.Group)
	if err != nil {
		fail(err, r.MemberID)
		return
	}
	defer h.unlock()
	switch {
	case h.classic != nil:
		h.classic.handleJoin(r, reply)
		h.classic.forgetIfNothing()
	case h.consumer != nil && len(h.consumer.members) > 0:
		h.consumer.join(r, reply)
	default:
		fail(ErrUnknownMember, r.MemberID)
	}
}

func (g *group) handleJoin(r JoinRequest, reply func(JoinResponse)) {
	fail := func(err error, memberID string) {
		g.later(func() { reply(JoinResponse{Err: err, MemberID: memberID, Generation: noGeneration}) })
	}
	switch {
	case g.state == Dead:
		fail(ErrNotAvailable, r.MemberID)
	case !g.hasRoomFor(r.MemberID):
		g.removePending(r.MemberID)
		if m := g.members[r.MemberID]; m != nil {
			g.remove(m)
		}
		fail(ErrGroupMaxSize, "")
	case !g.supports(r.ProtocolType, r.Protocols):
		fail(ErrInconsistentProtocol, r.MemberID)
	case !g.room(r.MemberID, protocolBytes(r.Protocols)):
		fail(ErrGroupDataTooLarge, r.MemberID)
	case r.MemberID == "" && r.InstanceID != "":
		id := r.InstanceID + "-" + g.c.opts.NewMemberIDSuffix()
		if old := g.members[g.instances[r.InstanceID]]; old != nil {
			g.joinAsStatic(old, id, r, reply)
			return
		}
		g.joinAsNew(id, r, reply)
	case r.MemberID == "":
		id := r.ClientID + "-" + g.c.opts.NewMemberIDSuffix()
		if !r.RequireMemberID {
			g.joinAsNew(id, r, reply)
			return
		}
		if len(g.pending) >= g.c.opts.MaxSize {
			fail(ErrGroupMaxSize, "") // ids could be asked for without end
			return
		}
		g.addPending(id, r.SessionTimeout)
		fail(ErrMemberIDRequired, id)
	case r.InstanceID == "" && g.removePending(r.MemberID):
		g.joinAsNew(r.MemberID, r, reply)
	default:
		m, err := g.check(r.MemberID, r.InstanceID)
		if err != nil {
			fail(err, r.MemberID)
			return
		}
		g.rejoin(m, r, reply)
	}
}

// hasRoomFor keeps the group at its greatest size. While joining, those who wait
// count, not the members of the last generation: the last to re-join are turned away.
func (g *group) hasRoomFor(memberID string) bool {
	m := g.members[memberID]
	switch g.state {
	case PreparingRebalance:
		if m != nil && m.join != nil {
			return true
		}
		waiting := 0
		for _, m := range g.order {
			if m.join != nil {
				waiting++
			}
		}
		return waiting < g.c.opts.MaxSize
	case CompletingRebalance, Stable:
		return m != nil || len(g.order) < g.c.opts.MaxSize
	case Empty, Dead:
	}
	return true
}

func (g *group) joinAsNew(id string, r JoinRequest, reply func(JoinResponse)) {
	m := &member{
		id: id, instanceID: r.InstanceID, clientID: r.ClientID, clientHost: r.ClientHost,
		sessionTimeout: r.SessionTimeout, rebalanceTimeout: r.RebalanceTimeout,
		protocols: cloneProtocols(r.Protocols), join: reply, fresh: true,
	}
	if g.state == PreparingRebalance && g.previous == Empty {
		g.newcomer = true
	}
	g.add(m, r.ProtocolType)
	// It cannot send heartbeats before it knows its id, and a client that gave up
	// waiting joins anew under another one: such ghosts must not stay for ever.
	g.keepAlive(m, g.c.opts.NewMemberJoinTimeout)
	g.rebalance("new member " + id + because(r.Reason))
}

// update takes over what a re-joining member says; the join waits from now on.
func (g *group) update(m *member, r JoinRequest, reply func(JoinResponse)) {
	// A join that still waits was given up by the client: it asked again.
	g.answerJoin(m, JoinResponse{Err: ErrRebalanceInProgress, MemberID: m.id, Generation: noGeneration})
	m.protocols = cloneProtocols(r.Protocols)
	m.sessionTimeout, m.rebalanceTimeout = r.SessionTimeout, r.RebalanceTimeout
	m.join = reply
}

func (g *group) rejoin(m *member, r JoinRequest, reply func(JoinResponse)) {
	switch {
	case g.state == PreparingRebalance,
		// The leader re-joins to have the group rebalanced for reasons of its own (a
		// topic got more partitions).
		g.state == Stable && g.leader == m.id,
		(g.state == Stable || g.state == CompletingRebalance) && !m.matches(r.Protocols):
		g.update(m, r, reply)
		g.rebalance("member " + m.id + " re-joins" + because(r.Reason))
	case g.state == Stable || g.state == CompletingRebalance:
		// Nothing changed: the answer of the completed join was lost on its way.
		g.keepAlive(m, m.sessionTimeout)
		response := g.joinResponse(m)
		g.later(func() { reply(response) })
	default:
		g.later(func() { reply(JoinResponse{Err: ErrUnknownMember, MemberID: m.id, Generation: noGeneration}) })
	}
}

// joinAsStatic lets a restarted static member take the place of its former self.
func (g *group) joinAsStatic(m *member, newID string, r JoinRequest, reply func(JoinResponse)) {
	oldID, oldLeader := m.id, g.leader
	old := *m
	g.replaceStatic(m, newID)
	g.update(m, r, reply)
	g.keepAlive(m, m.sessionTimeout)
	switch g.state {
	case Stable:
		if g.chooseProtocol() != g.protocol {
			g.rebalance("static member " + m.instanceID + " changes the protocol" + because(r.Reason))
			return
		}
		// The group goes on without a rebalance: same member, new id, same assignment.
		m.join = nil
		g.putGroup(func(err error) {
			if err != nil {
				if g.members[newID] == m {
					g.replaceStatic(m, oldID)
					m.protocols, m.sessionTimeout, m.rebalanceTimeout = old.protocols, old.sessionTimeout, old.rebalanceTimeout
				}
				g.later(func() { reply(JoinResponse{Err: err, Generation: noGeneration}) })
				return
			}
			if g.members[newID] != m {
				g.later(func() { reply(JoinResponse{Err: ErrUnknownMember, MemberID: newID, Generation: noGeneration}) })
				return
			}
			response := g.joinResponse(m)
			switch leads := g.leader == newID; {
			case r.SkipAssignment:
				response.SkipAssignment = leads
			case leads:
				// A client that does not know SkipAssignment must not believe that it leads,
				// or it would wait for members and assign anew.
				response.Leader, response.Members = oldLeader, nil
			}
			g.later(func() { reply(response) })
		})
	case CompletingRebalance:
		// The leader may have been told the old id and would assign to nobody.
		g.rebalance("static member " + m.instanceID + " is replaced" + because(r.Reason))
	default:
		g.completeJoinIfAllCame()
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// rebalance begins a rebalance, or, when one is on, ends its joining if all came.
func (g *group) rebalance(reason string) {
	if g.state == PreparingRebalance {
		g.completeJoinIfAllCame()
		return
	}
	if g.state == CompletingRebalance {
		for _, m := range g.order {
			m.assignment = nil
			if m.sync != nil {
				// Its session may have ended while it waited: only now it can end again.
				g.keepAlive(m, m.sessionTimeout)
				g.answerSync(m, SyncResponse{Err: ErrRebalanceInProgress})
			}
		}
		g.storing = false
	}
	g.stopSyncTimer()
	clear(g.unsynced)
	g.transition(PreparingRebalance)
	g.c.log.Info("group rebalances", "group", g.name, "generation", g.generation, "reason", reason)
	if g.previous == Empty {
		g.newcomer = false
		delay := g.c.opts.InitialRebalanceDelay
		g.initialRemaining = max(min(g.rebalanceTimeout(), g.c.opts.MaxInitialRebalanceDelay)-delay, 0)
		g.startJoinTimer(delay, g.initialDelayOver)
		return
	}
	if g.allJoined() {
		g.completeJoin()
		return
	}
	g.startJoinTimer(g.rebalanceTimeout(), g.completeJoin)
}

// initialDelayOver ends the first rebalance, unless someone came meanwhile and
// others may follow.
func (g *group) initialDelayOver() {
	if !g.newcomer || g.initialRemaining == 0 {
		g.completeJoin()
		return
	}
	g.newcomer = false
	delay := min(g.c.opts.InitialRebalanceDelay, g.initialRemaining)
	g.initialRemaining -= delay
	g.startJoinTimer(delay, g.initialDelayOver)
}

func (g *group) allJoined() bool {
	if len(g.pending) > 0 {
		return false
	}
	for _, m := range g.order {
		if m.join == nil {
			return false
		}
	}
	return true
}

// completeJoinIfAllCame ends the joining phase early; the delay of an initial
// rebalance is always waited for.
func (g *group) completeJoinIfAllCame() {
	if g.state == PreparingRebalance && g.previous != Empty && g.allJoined() {
		g.completeJoin()
	}
}

// completeJoin ends the joining phase: dynamic members that did not come are out,
// the generation goes up by one, and those who wait get their answers.
func (g *group) completeJoin() {
	g.stopJoinTimer()
	for _, m := range append([]*member(nil), g.order...) {
		if m.join == nil && m.instanceID == "" {
			g.c.log.Info("group member did not re-join", "group", g.name, "member", m.id)
			g.remove(m)
		}
	}
	if len(g.order) == 0 {
		g.becomeEmpty()
		return
	}
	if !g.electLeader() {
		// Only static members, none of whom came back: wait until they do, or expire.
		g.startJoinTimer(g.rebalanceTimeout(), g.completeJoin)
		return
	}
	g.generation = nextGeneration(g.generation)
	g.protocol = g.chooseProtocol()
	g.subscribed = g.subscribedTopics()
	g.storing = false
	g.transition(CompletingRebalance)
	g.c.metrics.rebalances.Inc()
	clear(g.unsynced)
	for _, m := range g.order {
		m.fresh, m.behind = false, 0
		m.assignment = nil
		g.unsynced[m.id] = struct{}{}
		g.keepAlive(m, m.sessionTimeout)
		if m.join != nil {
			g.answerJoin(m, g.joinResponse(m))
		}
	}
	g.startSyncTimer()
}

// nextGeneration wraps to 1: generations are never negative.
func nextGeneration(n int32) int32 {
	if n++; n <= 0 {
		return 1
	}
	return n
}

// electLeader keeps a leader that re-joined, else takes the first who did.
func (g *group) electLeader() bool {
	if m := g.members[g.leader]; m != nil && m.join != nil {
		return true
	}
	for _, m := range g.order {
		if m.join != nil {
			g.leader = m.id
			return true
		}
	}
	return false
}

// becomeEmpty ends a rebalance without members; its generation counts too.
func (g *group) becomeEmpty() {
	g.generation = nextGeneration(g.generation)
	g.protocol, g.leader = "", ""
	g.subscribed = map[string]struct{}{}
	g.transition(Empty)
	g.c.log.Info("group is empty", "group", g.name, "generation", g.generation)
	if g.generation == 1 && !g.stored {
		// Nobody ever completed a generation: nothing to remember.
		g.generation = 0
		g.forgetIfNothing()
		return
	}
	g.putGroup(func(err error) {
		if err != nil {
			// After a crash the last generation's members would come back, and expire.
			g.c.log.Warn("empty group not stored", "group", g.name, "error", err)
		}
	})
}

// forgetIfNothing drops a group that has nothing: no members, no generation.
func (g *group) forgetIfNothing() {
	if g.state == Empty && g.generation == 0 && len(g.order) == 0 && len(g.pending) == 0 && !g.stored {
		g.transition(Dead)
		g.later(func() { g.c.forget(g) })
	}
}

// afterRemoval carries on after members left.
func (g *group) afterRemoval(reason string) {
	switch g.state {
	case Stable, CompletingRebalance:
		g.rebalance(reason)
	case PreparingRebalance:
		g.completeJoinIfAllCame()
	case Empty:
		g.forgetIfNothing()
	case Dead:
	}
}

func (g *group) joinResponse(m *member) JoinResponse {
	r := JoinResponse{
		Generation: g.generation, ProtocolType: g.protocolType, Protocol: g.protocol,
		Leader: g.leader, MemberID: m.id,
	}
	if g.leader == m.id {
		r.Members = make([]JoinMember, 0, len(g.order))
		for _, m := range g.order {
			r.Members = append(r.Members, JoinMember{ID: m.id, InstanceID: m.instanceID, Metadata: m.metadata(g.protocol)})
		}
	}
	return r
}

// answerJoin answers the member's waiting join, if there is one.
func (g *group) answerJoin(m *member, r JoinResponse) {
	if reply := m.join; reply != nil {
		m.join = nil
		g.later(func() { reply(r) })
	}
}
