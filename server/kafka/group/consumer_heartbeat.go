package group

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"millrace/server/kafka/group/assign"
	"millrace/server/kafka/groupconfig"
	"millrace/store/state"
)

// maxRegexBytes bounds a subscription's regular expression: it is matched against every topic name.
const maxRegexBytes = 4096

// ConsumerHeartbeat is one ConsumerGroupHeartbeat. Slices are the coordinator's from here on.
type ConsumerHeartbeat struct {
	Group, MemberID      string
	InstanceID           *string // nil: as before
	RackID               *string
	ClientID, ClientHost string
	Epoch                int32                  // 0 joins, -1 leaves, -2 leaves for now (static members)
	RebalanceTimeout     time.Duration          // < 0: as before
	Topics               []string               // nil: as before
	Regex                *string                // nil: as before; "" none
	Assignor             *string                // nil: as before
	Owned                []state.TopicPartition // nil: nothing new
	// MakeMemberID: a newcomer without an id is given one (version 0).
	MakeMemberID bool
	// Visible says which topics the member's regular expression may find; nil: all.
	Visible func(topic string) bool
}

// ConsumerHeartbeatResponse answers it. On error only Err counts.
type ConsumerHeartbeatResponse struct {
	Err        error
	MemberID   string
	Epoch      int32
	Interval   time.Duration
	Assigned   bool                   // Assignment is told, though it may be empty
	Assignment []state.TopicPartition // in order
}

// InvalidRequestError says what a heartbeat lacks.
type InvalidRequestError struct{ Reason string }

func (e *InvalidRequestError) Error() string { return e.Reason }

func (r *ConsumerHeartbeat) check() error {
	bad := func(reason string) error { return &InvalidRequestError{reason} }
	switch {
	case r.Group == "":
		return bad("GroupId can't be empty.")
	case r.InstanceID != nil && *r.InstanceID == "":
		return bad("InstanceId can't be empty.")
	case r.RackID != nil && *r.RackID == "":
		return bad("RackId can't be empty.")
	case r.MemberID == "" && (r.Epoch != 0 || !r.MakeMemberID):
		return bad("MemberId can't be empty.")
	case r.Epoch == leftForNow && r.InstanceID == nil:
		return bad("InstanceId can't be null.")
	case r.Epoch < leftForNow:
		return bad(fmt.Sprintf("MemberEpoch is %d, but must be greater than or equal to -2.", r.Epoch))
	case r.Epoch != 0:
		return nil
	case r.RebalanceTimeout < 0:
		return bad("RebalanceTimeoutMs must be provided in first request.")
	case r.Owned == nil || len(r.Owned) > 0:
		return bad("TopicPartitions must be empty when (re-)joining.")
	case r.Topics == nil && r.Regex == nil:
		return bad("Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.")
	}
	return nil
}

// compile makes a regular expression that matches whole names.
func compile(expression string) (*regexp.Regexp, error) {
	if expression == "" {
		return nil, nil
	}
	if len(expression) > maxRegexBytes {
		return nil, fmt.Errorf("%w: longer than %d bytes", ErrInvalidRegex, maxRegexBytes)
	}
	if _, err := regexp.Compile(expression); err != nil { // a stray ')' would close our group
		return nil, fmt.Errorf("%w: %w", ErrInvalidRegex, err)
	}
	re, err := regexp.Compile(`\A(?:` + expression + `)\z`)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidRegex, err)
	}
	return re, nil
}

// ConsumerHeartbeat lets a member join, stay or leave. The reply comes when what it says is
// durable.
func (c *Coordinator) ConsumerHeartbeat(r ConsumerHeartbeat, reply func(ConsumerHeartbeatResponse)) {
	fail := func(err error) { reply(ConsumerHeartbeatResponse{Err: err}) }
	if !c.ServesConsumers() {
		fail(ErrGroupNotFound)
		return
	}
	if err := r.check(); err != nil {
		fail(err)
		return
	}
	if r.Assignor != nil && !slices.Contains(c.opts.ConsumerAssignors, *r.Assignor) {
		fail(fmt.Errorf("%w: %q is none of %v", ErrUnsupportedAssignor, *r.Assignor, c.opts.ConsumerAssignors))
		return
	}
	if r.Regex != nil {
		if _, err := compile(*r.Regex); err != nil {
			fail(err)
			return
		}
	}
	g, err := c.holdConsumer(r.Group, r.Epoch == 0)
	if err != nil {
		fail(err)
		return
	}
	defer g.unlock()
	if g.dead {
		g.effects = append(g.effects, func() { fail(ErrNotAvailable) })
		return
	}
	res, err := g.heartbeat(r)
	if err != nil {
		g.effects = append(g.effects, func() { fail(err) })
		return
	}
	g.whenStored(func(err error) {
		if err != nil {
			res = ConsumerHeartbeatResponse{Err: err}
		}
		reply(res)
	})
}

func (g *consumerGroup) heartbeat(r ConsumerHeartbeat) (ConsumerHeartbeatResponse, error) {
	if r.Epoch < 0 {
		return g.leaveBy(r)
	}
	if !g.room(r.MemberID, topicBytes(r.Topics)) {
		return ConsumerHeartbeatResponse{}, ErrGroupDataTooLarge
	}
	m, fresh, err := g.memberOf(&r)
	if err != nil {
		return ConsumerHeartbeatResponse{}, err
	}
	if m.classic != nil {
		g.speaks(m, nil)
	}
	topics := g.c.opts.Topics()
	changed, err := g.describeBy(m, r, topics)
	if err != nil {
		return ConsumerHeartbeatResponse{}, err
	}
	if fresh || changed {
		g.hashOf = nil
	}
	g.refresh(topics, fresh || changed)
	g.retarget(topics)

	var owned assign.Partitions
	if r.Owned != nil {
		owned = make(assign.Partitions, len(r.Owned))
		for _, tp := range r.Owned {
			owned[tp] = struct{}{}
		}
	}
	before, epoch, st := m.assigned, m.epoch, m.state
	moved := g.reconcile(m, owned)
	if moved {
		g.dirty = true
	}
	g.watchRevocation(m, moved && (epoch != m.epoch || st != m.state))
	g.keepAlive(m)

	res := ConsumerHeartbeatResponse{MemberID: m.id, Epoch: m.epoch, Interval: groupconfig.Millis(g.c.opts.GroupConfig(g.name), groupconfig.ConsumerHeartbeatInterval, g.c.opts.ConsumerHeartbeatInterval)}
	full := r.Epoch == 0 || (r.RebalanceTimeout >= 0 && (r.Topics != nil || r.Regex != nil) && r.Owned != nil)
	if full || !equal(before, m.assigned) {
		res.Assigned, res.Assignment = true, sorted(m.assigned)
	}
	return res, nil
}

// memberOf finds or makes the member that sent r.
func (g *consumerGroup) memberOf(r *ConsumerHeartbeat) (m *consumerMember, fresh bool, err error) {
	if r.MemberID == "" {
		r.MemberID = g.c.opts.NewMemberIDSuffix()
	}
	m = g.members[r.MemberID]
	if r.InstanceID != nil {
		old := g.members[g.instances[*r.InstanceID]]
		switch {
		case r.Epoch > 0 && old == nil:
			return nil, false, ErrUnknownMember
		case r.Epoch > 0 && old.id != r.MemberID:
			return nil, false, ErrFencedInstance
		case r.Epoch == 0 && old != nil && old.id != r.MemberID:
			if old.epoch != leftForNow && old.classic == nil {
				return nil, false, ErrUnreleasedInstance
			}
			if m != nil {
				return nil, false, &InvalidRequestError{"MemberId is another member's."}
			}
			m = g.replace(old, r.MemberID)
		case m != nil && m.instanceID != *r.InstanceID: // it begins anew, under a name that is free
			g.rename(m, *r.InstanceID)
		}
	}
	switch {
	case m == nil && r.Epoch != 0:
		return nil, false, ErrUnknownMember
	case m == nil && len(g.members) >= g.c.opts.ConsumerMaxSize:
		return nil, false, ErrGroupMaxSize
	case m == nil:
		instanceID := ""
		if r.InstanceID != nil {
			instanceID = *r.InstanceID
		}
		m = newConsumerMember(r.MemberID, instanceID)
		g.add(m)
		return m, true, nil
	case r.Epoch == 0:
		// It begins anew and owns nothing (check made sure): whatever it had to give up, it has.
		if m.epoch == leftForNow {
			g.dirty = true
			m.epoch = 0
		}
		return m, false, nil
	case r.Epoch > m.epoch:
		return nil, false, ErrFencedMemberEpoch
	case r.Epoch < m.epoch:
		// The answer that brought it the new epoch was lost; it may go on if it has nothing that is not its.
		if r.Epoch != m.previousEpoch || r.Owned == nil {
			return nil, false, ErrFencedMemberEpoch
		}
		for _, tp := range r.Owned {
			if _, ok := m.assigned[tp]; !ok {
				return nil, false, ErrFencedMemberEpoch
			}
		}
	}
	return m, false, nil
}

// rename makes a member the one of another instance, which nobody is.
func (g *consumerGroup) rename(m *consumerMember, instanceID string) {
	if g.instances[m.instanceID] == m.id {
		delete(g.instances, m.instanceID)
	}
	m.instanceID = instanceID
	g.instances[instanceID] = m.id
	g.dirty = true
}

// replace puts a new incarnation in the place of a static member.
func (g *consumerGroup) replace(old *consumerMember, id string) *consumerMember {
	m := *old
	m.id, m.epoch, m.previousEpoch = id, 0, 0
	m.session, m.turn = nil, nil
	old.stopTimers()
	g.disown(old)
	g.drop(old)
	g.add(&m)
	g.own(&m)
	g.dirty = true
	return &m
}

// describeBy takes over what a member says of itself, and reports whether its subscription changed.
func (g *consumerGroup) describeBy(m *consumerMember, r ConsumerHeartbeat, topics Topics) (changed bool, err error) {
	set := func(field *string, v string) {
		if *field != v {
			*field, g.dirty = v, true
		}
	}
	set(&m.clientID, r.ClientID)
	set(&m.clientHost, r.ClientHost)
	if r.RackID != nil {
		set(&m.rackID, *r.RackID)
	}
	if r.Assignor != nil && m.assignor != *r.Assignor {
		m.assignor, changed = *r.Assignor, true
	}
	if r.RebalanceTimeout >= 0 && m.rebalanceTimeout != r.RebalanceTimeout {
		m.rebalanceTimeout, g.dirty = r.RebalanceTimeout, true
	}
	if r.Topics != nil {
		if names := slices.Compact(slices.Sorted(slices.Values(r.Topics))); !slices.Equal(names, m.topics) {
			m.topics, changed = names, true
		}
	}
	if r.Regex != nil && *r.Regex != m.regex {
		m.regex, m.resolvedIn, changed = *r.Regex, nil, true
	}
	if m.resolvedIn != topics && (m.regex != "" || len(m.resolved) > 0) {
		re, err := compile(m.regex)
		if err != nil {
			return false, err
		}
		changed = m.resolve(re, topics, r.Visible) || changed
	}
	return changed, nil
}

// leaveBy takes the member out for good (-1), or keeps its place for its instance (-2).
func (g *consumerGroup) leaveBy(r ConsumerHeartbeat) (ConsumerHeartbeatResponse, error) {
	m := g.members[r.MemberID]
	if r.InstanceID != nil {
		switch old := g.members[g.instances[*r.InstanceID]]; {
		case old == nil:
			return ConsumerHeartbeatResponse{}, ErrUnknownMember
		case old.id != r.MemberID:
			return ConsumerHeartbeatResponse{}, ErrFencedInstance
		}
	}
	if m == nil {
		return ConsumerHeartbeatResponse{}, ErrUnknownMember
	}
	if r.Epoch == leftForNow {
		// Its partitions wait for it as long as its session lasts. What it had to give up, it has.
		g.place(m, leftForNow, settled, m.assigned, assign.Partitions{})
		g.watchRevocation(m, true)
		g.dirty = true
	} else {
		g.c.log.Info("group member leaves", "group", g.name, "member", m.id)
		g.remove(m)
	}
	return ConsumerHeartbeatResponse{MemberID: r.MemberID, Epoch: r.Epoch}, nil
}
