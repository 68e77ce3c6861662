package share

import (
	"slices"
	"strings"

	"millrace/store/state"
)

// Listing is one share group in a list.
type Listing struct {
	Group string
	State string // Empty or Stable
}

// List returns all share groups in name order.
func (c *Coordinator) List() []Listing {
	c.mu.Lock()
	groups := make([]*group, 0, len(c.groups))
	for _, g := range c.groups {
		groups = append(groups, g)
	}
	c.mu.Unlock()
	list := make([]Listing, 0, len(groups))
	for _, g := range groups {
		g.mu.Lock()
		list = append(list, Listing{g.name, g.state()})
		g.mu.Unlock()
	}
	slices.SortFunc(list, func(a, b Listing) int { return strings.Compare(a.Group, b.Group) })
	return list
}

func (g *group) state() string {
	if len(g.members) == 0 {
		return "Empty"
	}
	return "Stable"
}

// Description is one share group with its members, in the order of their ids.
type Description struct {
	State   string
	Epoch   int32
	Members []MemberDescription
}

// MemberDescription is one member.
type MemberDescription struct {
	ID, Rack, ClientID, ClientHost string
	Epoch                          int32
	Topics                         []string
	Assignment                     []Assignment
}

// Describe returns one share group; false when there is none.
func (c *Coordinator) Describe(name string) (Description, bool) {
	g := c.lookup(name)
	if g == nil {
		return Description{}, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	d := Description{State: g.state(), Epoch: g.epoch}
	for _, m := range g.members {
		d.Members = append(d.Members, MemberDescription{
			ID: m.id, Rack: m.rack, ClientID: m.clientID, ClientHost: m.clientHost,
			Epoch: m.epoch, Topics: m.topics, Assignment: m.assignment(),
		})
	}
	slices.SortFunc(d.Members, func(a, b MemberDescription) int { return strings.Compare(a.ID, b.ID) })
	return d, true
}

// PartitionOffset is where a share partition stands.
type PartitionOffset struct {
	Start    int64
	Complete int64 // offsets from Start on that are done with
}

// Offsets of a group's share partitions; false when there is no such group.
func (c *Coordinator) Offsets(name string) (map[state.TopicPartition]PartitionOffset, bool) {
	g := c.lookup(name)
	if g == nil {
		return nil, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.load()
	offsets := map[state.TopicPartition]PartitionOffset{}
	for tp, p := range g.parts {
		if p.ready {
			offsets[tp] = PartitionOffset{p.start, p.complete()}
		}
	}
	return offsets, true
}

// SetOffsets lets the share partitions of a group without members begin at these offsets. The
// group is made where there is none. The reply comes when that is durable.
func (c *Coordinator) SetOffsets(name string, starts map[state.TopicPartition]int64, reply func(error)) {
	g, err := c.lookupOrCreate(name)
	if err == nil {
		err = g.lockWithoutMembers()
	}
	if err != nil {
		reply(err)
		return
	}
	g.load()
	for tp, start := range starts {
		epoch := int32(0)
		if old := g.parts[tp]; old != nil {
			epoch = old.epoch
			old.reset++
		}
		g.parts[tp] = &partition{start: start, end: start, epoch: epoch + 1, ready: true}
		g.dirty[tp] = struct{}{}
	}
	g.stable(reply)
	g.unlock()
}

// lockWithoutMembers takes mu, unless the group has members, or (nil) there is none.
func (g *group) lockWithoutMembers() error {
	if g == nil {
		return ErrGroupNotFound
	}
	g.mu.Lock()
	if len(g.members) > 0 {
		g.mu.Unlock()
		return ErrNonEmptyGroup
	}
	return nil
}

// DeleteOffsets forgets the share partitions of a topic, in a group without members.
func (c *Coordinator) DeleteOffsets(name string, topic state.TopicID, reply func(error)) {
	g := c.lookup(name)
	if err := g.lockWithoutMembers(); err != nil {
		reply(err)
		return
	}
	again := func(err error) {
		if err != nil {
			reply(err)
			return
		}
		c.DeleteOffsets(name, topic, reply)
	}
	if !g.whenIdle(again) { // what is on its way would bring them back
		g.unlock()
		return
	}
	g.load()
	in := state.DeleteOffsets{Group: name}
	for tp, p := range g.parts {
		if tp.Topic == topic {
			p.reset++
			delete(g.parts, tp)
			delete(g.dirty, tp)
			in.Partitions = append(in.Partitions, tp)
		}
	}
	g.mu.Unlock()
	if len(in.Partitions) == 0 {
		reply(nil)
		return
	}
	c.submit(in, func(_ any, err error) { reply(err) })
}

// Delete removes a group without members.
func (c *Coordinator) Delete(name string, reply func(error)) {
	g := c.lookup(name)
	if err := g.lockWithoutMembers(); err != nil {
		reply(err)
		return
	}
	again := func(err error) {
		if err != nil {
			reply(err)
			return
		}
		c.Delete(name, reply)
	}
	if !g.whenIdle(again) { // what is on its way would bring the group back
		g.unlock()
		return
	}
	g.stop()
	for _, s := range g.sessions {
		g.drop(s)
	}
	g.mu.Unlock()
	// It is stored as one with members, so that it does not expire.
	c.submit(state.PutGroup{Group: name, Empty: true, Data: []byte{RecordVersion}}, func(any, error) {})
	c.submit(state.DeleteGroup{Group: name}, func(_ any, err error) {
		c.mu.Lock()
		if c.groups[name] == g {
			delete(c.groups, name)
			if err != nil && !c.closed {
				c.groups[name] = newGroup(c, name, true)
			}
		}
		c.mu.Unlock()
		reply(err)
	})
}
