package mysql

import (
	"math"
	"slices"
	"strconv"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

func sortThreads(ts []threadInfo) {
	slices.SortFunc(ts, func(a, b threadInfo) int { return int(int64(a.id) - int64(b.id)) })
}

func (c *conn) killStatement(s *sqlparser.Kill, bindings map[string]sql.Expression) error {
	id, ok := integer(s.ConnID, bindings)
	if !ok || id < 0 || id > math.MaxUint32 {
		return sqlerr.New(1064, "42000", "KILL needs the number of a thread")
	}
	return c.kill(uint32(id), s.Connection)
}

// kill ends the statement that a thread runs, or its connection: one's own without any privilege (it
// is how drivers cancel), another's as the administrator.
func (c *conn) kill(id uint32, connection bool) error {
	t, ok := c.s.threads.get(id)
	if !ok {
		return sqlerr.New(1094, "HY000", "Unknown thread id: %d", id)
	}
	if _, p := t.snapshot(); p != c.sess.principal && !c.sess.isAdmin() {
		return sqlerr.New(1095, "HY000", "You are not owner of thread %d", id)
	}
	t.kill(connection)
	if t == c.thread {
		return sqlerr.ErrKilled
	}
	return nil
}

// integer reads an integer literal or parameter.
func integer(e sqlparser.Expr, bindings map[string]sql.Expression) (int64, bool) {
	v, ok := e.(*sqlparser.SQLVal)
	if !ok {
		return 0, false
	}
	switch v.Type {
	case sqlparser.IntVal:
		n, err := strconv.ParseInt(string(v.Val), 10, 64)
		return n, err == nil
	case sqlparser.ValArg:
		switch x := bound(v, bindings).(type) {
		case int64:
			return x, true
		case uint64:
			return int64(x), x <= math.MaxInt64
		}
	}
	return 0, false
}

// text reads a string literal or parameter.
func text(e sqlparser.Expr, bindings map[string]sql.Expression) (string, bool) {
	v, ok := e.(*sqlparser.SQLVal)
	if !ok {
		return "", false
	}
	switch v.Type {
	case sqlparser.StrVal:
		return string(v.Val), true
	case sqlparser.ValArg:
		s, ok := bound(v, bindings).(string)
		return s, ok
	}
	return "", false
}

// bound is the value of a parameter; nil when there is none.
func bound(v *sqlparser.SQLVal, bindings map[string]sql.Expression) any {
	name := string(v.Val)
	if len(name) > 0 && name[0] == ':' {
		name = name[1:]
	}
	if l, ok := bindings[name].(*expression.Literal); ok {
		return l.Value()
	}
	return nil
}
