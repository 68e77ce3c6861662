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
	g, err := c.lookup(r.Group)
	if err != nil {
		return err
	}
	if g == nil {
		return ErrUnknownMember
	}
	g.mu.Lock()
	defer g.unlock()
	if g.state == Dead {
		return ErrNotAvailable
	}
	m, err := g.check(r.MemberID, r.InstanceID)
	if err != nil {
		return err
	}
	if r.Generation != g.generation {
		return ErrIllegalGeneration
	}
	g.keepAlive(m, m.sessionTimeout)
	if g.state == PreparingRebalance {
		return ErrRebalanceInProgress
	}
	return nil
}
