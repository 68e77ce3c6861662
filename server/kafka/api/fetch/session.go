package fetch

import (
	"math"
	"math/rand/v2"
	"strings"

	"millrace/server/kafka/kafkaerr"
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

// Session is what one connection's session holds between fetches; the zero value is none.
type Session struct {
	id    int32 // above 0 while there is one
	epoch int32 // that the next request must have
	byID  bool
	parts []*partition
	index map[key]*partition
}

func (ss *Session) open() bool { return ss.id != 0 }

// begin sets f's partitions from its request and the connection's session.
func (f *call) begin() int16 {
	req, ss := f.req, f.session
	switch {
	case req.sessionEpoch == epochFinal, req.sessionEpoch == epochInitial:
		if ss.open() && (req.sessionID == ss.id || req.sessionEpoch == epochInitial) {
			f.h.Drop(ss)
		}
		f.parts = req.parts
		if req.sessionEpoch == epochInitial && f.header.Version >= 7 && len(req.parts) <= maxSessionPartitions {
			f.newSession()
		}
		return kafkaerr.None
	case !ss.open() || ss.id != req.sessionID:
		return kafkaerr.FetchSessionIDNotFound
	}
	if req.sessionEpoch != ss.epoch {
		return kafkaerr.InvalidFetchSessionEpoch
	}
	if ss.byID != (f.header.Version >= 13) {
		return kafkaerr.FetchSessionTopicIDError
	}
	ss.update(req)
	if len(ss.parts) > maxSessionPartitions {
		f.h.Drop(ss)
		return kafkaerr.FetchSessionIDNotFound
	}
	ss.nextEpoch()
	f.sessionID = ss.id
	f.incremental = true
	f.parts = ss.parts
	return kafkaerr.None
}

func (f *call) newSession() {
	ss := f.session
	*ss = Session{
		id:    1 + rand.Int32N(math.MaxInt32-1),
		epoch: 1,
		byID:  f.header.Version >= 13,
		index: make(map[key]*partition, len(f.parts)),
	}
	ss.add(f.parts)
	f.parts = ss.parts
	f.sessionID = ss.id
	f.h.Sessions.Inc()
}

// Drop ends the session, if there is one: the connection ended, or the client wants another.
func (h *Handlers) Drop(ss *Session) {
	if ss.open() {
		*ss = Session{}
		h.Sessions.Dec()
	}
}

// update brings a request's changes into the session.
func (ss *Session) update(req *request) {
	if len(req.forgotten) > 0 {
		for _, key := range req.forgotten {
			delete(ss.index, key)
		}
		kept := ss.parts[:0]
		for _, p := range ss.parts {
			if ss.index[p.key] == p {
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
func (ss *Session) add(parts []*partition) {
	name := ""
	for _, p := range parts {
		if old := ss.index[p.key]; old != nil {
			old.offset, old.maxBytes, old.leaderEpoch = p.offset, p.maxBytes, p.leaderEpoch
			continue
		}
		own := *p
		if p.name != name {
			name = strings.Clone(p.name)
		}
		own.name = name
		ss.index[own.key] = &own
		ss.parts = append(ss.parts, &own)
	}
}

// rotate moves the partitions that had records behind those that had none, so that a
// busy one cannot keep the others out of answers of limited size for ever.
func (ss *Session) rotate() {
	var busy []*partition
	kept := make([]*partition, 0, len(ss.parts))
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

func (ss *Session) nextEpoch() {
	if ss.epoch == math.MaxInt32 {
		ss.epoch = 0
	}
	ss.epoch++
}
