package mysql

import (
	"strings"

	"millrace/catalog/sqltable"
	"millrace/server/auth"
	"millrace/server/mysql/rewrite"
	"millrace/server/mysql/sqlerr"
	"millrace/server/mysql/wire"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// dispatch carries out the statements that are ours, and refuses every kind that is not known
// to be safe in the engine: what is not in this list does not run.
func (c *conn) dispatch(ctx *sql.Context, stmt sqlparser.Statement, text string, bindings map[string]sql.Expression) (a *answer, done bool, err error) {
	ok := func(err error) (*answer, bool, error) { return &answer{}, true, err }
	if err := c.checkMode(stmt); err != nil {
		return nil, true, err
	}
	if err := c.implicitCommit(stmt); err != nil {
		return nil, true, err
	}
	switch s := stmt.(type) {
	case sqlparser.SelectStatement:
		return nil, false, checkSelect(s)
	case *sqlparser.Show:
		return c.show(ctx, s)
	case *sqlparser.Explain:
		a, err := c.explain(ctx, s, text, bindings)
		return a, true, err
	case *ownStatement:
		a, err := s.run(c, ctx, bindings)
		return a, true, err
	case *sqlparser.Set:
		return c.set(ctx, s)
	case *sqlparser.Use:
		return ok(c.use(ctx, s.DBName.String()))
	case *sqlparser.Begin:
		return ok(c.beginWork(s))
	case *sqlparser.Commit:
		return ok(c.finish(text, true))
	case *sqlparser.Rollback:
		return ok(c.finish(text, false))
	case *sqlparser.Savepoint, *sqlparser.RollbackSavepoint, *sqlparser.ReleaseSavepoint:
		return ok(c.savepoint(stmt))
	case *sqlparser.LockTables, *sqlparser.UnlockTables:
		// What they are asked for, a steady view, each statement has anyway.
		return ok(nil)
	case *sqlparser.Prepare:
		return ok(c.namedPrepare(ctx, s))
	case *sqlparser.Execute:
		a, err := c.namedExecute(ctx, s)
		return a, true, err
	case *sqlparser.Deallocate:
		return ok(c.namedDeallocate(s))
	case *sqlparser.Kill:
		return ok(c.killStatement(s, bindings))
	case *sqlparser.Call:
		a, err := c.call(ctx, s, bindings)
		return a, true, err
	case *sqlparser.ShowPrivileges:
		return nil, false, nil
	case *sqlparser.DDL:
		return c.ddl(ctx, s, text)
	case *sqlparser.Delete:
		return c.deleteRecords(ctx, s, bindings)
	case *sqlparser.Update:
		return ok(sqlerr.AppendOnly("UPDATE", "Produce a new record for the key instead."))
	case *sqlparser.Insert:
		a, err := c.insert(ctx, s, text, bindings)
		return a, true, err
	case *sqlparser.AlterTable:
		return okAnswer(0), true, c.alterTable(ctx, text)
	case *sqlparser.DBDDL:
		return ok(databaseError(s))
	case *sqlparser.Analyze:
		a, err := c.analyzeTable(ctx, s)
		return a, true, err
	case *sqlparser.Load:
		return ok(sqlerr.ErrFileAccess)
	case *sqlparser.Flush:
		return ok(c.flush(ctx, s))
	default:
		return ok(sqlerr.Unsupported(kindOf(stmt)))
	}
}

// flush accepts FLUSH, which has nothing to do here: of tables from who may change them, as dump tools
// send it, of anything else from the administrator.
func (c *conn) flush(ctx *sql.Context, f *sqlparser.Flush) error {
	if c.sess.isAdmin() {
		return nil
	}
	name := strings.ToLower(f.Option.Name)
	if !strings.HasPrefix(name, "table") {
		return sqlerr.ErrNeedsAdmin
	}
	mayChange := func(db, table string) bool {
		return mayDo(ctx, auth.Delete, db, table) || mayDo(ctx, auth.Alter, db, table)
	}
	for _, t := range f.Option.Tables {
		db := t.DbQualifier.String()
		if db == "" {
			db = ctx.GetCurrentDatabase()
		}
		if !mayChange(db, t.Name.String()) {
			return errDenied(c.sess, "FLUSH", t.Name.String())
		}
	}
	if len(f.Option.Tables) > 0 || mayChange(sqltable.KafkaDatabase, "*") {
		return nil
	}
	for _, t := range c.s.o.Store.Topics().All() {
		if mayChange(sqltable.KafkaDatabase, t.Name) {
			return nil
		}
	}
	return sqlerr.ErrNeedsAdmin
}

// kindOf names a statement by its first words.
func kindOf(stmt sqlparser.Statement) string {
	words := strings.Fields(sqlparser.String(stmt))
	if len(words) > 2 {
		words = words[:2]
	}
	return strings.ToUpper(strings.Join(words, " "))
}

// checkSelect refuses what a SELECT must not do: write files.
func checkSelect(stmt sqlparser.Statement) error {
	var err error
	w := rewrite.Walk{Node: func(n any) bool {
		if into, ok := n.(*sqlparser.Into); ok && (into.Outfile != "" || into.Dumpfile != "") {
			err = sqlerr.ErrFileAccess
		}
		return err == nil
	}}
	w.Statement(stmt)
	if err != nil {
		return err
	}
	return rewrite.CheckWhere(stmt)
}

// use makes db the current database.
func (c *conn) use(ctx *sql.Context, db string) error {
	d, err := c.s.engine.Analyzer.Catalog.Database(ctx, db)
	if err != nil {
		if sql.ErrDatabaseNotFound.Is(err) {
			return sqlerr.UnknownDatabase(db)
		}
		return err
	}
	c.sess.SetCurrentDatabase(d.Name())
	return nil
}

// set refuses to change what is everyone's, and lets the engine change what is the session's.
func (c *conn) set(ctx *sql.Context, s *sqlparser.Set) (*answer, bool, error) {
	for _, e := range s.Exprs {
		switch e.Scope {
		case sqlparser.SetScope_Global, sqlparser.SetScope_Persist, sqlparser.SetScope_PersistOnly:
			if !c.sess.isAdmin() {
				return nil, true, sqlerr.ErrNeedsAdmin
			}
		}
	}
	done, err := c.setMode(ctx, s)
	return okAnswer(0), done, err
}

// checkZone remembers the time zone before a SET; what it returns puts it back, with an error, if the
// SET made one that does not exist: the engine would only notice when the next time is read.
func (c *conn) checkZone(ctx *sql.Context, s *sqlparser.Set) func(err *error) {
	touched := false
	for _, e := range s.Exprs {
		touched = touched || e.Name.EqualString("time_zone")
	}
	old, verr := c.sess.GetSessionVariable(ctx, "time_zone")
	return func(err *error) {
		if !touched || *err != nil || verr != nil {
			return
		}
		if _, zerr := sqltable.SessionZone(ctx); zerr != nil {
			name, _ := c.sess.GetSessionVariable(ctx, "time_zone")
			if rerr := c.sess.SetSessionVariable(ctx, "time_zone", old); rerr != nil {
				*err = rerr
				return
			}
			*err = sqlerr.New(1298, "HY000", "Unknown or incorrect time zone: '%v'", name)
		}
	}
}

// setError says that a variable is unknown where the engine looked for a column of its name.
func setError(s *sqlparser.Set, err error) error {
	if !sql.ErrColumnNotFound.Is(err) {
		return err
	}
	name, _ := sqlerr.Quoted(err.Error())
	for _, e := range s.Exprs {
		if e.Scope == sqlparser.SetScope_None && e.Name.EqualString(name) {
			return sqlerr.New(1193, "HY000", "Unknown system variable '%s'", name)
		}
	}
	return err
}

// okAnswer is an OK packet that tells how many rows changed.
func okAnswer(affected uint64) *answer { return &answer{ok: wire.OK{Affected: affected}} }
