package sqltable

import (
	"context"
	"sync"

	"millrace/catalog"
	"millrace/scan/columns"
	"millrace/scan/exec"
	"millrace/store"
	"millrace/store/state"
)

// StatementSnapshot is what one statement sees: one snapshot of the store, taken when
// its first table is bound (or earlier, by Snapshot), and the schemas bound to
// it. All references of the statement, views and subqueries included, share it.
// Safe for concurrent use.
type StatementSnapshot struct {
	store   *store.Store
	cat     *catalog.Catalog
	columns *columns.Set // nil: none are kept
	own     *Transaction // whose rows it sees; nil: none

	mu       sync.Mutex
	snap     *store.Snapshot
	tables   map[string]*catalog.Table
	released bool
}

// Transaction is the open one of a session, whose statements see what it wrote.
type Transaction struct {
	Producer int64 // the id under which its records are written
	columns  catalog.Own
	blocks   columns.Own
}

// Release drops what is kept for its statements, once it has ended.
func (t *Transaction) Release() { t.blocks.Release() }

type statementKey struct{}

// WithStatement returns a context in which every table is bound to s. The
// statement's handler calls it before names are bound, and s.Release once the
// last row was read or the cursor closed.
func WithStatement(ctx context.Context, s *StatementSnapshot) context.Context {
	return context.WithValue(ctx, statementKey{}, s)
}

// StatementFrom returns the statement of ctx; nil when there is none.
func StatementFrom(ctx context.Context) *StatementSnapshot {
	s, _ := ctx.Value(statementKey{}).(*StatementSnapshot)
	return s
}

// Snapshot of the statement, taken now if it was not before. It lives until Release.
func (s *StatementSnapshot) Snapshot() *store.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snapshotLocked()
}

func (s *StatementSnapshot) snapshotLocked() *store.Snapshot {
	if s.snap == nil {
		if s.released {
			panic("sqltable: statement used after its release")
		}
		producer := store.NoProducer
		if s.own != nil {
			producer = s.own.Producer
		}
		s.snap = s.store.SnapshotOf(producer)
	}
	return s.snap
}

// Columns gives topics' blocks of columns as the statement sees them, until Release; nil when the server
// keeps no columns. They are all records: of a companion's rows only its own filter tells.
func (s *StatementSnapshot) Columns() exec.Source {
	if s.columns == nil {
		return nil
	}
	if s.own != nil {
		return s.columns.SourceOf(s.Snapshot(), &s.own.blocks)
	}
	return s.columns.Source(s.Snapshot())
}

// Bind returns the topic's schema in this statement. state.ErrUnknownTopic when
// there is no such table.
func (s *StatementSnapshot) Bind(ctx context.Context, topic string) (*catalog.Table, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.tables[topic]; ok {
		return t, nil
	}
	snap := s.snapshotLocked()
	// Internal topics are not tables.
	if len(topic) >= 2 && topic[:2] == "__" {
		return nil, state.ErrUnknownTopic
	}
	t, err := s.bindIn(ctx, snap, topic)
	if err != nil {
		return nil, err
	}
	if s.tables == nil {
		s.tables = make(map[string]*catalog.Table)
	}
	s.tables[topic] = t
	return t, nil
}

func (s *StatementSnapshot) bindIn(ctx context.Context, snap *store.Snapshot, topic string) (*catalog.Table, error) {
	if s.own == nil {
		return s.cat.Bind(ctx, snap, topic)
	}
	return s.cat.BindOwn(ctx, snap, topic, &s.own.columns)
}

// known is like Bind, but takes the columns as they are known.
func (s *StatementSnapshot) known(ctx context.Context, topic string) (*catalog.Table, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.tables[topic]; ok {
		return t, nil
	}
	return s.cat.Known(ctx, s.snapshotLocked(), topic)
}

// head is like Bind, but leaves the expanded columns out.
func (s *StatementSnapshot) head(_ context.Context, topic string) (*catalog.Table, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cat.Head(s.snapshotLocked(), topic)
}

// Release gives the snapshot back. Idempotent.
func (s *StatementSnapshot) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released = true
	if s.snap != nil {
		s.snap.Release()
		s.snap = nil
	}
}
