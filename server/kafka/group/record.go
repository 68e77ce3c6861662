package group

import (
	"encoding/binary"
	"errors"
	"time"

	"millrace/store/state"
)

// A group's record, version 1, is what state.PutGroup keeps; integers are varints
// (unsigned), strings and bytes have their length as a varint before them. The
// store's own checksum covers it.
//
//	version       1 byte, 1
//	generation    varint
//	protocol type, protocol, leader          strings
//	members       varint count, then each
//	  member id, instance id, client id, client host    strings ("" none)
//	  session timeout, rebalance timeout     varints, ms
//	  metadata                               bytes, of the chosen protocol
//	  assignment                             bytes
const recordVersion = 1

var errBadRecord = errors.New("malformed group record")

// putGroup queues the present generation for the store. done runs with mu held when
// it is durable, or could not be stored.
func (g *group) putGroup(done func(err error)) {
	data := g.encode()
	if len(data) > maxGroupDataBytes {
		done(ErrGroupDataTooLarge)
		return
	}
	g.writes = append(g.writes, write{
		intent: state.PutGroup{Group: g.name, Empty: len(g.order) == 0, Data: data},
		done: func(result any, err error) {
			if res, ok := result.(state.GroupResult); ok && err == nil {
				err = res.Err // a limit of the store: no failure that a retry mends
			}
			g.mu.Lock()
			if err == nil {
				g.stored = true
			}
			done(err)
			g.unlockFromStore()
		},
	})
}

func (g *group) encode() []byte {
	size := 64
	for _, m := range g.order {
		size += 96 + len(m.metadata(g.protocol)) + len(m.assignment)
	}
	b := make([]byte, 0, size)
	str := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	b = append(b, recordVersion)
	b = binary.AppendUvarint(b, uint64(g.generation))
	str(g.protocolType)
	str(g.protocol)
	str(g.leader)
	b = binary.AppendUvarint(b, uint64(len(g.order)))
	for _, m := range g.order {
		str(m.id)
		str(m.instanceID)
		str(m.clientID)
		str(m.clientHost)
		b = binary.AppendUvarint(b, uint64(millis(m.sessionTimeout)))
		b = binary.AppendUvarint(b, uint64(millis(m.rebalanceTimeout)))
		metadata := m.metadata(g.protocol)
		b = binary.AppendUvarint(b, uint64(len(metadata)))
		b = append(b, metadata...)
		b = binary.AppendUvarint(b, uint64(len(m.assignment)))
		b = append(b, m.assignment...)
	}
	return b
}

// restore makes a group from its record: stable if it has members, whose sessions
// start anew, else empty.
func (c *Coordinator) restore(name string, data []byte) (*group, error) {
	r := recordReader{b: data}
	if r.byte() != recordVersion {
		return nil, errBadRecord
	}
	g := newGroup(c, name)
	g.stored = true
	g.generation = int32(r.uint(1<<31 - 1))
	g.protocolType = r.string()
	g.protocol = r.string()
	g.leader = r.string()
	// A member takes at least 8 bytes, so a corrupt count cannot make us allocate.
	n := r.uint(uint64(len(r.b) / 8))
	for ; n > 0 && !r.bad; n-- {
		m := &member{id: r.string(), instanceID: r.string(), clientID: r.string(), clientHost: r.string()}
		m.sessionTimeout = time.Duration(r.uint(1<<31-1)) * time.Millisecond
		m.rebalanceTimeout = time.Duration(r.uint(1<<31-1)) * time.Millisecond
		m.sessionTimeout = max(m.sessionTimeout, c.opts.MinSessionTimeout)
		m.protocols = []Protocol{{Name: g.protocol, Metadata: r.bytes()}}
		m.assignment = r.bytes()
		if r.bad || m.id == "" || g.members[m.id] != nil {
			return nil, errBadRecord
		}
		g.members[m.id] = m
		g.order = append(g.order, m)
		if m.instanceID != "" {
			g.instances[m.instanceID] = m.id
		}
	}
	if r.bad || len(r.b) != 0 {
		return nil, errBadRecord
	}
	if len(g.order) > 0 {
		g.state = Stable
		g.mu.Lock()
		for _, m := range g.order {
			g.keepAlive(m, m.sessionTimeout)
		}
		g.mu.Unlock()
	}
	g.subscribed = g.subscribedTopics()
	return g, nil
}

// recordReader reads a record; after a fault bad is set and everything is zero.
type recordReader struct {
	b   []byte
	bad bool
}

func (r *recordReader) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *recordReader) uint(limit uint64) uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > limit {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

// bytes returns a copy, never nil.
func (r *recordReader) bytes() []byte {
	n := r.uint(uint64(len(r.b)))
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return []byte{}
	}
	v := append(make([]byte, 0, n), r.b[:n]...)
	r.b = r.b[n:]
	return v
}

func (r *recordReader) string() string { return string(r.bytes()) }
