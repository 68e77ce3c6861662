package mysql

import (
	"errors"

	"millrace/catalog"
	"millrace/catalog/sqltable"
	"millrace/server/mysql/sqlerr"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// pin carries out CALL millrace.pin('topic'[, 'column']): today's types of the inferred columns become declarations.
func (c *conn) pin(ctx *sql.Context, params []sqlparser.Expr, bindings map[string]sql.Expression) (*answer, error) {
	if len(params) < 1 || len(params) > 2 {
		return nil, sqlerr.New(1318, "42000", "Incorrect number of arguments for PROCEDURE millrace.pin; expected 1 or 2, got %d", len(params))
	}
	topic, err := c.topicToAlter(ctx, "pin", params[:1], bindings)
	if err != nil {
		return nil, err
	}
	column := ""
	if len(params) == 2 {
		var ok bool
		if column, ok = text(params[1], bindings); !ok || column == "" {
			return nil, sqlerr.New(1210, "HY000", "Incorrect arguments to millrace.pin: the name of a column is needed")
		}
	}
	switch err := c.s.o.Catalog.Pin(ctx, topic.Name, column); {
	case errors.Is(err, catalog.ErrNoColumn):
		return nil, sqlerr.New(1054, "42S22", "Unknown column '%s' in '%s'", column, topic.Name)
	case errors.Is(err, state.ErrUnknownTopic):
		return nil, sqlerr.NoTable(sqltable.KafkaDatabase, topic.Name)
	case err != nil:
		return nil, configError(err)
	}
	return okAnswer(0), nil
}
