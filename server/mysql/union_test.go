package mysql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// manyTypes is a union like the one with which ODBC's SQLGetTypeInfo asks for types: members whose columns are now text, now
// numbers, now NULL.
func manyTypes(members int, op string) string {
	var out strings.Builder
	for i := range members {
		if i > 0 {
			out.WriteString(" " + op + " ")
		}
		out.WriteString("SELECT ")
		for j := range 18 {
			if j > 0 {
				out.WriteString(", ")
			}
			switch (i + j) % 5 {
			case 0:
				fmt.Fprintf(&out, "'%s' AS c%d", strings.Repeat("x", 1+(i*j)%7), j)
			case 1:
				fmt.Fprintf(&out, "%d AS c%d", 1<<(i%40), j)
			case 2:
				fmt.Fprintf(&out, "NULL AS c%d", j)
			case 3:
				fmt.Fprintf(&out, "%d.5 AS c%d", i, j)
			default:
				fmt.Fprintf(&out, "-%d AS c%d", j, j)
			}
		}
	}
	return out.String()
}

func TestUnionsOfManyMembersArePlannedInTimeThatGrowsWithThem(t *testing.T) {
	in := start(t, func(o *Options) { o.StatementTimeout = 20 * time.Second })
	in.topic("t", nil, `{"a":1,"b":"x"}`, `{"a":2.5,"b":"y"}`)
	db := in.open("app", "", "")
	deep := "SELECT 1 AS a1"
	for i := 2; i <= 20; i++ {
		deep += fmt.Sprintf(", %d AS a%d", i, i)
	}
	for range 8 {
		deep = "SELECT * FROM (" + deep + ") d"
	}
	mixed := "SELECT 1 AS a, 'x' AS b, 2 AS c, 3 AS d"
	for i := range 12 {
		mixed = fmt.Sprintf("SELECT * FROM (%s UNION ALL SELECT %d, NULL, 1.5, 'y') u%d", mixed, i, i)
	}
	many := "SELECT 0 AS a"
	for i := range 399 {
		many += fmt.Sprintf(" UNION ALL SELECT %d", i+1)
	}
	ctes := "WITH c0 AS (SELECT 1 AS a, 'x' AS b, 2 AS c, 3 AS d)"
	for i := range 10 {
		ctes += fmt.Sprintf(", c%d AS (SELECT * FROM c%d UNION ALL SELECT 1.25, 'yy', %d, NULL FROM t)", i+1, i, i)
	}
	for _, c := range []struct{ name, query, want string }{
		{"all", "SELECT COUNT(*), COUNT(c0), MAX(c3) FROM (" + manyTypes(40, "UNION ALL") + ") u", "40,32,xxxxxxx"},
		{"distinct", "SELECT COUNT(*) FROM (" + manyTypes(40, "UNION") + ") u", "40"},
		{"long", "SELECT SUM(a) FROM (" + many + ") u", "79800"},
		{"in order", many + " LIMIT 398, 5", "398 / 399"},
		{"derived", "SELECT a1, a20 FROM (" + deep + ") x", "1,20"},
		{"mixed", "SELECT COUNT(*), SUM(c) FROM (" + mixed + ") x", "13,20.0"},
		{"ctes", ctes + " SELECT COUNT(*), SUM(a) FROM c10", "21,26.00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, mode := range []string{"1", "0"} {
				if _, err := db.Exec("SET millrace_pushdown=" + mode); err != nil {
					t.Fatal(err)
				}
				if got := ask(t, db, c.query); got != c.want {
					t.Errorf("pushdown %s: got %s, want %s", mode, got, c.want)
				}
			}
		})
	}
}

func TestColumnsOfUnionsHaveTheTypeOfAllMembersInAggregatesToo(t *testing.T) {
	in := start(t, nil)
	cases{
		{"WITH c0 AS (SELECT 1 AS a), c1 AS (SELECT * FROM c0 UNION ALL SELECT 1.25) SELECT SUM(a), MAX(a), MIN(a) FROM c1", "2.25,1.25,1.00"},
		{"SELECT MAX(a), MAX(b) FROM (SELECT * FROM (SELECT 1 AS a, 'x' AS b) d UNION ALL SELECT 2.5, 'yyy' UNION ALL SELECT NULL, NULL) u", "2.5,yyy"},
		{"(SELECT 9 AS x UNION ALL SELECT 10 ORDER BY x DESC LIMIT 1) UNION ALL SELECT 'z' UNION ALL SELECT NULL", "10 / z / NULL"},
		{"SELECT b, a FROM (SELECT 1 AS a, 'b' AS b) d UNION SELECT 'c', 2.5 UNION SELECT 'd', NULL ORDER BY a DESC, b", "c,2.5 / b,1.0 / d,NULL"},
	}.check(t, in)
}

func TestPlanningEndsWithItsStatement(t *testing.T) {
	in := start(t, nil)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(sqlerr.ErrKilled)
	sctx := sql.NewContext(ctx)
	stmt, err := sqlparser.Parse("SELECT 1 + 1")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := in.s.engine.plan(sctx, stmt, "SELECT 1 + 1", nil, in.s.engine.valueOf); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
