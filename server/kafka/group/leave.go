package group

// Leaving names a member that leaves: by member id, or, for the removal of a
// static member by an administrator, by instance id alone.
type Leaving struct {
	MemberID   string
	InstanceID string
	Reason     string
}

// Leave takes members out of a group. errs has one element per member, in order;
// err is set when the request as a whole failed.
func (c *Coordinator) Leave(name string, leaving []Leaving) (errs []error, err error) {
	if name == "" {
		return nil, ErrInvalidGroupID
	}
	h, err := c.hold(name)
	if err != nil {
		return nil, err
	}
	defer h.unlock()
	g := h.classic
	if h.consumer != nil {
		return h.consumer.leave(leaving)
	}
	errs = make([]error, len(leaving))
	if g == nil {
		for i := range errs {
			errs[i] = ErrUnknownMember
		}
		return errs, nil
	}
	if g.state == Dead {
		return nil, ErrNotAvailable
	}
	left := false
	for i, l := range leaving {
		errs[i] = g.leave(l)
		left = left || errs[i] == nil
	}
	if left {
		g.afterRemoval("members left")
	}
	return errs, nil
}

func (g *group) leave(l Leaving) error {
	if l.MemberID == "" {
		m := g.members[g.instances[l.InstanceID]]
		if l.InstanceID == "" || m == nil {
			return ErrUnknownMember
		}
		g.c.log.Info("static group member removed", "group", g.name, "member", m.id, "reason", l.Reason)
		g.remove(m)
		return nil
	}
	if g.removePending(l.MemberID) {
		return nil
	}
	m, err := g.check(l.MemberID, l.InstanceID)
	if err != nil {
		return err
	}
	g.c.log.Info("group member leaves", "group", g.name, "member", m.id, "reason", l.Reason)
	g.remove(m)
	return nil
}
