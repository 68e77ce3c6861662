package mysql

import (
	"context"
	"sync"
	"time"

	"millrace/server/auth"
	"millrace/server/mysql/sqlerr"
	"millrace/server/mysql/wire"
)

// thread is one connection as SHOW PROCESSLIST and KILL see it.
type thread struct {
	id   uint32
	host string
	wc   *wire.Conn

	connected time.Time

	mu        sync.Mutex
	principal auth.Principal
	user      string // as the client named itself
	db        string
	command   string
	info      string
	since     time.Time
	cancel    context.CancelCauseFunc // of what runs; nil when idle
	killed    bool                    // KILL CONNECTION: the owner ends it
}

// threadInfo is a copy of what is shown of a thread.
type threadInfo struct {
	id                            uint32
	user, host, db, command, info string
	since                         time.Time
}

func (t *thread) snapshot() (threadInfo, auth.Principal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return threadInfo{t.id, t.user, t.host, t.db, t.command, t.info, t.since}, t.principal
}

// begin marks the thread as running text under cancel; db is its current database.
func (t *thread) begin(command, text, db string, cancel context.CancelCauseFunc) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.command, t.info, t.db, t.since, t.cancel = command, text, db, time.Now(), cancel
}

func (t *thread) end(db string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.command, t.info, t.db, t.since, t.cancel = "Sleep", "", db, time.Now(), nil
}

func (t *thread) isKilled() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.killed
}

func (t *thread) isRunning() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cancel != nil
}

func (t *thread) kill(connection bool) {
	t.mu.Lock()
	cancel := t.cancel
	if connection {
		t.killed = true
	}
	t.mu.Unlock()
	if cancel != nil {
		cancel(sqlerr.ErrKilled)
	}
	switch {
	case connection && cancel == nil:
		_ = t.wc.Close() // the owner waits for a command
	case connection:
		// The owner answers and ends, unless it waits for a client that does not read.
		time.AfterFunc(killGrace, func() { _ = t.wc.Close() })
	}
}

// killGrace is how long a killed connection has to tell its client.
const killGrace = time.Second

// threads is all connections.
type threads struct {
	mu   sync.Mutex
	byID map[uint32]*thread
	next uint32
}

func newThreads() *threads { return &threads{byID: make(map[uint32]*thread)} }

func (ts *threads) add(wc *wire.Conn) *thread {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for {
		ts.next++
		if _, taken := ts.byID[ts.next]; ts.next != 0 && !taken {
			break
		}
	}
	t := &thread{id: ts.next, host: wc.RemoteAddr().String(), wc: wc, user: "unauthenticated user", command: "Connect", since: time.Now(), connected: time.Now()}
	ts.byID[t.id] = t
	return t
}

func (ts *threads) remove(t *thread) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.byID, t.id)
}

func (ts *threads) get(id uint32) (*thread, bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t, ok := ts.byID[id]
	return t, ok
}

func (ts *threads) each(fn func(*thread)) {
	ts.mu.Lock()
	all := make([]*thread, 0, len(ts.byID))
	for _, t := range ts.byID {
		all = append(all, t)
	}
	ts.mu.Unlock()
	for _, t := range all {
		fn(t)
	}
}
