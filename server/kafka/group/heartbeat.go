package group

// HeartbeatRequest says that a member lives.
type HeartbeatRequest struct {
	Group      string
	MemberID   string
	InstanceID string
	Generation int32
}

// Heartbeat keeps the member's session; ErrRebalanceInProgress asks it to re-join.
func (c *Coordinator) Heartbeat(r HeartbeatRequest) error {
	if r.Group == "" {
		return ErrInvalidGroupID
	}
	h, err := c.hold(r.Group)
	if err != nil {
		return err
	}
	defer h.unlock()
	switch {
	case h.classic != nil:
		return h.classic.heartbeat(r)
	case h.consumer != nil:
		return h.consumer.classicHeartbeat(r)
	}
	return ErrUnknownMember
}

func (g *group) heartbeat(r HeartbeatRequest) error {
	if g.state == Dead {
		return ErrNotAvailable
	}
	m, err := g.check(r.MemberID, r.InstanceID)
	if err != nil {
		return err
	}
	if r.Generation != g.generationOf(m) {
		return ErrIllegalGeneration
	}
	g.keepAlive(m, m.sessionTimeout)
	if g.state == PreparingRebalance {
		return ErrRebalanceInProgress
	}
	return nil
}
