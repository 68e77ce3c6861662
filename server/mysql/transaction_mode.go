package mysql

import (
	"regexp"
	"strings"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// How a transaction is: READ ONLY is kept. Of isolation levels there is one, READ COMMITTED: what another one asks for
// beyond that gets a warning.

var (
	errReadOnlyTransaction = sqlerr.New(1792, "25006", "Cannot execute statement in a READ ONLY transaction.")
	errModeInTransaction   = sqlerr.New(1568, "25001", "Transaction characteristics can't be changed while a transaction is in progress")
)

// isolationLevel is what transaction_isolation says unless it is set: what every statement has.
const isolationLevel = "READ-COMMITTED"

// readOnly says whether the session's statements, in its transaction or in the next, may only read.
func (c *conn) readOnly() bool {
	if c.work.explicit {
		return c.work.readOnly
	}
	if c.nextMode != "" {
		return c.nextMode == sqlparser.TxReadOnly
	}
	v, err := c.sess.GetSessionVariable(nil, "transaction_read_only")
	if err != nil {
		return false
	}
	on, err := sql.ConvertToBool(nil, v)
	return err == nil && on
}

// checkMode refuses stmt where it would change anything in a transaction that only reads. Outside of one, stmt is the
// transaction that SET TRANSACTION was about.
func (c *conn) checkMode(stmt sqlparser.Statement) error {
	var err error
	switch s := stmt.(type) {
	case sqlparser.SelectStatement:
		if one, ok := s.(*sqlparser.Select); ok && len(one.From) == 0 {
			return nil // of nothing but variables, as drivers ask
		}
	case *sqlparser.Call:
		if c.readOnly() && !strings.EqualFold(s.ProcName.Name.String(), "suggest") {
			err = errReadOnlyTransaction
		}
	case *sqlparser.Insert, *sqlparser.Update, *sqlparser.Delete, *sqlparser.DDL, *sqlparser.AlterTable, *sqlparser.DBDDL:
		if c.readOnly() {
			err = errReadOnlyTransaction
		}
	default:
		return nil
	}
	if !c.inTransaction() {
		c.nextMode = ""
	}
	return err
}

// change is for statements about tables, users and rights that the parser does not know: it refuses them likewise, and commits
// what is open.
func (c *conn) change() error {
	if c.readOnly() {
		return errReadOnlyTransaction
	}
	return c.endWork(true)
}

// setMode carries out SET TRANSACTION without a scope, which is about the next transaction alone, and warns of
// isolation levels; done says that nothing is left for the engine.
func (c *conn) setMode(ctx *sql.Context, s *sqlparser.Set) (done bool, err error) {
	for _, e := range s.Exprs {
		name := strings.ToLower(e.Name.String())
		next := name == sqlparser.TransactionStr && e.Scope == sqlparser.SetScope_None
		if next && (c.work.explicit || c.work.tx != nil) {
			return true, errModeInTransaction
		}
		done = done || next
		v, ok := e.Expr.(*sqlparser.SQLVal)
		if !ok {
			continue
		}
		mode := strings.TrimPrefix(strings.ToLower(strings.ReplaceAll(string(v.Val), "-", " ")), "isolation level ")
		switch name {
		case "transaction_isolation", "tx_isolation":
			warnOfLevel(ctx, mode)
		case sqlparser.TransactionStr:
			switch mode {
			case sqlparser.TxReadOnly, sqlparser.TxReadWrite:
				if next {
					c.nextMode = mode
				}
			default:
				warnOfLevel(ctx, mode)
			}
		}
	}
	return done, nil
}

func warnOfLevel(ctx *sql.Context, level string) {
	switch level {
	case "repeatable read", "serializable":
		ctx.Warn(1235, "Every statement sees what is committed when it begins: isolation level %s is taken as READ COMMITTED", strings.ToUpper(level))
	}
}

// comment is one of SQL's.
var comment = regexp.MustCompile(`(?s)/\*.*?\*/|--[^\n]*|#[^\n]*`)

// finish carries out COMMIT and ROLLBACK. AND CHAIN and RELEASE are in the text alone: the parser drops them.
func (c *conn) finish(text string, commit bool) error {
	text = strings.ReplaceAll(comment.ReplaceAllString(text, " "), ";", " ")
	words := " " + strings.ToUpper(strings.Join(strings.Fields(text), " ")) + " "
	if strings.Contains(words, " RELEASE ") && !strings.Contains(words, " NO RELEASE ") {
		return sqlerr.Instead("RELEASE", "Close the connection.")
	}
	next := work{explicit: strings.Contains(words, " AND CHAIN "), readOnly: c.readOnly()}
	err := c.endWork(commit)
	if err == nil && next.explicit {
		c.work = next
	}
	return err
}
