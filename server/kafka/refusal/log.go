// Package refusal remembers what clients were refused, and says in plain words what their
// owners can do about it: millrace.client_errors.
package refusal

import (
	"container/list"
	"strings"
	"sync"
	"time"

	"millrace/server/kafka/rarelog"
)

// Kind is one kind of refusal: what was refused to whom, and what the client's owner can do about it.
type Kind struct {
	Key
	First, Last time.Time
	Count       int64
	Message     string // what the client was told beside the code, if anything, the last time
	Hint        string // in plain words; "" when the code says all there is to say
}

// Key is what makes two refusals the same kind.
type Key struct {
	ClientID  string
	Software  string // the client library; "" unknown
	Address   string // without the port, which changes with every connection
	Principal string
	API       string // "" when it did not come to a request
	Version   int16
	Refused
}

// Refused is what was refused.
type Refused struct {
	Topic           string
	Group           string
	TransactionalID string
	Code            int16  // Kafka's; 0 where the protocol has none and the connection ends
	Name            string // of the code, or of why the connection ended
}

// DefaultKinds is how many kinds of refusals are remembered.
const DefaultKinds = 1000

// Log remembers the kinds of refusals that came last, a bounded number: peers
// decide what is in it. Safe for concurrent use.
type Log struct {
	limit int
	now   func() time.Time

	mu    sync.Mutex // a leaf
	rows  map[Key]*list.Element
	order list.List // of *row, the latest in front
}

type row struct {
	Kind
	logged time.Time
}

// New remembers at most limit kinds of refusals.
func New(limit int, now func() time.Time) *Log {
	return &Log{limit: limit, now: now, rows: map[Key]*list.Element{}}
}

// All lists what is remembered, the latest first.
func (e *Log) All() []Kind {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := make([]Kind, 0, e.order.Len())
	for el := e.order.Front(); el != nil; el = el.Next() {
		all = append(all, el.Value.(*row).Kind)
	}
	return all
}

// Note counts a refusal, and says whether it is time for a line in the log.
func (e *Log) Note(key Key, message, hint string) (logIt bool) {
	now := e.now()
	e.mu.Lock()
	defer e.mu.Unlock()
	el, known := e.rows[key]
	if !known {
		if len(e.rows) >= e.limit {
			oldest := e.order.Remove(e.order.Back()).(*row)
			delete(e.rows, oldest.Key)
		}
		// What a peer sent is part of a request, which must not be kept for a name in it.
		key.ClientID, key.Topic = strings.Clone(key.ClientID), strings.Clone(key.Topic)
		key.Group, key.TransactionalID = strings.Clone(key.Group), strings.Clone(key.TransactionalID)
		el = e.order.PushFront(&row{Kind: Kind{Key: key, First: now}})
		e.rows[key] = el
	} else {
		e.order.MoveToFront(el)
	}
	r := el.Value.(*row)
	r.Last, r.Message, r.Hint = now, strings.Clone(message), hint
	r.Count++
	if !r.logged.IsZero() && now.Sub(r.logged) < rarelog.Every {
		return false
	}
	r.logged = now
	return true
}

// CutName bounds a name of a peer's: no name that exists is longer.
func CutName(s string) string {
	const most = 255
	if len(s) > most {
		return s[:most]
	}
	return s
}
