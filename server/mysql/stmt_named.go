package mysql

import (
	"strings"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// PREPARE, EXECUTE and DEALLOCATE of the text protocol. The engine's own would run the statement
// as it was parsed, without our rewriting.

func (c *conn) namedPrepare(ctx *sql.Context, s *sqlparser.Prepare) error {
	name := strings.ToLower(s.Name)
	source := s.Expr
	if variable, ok := strings.CutPrefix(source, "@"); ok {
		_, v, err := ctx.GetUserVariable(ctx, variable)
		if err != nil {
			return err
		}
		str, ok := v.(string)
		if !ok {
			return sqlerr.New(1064, "42000", "@%s holds no statement", variable)
		}
		source = str
	}
	if old, ok := c.named[name]; ok { // gone even if the new one fails, as in MySQL
		c.drop(old)
		delete(c.named, name)
	}
	if len(c.named) >= maxPrepared {
		return errTooManyStmts
	}
	p, stmt, err := c.prepare(source)
	if err != nil {
		return err
	}
	switch stmt.(type) {
	case *sqlparser.Prepare, *sqlparser.Execute, *sqlparser.Deallocate:
		return sqlerr.New(1295, "HY000", "This command is not supported in the prepared statement protocol yet")
	}
	if _, err := c.describe(ctx, stmt, source); err != nil {
		return err
	}
	c.named[name] = p
	c.keep(p)
	return nil
}

func (c *conn) namedExecute(ctx *sql.Context, s *sqlparser.Execute) (*answer, error) {
	p, ok := c.named[strings.ToLower(s.Name)]
	if !ok {
		return nil, sqlerr.New(1243, "HY000", "Unknown prepared statement handler (%s) given to EXECUTE", s.Name)
	}
	if len(s.VarList) != p.params {
		return nil, sqlerr.New(1210, "HY000", "Incorrect arguments to EXECUTE")
	}
	var params map[string]sql.Expression
	for i, v := range s.VarList {
		t, value, err := ctx.GetUserVariable(ctx, strings.TrimPrefix(v, "@"))
		if err != nil {
			return nil, err
		}
		if t == nil || value == nil {
			t, value = types.Null, nil
		}
		if params == nil {
			params = make(map[string]sql.Expression)
		}
		params[paramName(i)] = expression.NewLiteral(value, t)
	}
	stmt, _, _, err := c.parse(p.text, true)
	if err != nil {
		return nil, err
	}
	return c.execute(ctx, stmt, p.text, params)
}

func (c *conn) namedDeallocate(s *sqlparser.Deallocate) error {
	name := strings.ToLower(s.Name)
	p, ok := c.named[name]
	if !ok {
		return sqlerr.New(1243, "HY000", "Unknown prepared statement handler (%s) given to DEALLOCATE PREPARE", s.Name)
	}
	c.drop(p)
	delete(c.named, name)
	return nil
}
