package group

import "millrace/store/state"

// held is the group that has a name, locked, of whichever protocol; neither: nobody has it.
type held struct {
	classic  *group
	consumer *consumerGroup
}

// unlock lets go of the group, if there is one, with what that entails.
func (h held) unlock() {
	switch {
	case h.classic != nil:
		h.classic.unlock()
	case h.consumer != nil:
		h.consumer.unlock()
	}
}

// submit lets go of the group and hands an intent about its offsets to the store; nil has nothing to
// store. A classic group's goes behind its other writes (see write). A consumer group's, and
// nobody's, goes without a lock: a member that loses its epoch in between committed just before.
func (h held) submit(c *Coordinator, intent state.Intent, done func(result any, err error)) {
	if intent != nil && h.classic != nil {
		h.classic.writes = append(h.classic.writes, write{intent: intent, done: done})
		h.classic.unlock()
		return
	}
	h.unlock()
	if intent == nil {
		done(nil, nil)
		return
	}
	c.submit(intent, done)
}

// find returns who has the name, without a lock.
func (c *Coordinator) find(name string) (held, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed {
		return held{}, ErrClosed
	}
	return held{c.groups[name], c.consumers[name]}, nil
}

// hold finds and locks the group of that name. A group that went over to the other protocol in
// between is not it any more: its successor took its place in the same moment.
func (c *Coordinator) hold(name string) (held, error) {
	for {
		h, err := c.find(name)
		switch {
		case err != nil:
			return held{}, err
		case h.classic != nil:
			if h.classic.mu.Lock(); !h.classic.moved {
				return h, nil
			}
			h.classic.mu.Unlock()
		case h.consumer != nil:
			if h.consumer.mu.Lock(); !h.consumer.moved {
				return h, nil
			}
			h.consumer.mu.Unlock()
		default:
			return held{}, nil
		}
	}
}

// holdOrCreate is hold for a newcomer that speaks the classic protocol: it makes the group where
// nobody has the name, or only a consumer group without members.
func (c *Coordinator) holdOrCreate(name string) (held, error) {
	for {
		h, err := c.hold(name)
		if err != nil || h.classic != nil || (h.consumer != nil && len(h.consumer.members) > 0) {
			return h, err
		}
		h.unlock()
		if err := c.create(name); err != nil {
			return held{}, err
		}
	}
}

// create makes a classic group, unless there is a group with members.
func (c *Coordinator) create(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return ErrClosed
	case c.groups[name] != nil:
		return nil
	case c.isShared(name):
		return ErrShareGroup
	}
	if gone, err := c.yieldToClassic(name); !gone {
		return err
	}
	if len(c.groups)+len(c.consumers) >= c.opts.MaxGroups {
		return ErrTooManyGroups
	}
	c.groups[name] = newGroup(c, name)
	return nil
}

// yieldToClassic makes the name free for a classic group, which only a group without members
// lets it have. The caller holds mu.
func (c *Coordinator) yieldToClassic(name string) (gone bool, err error) {
	g := c.consumers[name]
	if g == nil {
		return true, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case len(g.members) > 0:
		return false, nil // it came to life: whoever asked joins it
	case g.dead || !g.idle():
		return false, ErrNotAvailable // for a moment
	}
	g.dead, g.moved = true, true
	delete(c.consumers, name)
	return true, nil
}

// known says whether the store has offsets of a group, other than a share group, of that name.
func (c *Coordinator) known(name string) bool {
	_, ok := c.store.CommittedOffsets(name)
	return ok && !c.isShareGroup(name)
}
