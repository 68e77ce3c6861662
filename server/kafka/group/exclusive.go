package group

// A group's name belongs to one type of groups. This coordinator and the one of share groups
// decide about a new name one after the other, under this one's mu: theirs is taken
// inside it, never the other way round.

// Share tells the coordinator who knows the share groups. Called once, before anything is served.
func (c *Coordinator) Share(has func(name string) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shared = has
}

// IfFree calls create, with mu held, unless there is a group of that name here: one with
// members, one that only has offsets, or one whose first offsets are on their way to the store.
// It reports whether it called it.
func (c *Coordinator) IfFree(name string, create func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.groups[name] != nil || c.consumers[name] != nil || c.first[name] > 0 {
		return false
	}
	if _, ok := c.store.CommittedOffsets(name); ok {
		return false
	}
	create()
	return true
}

// isShared says whether a share group has the name. The caller holds mu.
func (c *Coordinator) isShared(name string) bool { return c.shared != nil && c.shared(name) }

// isShareGroup is isShared for callers without mu.
func (c *Coordinator) isShareGroup(name string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.isShared(name)
}

// beginFirst holds the name for offsets of a group without members until the returned function
// is called; nil: it is a share group's.
func (c *Coordinator) beginFirst(name string) (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isShared(name) {
		return nil
	}
	if c.first == nil {
		c.first = map[string]int{}
	}
	c.first[name]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.first[name]--; c.first[name] == 0 {
			delete(c.first, name)
		}
	}
}
