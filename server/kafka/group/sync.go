package group

import "time"

// SyncRequest brings the leader's assignment, or asks for one's own. Byte slices
// are copied.
type SyncRequest struct {
	Group      string
	MemberID   string
	InstanceID string
	Generation int32
	// ProtocolType and Protocol are checked unless empty (v5+ sends them).
	ProtocolType string
	Protocol     string
	Assignments  []Assignment // from the leader; from others ignored
}

// Assignment is what the leader gives one member.
type Assignment struct {
	MemberID string
	Data     []byte
}

// SyncResponse answers Sync. Assignment is read-only, and may be empty.
type SyncResponse struct {
	Err          error
	ProtocolType string
	Protocol     string
	Assignment   []byte
}

// Sync answers with the member's assignment, once the leader brought it and the
// store keeps it.
func (c *Coordinator) Sync(r SyncRequest, reply func(SyncResponse)) {
	if r.Group == "" {
		reply(SyncResponse{Err: ErrInvalidGroupID})
		return
	}
	h, err := c.hold(r.Group)
	if err != nil {
		reply(SyncResponse{Err: err})
		return
	}
	defer h.unlock()
	switch {
	case h.classic != nil:
		h.classic.handleSync(r, reply)
	case h.consumer != nil:
		h.consumer.sync(r, reply)
	default:
		reply(SyncResponse{Err: ErrUnknownMember})
	}
}

func (g *group) handleSync(r SyncRequest, reply func(SyncResponse)) {
	fail := func(err error) { g.later(func() { reply(SyncResponse{Err: err}) }) }
	if g.state == Dead {
		fail(ErrNotAvailable)
		return
	}
	m, err := g.check(r.MemberID, r.InstanceID)
	switch {
	case err != nil:
		fail(err)
		return
	case r.Generation != g.generationOf(m):
		fail(ErrIllegalGeneration)
		return
	case r.ProtocolType != "" && r.ProtocolType != g.protocolType, r.Protocol != "" && r.Protocol != g.protocol:
		fail(ErrInconsistentProtocol)
		return
	}
	switch g.state {
	case PreparingRebalance:
		fail(ErrRebalanceInProgress)
	case CompletingRebalance:
		// A sync that still waits was given up by the client: it asked again.
		g.answerSync(m, SyncResponse{Err: ErrRebalanceInProgress})
		m.sync = reply
		g.synced(m)
		if g.leader == m.id && !g.storing {
			g.storeAssignment(r.Assignments)
		}
	case Stable:
		g.synced(m)
		g.keepAlive(m, m.sessionTimeout)
		response := g.syncResponse(m)
		g.later(func() { reply(response) })
	case Empty, Dead:
		fail(ErrUnknownMember) // not reached: an empty group has no member to check
	}
}

// storeAssignment sends the leader's assignment to the store; when it is kept, the
// group is stable and everyone who waits gets theirs.
func (g *group) storeAssignment(assignments []Assignment) {
	given := make(map[string][]byte, len(assignments))
	for _, a := range assignments {
		given[a.MemberID] = append([]byte{}, a.Data...)
	}
	// Members that the leader left out have an empty assignment. It is not theirs
	// to see before it is stored, but the record is made from it.
	for _, m := range g.order {
		if m.assignment = given[m.id]; m.assignment == nil {
			m.assignment = []byte{}
		}
	}
	g.storing = true
	generation := g.generation
	g.putGroup(func(err error) {
		if g.state != CompletingRebalance || g.generation != generation {
			return // a newer rebalance has answered everyone
		}
		g.storing = false
		if err != nil {
			g.c.log.Error("group assignment not stored", "group", g.name, "generation", generation, "error", err)
			for _, m := range g.order {
				m.assignment = nil
				if m.sync != nil {
					g.keepAlive(m, m.sessionTimeout)
					g.answerSync(m, SyncResponse{Err: err})
				}
			}
			g.rebalance("the assignment could not be stored")
			return
		}
		g.transition(Stable)
		for _, m := range g.order {
			if m.sync != nil {
				g.keepAlive(m, m.sessionTimeout)
				g.answerSync(m, g.syncResponse(m))
			}
		}
	})
}

func (g *group) syncResponse(m *member) SyncResponse {
	return SyncResponse{ProtocolType: g.protocolType, Protocol: g.protocol, Assignment: m.assignment}
}

// answerSync answers the member's waiting sync, if there is one.
func (g *group) answerSync(m *member, r SyncResponse) {
	if reply := m.sync; reply != nil {
		m.sync = nil
		g.later(func() { reply(r) })
	}
}

// synced notes that m has asked for its assignment of this generation.
func (g *group) synced(m *member) {
	delete(g.unsynced, m.id)
	if len(g.unsynced) == 0 {
		g.stopSyncTimer()
	}
}

// startSyncTimer gives everyone the rebalance timeout to ask for the assignment;
// who does not is out, and the others rebalance.
func (g *group) startSyncTimer() {
	g.stopSyncTimer()
	generation := g.generation
	g.syncTimer = g.timer(max(g.rebalanceTimeout(), time.Millisecond), func() {
		if g.generation != generation || (g.state != CompletingRebalance && g.state != Stable) || len(g.unsynced) == 0 {
			return
		}
		for _, m := range append([]*member(nil), g.order...) {
			if _, late := g.unsynced[m.id]; late {
				g.c.log.Info("group member did not ask for its assignment", "group", g.name, "member", m.id)
				g.remove(m)
			}
		}
		g.rebalance("members did not ask for their assignment")
	})
}
