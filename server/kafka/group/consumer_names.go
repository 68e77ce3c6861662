package group

// ServesConsumers says whether groups of the consumer protocol (KIP-848) are served.
func (c *Coordinator) ServesConsumers() bool { return c.opts.Topics != nil }

// consumerGroup returns the group, or makes it where that is asked for and the name is free. A classic
// group without members becomes one of the new protocol; one with members stays what it is.
func (c *Coordinator) consumerGroup(name string, create bool) (*consumerGroup, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	if g := c.consumers[name]; g != nil {
		return g, nil
	}
	if old := c.groups[name]; old != nil {
		old.mu.Lock()
		defer old.mu.Unlock()
		switch {
		case !create || (old.state != Empty && old.state != Dead):
			return nil, ErrNotConsumerGroup
		case old.state == Dead || len(old.pending) > 0 || len(old.writes) > 0 || old.pumping:
			return nil, ErrNotAvailable // for a moment
		}
		old.transition(Dead)
		delete(c.groups, name)
	}
	if !create {
		return nil, ErrGroupNotFound
	}
	if c.isShared(name) {
		return nil, ErrShareGroup
	}
	if len(c.groups)+len(c.consumers) >= c.opts.MaxGroups {
		return nil, ErrTooManyGroups
	}
	g := newConsumerGroup(c, name)
	c.consumers[name] = g
	return g, nil
}

// lookupConsumer returns a group of the consumer protocol, or nil.
func (c *Coordinator) lookupConsumer(name string) *consumerGroup {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.consumers[name]
}

// yieldToClassic makes the name free for a classic group, which only a group without members lets
// it have. The caller holds mu.
func (c *Coordinator) yieldToClassic(name string) error {
	g := c.consumers[name]
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case len(g.members) > 0:
		return ErrInconsistentProtocol
	case g.dead || !g.idle():
		return ErrNotAvailable
	}
	g.dead = true
	delete(c.consumers, name)
	return nil
}

func (c *Coordinator) forgetConsumer(g *consumerGroup) {
	c.mu.Lock()
	if c.consumers[g.name] == g {
		delete(c.consumers, g.name)
	}
	c.mu.Unlock()
}

func (c *Coordinator) allConsumers() []*consumerGroup {
	c.mu.RLock()
	defer c.mu.RUnlock()
	groups := make([]*consumerGroup, 0, len(c.consumers))
	for _, g := range c.consumers {
		groups = append(groups, g)
	}
	return groups
}
