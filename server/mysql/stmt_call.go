package mysql

import (
	"errors"
	"strings"

	"millrace/catalog/sqltable"
	"millrace/server/mysql/sqlerr"
	"millrace/store"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// call carries out the server's own procedures.
func (c *conn) call(ctx *sql.Context, s *sqlparser.Call, bindings map[string]sql.Expression) (*answer, error) {
	db := s.ProcName.Qualifier.String()
	if db == "" {
		db = ctx.GetCurrentDatabase()
	}
	if strings.EqualFold(db, sqltable.SystemDatabase) {
		switch strings.ToLower(s.ProcName.Name.String()) {
		case "seal":
			return c.seal(ctx, s.Params, bindings)
		case "pin":
			return c.pin(ctx, s.Params, bindings)
		case "reset_offsets":
			return c.resetOffsets(ctx, s.Params, bindings)
		case "suggest":
			return c.suggest(ctx, s.Params, bindings)
		case "compact":
			return c.compact(ctx, s.Params, bindings)
		}
	}
	return nil, sqlerr.New(1305, "42000", "PROCEDURE %s.%s does not exist", db, s.ProcName.Name.String())
}

// seal carries out CALL millrace.seal('topic'): what was written so far is in segments when it
// returns, and the topic's columns are in files. The whole log is sealed, since a log file holds all topics.
func (c *conn) seal(ctx *sql.Context, params []sqlparser.Expr, bindings map[string]sql.Expression) (*answer, error) {
	topic, err := c.topicToAlter(ctx, "seal", params, bindings)
	if err != nil {
		return nil, err
	}
	if err := c.s.o.Store.Seal(ctx); err != nil {
		return nil, err
	}
	if seal := c.s.o.SealColumns; seal != nil {
		switch err := seal(ctx, topic.Name); {
		case errors.Is(err, state.ErrUnknownTopic):
			return nil, sqlerr.NoTable(sqltable.KafkaDatabase, topic.Name)
		case err != nil:
			return nil, err
		}
	}
	return okAnswer(0), nil
}

// compact carries out CALL millrace.compact('topic'): when it returns, all that the topic's compaction lags allow
// is compacted, whatever min.cleanable.dirty.ratio says.
func (c *conn) compact(ctx *sql.Context, params []sqlparser.Expr, bindings map[string]sql.Expression) (*answer, error) {
	topic, err := c.topicToAlter(ctx, "compact", params, bindings)
	if err != nil {
		return nil, err
	}
	switch err := c.s.o.Store.Compact(ctx, topic.ID); {
	case errors.Is(err, store.ErrNotCompacted):
		return nil, sqlerr.New(1210, "HY000", "Incorrect arguments to millrace.compact: cleanup.policy of topic %s does not contain compact", topic.Name)
	case errors.Is(err, state.ErrUnknownTopic):
		return nil, sqlerr.NoTable(sqltable.KafkaDatabase, topic.Name)
	case err != nil:
		return nil, err
	}
	return okAnswer(0), nil
}

// topicToAlter is the topic that a procedure's one argument names, if the user may alter it.
func (c *conn) topicToAlter(ctx *sql.Context, procedure string, params []sqlparser.Expr, bindings map[string]sql.Expression) (state.Topic, error) {
	if len(params) != 1 {
		return state.Topic{}, sqlerr.New(1318, "42000", "Incorrect number of arguments for PROCEDURE millrace.%s; expected 1, got %d", procedure, len(params))
	}
	name, ok := text(params[0], bindings)
	if !ok {
		return state.Topic{}, sqlerr.New(1210, "HY000", "Incorrect arguments to millrace.%s: the name of a topic is needed", procedure)
	}
	if !mayAlter(ctx, name) {
		return state.Topic{}, errDenied(c.sess, "ALTER", name)
	}
	topic, ok := c.s.o.Store.Topics().ByName(name)
	if !ok {
		return state.Topic{}, sqlerr.NoTable(sqltable.KafkaDatabase, name)
	}
	return topic, nil
}
