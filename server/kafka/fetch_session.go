package kafka

import (
	"math"
	"math/rand/v2"
	"strings"
)

// Fetch sessions (KIP-227): a consumer of a thousand partitions names them once,
// then only what changes, and is told only what is new.
//
// A session belongs to the connection it was made on, one to each: clients fetch
// over one connection, and make a new session after reconnecting. So there is no
// cache to share, to lock, to evict from, or to guess another's session id in.

// maxSessionPartitions bounds what a session remembers; a client with more gets no session.
const maxSessionPartitions = 50_000

// Session epochs in requests.
const (
	epochFinal   = -1 // no session, close the one named
	epochInitial = 0  // a new session
)

type fetchSession struct {
	id    int32
	epoch int32 // that the next request must have
	byID  bool
	parts []*fetchPartition
	index map[fetchKey]*fetchPartition
}

// beginFetch sets f's partitions from its request and the connection's session.
func (c *conn) beginFetch(f *fetchCall) int16 {
	req := f.req
	switch {
	case req.sessionEpoch == epochFinal, req.sessionEpoch == epochInitial:
		if c.session != nil && (req.sessionID == c.session.id || req.sessionEpoch == epochInitial) {
			c.dropSession()
		}
		f.parts = req.parts
		if req.sessionEpoch == epochInitial && f.header.version >= 7 && len(req.parts) <= maxSessionPartitions {
			c.newSession(f)
		}
		return errNone
	case c.session == nil || c.session.id != req.sessionID:
		return errFetchSessionIDNotFound
	}
	ss := c.session
	if req.sessionEpoch != ss.epoch {
		return errInvalidFetchSessionEpoch
	}
	if ss.byID != (f.header.version >= 13) {
		return errFetchSessionTopicIDError
	}
	ss.update(req)
	if len(ss.parts) > maxSessionPartitions {
		c.dropSession()
		return errFetchSessionIDNotFound
	}
	ss.nextEpoch()
	f.sessionID = ss.id
	f.incremental = true
	f.parts = ss.parts
	return errNone
}

func (c *conn) newSession(f *fetchCall) {
	ss := &fetchSession{
		id:    1 + rand.Int32N(math.MaxInt32-1),
		epoch: 1,
		byID:  f.header.version >= 13,
		index: make(map[fetchKey]*fetchPartition, len(f.parts)),
	}
	ss.add(f.parts)
	f.parts = ss.parts
	f.sessionID = ss.id
	c.session = ss
	c.s.metrics.fetchSession.Inc()
}

func (c *conn) dropSession() {
	if c.session != nil {
		c.session = nil
		c.s.metrics.fetchSession.Dec()
	}
}

// update brings a request's changes into the session.
func (ss *fetchSession) update(req *fetchRequest) {
	if len(req.forgotten) > 0 {
		for _, key := range req.forgotten {
			delete(ss.index, key)
		}
		kept := ss.parts[:0]
		for _, p := range ss.parts {
			if ss.index[p.fetchKey] == p {
				kept = append(kept, p)
			}
		}
		clear(ss.parts[len(kept):])
		ss.parts = kept
	}
	ss.add(req.parts)
}

// add takes in partitions, new ones or with a new position. A name is copied: it
// must not hold on to the request it came in.
func (ss *fetchSession) add(parts []*fetchPartition) {
	name := ""
	for _, p := range parts {
		if old := ss.index[p.fetchKey]; old != nil {
			old.offset, old.maxBytes, old.leaderEpoch = p.offset, p.maxBytes, p.leaderEpoch
			continue
		}
		own := *p
		if p.name != name {
			name = strings.Clone(p.name)
		}
		own.name = name
		ss.index[own.fetchKey] = &own
		ss.parts = append(ss.parts, &own)
	}
}

// rotate moves the partitions that had records behind those that had none, so that a
// busy one cannot keep the others out of answers of limited size for ever.
func (ss *fetchSession) rotate() {
	var busy []*fetchPartition
	kept := make([]*fetchPartition, 0, len(ss.parts))
	for _, p := range ss.parts {
		if p.bytes > 0 {
			busy = append(busy, p)
		} else {
			kept = append(kept, p)
		}
	}
	if len(busy) > 0 && len(kept) > 0 {
		ss.parts = append(kept, busy...)
	}
}

func (ss *fetchSession) nextEpoch() {
	if ss.epoch == math.MaxInt32 {
		ss.epoch = 0
	}
	ss.epoch++
}
