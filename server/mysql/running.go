package mysql

import (
	"context"
	"time"

	"millrace/catalog/sqltable"
	"millrace/pushdown"
	"millrace/server/mysql/account"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"go.opentelemetry.io/otel/trace/noop"
)

// running is one statement from its arrival to its last row (or, with a cursor, to the cursor's
// close): its context, its deadline, its snapshot, and the watch over its client.
type running struct {
	c        *conn
	ctx      *sql.Context
	cancel   context.CancelCauseFunc
	deadline *time.Timer // nil: none
	limit    time.Duration
	snapshot *sqltable.StatementSnapshot
	watch    *watch
	text     string
	start    time.Time
	sent     int64 // rows
	began    time.Time
	trace    pushdown.Trace
}

var noTracer = noop.NewTracerProvider().Tracer("")

// begin starts a statement; finish must be called.
func (c *conn) begin(text string) *running {
	r := &running{c: c, text: text, start: time.Now(), began: time.Now(), limit: c.statementTimeout()}
	base, cancel := context.WithCancelCause(c.s.base)
	r.cancel = cancel
	r.snapshot = c.s.o.Provider.NewStatement(c.ownRows())
	c.pid++
	_, span := noTracer.Start(base, "")
	r.ctx = sql.NewContext(pushdown.WithTrace(sqltable.WithStatement(base, r.snapshot), &r.trace),
		sql.WithSession(c.sess),
		sql.WithPid(uint64(c.thread.id)<<32|c.pid&0xffffffff),
		sql.WithQuery(text),
		sql.WithMemoryManager(c.s.engine.memory),
		sql.WithProcessList(processList{c: c}),
		sql.WithRootSpan(span),
	)
	r.resume("Query")
	return r
}

// statementTimeout is the session's max_execution_time, else the server's. 0: none.
func (c *conn) statementTimeout() time.Duration {
	if v, err := c.sess.GetSessionVariable(nil, "max_execution_time"); err == nil {
		if ms, ok := v.(int64); ok && ms > 0 {
			return time.Duration(min(ms, int64(365*24*time.Hour/time.Millisecond))) * time.Millisecond
		}
	}
	return max(0, c.s.o.StatementTimeout)
}

// limitTo changes the deadline, counted from the statement's start.
func (r *running) limitTo(d time.Duration) {
	r.limit = d
	if r.deadline != nil {
		r.deadline.Stop()
		r.deadline = nil
	}
	if d > 0 {
		r.deadline = time.AfterFunc(d-time.Since(r.start), func() { r.cancel(sqlerr.ErrTimeout) })
	}
}

// pause stops the clock and the watch, between the fetches of a cursor.
func (r *running) pause() {
	if r.deadline != nil {
		r.deadline.Stop()
		r.deadline = nil
	}
	if r.watch != nil {
		r.watch.stop()
		r.watch = nil
	}
	r.c.thread.end(r.c.sess.GetCurrentDatabase())
}

// resume starts them anew; command is what SHOW PROCESSLIST shows.
func (r *running) resume(command string) {
	r.start = time.Now()
	r.limitTo(r.limit)
	r.watch = r.c.watch(r.cancel)
	r.c.thread.begin(command, account.Redacted(r.text), r.c.sess.GetCurrentDatabase(), r.cancel)
}

// finish ends the statement and gives its snapshot back.
func (r *running) finish() {
	r.pause()
	r.cancel(nil)
	r.snapshot.Release()
}
