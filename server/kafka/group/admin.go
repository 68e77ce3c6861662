package group

import (
	"errors"
	"slices"
	"strings"

	"millrace/store/state"
)

// Listing is one group in a list.
type Listing struct {
	Group        string
	ProtocolType string // "" for a group that only committed offsets
	State        State
	Consumer     bool // of the consumer protocol (KIP-848)
}

// List returns all groups in name order, those that only have offsets included.
func (c *Coordinator) List() []Listing {
	var list []Listing
	listed := map[string]struct{}{}
	for _, g := range c.all() {
		g.mu.Lock()
		if g.state != Dead {
			list = append(list, Listing{Group: g.name, ProtocolType: g.protocolType, State: g.state})
			listed[g.name] = struct{}{}
		}
		g.mu.Unlock()
	}
	for _, g := range c.allConsumers() {
		g.mu.Lock()
		if !g.dead {
			list = append(list, Listing{Group: g.name, ProtocolType: consumerProtocolType, State: g.state(), Consumer: true})
			listed[g.name] = struct{}{}
		}
		g.mu.Unlock()
	}
	c.store.Groups(func(name string, data []byte) {
		if _, ok := listed[name]; !ok && !isShare(data) {
			list = append(list, Listing{Group: name, State: Empty})
		}
	})
	slices.SortFunc(list, func(a, b Listing) int { return strings.Compare(a.Group, b.Group) })
	return list
}

// Description is one group with its members.
type Description struct {
	Group        string
	State        State
	ProtocolType string
	Protocol     string // "" unless stable
	Generation   int32
	Leader       string
	Members      []MemberDescription
}

// MemberDescription is one member. Metadata and Assignment are read-only, and nil
// unless the group is stable.
type MemberDescription struct {
	ID, InstanceID, ClientID, ClientHost string
	Metadata, Assignment                 []byte
}

// Describe returns one classic group; false when there is none.
func (c *Coordinator) Describe(name string) (Description, bool) {
	h, _ := c.hold(name)
	defer h.unlock()
	switch g := h.classic; {
	case g != nil && g.state != Dead:
		return g.describe(), true
	case g != nil, h.consumer != nil, !c.known(name):
		return Description{}, false
	}
	return Description{Group: name, State: Empty}, true
}

func (g *group) describe() Description {
	d := Description{
		Group: g.name, State: g.state, ProtocolType: g.protocolType,
		Generation: g.generation, Leader: g.leader,
		Members: make([]MemberDescription, 0, len(g.order)),
	}
	stable := g.state == Stable
	if stable {
		d.Protocol = g.protocol
	}
	for _, m := range g.order {
		md := MemberDescription{ID: m.id, InstanceID: m.instanceID, ClientID: m.clientID, ClientHost: m.clientHost}
		if stable {
			md.Metadata, md.Assignment = m.metadata(g.protocol), m.assignment
		}
		d.Members = append(d.Members, md)
	}
	return d
}

// Delete removes a group without members, and its offsets. The reply comes when
// that is durable.
func (c *Coordinator) Delete(name string, reply func(error)) {
	h, err := c.hold(name)
	defer h.unlock()
	switch g := h.classic; {
	case err != nil:
		reply(err)
	case h.consumer != nil:
		h.consumer.deleteGroup(reply)
	case g == nil && !c.known(name):
		reply(ErrGroupNotFound)
	case g == nil:
		c.submit(state.DeleteGroup{Group: name}, func(result any, err error) { reply(deleteError(result, err)) })
	case g.state == Dead:
		g.later(func() { reply(ErrGroupNotFound) })
	case g.state != Empty:
		g.later(func() { reply(ErrNonEmptyGroup) })
	default:
		g.delete(reply)
	}
}

// delete makes an empty group dead and, when the store has forgotten it, drops it.
// The group takes no requests meanwhile.
func (g *group) delete(reply func(error)) {
	g.dropPending()
	g.transition(Dead)
	g.writes = append(g.writes, write{
		intent: state.DeleteGroup{Group: g.name},
		done: func(result any, err error) {
			err = deleteError(result, err)
			if err == nil || errors.Is(err, ErrGroupNotFound) {
				// It may have lived in memory only; the caller saw it, and it is gone.
				g.c.forget(g)
				reply(nil)
				return
			}
			g.mu.Lock()
			g.transition(Empty)
			g.unlockFromStore()
			reply(err)
		},
	})
}

func deleteError(result any, err error) error {
	if err != nil {
		return err
	}
	if res, ok := result.(state.GroupResult); ok && res.Err != nil {
		switch {
		case errors.Is(res.Err, state.ErrUnknownGroup):
			return ErrGroupNotFound
		case errors.Is(res.Err, state.ErrGroupNotEmpty):
			return ErrNonEmptyGroup
		}
		return res.Err
	}
	return nil
}
