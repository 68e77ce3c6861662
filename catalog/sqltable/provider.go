package sqltable

import (
	"runtime"
	"strings"
	"time"

	"millrace/catalog"
	"millrace/scan/columns"
	"millrace/store"

	"github.com/dolthub/go-mysql-server/sql"
)

// Names of the databases.
const (
	KafkaDatabase  = "kafka"    // one table per topic
	SystemDatabase = "millrace" // the server's own state
)

// PushdownVariable is the session variable that switches scan offload off with 0.
const PushdownVariable = "millrace_pushdown"

// ThreadsVariable is the session variable that says on how many threads a statement may
// scan; 0: on all.
const ThreadsVariable = "millrace_threads"

// MaxThreads bounds ThreadsVariable.
const MaxThreads = 1024

// Options of a provider. Nil functions leave the table they feed empty.
type Options struct {
	// Connections lists open connections of both wires.
	Connections func() []Connection
	// GroupStatus tells the present state of a group, GroupMembers its members.
	GroupStatus  func(group string) (GroupStatus, bool)
	GroupMembers func(group string) []GroupMember
	// ClientErrors lists what Kafka clients were refused, the latest first.
	ClientErrors func() []ClientError
	// Statements lists what was executed, the last first.
	Statements func() []Statement
	// Queries lists the statements that are running.
	Queries func() []Query
	Users   func() []User
	ACLs    func() []ACL
	Quotas  func() []Quota
	// Expanding tells what the background worker that writes columns is doing; false: nothing.
	Expanding func() (Expansion, bool)
	// Columns keeps topics' columns; nil: statements have none, and everything is read row by row.
	Columns *columns.Set
}

// Statement is a row of millrace.statements: all statements that differ in their literals only.
type Statement struct {
	Digest, Text string // the text is normalised
	Count        int64
	Errors       int64
	Total, Max   time.Duration
	RowsSent     int64
	RowsScanned  int64 // in columns
	Fallbacks    int64 // how many were not carried out in columns as a whole
	Reason       string
	LastSeen     int64 // Unix ms
}

// ClientError is a row of millrace.client_errors: one kind of refusal. Empty strings are
// what does not apply.
type ClientError struct {
	First, Last     int64 // Unix ms
	Count           int64
	ClientID        string
	Software        string
	Address         string
	Principal       string
	API             string
	Version         int16
	Topic           string
	Group           string
	TransactionalID string
	Code            int16 // Kafka's; 0: the connection ended without an answer
	Error           string
	Message         string
	Hint            string
}

// Connection is a row of millrace.connections.
type Connection struct {
	ID       int64
	Protocol string // "kafka" or "mysql"
	User     string
	Client   string // address
	Software string // what the client says it is; "" unknown
	Since    int64  // Unix ms
}

// Provider gives the engine its databases. Safe for concurrent use.
type Provider struct {
	cat   *catalog.Catalog
	store *store.Store
	opts  Options
	kafka *topicDatabase
	sys   *systemDatabase
}

var _ sql.DatabaseProvider = (*Provider)(nil)

// NewProvider shows the topics of st, with the schemas of cat.
func NewProvider(cat *catalog.Catalog, st *store.Store, opts Options) *Provider {
	p := &Provider{cat: cat, store: st, opts: opts}
	p.kafka = &topicDatabase{p}
	p.sys = newSystemDatabase(p)
	return p
}

// NewStatement returns a statement's snapshot, not yet taken. own is the transaction in which the statement is, if
// any was begun: what that wrote is seen as well.
func (p *Provider) NewStatement(own *Transaction) *StatementSnapshot {
	return &StatementSnapshot{store: p.store, cat: p.cat, columns: p.opts.Columns, own: own}
}

// statement of ctx. Engine work outside a statement (there is none in the server)
// gets a snapshot of its own, given back when the collector finds it unused.
func (p *Provider) statement(ctx *sql.Context) *StatementSnapshot {
	if s := StatementFrom(ctx); s != nil {
		return s
	}
	s := p.NewStatement(nil)
	runtime.AddCleanup(s, func(snap *store.Snapshot) { snap.Release() }, s.Snapshot())
	return s
}

// Database implements sql.DatabaseProvider.
func (p *Provider) Database(_ *sql.Context, name string) (sql.Database, error) {
	switch strings.ToLower(name) {
	case KafkaDatabase:
		return p.kafka, nil
	case SystemDatabase:
		return p.sys, nil
	}
	return nil, sql.ErrDatabaseNotFound.New(name)
}

// HasDatabase implements sql.DatabaseProvider.
func (p *Provider) HasDatabase(_ *sql.Context, name string) bool {
	return strings.EqualFold(name, KafkaDatabase) || strings.EqualFold(name, SystemDatabase)
}

// AllDatabases implements sql.DatabaseProvider.
func (p *Provider) AllDatabases(*sql.Context) []sql.Database {
	return []sql.Database{p.kafka, p.sys}
}

// VisibleColumns are the columns that * stands for in the given table, in order;
// ok is false when there is no such table here. The error is one of the store's
// or of ctx.
func (p *Provider) VisibleColumns(ctx *sql.Context, db, table string) (names []string, ok bool, err error) {
	d, err := p.Database(ctx, db)
	if err != nil {
		return nil, false, nil
	}
	t, ok, err := d.GetTableInsensitive(ctx, table)
	if err != nil || !ok {
		return nil, false, err
	}
	for _, c := range t.Schema() {
		if !Invisible(c) {
			names = append(names, c.Name)
		}
	}
	return names, true, nil
}

// Invisible says whether a column is left out of *.
func Invisible(c *sql.Column) bool { return c.Extra == extraInvisible }

const extraInvisible = "INVISIBLE"

// Threads reads the session's millrace_threads; 0: as many as there are.
func Threads(ctx *sql.Context) int {
	if ctx == nil || ctx.Session == nil {
		return 0
	}
	v, err := ctx.GetSessionVariable(ctx, ThreadsVariable)
	if err != nil {
		return 0 // the variable is not registered
	}
	n, _ := v.(int64)
	return int(n)
}

// PushdownEnabled reads the session's millrace_pushdown; on unless it is 0.
func PushdownEnabled(ctx *sql.Context) bool {
	if ctx == nil || ctx.Session == nil {
		return true
	}
	v, err := ctx.GetSessionVariable(ctx, PushdownVariable)
	if err != nil {
		return true // the variable is not registered
	}
	switch v := v.(type) {
	case bool:
		return v
	case int8:
		return v != 0
	case int64:
		return v != 0
	case uint64:
		return v != 0
	case string:
		return v != "0" && !strings.EqualFold(v, "off")
	}
	return true
}
