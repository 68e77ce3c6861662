package mysql

import (
	"strings"

	"millrace/catalog/sqltable"
	"millrace/server/auth"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// Authorisation has three layers, each of which denies what it does not know: the statement's
// kind (dispatch.go), the parsed tables before they are bound (authorizer, so that a
// denied name is not looked up), and the tables of the finished plan (checkPlan, which views,
// common table expressions and the like cannot hide from). What may not be seen does not
// exist for the engine (provider.go).

// topicOf is the topic that a table of database kafka belongs to: grants cover companions.
func topicOf(table string) string {
	if i := strings.IndexByte(table, '$'); i >= 0 {
		return table[:i]
	}
	return table
}

// mayDo says whether the session behind ctx may do op to a table. The engine's own contexts,
// which belong to no session, may.
func mayDo(ctx *sql.Context, op auth.Operation, db, table string) bool {
	s := sessionOf(ctx)
	if s == nil {
		return true
	}
	switch strings.ToLower(db) {
	case sqltable.KafkaDatabase:
		return s.allowed(op, auth.Resource{Type: auth.Topic, Name: topicOf(table)})
	case sqltable.SystemDatabase:
		// They show everyone's groups and connections.
		return (op == auth.Read || op == auth.Describe) && s.allowed(auth.Describe, auth.Resource{Type: auth.Cluster})
	default:
		// information_schema and its like show what the session may see, or nothing; any other
		// database does not exist, which is no secret.
		return op == auth.Read || op == auth.Describe
	}
}

func maySee(ctx *sql.Context, db, table string) bool  { return mayDo(ctx, auth.Describe, db, table) }
func mayRead(ctx *sql.Context, db, table string) bool { return mayDo(ctx, auth.Read, db, table) }

// mayAlter says whether the session has SQL's ALTER on a topic: it changes what Kafka has two operations for, and one of
// them is not enough for both.
func mayAlter(ctx *sql.Context, table string) bool {
	return mayDo(ctx, auth.Alter, sqltable.KafkaDatabase, table) && mayDo(ctx, auth.AlterConfigs, sqltable.KafkaDatabase, table)
}

// authorizer is asked by the planner for every table and command that it meets.
type authorizer struct{}

var _ sql.AuthorizationHandler = authorizer{}

func (authorizer) NewQueryState(*sql.Context) sql.AuthorizationQueryState { return nil }

func (authorizer) HandleAuth(ctx *sql.Context, _ sql.AuthorizationQueryState, info sqlparser.AuthInformation) error {
	s := sessionOf(ctx)
	if s == nil {
		return nil
	}
	switch info.AuthType {
	case sqlparser.AuthType_IGNORE, sqlparser.AuthType_SHOW, sqlparser.AuthType_VISIBLE:
		// Shown is what the session may see (provider.go); kinds of SHOW are dispatch.go's.
		return nil
	case sqlparser.AuthType_SELECT:
		return eachTable(ctx, info, func(db, table string) error {
			if mayRead(ctx, db, table) {
				return nil
			}
			return errDenied(s, "SELECT", table)
		})
	default:
		// Everything else is carried out from the parsed statement and never comes here.
		return sqlerr.ErrNeedsAdmin
	}
}

// eachTable calls fn with the tables that info is about.
func eachTable(ctx *sql.Context, info sqlparser.AuthInformation, fn func(db, table string) error) error {
	switch info.TargetType {
	case sqlparser.AuthTargetType_Ignore:
		return nil
	case sqlparser.AuthTargetType_SingleTableIdentifier, sqlparser.AuthTargetType_MultipleTableIdentifiers:
		for i := 0; i+1 < len(info.TargetNames); i += 2 {
			db := info.TargetNames[i]
			if db == "" {
				db = ctx.GetCurrentDatabase()
			}
			if err := fn(db, info.TargetNames[i+1]); err != nil {
				return err
			}
		}
		return nil
	case sqlparser.AuthTargetType_TableColumn:
		if len(info.TargetNames) < 2 {
			return sqlerr.ErrNeedsAdmin
		}
		return fn(info.TargetNames[0], info.TargetNames[1])
	default:
		return sqlerr.ErrNeedsAdmin
	}
}

func (authorizer) HandleAuthNode(*sql.Context, sql.AuthorizationQueryState, sql.AuthorizationCheckerNode) error {
	return sqlerr.ErrNeedsAdmin
}

func (authorizer) CheckDatabase(*sql.Context, sql.AuthorizationQueryState, string) error { return nil }

func (authorizer) CheckSchema(*sql.Context, sql.AuthorizationQueryState, string, string) error {
	return nil
}

func (authorizer) CheckTable(ctx *sql.Context, _ sql.AuthorizationQueryState, db, _, table string) error {
	if s := sessionOf(ctx); s != nil && !maySee(ctx, db, table) {
		return errDenied(s, "SELECT", table)
	}
	return nil
}

// checkPlan authorises the tables that a plan reads in the end.
func checkPlan(ctx *sql.Context, node sql.Node, describeOnly bool) error {
	s := sessionOf(ctx)
	if s == nil {
		return nil
	}
	op := auth.Read
	if describeOnly {
		op = auth.Describe
	}
	var err error
	var visit func(n sql.Node) bool
	visit = func(n sql.Node) bool {
		if err != nil || n == nil {
			return false
		}
		if rt, ok := n.(sql.TableNode); ok {
			if t := underlying(rt.UnderlyingTable()); t != nil {
				if _, topic := t.(*sqltable.Table); topic && !mayDo(ctx, op, sqltable.KafkaDatabase, t.Name()) {
					err = errDenied(s, "SELECT", t.Name())
					return false
				}
			}
		}
		// Subqueries inside expressions are nodes of their own.
		if e, ok := n.(sql.Expressioner); ok {
			for _, x := range e.Expressions() {
				sql.Inspect(x, func(x sql.Expression) bool {
					if sq, ok := x.(*plan.Subquery); ok {
						transform.Inspect(sq.Query, visit)
					}
					return err == nil
				})
			}
		}
		return true // its children, also those of opaque nodes, are visited next, once
	}
	transform.Inspect(node, visit)
	return err
}

// underlying takes the wrappers off a table.
func underlying(t sql.Table) sql.Table {
	for {
		w, ok := t.(sql.TableWrapper)
		if !ok {
			return t
		}
		t = w.Underlying()
	}
}

func errDenied(s *session, command, table string) error {
	return sqlerr.New(1142, "42000", "%s command denied to user '%s'@'%s' for table '%s'", command, s.Client().User, s.Client().Address, table)
}

func errDBDenied(s *session, db string) error {
	return sqlerr.New(1044, "42000", "Access denied for user '%s'@'%s' to database '%s'", s.Client().User, s.Client().Address, db)
}
