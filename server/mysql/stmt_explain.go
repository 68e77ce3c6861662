package mysql

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"millrace/pushdown"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// explain answers EXPLAIN with how the tables are read (what was pushed down and why something was
// not) and the plan around it. EXPLAIN ANALYZE runs the statement as well.
func (c *conn) explain(ctx *sql.Context, s *sqlparser.Explain, text string, bindings map[string]sql.Expression) (*answer, error) {
	lines, err := c.explainLines(ctx, s.Statement, text, bindings, s.Analyze)
	if err != nil {
		return nil, err
	}
	out := make([]sql.Row, len(lines))
	for i, l := range lines {
		out[i] = sql.Row{l}
	}
	return rows(sql.Schema{{Name: "plan", Type: types.LongText}}, out), nil
}

func (c *conn) explainLines(ctx *sql.Context, stmt sqlparser.Statement, text string, bindings map[string]sql.Expression, analyze bool) ([]string, error) {
	sel, ok := stmt.(sqlparser.SelectStatement)
	if !ok {
		return nil, sqlerr.Unsupported("EXPLAIN of anything but SELECT")
	}
	if err := checkSelect(sel); err != nil {
		return nil, err
	}
	if err := c.rewrite(ctx, sel); err != nil {
		return nil, err
	}
	value := c.s.engine.valueOf
	stands := newStandIns(c.s.engine, c.s.o.Pushdown)
	if !analyze {
		value = stands.valueOf
	}
	node, flags, err := c.s.engine.plan(ctx, sel, text, bindings, value)
	if err != nil {
		return nil, err
	}
	if err := checkPlan(ctx, node, false); err != nil {
		return nil, err
	}
	lines, err := accessLines(ctx, c.s.o.Pushdown, node)
	if err != nil {
		return nil, err
	}
	lines = append(lines, stands.lines...)
	lines = append(lines, strings.Split(strings.TrimRight(sql.Describe(node, sql.DescribeOptions{}), "\n"), "\n")...)
	if !analyze {
		for i, l := range lines {
			lines[i] = stands.named(l)
		}
		return lines, nil
	}
	start := time.Now()
	trace := &pushdown.Trace{}
	traced := ctx.WithContext(pushdown.WithTrace(ctx.Context, trace))
	a, err := c.inColumns(traced, node, sel)
	if a == nil && err == nil {
		a = &answer{}
		_, a.iter, err = c.s.engine.run(traced, node, flags)
	}
	if err != nil {
		return nil, err
	}
	n, err := a.drain(traced)
	a.close(traced)
	if err != nil {
		return nil, err
	}
	if did := trace.Explain(); did != "" {
		lines = append(lines, strings.Split(strings.TrimRight(did, "\n"), "\n")...)
	}
	return append(lines, fmt.Sprintf("actual: %d rows in %s", n, time.Since(start).Round(time.Microsecond))), nil
}

// accessLines say how a plan reads topics.
func accessLines(ctx *sql.Context, b *pushdown.Builder, node sql.Node) ([]string, error) {
	access, err := b.Explain(ctx, node)
	if err != nil || access == "" {
		return nil, err
	}
	return strings.Split(strings.TrimRight(access, "\n"), "\n"), nil
}

// explainJSON answers EXPLAIN FORMAT=JSON, which the parser does not know.
func explainJSON(inner string) func(*conn, *sql.Context, map[string]sql.Expression) (*answer, error) {
	return func(c *conn, ctx *sql.Context, bindings map[string]sql.Expression) (*answer, error) {
		stmt, _, rest, err := c.parse(inner, true)
		if err != nil {
			return nil, err
		}
		if rest != "" {
			return nil, sqlerr.ErrNoMultiple
		}
		lines, err := c.explainLines(ctx, stmt, inner, bindings, false)
		if err != nil {
			return nil, err
		}
		var doc strings.Builder
		e := json.NewEncoder(&doc)
		e.SetEscapeHTML(false) // conditions have < and >
		e.SetIndent("", "  ")
		if err := e.Encode(map[string]any{"query_block": map[string]any{"select_id": 1, "plan": lines}}); err != nil {
			return nil, err
		}
		return rows(sql.Schema{{Name: "EXPLAIN", Type: types.LongText}}, []sql.Row{{strings.TrimSuffix(doc.String(), "\n")}}), nil
	}
}
