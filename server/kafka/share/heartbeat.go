package share

import (
	"slices"
	"time"

	"millrace/server/kafka/groupconfig"
	"millrace/store"
	"millrace/store/state"
)

// member is one member of a share group. Members are not stored: one that a restarted
// coordinator does not know is told so and joins again under its own id.
type member struct {
	id, rack, clientID, clientHost string
	epoch, previous                int32
	topics                         []string // sorted, once each
	assigned                       map[state.TopicID][]int32
	seen                           time.Time
	timer                          *time.Timer
	session                        time.Duration // as of its last heartbeat
}

// HeartbeatRequest is one ShareGroupHeartbeat. Topics nil: as before.
type HeartbeatRequest struct {
	Group, MemberID, Rack, ClientID, ClientHost string
	Epoch                                       int32 // 0 joins, -1 leaves
	Topics                                      []string
}

// HeartbeatResponse answers it. Assignment is nil when the member has it already.
type HeartbeatResponse struct {
	Epoch      int32
	Interval   time.Duration
	Assignment []Assignment
	Assigned   bool // Assignment is told, though it may be empty
}

// Assignment is what a member has of one topic.
type Assignment struct {
	Topic      state.TopicID
	Partitions []int32
}

// Heartbeat joins, keeps alive, or leaves.
func (c *Coordinator) Heartbeat(req HeartbeatRequest) (HeartbeatResponse, error) {
	set := c.o.GroupConfig(req.Group)
	res := HeartbeatResponse{Interval: groupconfig.Millis(set, groupconfig.ShareHeartbeatInterval, c.o.HeartbeatInterval)}
	session := groupconfig.Millis(set, groupconfig.ShareSessionTimeout, c.o.SessionTimeout)
	switch {
	case req.Group == "", req.MemberID == "", req.Epoch < -1, req.Epoch == 0 && len(req.Topics) == 0:
		return res, ErrInvalidRequest
	}
	g := c.lookup(req.Group)
	if g == nil {
		if req.Epoch != 0 {
			// Kafka says that there is no such group, which ends a consumer. But here a server may
			// have stopped between a group's first member and its record: that member joins again.
			return res, ErrUnknownMember
		}
		var err error
		if g, err = c.lookupOrCreate(req.Group); err != nil {
			return res, err
		}
	}
	g.mu.Lock()
	defer g.unlock()
	if g.dead {
		return res, ErrGroupNotFound
	}
	m := g.members[req.MemberID]
	switch {
	case req.Epoch == -1:
		if m == nil {
			return res, ErrUnknownMember
		}
		g.remove(m)
		res.Epoch = -1
		return res, nil
	case req.Epoch > 0 && m == nil:
		return res, ErrUnknownMember
	case req.Epoch > 0 && req.Epoch != m.epoch && req.Epoch != m.previous:
		return res, ErrFencedMemberEpoch
	case m == nil:
		if len(g.members) >= c.o.MaxSize {
			return res, ErrGroupMaxSize
		}
		m = &member{id: req.MemberID, assigned: map[state.TopicID][]int32{}}
		m.timer = time.AfterFunc(session, func() { g.sessionEnded(m) })
		g.members[m.id] = m
		if !g.stored {
			g.stable(func(error) {})
		}
		g.topics = nil
	}
	m.clientID, m.clientHost, m.seen = req.ClientID, req.ClientHost, c.o.Now()
	m.session = session
	m.timer.Reset(session)
	if req.Rack != "" {
		m.rack = req.Rack
	}
	if req.Topics != nil {
		topics := slices.Compact(slices.Sorted(slices.Values(req.Topics)))
		if !slices.Equal(topics, m.topics) {
			m.topics = topics
			g.topics = nil
		}
	}
	g.assign()
	if before := m.epoch; before != g.epoch {
		m.previous, m.epoch = before, g.epoch
		res.Assigned = true
	}
	res.Epoch = m.epoch
	if res.Assigned = res.Assigned || req.Topics != nil; res.Assigned {
		res.Assignment = m.assignment()
	}
	return res, nil
}

func (m *member) assignment() []Assignment {
	list := []Assignment{}
	for id, parts := range m.assigned {
		list = append(list, Assignment{id, parts})
	}
	slices.SortFunc(list, func(a, b Assignment) int {
		return state.TopicPartition{Topic: a.Topic}.Compare(state.TopicPartition{Topic: b.Topic})
	})
	return list
}

func (g *group) remove(m *member) {
	m.timer.Stop()
	delete(g.members, m.id)
	g.topics = nil
	g.assign()
}

// sessionEnded takes mu. What the member holds comes back when its locks run out.
func (g *group) sessionEnded(m *member) {
	if !g.c.enter() {
		return
	}
	defer g.c.active.Done()
	g.mu.Lock()
	if g.members[m.id] == m && g.c.o.Now().Sub(m.seen) >= m.session {
		g.remove(m)
	}
	g.unlock()
}

// assign gives every topic's partitions to its subscribers, if topics or members changed: as the
// simple assignor does, all partitions are covered, by several members each where there
// are more members than partitions, and evenly. Who has a partition keeps it where that is
// as good.
func (g *group) assign() {
	topics := g.c.store.Topics()
	if topics == g.topics {
		return
	}
	changed := g.topics == nil
	g.topics = topics
	g.forgetDeleted(topics)
	subscribers := map[string][]*member{}
	ids := make([]string, 0, len(g.members))
	for id := range g.members {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	next := map[*member]map[state.TopicID][]int32{}
	for _, id := range ids {
		m := g.members[id]
		next[m] = map[state.TopicID][]int32{}
		for _, t := range m.topics {
			subscribers[t] = append(subscribers[t], m)
		}
	}
	for name, members := range subscribers {
		topic, ok := topics.ByName(name)
		if !ok {
			continue
		}
		for i, parts := range spread(topic.Partitions, members, topic.ID) {
			if len(parts) > 0 {
				next[members[i]][topic.ID] = parts
			}
		}
	}
	for m, assigned := range next {
		if len(assigned) != len(m.assigned) {
			changed = true
		}
		for id, parts := range assigned {
			changed = changed || !slices.Equal(parts, m.assigned[id])
		}
		m.assigned = assigned
	}
	if changed {
		g.epoch++
	}
}

// forgetDeleted drops what is known of partitions whose topic is gone; the store has dropped its share.
func (g *group) forgetDeleted(topics *store.TopicSet) {
	for tp, p := range g.parts {
		if _, ok := topics.ByID(tp.Topic); !ok {
			p.reset++
			delete(g.parts, tp)
			delete(g.dirty, tp)
		}
	}
}

// spread is what each of the members gets of n partitions.
func spread(n int32, members []*member, topic state.TopicID) [][]int32 {
	out := make([][]int32, len(members))
	if n <= 0 {
		return out
	}
	share := (len(members) + int(n) - 1) / int(n) // members of a partition, at most
	slots := share * int(n)
	room := make([]int, len(members))
	given := 0
	for i := range members {
		to := ((i+1)*slots + len(members) - 1) / len(members)
		room[i], given = to-given, to
	}
	users := make([]int, n)
	take := func(i int, p int32) bool {
		if room[i] == 0 || users[p] >= share || slices.Contains(out[i], p) {
			return false
		}
		out[i] = append(out[i], p)
		room[i]--
		users[p]++
		return true
	}
	for i, m := range members {
		for _, p := range m.assigned[topic] {
			if p < n {
				take(i, p)
			}
		}
	}
	// Partitions without anybody first, then the rest round by round.
	for round := 1; round <= share; round++ {
		for p := range n {
			for i := range members {
				if users[p] >= round {
					break
				}
				take(i, p)
			}
		}
	}
	for i := range out {
		slices.Sort(out[i])
	}
	return out
}
