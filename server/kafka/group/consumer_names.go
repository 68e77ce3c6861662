package group

// ServesConsumers says whether groups of the consumer protocol (KIP-848) are served.
func (c *Coordinator) ServesConsumers() bool { return c.opts.Topics != nil }

// holdConsumer finds and locks the group of the consumer protocol. Where create is set it makes the
// group if the name is free, and upgrades a classic one.
func (c *Coordinator) holdConsumer(name string, create bool) (*consumerGroup, error) {
	for {
		g, answers, err := c.consumerGroup(name, create)
		for _, f := range answers {
			f()
		}
		if err != nil {
			return nil, err
		}
		if g.mu.Lock(); !g.moved {
			return g, nil
		}
		g.mu.Unlock()
	}
}

func (c *Coordinator) consumerGroup(name string, create bool) (g *consumerGroup, answers []func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, ErrClosed
	}
	if g := c.consumers[name]; g != nil {
		return g, nil, nil
	}
	if old := c.groups[name]; old != nil {
		if !create {
			return nil, nil, ErrNotConsumerGroup
		}
		old.mu.Lock()
		defer old.mu.Unlock()
		return c.upgrade(old)
	}
	switch {
	case !create:
		return nil, nil, ErrGroupNotFound
	case c.isShared(name):
		return nil, nil, ErrShareGroup
	case len(c.groups)+len(c.consumers) >= c.opts.MaxGroups:
		return nil, nil, ErrTooManyGroups
	}
	g = newConsumerGroup(c, name)
	c.consumers[name] = g
	return g, nil, nil
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
