package group

import (
	"bytes"
	"slices"
	"time"
)

// Protocol is one assignment protocol that a member offers, with metadata that
// only the members understand.
type Protocol struct {
	Name     string
	Metadata []byte
}

// member is one member of a group, guarded by the group's mu.
type member struct {
	id         string
	instanceID string // "" for a dynamic member
	clientID   string
	clientHost string

	sessionTimeout   time.Duration
	rebalanceTimeout time.Duration
	protocols        []Protocol // in order of preference; metadata is never nil
	assignment       []byte     // nil: not known, as long as a rebalance is on
	// behind is the generation that the member is still in, since it comes from a consumer group
	// whose epoch it had not reached; 0: the group's.
	behind int32

	join func(JoinResponse) // waits for the rebalance; nil: does not wait
	sync func(SyncResponse) // waits for the assignment; nil: does not wait

	// fresh: it has not got its first join answer yet, so it cannot send heartbeats
	// and may be expired although it waits.
	fresh bool

	// The session ends at deadline. The timer is left alone when the deadline only
	// moves away (every heartbeat would reset it); it fires at fires, and goes to
	// sleep again if it is too early.
	deadline time.Time
	fires    time.Time
	armed    bool
	timer    *time.Timer
}

// pendingMember was given an id by MEMBER_ID_REQUIRED and has not come back with it.
type pendingMember struct{ timer *time.Timer }

func cloneProtocols(protocols []Protocol) []Protocol {
	clone := make([]Protocol, len(protocols))
	for i, p := range protocols {
		clone[i] = Protocol{Name: p.Name, Metadata: append(make([]byte, 0, len(p.Metadata)), p.Metadata...)}
	}
	return clone
}

// metadata of one of the member's protocols; nil when it does not offer it.
func (m *member) metadata(protocol string) []byte {
	for _, p := range m.protocols {
		if p.Name == protocol {
			return p.Metadata
		}
	}
	return nil
}

// matches reports whether the member offers exactly these protocols already.
func (m *member) matches(protocols []Protocol) bool {
	return slices.EqualFunc(m.protocols, protocols, func(a, b Protocol) bool {
		return a.Name == b.Name && bytes.Equal(a.Metadata, b.Metadata)
	})
}

// alive: a member that waits for us needs no heartbeat to show that it lives.
func (m *member) alive() bool { return !m.fresh && (m.join != nil || m.sync != nil) }

// keepAlive gives the member d from now on.
func (g *group) keepAlive(m *member, d time.Duration) {
	m.deadline = time.Now().Add(d)
	switch {
	case m.timer == nil:
		m.timer = g.timer(d, func() { g.sessionTimerFired(m) })
	case !m.armed || m.deadline.Before(m.fires):
		m.timer.Reset(d)
	default:
		return
	}
	m.armed, m.fires = true, m.deadline
}

func (g *group) sessionTimerFired(m *member) {
	if g.members[m.id] != m {
		return
	}
	m.armed = false
	if left := time.Until(m.deadline); left > 0 {
		m.timer.Reset(left)
		m.armed, m.fires = true, m.deadline
		return
	}
	if m.alive() {
		return // whoever answers it starts the timer again
	}
	g.c.metrics.expired.Inc()
	g.c.log.Info("group member expired", "group", g.name, "member", m.id, "generation", g.generation)
	g.answerJoin(m, JoinResponse{Err: ErrUnknownMember, Generation: noGeneration})
	g.remove(m)
	g.afterRemoval("member " + m.id + " expired")
}

// add puts a new member into the group. The first one leads and sets the protocol type.
func (g *group) add(m *member, protocolType string) {
	if len(g.order) == 0 {
		g.protocolType = protocolType
	}
	if g.leader == "" {
		g.leader = m.id
	}
	g.members[m.id] = m
	g.order = append(g.order, m)
	if m.instanceID != "" {
		g.instances[m.instanceID] = m.id
	}
}

// remove takes a member out; a waiting sync is answered, a waiting join is the
// caller's to answer first.
func (g *group) remove(m *member) {
	g.answerJoin(m, JoinResponse{Err: ErrUnknownMember, Generation: noGeneration})
	g.answerSync(m, SyncResponse{Err: ErrUnknownMember})
	m.timer.Stop()
	delete(g.members, m.id)
	delete(g.unsynced, m.id)
	if i := slices.Index(g.order, m); i >= 0 {
		g.order = slices.Delete(g.order, i, i+1)
	}
	if m.instanceID != "" && g.instances[m.instanceID] == m.id {
		delete(g.instances, m.instanceID)
	}
	if g.leader == m.id {
		g.leader = ""
		if len(g.order) > 0 {
			g.leader = g.order[0].id
		}
	}
}

// replaceStatic gives the static member another member id, in place; requests that
// wait under the old one are fenced.
func (g *group) replaceStatic(m *member, newID string) {
	g.answerJoin(m, JoinResponse{Err: ErrFencedInstance, MemberID: m.id, Generation: noGeneration})
	g.answerSync(m, SyncResponse{Err: ErrFencedInstance})
	delete(g.members, m.id)
	if _, ok := g.unsynced[m.id]; ok {
		delete(g.unsynced, m.id)
		g.unsynced[newID] = struct{}{}
	}
	if g.leader == m.id {
		g.leader = newID
	}
	m.id = newID
	g.members[newID] = m
	g.instances[m.instanceID] = newID
}

// generationOf is the generation that the member may speak for.
func (g *group) generationOf(m *member) int32 {
	if m.behind != 0 {
		return m.behind
	}
	return g.generation
}

// check finds the member that a request names.
func (g *group) check(memberID, instanceID string) (*member, error) {
	if instanceID != "" {
		switch id, ok := g.instances[instanceID]; {
		case !ok:
			return nil, ErrUnknownMember
		case id != memberID:
			return nil, ErrFencedInstance
		}
	}
	m := g.members[memberID]
	if m == nil {
		return nil, ErrUnknownMember
	}
	return m, nil
}

func (g *group) addPending(id string, timeout time.Duration) {
	g.pending[id] = &pendingMember{timer: g.timer(timeout, func() {
		if g.removePending(id) {
			g.afterRemoval("pending member " + id + " expired")
		}
	})}
}

func (g *group) removePending(id string) bool {
	p := g.pending[id]
	if p == nil {
		return false
	}
	p.timer.Stop()
	delete(g.pending, id)
	return true
}

func (g *group) dropPending() {
	for id := range g.pending {
		g.removePending(id)
	}
}
