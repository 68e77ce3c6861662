// Package mysql is the MySQL front end: connections and logins, sessions, statements with
// their deadlines and error numbers, and results streamed row by row. go-mysql-server
// parses, plans and executes; what it gets wrong or leaves open is closed here: by
// rewriting the parsed statement (package rewrite), by functions of our own (sqlfn), by rules over the bound
// plan (boundplan), and by authorising everything before it runs.
package mysql

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"millrace/catalog"
	"millrace/catalog/sqltable"
	"millrace/ingest"
	"millrace/pushdown"
	"millrace/scan/exec"
	"millrace/scan/exec/spill"
	"millrace/server/auth"
	"millrace/server/mysql/sqlerr"
	"millrace/server/mysql/sqlfn"
	"millrace/server/mysql/wire"
	"millrace/server/mysql/workmem"
	"millrace/store"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/prometheus/client_golang/prometheus"
)

// Options of a Server. Store, Catalog, Auth are required; zero values of the others take
// DefaultOptions', or the default named here.
type Options struct {
	Address  string       // listen address
	Listener net.Listener // instead of Address; the server closes it

	Store   *store.Store
	Catalog *catalog.Catalog
	Auth    *auth.Service
	Ingest  *ingest.Ingest // what INSERT writes through; nil: one over Store that checks values by Catalog

	// CommitOffsets commits offsets of a group that has no members, for CALL millrace.reset_offsets; nil: there is no such call.
	CommitOffsets func(ctx context.Context, group string, offsets []state.OffsetCommit) error

	DefaultPartitions int // of CREATE TABLE without PARTITIONS

	TLSConfig *tls.Config // nil: a self-signed certificate made at start
	// RequireTLS refuses logins without TLS. That clients show a certificate is TLSConfig's to require.
	RequireTLS bool
	Logger     *slog.Logger          // nil: slog.Default()
	Registry   prometheus.Registerer // nil: no metrics

	MaxConnections    int           // beyond it clients get error 1040
	StatementTimeout  time.Duration // max_execution_time of sessions that set none; < 0: none
	LoginTimeout      time.Duration // a connection must have logged in by then
	WriteTimeout      time.Duration // a client that reads nothing, or stops in the middle of a packet, for so long is dropped
	CursorTimeout     time.Duration // a cursor from which nothing is fetched for so long is closed; default 5 min
	MaxStatementBytes int           // longest statement text
	// MemoryBytes of heap from which on statements that keep rows (to sort, group, join)
	// are refused more; 0: a share of the memory limit or of the machine's memory.
	MemoryBytes uint64

	// Threads is how many goroutines work on one statement whose session does not say; 0: GOMAXPROCS.
	Threads int
	// QueryBytes is what one statement in columns may keep in memory before it moves rows to Spill; 0:
	// DefaultQueryBytes. Never more than half of MemoryBytes.
	QueryBytes uint64
	// Spill takes the rows that do not fit; nil: such statements fail.
	Spill spill.Files

	// FewRows is pushdown.Options.FewRows.
	FewRows int64

	// SealColumns writes what is decided of a topic into files of columns, for CALL millrace.seal; nil: nothing does.
	SealColumns func(ctx context.Context, topic string) error
	// Provider of the databases; nil: one over Store and Catalog.
	Provider *sqltable.Provider
	// Pushdown executes plans; nil: one with the session's choice of millrace_pushdown.
	Pushdown *pushdown.Builder
}

// DefaultOptions are what New takes for zero values.
func DefaultOptions() Options {
	return Options{
		MaxConnections:    10_000,
		StatementTimeout:  time.Minute,
		LoginTimeout:      9 * time.Second, // closed within ten, whatever the clock
		WriteTimeout:      time.Minute,
		MaxStatementBytes: 1 << 20,
		DefaultPartitions: 1,
		QueryBytes:        workmem.DefaultQueryBytes,
	}
}

// ServerVersion is told to clients. Drivers choose their first queries by its numbers.
const ServerVersion = "8.4.3-millrace"

// Server is the MySQL listener.
type Server struct {
	o        Options
	log      *slog.Logger
	listener net.Listener
	engine   *engine
	threads  *threads
	metrics  metrics
	regexps  *sqlfn.Regexps
	memory   *workmem.Guard
	locks    *sqlfn.Locks
	forms    []ownForm

	transactions transactionIDs
	statements   *statements

	base    context.Context // ends with Close
	cancel  context.CancelCauseFunc
	wg      sync.WaitGroup
	open    atomic.Int64
	started time.Time
}

// New listens; Serve accepts.
func New(o Options) (*Server, error) {
	if o.Auth == nil {
		return nil, errors.New("mysql: Options.Auth is required")
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	d := DefaultOptions()
	if o.MaxConnections <= 0 {
		o.MaxConnections = d.MaxConnections
	}
	if o.StatementTimeout == 0 {
		o.StatementTimeout = d.StatementTimeout
	}
	if o.LoginTimeout <= 0 {
		o.LoginTimeout = d.LoginTimeout
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = d.WriteTimeout
	}
	if o.CursorTimeout <= 0 {
		o.CursorTimeout = 5 * time.Minute
	}
	if o.MaxStatementBytes <= 0 {
		o.MaxStatementBytes = d.MaxStatementBytes
	}
	if o.DefaultPartitions <= 0 {
		o.DefaultPartitions = d.DefaultPartitions
	}
	if o.Ingest == nil {
		o.Ingest = ingest.New(o.Store, ingest.Options{Check: ingest.CheckColumns(o.Catalog)})
	}
	if o.TLSConfig == nil {
		config, err := selfSigned(time.Now())
		if err != nil {
			return nil, fmt.Errorf("make a TLS certificate: %w", err)
		}
		o.TLSConfig = config
	}
	if o.Provider == nil {
		o.Provider = sqltable.NewProvider(o.Catalog, o.Store, sqltable.Options{})
	}
	memory := workmem.NewGuard(o.MemoryBytes)
	if o.QueryBytes == 0 {
		o.QueryBytes = workmem.DefaultQueryBytes
	}
	if o.Pushdown == nil {
		o.Pushdown = pushdown.NewBuilder(pushdown.Options{
			Logger: o.Logger, Full: memory.Full, FewRows: o.FewRows,
			Exec: func(ctx *sql.Context) exec.Options {
				return exec.Options{Parallel: cmp.Or(sqltable.Threads(ctx), o.Threads), Budget: memory.NewBudget(o.QueryBytes), Spill: o.Spill}
			},
		})
	}
	s := &Server{o: o, log: o.Logger.With("wire", "mysql"), threads: newThreads(), started: time.Now(), regexps: sqlfn.NewRegexps(), memory: memory, locks: sqlfn.NewLocks(), forms: newOwnForms(), statements: newStatements()}
	s.metrics = newMetrics(o.Registry, s)
	s.engine = newEngine(s)
	s.base, s.cancel = context.WithCancelCause(context.Background())
	if err := abortLeftOver(s.base, o.Store); err != nil {
		// Their timeout will.
		s.log.Warn("transactions of sessions that are gone could not be aborted", "error", err)
	}
	s.listener = o.Listener
	if s.listener == nil {
		l, err := net.Listen("tcp", o.Address)
		if err != nil {
			return nil, fmt.Errorf("mysql: listen on %s: %w", o.Address, err)
		}
		s.listener = l
	}
	return s, nil
}

// Addr is the address listened on.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve accepts connections until Close; it returns nil then.
func (s *Server) Serve() error {
	backoff := time.Millisecond
	for {
		raw, err := s.listener.Accept()
		if err != nil {
			if s.base.Err() != nil || errors.Is(err, net.ErrClosed) {
				return nil
			}
			// Out of descriptors, most likely: it passes when connections close.
			s.log.Warn("accept failed", "error", err)
			select {
			case <-time.After(backoff):
			case <-s.base.Done():
				return nil
			}
			backoff = min(backoff*2, time.Second)
			continue
		}
		backoff = time.Millisecond
		if s.base.Err() != nil {
			_ = raw.Close()
			return nil
		}
		s.wg.Add(1)
		go s.serve(raw)
	}
}

// serve owns one connection from accept to close.
func (s *Server) serve(raw net.Conn) {
	defer s.wg.Done()
	defer raw.Close()
	wc := wire.NewConn(raw, s.o.WriteTimeout)
	if s.open.Add(1) > int64(s.o.MaxConnections) {
		s.open.Add(-1)
		s.metrics.refused.Inc()
		_ = raw.SetDeadline(time.Now().Add(time.Second))
		_ = wc.WriteError(&wire.Error{Number: 1040, State: "08004", Message: "Too many connections"})
		_ = wc.Flush()
		return
	}
	defer s.open.Add(-1)
	c := newConn(s, wc)
	defer c.close()
	defer func() {
		if p := recover(); p != nil {
			s.metrics.panics.Inc()
			s.log.Error("panic in a connection", "thread", c.thread.id, "panic", fmt.Sprint(p), "stack", stack())
		}
	}()
	c.serve()
}

// closeGrace is how long Close waits for statements to notice that they are cancelled.
const closeGrace = 5 * time.Second

// Close stops accepting, cancels what runs, closes all connections and waits for them.
func (s *Server) Close() error {
	s.cancel(sqlerr.ErrShutdown)
	err := s.listener.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	s.threads.each(func(t *thread) { t.wc.Interrupt() })
	grace := time.AfterFunc(closeGrace, func() { s.threads.each(func(t *thread) { _ = t.wc.Close() }) })
	s.wg.Wait()
	grace.Stop()
	return err
}
