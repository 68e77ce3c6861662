package mysql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"millrace/server/auth"
	"millrace/server/mysql/sqlerr"
	"millrace/server/mysql/wire"

	"github.com/dolthub/go-mysql-server/sql"
)

// conn is one client's connection. Its goroutine owns everything here; others reach it through
// its thread.
type conn struct {
	s      *Server
	wc     *wire.Conn
	thread *thread
	sess   *session

	prepared      map[uint32]*prepared
	named         map[string]*prepared // PREPARE name FROM …
	preparedBytes int                  // of both: their texts and long data
	lastStmtID    uint32
	cursors       int
	pid           uint64
	work          work   // the session's transaction
	nextMode      string // of the next transaction, as SET TRANSACTION said; "": as the session's variables say
}

func newConn(s *Server, wc *wire.Conn) *conn {
	return &conn{
		s: s, wc: wc, thread: s.threads.add(wc),
		prepared: make(map[uint32]*prepared), named: make(map[string]*prepared),
	}
}

func (c *conn) close() {
	c.dropStatements()
	if c.sess != nil {
		c.endSession()
	}
	c.s.threads.remove(c.thread)
}

// endSession gives back what the session holds.
func (c *conn) endSession() {
	if err := c.endWork(false); err != nil {
		c.s.log.Warn("a transaction was not rolled back, its timeout will", "thread", c.thread.id, "error", err)
	}
	c.s.locks.ReleaseAll(c.thread.id)
	c.s.engine.CloseSession(c.thread.id)
}

// serve logs the client in and carries out its commands until one of the two ends it.
func (c *conn) serve() {
	_ = c.wc.SetReadDeadline(time.Now().Add(c.s.o.LoginTimeout))
	if err := c.login(); err != nil {
		c.s.log.Debug("login ended", "thread", c.thread.id, "client", c.thread.host, "error", err)
		return
	}
	_ = c.wc.SetReadDeadline(time.Time{})
	for c.s.base.Err() == nil && !c.thread.isKilled() {
		if c.expireCursors(); c.s.base.Err() != nil {
			break
		}
		command, args, err := c.wc.ReadCommand()
		if err != nil {
			c.readFailed(err)
			return
		}
		if command == wire.ComQuit {
			return
		}
		if err := c.command(command, args); err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
				c.s.log.Debug("connection ended", "thread", c.thread.id, "error", err)
			}
			return
		}
		if err := c.wc.Flush(); err != nil {
			return
		}
	}
	if c.s.base.Err() != nil {
		_ = c.wc.WriteError(&wire.Error{Number: sqlerr.ErrShutdown.Number, State: sqlerr.ErrShutdown.State, Message: sqlerr.ErrShutdown.Message})
		_ = c.wc.Flush()
	}
}

// readFailed tells a client why the connection ends, where that can be told.
func (c *conn) readFailed(err error) {
	switch {
	case errors.Is(err, wire.ErrPacketTooLarge):
		_ = c.writeError(c.s.base, sqlerr.ErrTooLong)
	case errors.Is(err, wire.ErrMalformed), errors.Is(err, wire.ErrSequence):
		_ = c.writeError(c.s.base, sqlerr.ErrMalformed)
	case c.s.base.Err() != nil:
		_ = c.writeError(c.s.base, sqlerr.ErrShutdown)
	}
	_ = c.wc.Flush()
}

// writeError buffers err as the answer. ctx is the statement's, to tell why it was cancelled;
// nil outside of one.
func (c *conn) writeError(ctx context.Context, err error) error {
	e := sqlerr.Wire(ctx, err)
	if e.Number == 1146 && c.sess != nil {
		// The engine names the table alone.
		if name, ok := sqlerr.Quoted(e.Message); ok && strings.HasPrefix(e.Message, "Table '") && !strings.Contains(name, ".") {
			e.Message = fmt.Sprintf("Table '%s.%s' doesn't exist", c.sess.GetCurrentDatabase(), name)
		}
	}
	if e.Number == sqlerr.ErrInternal.Number || e.Number == 1105 {
		c.s.log.Warn("statement failed", "thread", c.thread.id, "number", e.Number, "error", sqlerr.Clip(err.Error()))
	}
	if c.sess != nil {
		c.sess.Warn(&sql.Warning{Level: "Error", Code: int(e.Number), Message: e.Message})
	}
	return c.wc.WriteError(e)
}

// status flags of the session.
func (c *conn) status() wire.Status {
	var s wire.Status
	if c.sess == nil || c.autocommit() {
		s |= wire.Autocommit
	}
	if c.work.explicit || c.work.tx != nil {
		s |= wire.InTransaction
	}
	return s
}

func (c *conn) warnings() uint16 {
	if c.sess == nil {
		return 0
	}
	return c.sess.WarningCount()
}

// visibleThreads are those that the session may see: its principal's own, or all for the
// administrator.
func (c *conn) visibleThreads() []threadInfo {
	admin := c.sess.isAdmin()
	var out []threadInfo
	c.s.threads.each(func(t *thread) {
		info, p := t.snapshot()
		if admin || p == c.sess.principal && p != (auth.Principal{}) {
			out = append(out, info)
		}
	})
	sortThreads(out)
	return out
}

// watch cancels a running statement when its client goes away. It looks only once the
// statement has taken a while, because most never do.
type watch struct {
	c       *conn
	timer   *time.Timer
	cancel  context.CancelCauseFunc
	mu      sync.Mutex
	started bool
	stopped bool
	done    chan struct{}
}

// watchAfter is how long a statement runs before its client is watched.
const watchAfter = 200 * time.Millisecond

func (c *conn) watch(cancel context.CancelCauseFunc) *watch {
	w := &watch{c: c, cancel: cancel, done: make(chan struct{})}
	w.timer = time.AfterFunc(watchAfter, w.run)
	return w
}

func (w *watch) run() {
	w.mu.Lock()
	if w.stopped {
		w.mu.Unlock()
		return
	}
	w.started = true
	w.mu.Unlock()
	defer close(w.done)
	err := w.c.wc.WaitReadable()
	if err == nil {
		return // the next command came early; the client lives
	}
	w.mu.Lock()
	stopped := w.stopped
	w.mu.Unlock()
	if !stopped && w.c.s.base.Err() == nil {
		w.cancel(sqlerr.ErrClientGone)
	}
}

// stop ends the watch; the owner may read again afterwards.
func (w *watch) stop() {
	w.timer.Stop()
	w.mu.Lock()
	w.stopped = true
	started := w.started
	w.mu.Unlock()
	if started {
		w.c.wc.Interrupt()
		<-w.done
		if w.c.s.base.Err() == nil {
			w.c.wc.ResumeReads()
		}
	}
}
