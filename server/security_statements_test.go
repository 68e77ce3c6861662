package server_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"millrace/internal/testkit"
	"millrace/server"

	"github.com/go-sql-driver/mysql"
)

// S8, S9, S24: whatever a statement asks for, it ends, with an answer or one of MySQL's errors, and the server goes on.
func TestHostileStatementsEndAndTheServerGoesOn(t *testing.T) {
	s := testkit.Server(t, func(o *server.Options) { o.MySQLWire.StatementTimeout = time.Second })
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	createTopic(t, s, "t")
	db := openSQL(t, s, "root", "")
	values := strings.TrimSuffix(strings.Repeat("('{\"a\":1,\"s\":\"xxxxxxxxxxxxxxxxxxxx\"}'),", 500), ",")
	if _, err := db.ExecContext(ctx, "INSERT INTO t (_value) VALUES "+values); err != nil {
		t.Fatal(err)
	}
	deep := func(open, inner, shut string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(shut, n)
	}
	for name, statement := range map[string]string{
		"parentheses":           "SELECT " + deep("(", "1", ")", 100_000),
		"unary minus":           "SELECT " + deep("- ", "1", "", 100_000),
		"NOT":                   "SELECT " + deep("NOT ", "1", "", 100_000),
		"terms":                 "SELECT 1" + strings.Repeat("+1", 100_000),
		"AND":                   "SELECT 1 FROM t WHERE a=1" + strings.Repeat(" AND a=1", 50_000),
		"CASE":                  "SELECT " + deep("CASE WHEN 1 THEN ", "1", " END", 10_000),
		"functions":             "SELECT " + deep("ABS(", "1", ")", 10_000),
		"subqueries":            "SELECT " + deep("(SELECT ", "1", ")", 5_000),
		"derived tables":        "SELECT * FROM " + deep("(SELECT * FROM ", "t", ") d", 500),
		"unions":                "SELECT 1" + strings.Repeat(" UNION ALL SELECT 1", 5_000),
		"columns":               "SELECT 1" + strings.Repeat(",1", 100_000),
		"IN":                    "SELECT 1 FROM t WHERE a IN (1" + strings.Repeat(",1", 100_000) + ")",
		"long text":             "SELECT '" + strings.Repeat("x", 2<<20) + "'",
		"long name":             "SELECT `" + strings.Repeat("x", 100_000) + "`",
		"comment":               "SELECT /* " + strings.Repeat("* ", 100_000) + "*/ 1",
		"open comment":          "SELECT 1 /* " + strings.Repeat("x", 100_000),
		"open quote":            "SELECT '" + strings.Repeat("''", 100_000),
		"common tables":         "WITH a0 AS (SELECT 1 x)" + chain(2_000) + " SELECT * FROM a2000",
		"doubling tables":       "WITH a0 AS (SELECT 1 x)" + doubling(40) + " SELECT COUNT(*) FROM a40",
		"endless recursion":     "WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) FROM r",
		"endless wide":          "WITH RECURSIVE r AS (SELECT REPEAT('x', 1000000) n UNION ALL SELECT CONCAT(n, 'x') FROM r) SELECT MAX(LENGTH(n)) FROM r",
		"cross join":            "SELECT COUNT(*) FROM t a, t b, t c, t d WHERE a._offset + b._offset + c._offset + d._offset = -1",
		"cross join sorted":     "SELECT a.s FROM t a, t b, t c ORDER BY a._offset * b._offset * c._offset, CONCAT(a.s, b.s) LIMIT 1",
		"cross join grouped":    "SELECT COUNT(*) FROM (SELECT DISTINCT a._offset x, b._offset y, c._offset z FROM t a, t b, t c) d",
		"joins":                 "SELECT 1 FROM t a" + strings.Repeat(" JOIN t", 200),
		"GROUP_CONCAT":          "SET SESSION group_concat_max_len = 4294967295 ;; SELECT LENGTH(GROUP_CONCAT(a._value)) FROM t a, t b, t c",
		"REPEAT":                "SELECT LENGTH(REPEAT('x', 4000000000))",
		"nested REPEAT":         "SELECT LENGTH(REPEAT(REPEAT(REPEAT('x', 10000), 10000), 10000))",
		"REPLACE":               "SELECT LENGTH(REPLACE(REPEAT('x', 10000000), 'x', REPEAT('y', 10000)))",
		"LPAD":                  "SELECT LENGTH(LPAD('x', 4000000000, 'y'))",
		"SPACE":                 "SELECT LENGTH(SPACE(4000000000))",
		"JSON":                  "SELECT JSON_LENGTH('" + deep("[", "1", "]", 100_000) + "')",
		"JSON_TABLE":            "SELECT COUNT(*) FROM JSON_TABLE('[" + strings.Repeat("1,", 100_000) + "1]', '$[*]' COLUMNS (a INT PATH '$')) j",
		"JSON_TABLE joined":     "SELECT COUNT(*) FROM JSON_TABLE('[" + strings.Repeat("1,", 100_000) + "1]', '$[*]' COLUMNS (a INT PATH '$')) j, t a, t b",
		"recursion joined":      "WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 900) SELECT COUNT(*) FROM r, t a, t b, t c WHERE r.n + a._offset + b._offset + c._offset = -1",
		"SLEEP":                 "SELECT SLEEP(1000)",
		"SLEEP in rows":         "SELECT SLEEP(1) FROM t",
		"BENCHMARK":             "SELECT BENCHMARK(1000000000000, SHA2('x', 512))",
		"GET_LOCK":              "SELECT GET_LOCK('" + strings.Repeat("x", 100_000) + "', 1)",
		"pattern":               "SELECT REPEAT('a', 1000000) REGEXP '^(a+)+(a+)+(a+)+b$'",
		"pattern of a pattern":  "SELECT 'a' REGEXP '((((a{100}){100}){100}){100})'",
		"LIKE":                  "SELECT REPEAT('a', 100000) LIKE '" + strings.Repeat("%a", 10_000) + "%b'",
		"DECIMAL":               "SELECT " + strings.Repeat("9", 60_000) + " * " + strings.Repeat("9", 60_000),
		"power":                 "SELECT POW(10, 1e300), EXP(1e300), 1e308 * 10",
		"windows":               "SELECT SUM(a._offset) OVER (PARTITION BY a.s ORDER BY b._offset, c._offset) FROM t a, t b, t c LIMIT 1",
		"HOP":                   "SELECT COUNT(*) FROM HOP(t, _timestamp, INTERVAL 10 YEAR, INTERVAL 1 MICROSECOND)",
		"FORMAT":                "SELECT LENGTH(FORMAT(1e300, 1000000000))",
		"MAKE_SET and friends":  "SELECT LENGTH(INSERT(REPEAT('a', 1000000), 1, 1, REPEAT('b', 10000000))), CHAR_LENGTH(CONCAT_WS(REPEAT('x', 1000000), 'a', 'b', 'c'))",
		"variables":             "SET @a = REPEAT('x', 10000000) ;; SET @b = CONCAT(@a, @a) ;; SET @c = CONCAT(@b, @b)",
		"a prepared text":       "SET @a = CONCAT('SELECT ', REPEAT('(', 100000), '1', REPEAT(')', 100000)) ;; PREPARE p FROM @a",
		"GRANT":                 "GRANT " + strings.Repeat("SELECT, ", 100_000) + "SELECT ON kafka.t TO nobody",
		"CREATE TABLE":          "CREATE TABLE wide (a0 INT" + manyColumns(5_000) + ")",
		"EXPLAIN of everything": "EXPLAIN FORMAT=JSON SELECT 1" + strings.Repeat(" UNION SELECT 1", 2_000),
	} {
		conn, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(name, err)
		}
		began := time.Now()
		_, err = runStatements(ctx, conn, statement)
		var e *mysql.MySQLError
		if err != nil && (!errors.As(err, &e) || e.Number == 1815) {
			t.Errorf("%s: %.300v", name, err)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s took %s", name, took)
		}
		_ = conn.Close()
	}
	var n int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM t").Scan(&n); err != nil || n != 500 {
		t.Fatal(n, err)
	}
}

func chain(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ", a%d AS (SELECT * FROM a%d)", i+1, i)
	}
	return b.String()
}

// doubling is tables of which each has twice the rows of the one before.
func doubling(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ", a%d AS (SELECT * FROM a%d UNION ALL SELECT * FROM a%d)", i+1, i, i)
	}
	return b.String()
}

func manyColumns(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ", a%d INT", i+1)
	}
	return b.String()
}
