package mysql

import (
	"strings"

	"millrace/catalog/sqltable"
	"millrace/server/auth"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// call carries out the server's own procedures.
func (c *conn) call(ctx *sql.Context, s *sqlparser.Call, bindings map[string]sql.Expression) (*answer, error) {
	db := s.ProcName.Qualifier.String()
	if db == "" {
		db = ctx.GetCurrentDatabase()
	}
	name := strings.ToLower(s.ProcName.Name.String())
	if strings.EqualFold(db, sqltable.SystemDatabase) && name == "seal" {
		return c.seal(ctx, s.Params, bindings)
	}
	return nil, newError(1305, "42000", "PROCEDURE %s.%s does not exist", db, s.ProcName.Name.String())
}

// seal carries out CALL millrace.seal('topic'): what was written so far is in segments when it
// returns. The whole log is sealed, since a log file holds all topics.
func (c *conn) seal(ctx *sql.Context, params []sqlparser.Expr, bindings map[string]sql.Expression) (*answer, error) {
	if len(params) != 1 {
		return nil, newError(1318, "42000", "Incorrect number of arguments for PROCEDURE millrace.seal; expected 1, got %d", len(params))
	}
	topic, ok := text(params[0], bindings)
	if !ok {
		return nil, newError(1210, "HY000", "Incorrect arguments to millrace.seal: the name of a topic is needed")
	}
	if !mayDo(ctx, auth.Alter, sqltable.KafkaDatabase, topic) {
		return nil, errDenied(c.sess, "ALTER", topic)
	}
	if _, ok := c.s.o.Store.Topics().ByName(topic); !ok {
		return nil, errNoTable(sqltable.KafkaDatabase, topic)
	}
	if err := c.s.o.Store.Seal(ctx); err != nil {
		return nil, err
	}
	return okAnswer(0), nil
}
