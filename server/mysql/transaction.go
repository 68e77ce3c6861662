package mysql

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"sync"
	"time"

	"millrace/catalog/sqltable"
	"millrace/ingest"
	"millrace/server/mysql/rewrite"
	"millrace/server/mysql/sqlerr"
	"millrace/store"
	"millrace/store/commitlog"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// A session's transaction is a Kafka transaction, begun by its first INSERT: COMMIT makes the rows of all
// its INSERTs visible at once, ROLLBACK and the connection's end drop them. They are in the log from the first, so
// their offsets are those that they will have. Each statement has a snapshot of its own (READ COMMITTED, whatever level
// was asked for), in which the session's open transaction counts as committed.

const (
	// transactionPrefix begins the transactional ids of SQL sessions.
	transactionPrefix = "__millrace-sql-"
	// transactionTimeout bounds how long a transaction stays open: it holds up consumers that read
	// committed records of the topics it wrote to. COMMIT is error 1180 afterwards.
	transactionTimeout = 5 * time.Minute
)

var errPartialRollback = sqlerr.Instead("ROLLBACK TO SAVEPOINT after an INSERT", "The transaction can be rolled back as a whole.")

// transactionIDs gives out transactional ids, each to one session at a time, the lowest free number first,
// so that there are no more of them than were ever in use at once.
type transactionIDs struct {
	mu   sync.Mutex
	used []uint64 // a bit per number
}

func (ids *transactionIDs) take() int {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	for i, w := range ids.used {
		if w != ^uint64(0) {
			n := bits.TrailingZeros64(^w)
			ids.used[i] |= 1 << n
			return i*64 + n
		}
	}
	ids.used = append(ids.used, 1)
	return (len(ids.used) - 1) * 64
}

func (ids *transactionIDs) give(n int) {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	ids.used[n/64] &^= 1 << (n % 64)
}

// abortLeftOver drops the transactions that sessions had open when the server ended without closing them.
func abortLeftOver(ctx context.Context, st *store.Store) error {
	var all error
	for _, t := range st.OpenTransactions() {
		if !strings.HasPrefix(t.TransactionalID, transactionPrefix) {
			continue
		}
		_, err := st.Commit(ctx, state.InitTransaction{TransactionalID: t.TransactionalID, TimeoutMillis: t.TimeoutMillis, ProducerID: -1, ProducerEpoch: -1})
		all = errors.Join(all, err)
	}
	return all
}

// transaction is the open one of a session.
type transaction struct {
	*ingest.Transaction
	id  int
	own sqltable.Transaction // what statements see of it
}

// beginTransaction opens one; endTransaction must be called with it.
func (s *Server) beginTransaction(ctx context.Context) (*transaction, error) {
	id := s.transactions.take()
	tx, err := s.o.Ingest.Begin(ctx, fmt.Sprintf("%s%d", transactionPrefix, id), transactionTimeout)
	if err != nil {
		s.transactions.give(id)
		return nil, err
	}
	return &transaction{Transaction: tx, id: id, own: sqltable.Transaction{Producer: tx.ProducerID()}}, nil
}

func (s *Server) endTransaction(tx *transaction, commit bool) error {
	defer s.transactions.give(tx.id)
	defer tx.own.Release()
	if !commit {
		return tx.Abort()
	}
	err := tx.Commit()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, state.ErrInvalidProducerEpoch), errors.Is(err, state.ErrInvalidProducerID), errors.Is(err, state.ErrNoTransaction):
		return sqlerr.New(1180, "HY000", "Got error 'the transaction was open for longer than %s and was rolled back' during COMMIT", transactionTimeout)
	case errors.Is(err, commitlog.ErrInDoubt):
		return sqlerr.New(1180, "HY000", "Got error 'whether it is stored is not known' during COMMIT: %v", err)
	default:
		return sqlerr.New(1180, "HY000", "Got error 'not stored' during COMMIT: %v", err)
	}
}

// work is what a session knows of its transaction; the connection's goroutine owns it.
type work struct {
	explicit   bool // since BEGIN
	readOnly   bool // START TRANSACTION READ ONLY
	tx         *transaction
	statements int            // INSERTs in it
	savepoints map[string]int // name → statements then
}

// maxSavepoints bounds what a session keeps of SAVEPOINT.
const maxSavepoints = 1000

func (c *conn) autocommit() bool {
	v, err := c.sess.GetSessionVariable(nil, sql.AutoCommitSessionVar)
	if err != nil {
		return true
	}
	on, err := sql.ConvertToBool(nil, v)
	return err != nil || on
}

// inTransaction says whether an INSERT joins a transaction rather than being one.
func (c *conn) inTransaction() bool { return c.work.explicit || !c.autocommit() }

// ownRows are those of the session that its next statement sees before they are committed; nil: none.
func (c *conn) ownRows() *sqltable.Transaction {
	if c.work.tx == nil {
		return nil
	}
	return &c.work.tx.own
}

// endWork commits or rolls back what is open, if anything is.
func (c *conn) endWork(commit bool) error {
	tx := c.work.tx
	c.work, c.nextMode = work{}, ""
	if tx == nil {
		return nil
	}
	return c.s.endTransaction(tx, commit)
}

// begin carries out BEGIN, which ends what was open, as in MySQL.
func (c *conn) beginWork(s *sqlparser.Begin) error {
	mode := s.TransactionCharacteristic
	if mode == "" {
		mode = c.nextMode
	}
	if err := c.endWork(true); err != nil {
		return err
	}
	c.nextMode = mode
	c.work.readOnly = c.readOnly()
	c.work.explicit, c.nextMode = true, ""
	return nil
}

// savepoint carries out the statements about savepoints. A log has no partial rollback: going back is
// possible as long as nothing was written since.
func (c *conn) savepoint(stmt sqlparser.Statement) error {
	switch s := stmt.(type) {
	case *sqlparser.Savepoint:
		if !c.inTransaction() {
			return nil
		}
		if len(c.work.savepoints) >= maxSavepoints {
			return rewrite.ErrTooComplex
		}
		if c.work.savepoints == nil {
			c.work.savepoints = map[string]int{}
		}
		c.work.savepoints[strings.ToLower(s.Identifier)] = c.work.statements
		return nil
	case *sqlparser.RollbackSavepoint:
		at, ok := c.work.savepoints[strings.ToLower(s.Identifier)]
		switch {
		case !ok:
			return sqlerr.New(1305, "42000", "SAVEPOINT %s does not exist", s.Identifier)
		case at != c.work.statements:
			return errPartialRollback
		}
		return nil
	case *sqlparser.ReleaseSavepoint:
		name := strings.ToLower(s.Identifier)
		if _, ok := c.work.savepoints[name]; !ok {
			return sqlerr.New(1305, "42000", "SAVEPOINT %s does not exist", s.Identifier)
		}
		delete(c.work.savepoints, name)
		return nil
	}
	return sqlerr.Unsupported(kindOf(stmt))
}

// implicitCommit commits before statements that MySQL does not take into a transaction.
func (c *conn) implicitCommit(stmt sqlparser.Statement) error {
	switch stmt.(type) {
	case *sqlparser.DDL, *sqlparser.AlterTable, *sqlparser.DBDDL, *sqlparser.CreateUser, *sqlparser.DropUser,
		*sqlparser.GrantPrivilege, *sqlparser.RevokePrivilege, *sqlparser.RevokeAllPrivileges,
		*sqlparser.LockTables, *sqlparser.UnlockTables, *sqlparser.Analyze, *sqlparser.Flush:
		return c.endWork(true)
	}
	return nil
}

// commitOnAutocommit, called after a SET, commits if that switched autocommit on, which it was before.
func (c *conn) commitOnAutocommit(before bool, err *error) {
	if *err == nil && !before && c.autocommit() {
		*err = c.endWork(true)
	}
}
