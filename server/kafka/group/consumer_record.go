package group

import (
	"encoding/binary"
	"time"

	"millrace/server/kafka/group/assign"
	"millrace/store/state"

	"github.com/google/uuid"
)

// A consumer group's record is what state.PutGroup keeps of a group of the consumer protocol;
// integers are varints (unsigned, epochs plus 2), strings have their length before them.
//
//	version          1 byte, 'c'
//	group epoch, target epoch   varints
//	assignor         string
//	hash of the subscribed topics   varint
//	members          varint count, then each
//	  member id, instance id, rack, client id, client host   strings ("" none)
//	  rebalance timeout                varint, ms
//	  assignor, regex                  strings
//	  topics, topics the regex found   lists: varint count, strings
//	  epoch, previous epoch, state     varints
//	  assigned, being revoked, target  sets: varint count, then 16 bytes of topic id and the
//	                                   partition as a varint each
//	members that speak the classic protocol   varint count, then each; not there at all when none does
//	  member id                        string
//	  session timeout                  varint, ms
//	  protocols                        varint count, then name and metadata as strings
const consumerRecordVersion = 'c'

func (g *consumerGroup) encode() []byte {
	b := []byte{consumerRecordVersion}
	num := func(n uint64) { b = binary.AppendUvarint(b, n) }
	str := func(s string) { num(uint64(len(s))); b = append(b, s...) }
	list := func(names []string) {
		num(uint64(len(names)))
		for _, s := range names {
			str(s)
		}
	}
	num(uint64(g.epoch))
	num(uint64(g.targetEpoch))
	str(g.assignor)
	num(g.hash)
	num(uint64(len(g.members)))
	for _, m := range g.members {
		for _, s := range []string{m.id, m.instanceID, m.rackID, m.clientID, m.clientHost} {
			str(s)
		}
		num(uint64(millis(m.rebalanceTimeout)))
		str(m.assignor)
		str(m.regex)
		list(m.topics)
		list(m.resolved)
		num(uint64(m.epoch + 2))
		num(uint64(m.previousEpoch + 2))
		num(uint64(m.state))
		for _, set := range []assign.Partitions{m.assigned, m.revoking, m.target} {
			num(uint64(len(set)))
			for tp := range set {
				b = append(b, tp.Topic[:]...)
				num(uint64(tp.Partition))
			}
		}
	}
	if g.native == len(g.members) {
		return b
	}
	num(uint64(len(g.members) - g.native))
	for _, m := range g.members {
		if m.classic == nil {
			continue
		}
		str(m.id)
		num(uint64(millis(m.classic.session)))
		num(uint64(len(m.classic.protocols)))
		for _, p := range m.classic.protocols {
			str(p.Name)
			str(string(p.Metadata))
		}
	}
	return b
}

// restoreConsumer makes a group from its record. Every member has a full session, and a full
// rebalance timeout where it must give partitions up.
func (c *Coordinator) restoreConsumer(name string, data []byte) (*consumerGroup, error) {
	const maxInt32 = 1<<31 - 1
	r := recordReader{b: data}
	if r.byte() != consumerRecordVersion {
		return nil, errBadRecord
	}
	g := newConsumerGroup(c, name)
	g.epoch = int32(r.uint(maxInt32))
	g.targetEpoch = int32(r.uint(maxInt32))
	g.assignor = r.string()
	g.hash = r.uint(1<<64 - 1)
	list := func() []string {
		n := r.uint(uint64(len(r.b)))
		var names []string
		for ; n > 0 && !r.bad; n-- {
			names = append(names, r.string())
		}
		return names
	}
	set := func() assign.Partitions {
		out := assign.Partitions{}
		for n := r.uint(uint64(len(r.b) / 17)); n > 0 && !r.bad; n-- {
			if len(r.b) < 16 {
				r.bad = true
				break
			}
			tp := state.TopicPartition{Topic: uuid.UUID(r.b[:16])}
			r.b = r.b[16:]
			tp.Partition = int32(r.uint(maxInt32))
			out[tp] = struct{}{}
		}
		return out
	}
	for n := r.uint(uint64(len(r.b) / 16)); n > 0 && !r.bad; n-- {
		m := &consumerMember{
			id: r.string(), instanceID: r.string(), rackID: r.string(), clientID: r.string(), clientHost: r.string(),
			rebalanceTimeout: time.Duration(r.uint(maxInt32)) * time.Millisecond,
			assignor:         r.string(), regex: r.string(), topics: list(), resolved: list(),
			epoch: int32(int64(r.uint(maxInt32+2)) - 2), previousEpoch: int32(int64(r.uint(maxInt32+2)) - 2),
			state: memberState(r.uint(uint64(unreleased))), assigned: set(), revoking: set(), target: set(),
		}
		if r.bad || m.id == "" || g.members[m.id] != nil {
			return nil, errBadRecord
		}
		g.add(m)
		g.own(m)
	}
	if len(r.b) > 0 && !r.bad {
		for n := r.uint(uint64(len(g.members))); n > 0 && !r.bad; n-- {
			m := g.members[r.string()]
			side := &classicSide{session: max(time.Duration(r.uint(maxInt32))*time.Millisecond, c.opts.MinSessionTimeout)}
			for n := r.uint(uint64(len(r.b))); n > 0 && !r.bad; n-- {
				side.protocols = append(side.protocols, Protocol{Name: r.string(), Metadata: r.bytes()})
			}
			if r.bad || m == nil || m.classic != nil || len(side.protocols) == 0 || len(side.protocols[0].Metadata) < 2 {
				return nil, errBadRecord
			}
			g.speaks(m, side)
		}
		g.dirty = false
	}
	if r.bad || len(r.b) != 0 {
		return nil, errBadRecord
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range g.members {
		g.keepAlive(m)
		g.watchRevocation(m, true)
	}
	return g, nil
}
