package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestInsertWritesRecordsBuiltFromColumns(t *testing.T) {
	in := start(t, nil)
	run(t, in, "CREATE TABLE o (id BIGINT, status VARCHAR(5), amount DECIMAL(10,2) AS (_value->>'$.pay.amount'), cur VARCHAR(3) AS (_value->>'$.pay.cur'), at TIMESTAMP(3), wall DATETIME, d DATE, tm TIME, ms DATETIME(3) AS (FROM_UNIXTIME(_value->>'$.ms'/1000)), ok BOOLEAN, f DOUBLE, u BIGINT UNSIGNED, j JSON, b VARBINARY(10), e ENUM('x','y'), y YEAR)")
	db := in.open("app", "", "")
	if _, err := db.Exec("SET time_zone='+02:00'"); err != nil {
		t.Fatal(err)
	}
	res, err := db.Exec(`INSERT INTO o (_key, id, status, amount, cur, at, wall, d, tm, ms, ok, f, u, j, b, e, y) VALUES
		('k1', 1, 'new', 12.345, 'EUR', '2024-05-06 07:08:09.5', '2024-05-06 07:08:09', '2024-05-06', '-10:11:12', '2024-05-06 07:08:09.123', TRUE, 0.1, 18446744073709551615, '{"a":[1,2]}', X'00ff', 'X', 24),
		('k2', 2, DEFAULT, NULL, 'USD', NULL, NULL, NULL, NULL, NULL, 0, 1e300, 0, 'null', '', 2, 1999)`)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := res.RowsAffected(); n != 2 {
		t.Error(n)
	}
	got, err := table(t, db, "SELECT _key, _value FROM o ORDER BY _offset")
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"k1", `{"id":1,"status":"new","pay":{"amount":12.35,"cur":"EUR"},"at":"2024-05-06T05:08:09.5Z","wall":"2024-05-06T07:08:09","d":"2024-05-06","tm":"-10:11:12","ms":1714979289123,"ok":true,"f":0.1,"u":18446744073709551615,"j":{"a":[1,2]},"b":"AP8=","e":"x","y":2024}`},
		{"k2", `{"id":2,"pay":{"amount":null,"cur":"USD"},"at":null,"wall":null,"d":null,"tm":null,"ms":null,"ok":false,"f":1e300,"u":0,"j":null,"b":"","e":"y","y":1999}`},
	}
	for i := range want {
		if strings.Join(got[i], "|") != strings.Join(want[i], "|") {
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
	if got := ask(t, db, "SELECT COUNT(*) FROM `o$errors`"); got != "0" {
		t.Error(got, ask(t, db, "SELECT _error FROM `o$errors`"))
	}
	if got := ask(t, db, "SELECT id, status, amount, cur, at, wall, d, tm, ms, ok, f, u, j, hex(b), e, y FROM o WHERE id=1"); got != `1,new,12.35,EUR,2024-05-06 07:08:09.500,2024-05-06 07:08:09,2024-05-06,-10:11:12,2024-05-06 07:08:09.123,1,0.1,18446744073709551615,{"a":[1,2]},00FF,x,2024` {
		t.Error(got)
	}
}

func TestInsertOfSystemColumns(t *testing.T) {
	in := start(t, nil)
	run(t, in, "CREATE TABLE s (a INT) PARTITION BY KEY(_key) PARTITIONS 4")
	db := in.open("app", "", "")
	for _, q := range []string{
		`INSERT INTO s (_partition, _timestamp, _key, _headers, _value) VALUES (2, '2024-01-02 03:04:05.678', 'k', '{"h":"v","n":null,"j":[1]}', '{"a":7,"extra":"x"}')`,
		`INSERT INTO s (_partition, _key) VALUES (3, 'gone')`, // a tombstone
		`INSERT INTO s (_partition, _timestamp, a) VALUES (1, NULL, 1)`,
		`INSERT INTO s (_partition, _offset, _error, a) VALUES (0, DEFAULT, DEFAULT, 5)`,
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	if got := ask(t, db, "SELECT _partition, _key, _headers, _value, a FROM s ORDER BY _partition"); got != `0,NULL,{},{"a":5},5 / 1,NULL,{},{"a":1},1 / 2,k,{"h":"v","n":null,"j":"[1]"},{"a":7,"extra":"x"},7 / 3,gone,{},NULL,NULL` {
		t.Error(got)
	}
	if got := ask(t, db, "SELECT _timestamp FROM s WHERE _partition IN (1,2) ORDER BY _partition"); got != "NULL / 2024-01-02 03:04:05.678" {
		t.Error(got)
	}
}

func TestInsertRefusesWhatDoesNotFit(t *testing.T) {
	in := start(t, nil)
	run(t, in, "CREATE TABLE t (i INT, n TINYINT, u INT UNSIGNED, d DECIMAL(4,2), s VARCHAR(3), dt DATETIME, ts TIMESTAMP, j JSON, e ENUM('a'), f FLOAT, p INT AS (_value->>'$.i.x'))")
	in.topic("compacted", map[string]string{"cleanup.policy": "compact"})
	in.topic("strict", map[string]string{"millrace.on_error": "reject", "millrace.columns": "i INT"})
	in.topic("small", map[string]string{"max.message.bytes": "200"})
	db := in.open("app", "", "")
	for _, c := range []struct {
		query string
		want  int
		state string
	}{
		{"INSERT INTO t (i) VALUES ('abc')", 1366, "HY000"},
		{"INSERT INTO t (i) VALUES ('5abc')", 1265, "01000"},
		{"INSERT INTO t (i) VALUES (2147483648)", 1264, "22003"},
		{"INSERT INTO t (n) VALUES (-129)", 1264, "22003"},
		{"INSERT INTO t (u) VALUES (-1)", 1264, "22003"},
		{"INSERT INTO t (d) VALUES (99.995)", 1264, "22003"},
		{"INSERT INTO t (d) VALUES ('x')", 1366, "HY000"},
		{"INSERT INTO t (s) VALUES ('abcd')", 1406, "22001"},
		{"INSERT INTO t (s) VALUES (X'ff')", 1366, "HY000"},
		{"INSERT INTO t (dt) VALUES ('yesterday')", 1292, "22007"},
		{"INSERT INTO t (ts) VALUES ('2039-01-01')", 1292, "22007"},
		{"INSERT INTO t (j) VALUES ('{')", 3140, "22032"},
		{"INSERT INTO t (e) VALUES ('b')", 1265, "01000"},
		{"INSERT INTO t (f) VALUES (1e300)", 1264, "22003"},
		{"INSERT INTO t (_partition) VALUES (NULL)", 1048, "23000"},
		{"INSERT INTO t (_partition) VALUES (1)", 1264, "22003"},
		{"INSERT INTO t (_offset) VALUES (1)", 3105, "HY000"},
		{"INSERT INTO t (_error) VALUES ('x')", 3105, "HY000"},
		{"INSERT INTO t (_headers) VALUES ('[]')", 3140, "22032"},
		{"INSERT INTO t (_timestamp) VALUES ('x')", 1292, "22007"},
		{"INSERT INTO t (nosuch) VALUES (1)", 1054, "42S22"},
		{"INSERT INTO t (_rest) VALUES ('{}')", 1054, "42S22"},
		{"INSERT INTO t (i, I) VALUES (1, 2)", 1110, "42000"},
		{"INSERT INTO t (i, p) VALUES (1, 2)", 1110, "42000"},
		{"INSERT INTO t (i, n) VALUES (1)", 1136, "21S01"},
		{"INSERT INTO t (i) VALUES (1), (2, 3)", 1136, "21S01"},
		{"INSERT INTO t (i) SELECT 1, 2", 1136, "21S01"},
		{"INSERT INTO t (i) SELECT 1, 2 FROM t WHERE FALSE", 1136, "21S01"},
		{"INSERT INTO t (i, _value) VALUES (1, '{}')", 1221, "HY000"},
		{"INSERT INTO nosuch (i) VALUES (1)", 1146, "42S02"},
		{"INSERT INTO `t$raw` (value) VALUES (1)", 1471, "HY000"},
		{"INSERT INTO millrace.topics (name) VALUES (1)", 1142, "42000"},
		{"INSERT IGNORE INTO t (i) VALUES (1)", 1235, "42000"},
		{"INSERT INTO t (i) VALUES (1) ON DUPLICATE KEY UPDATE i=2", 1235, "42000"},
		{"REPLACE INTO t (i) VALUES (1)", 1235, "42000"},
		{"INSERT INTO compacted (_value) VALUES ('{}')", 1048, "23000"},
		{"INSERT INTO strict (_value) VALUES ('{\"i\":\"x\"}')", 1366, "HY000"},
		{"INSERT INTO small (_value) VALUES (REPEAT('x', 1000))", 1406, "22001"},
		{"INSERT INTO t (i) VALUES (1), (2), ('x')", 1366, "HY000"}, // all or none
		{"INSERT INTO t (i) SELECT 1 UNION ALL SELECT 3000000000", 1264, "22003"},
	} {
		_, err := db.Exec(c.query)
		if errNumber(err) != c.want {
			t.Errorf("%s: %v, want %d", c.query, err, c.want)
			continue
		}
		if s := sqlState(err); s != c.state {
			t.Errorf("%s: state %s, want %s", c.query, s, c.state)
		}
	}
	for _, topic := range []string{"t", "compacted", "strict", "small"} {
		if got := ask(t, db, "SELECT COUNT(*) FROM "+topic); got != "0" {
			t.Errorf("%s has %s rows", topic, got)
		}
	}
}

func TestInsertComputesExpressionsAndParameters(t *testing.T) {
	in := start(t, nil)
	run(t, in, "CREATE TABLE t (i BIGINT, s VARCHAR(50), d DECIMAL(30,10), dt DATETIME(6), j JSON)")
	db := in.open("app", "", "")
	if _, err := db.Exec("INSERT INTO t (i, s) VALUES (1+2*3, CONCAT('a', UPPER('b'))), ((SELECT 40+2), DATE_FORMAT('2024-01-02', '%Y'))"); err != nil {
		t.Fatal(err)
	}
	st, err := db.Prepare("INSERT INTO t (i, s, d, dt) VALUES (?, ?, ?, ?)")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if _, err := st.Exec(int64(9007199254740993), "ü'\\", "12345678901234567890.0123456789", time.Date(2024, 1, 2, 3, 4, 5, 678901000, time.UTC)); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Exec(nil, nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, db, "SELECT i, s, d, dt FROM t ORDER BY _offset"); got != `7,aB,NULL,NULL / 42,2024,NULL,NULL / 9007199254740993,ü'\,12345678901234567890.0123456789,2024-01-02 03:04:05.678901 / NULL,NULL,NULL,NULL` {
		t.Error(got)
	}
	if _, err := db.Exec("INSERT INTO t SET i = 5, s = 'set'"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("INSERT INTO t VALUES (DEFAULT, DEFAULT, DEFAULT, 'k', 6, 'all', 1.5, NULL, '[1]')"); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, db, "SELECT _key, i, s, d FROM t WHERE i IN (5, 6) ORDER BY i"); got != "NULL,5,set,NULL / k,6,all,1.5000000000" {
		t.Error(got)
	}
}

func TestInsertSelectCopiesTopicsExactly(t *testing.T) {
	in := start(t, nil)
	run(t, in,
		"CREATE TABLE a (i BIGINT, d DECIMAL(20,5), at TIMESTAMP(3), dt DATETIME(3), s VARCHAR(20), j JSON, e ENUM('x','y'), tm TIME(2))",
		"CREATE TABLE b LIKE a",
		"CREATE TABLE raw (i BIGINT)",
		"SET time_zone='Europe/Berlin'",
		`INSERT INTO a (_key, i, d, at, dt, s, j, e, tm) VALUES ('k', 9007199254740993, 123456789012345.12345, '2024-07-01 12:00:00.5', '2024-07-01 12:00:00', 'q"uote', '{"a":1.10}', 'y', '01:02:03.45'), (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`)
	db := in.open("app", "", "")
	if _, err := db.Exec("SET time_zone='America/New_York'"); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{
		"INSERT INTO b (_key, _timestamp, i, d, at, dt, s, j, e, tm) SELECT _key, _timestamp, i, d, at, dt, s, j, e, tm FROM a",
		"INSERT INTO raw (_key, _timestamp, _headers, _value) SELECT _key, _timestamp, _headers, _value FROM a",
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	const all = "SELECT _key, _timestamp, i, d, at, dt, s, j, e, tm FROM %s ORDER BY i"
	if a, b := ask(t, db, fmt.Sprintf(all, "a")), ask(t, db, fmt.Sprintf(all, "b")); a != b || strings.HasPrefix(a, "error") {
		t.Errorf("%s\n%s", a, b)
	}
	if a, b := ask(t, db, "SELECT _key, _timestamp, _value FROM a ORDER BY i"), ask(t, db, "SELECT _key, _timestamp, _value FROM raw ORDER BY i"); a != b {
		t.Errorf("%s\n%s", a, b)
	}
}

func TestTransactionsAreAllOrNothing(t *testing.T) {
	in := start(t, nil)
	run(t, in, "CREATE TABLE a (i INT)", "CREATE TABLE b (i INT)")
	db, other := in.open("app", "", ""), in.open("app", "", "")
	count := func() string {
		return ask(t, other, "SELECT COUNT(*) FROM a") + " " + ask(t, other, "SELECT COUNT(*) FROM b")
	}
	do := func(statements ...string) {
		t.Helper()
		for _, s := range statements {
			if _, err := db.Exec(s); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
	}
	do("BEGIN", "INSERT INTO a (i) VALUES (1)", "INSERT INTO b (i) VALUES (1), (2)", "INSERT INTO a (i) VALUES (3)")
	if got := count(); got != "0 0" {
		t.Fatal(got)
	}
	if got := ask(t, db, "SELECT COUNT(*) FROM a"); got != "2" {
		t.Error("a transaction sees its own rows before COMMIT:", got)
	}
	do("COMMIT")
	if got := count(); got != "2 2" {
		t.Fatal(got)
	}
	do("START TRANSACTION", "INSERT INTO a (i) VALUES (4)", "ROLLBACK", "COMMIT")
	if got := count(); got != "2 2" {
		t.Fatal(got)
	}
	// A refused statement leaves the transaction as it was.
	do("BEGIN", "INSERT INTO a (i) VALUES (5)")
	if _, err := db.Exec("INSERT INTO a (i) VALUES (6), ('x')"); errNumber(err) != 1366 {
		t.Fatal(err)
	}
	do("COMMIT")
	if got := count(); got != "3 2" {
		t.Fatal(got)
	}
	// DDL commits, BEGIN commits, autocommit=0 opens, autocommit=1 commits.
	do("BEGIN", "INSERT INTO a (i) VALUES (7)", "CREATE TABLE c (i INT)")
	if got := count(); got != "4 2" {
		t.Fatal(got)
	}
	do("SET autocommit=0", "INSERT INTO a (i) VALUES (8)")
	if got := count(); got != "4 2" {
		t.Fatal(got)
	}
	do("ROLLBACK", "INSERT INTO a (i) VALUES (9)", "SET autocommit=1")
	if got := count(); got != "5 2" {
		t.Fatal(got)
	}
	do("BEGIN", "SAVEPOINT s", "ROLLBACK TO SAVEPOINT s", "INSERT INTO a (i) VALUES (10)")
	if _, err := db.Exec("ROLLBACK TO SAVEPOINT s"); errNumber(err) != 1235 {
		t.Error(err)
	}
	if _, err := db.Exec("ROLLBACK TO SAVEPOINT nosuch"); errNumber(err) != 1305 {
		t.Error(err)
	}
	do("ROLLBACK", "START TRANSACTION READ ONLY")
	if _, err := db.Exec("INSERT INTO a (i) VALUES (11)"); errNumber(err) != 1792 {
		t.Error(err)
	}
	do("COMMIT")
	// The end of the connection rolls back.
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"BEGIN", "INSERT INTO a (i) VALUES (12)"} {
		if _, err := conn.ExecContext(context.Background(), q); err != nil {
			t.Fatal(err)
		}
	}
	_ = conn.Raw(func(any) error { return sql.ErrConnDone })
	_ = conn.Close()
	_ = db.Close()
	for len(in.store.OpenTransactions()) > 0 {
		time.Sleep(time.Millisecond)
	}
	if got := count(); got != "5 2" {
		t.Fatal(got)
	}
	if got := ask(t, other, "SELECT GROUP_CONCAT(i ORDER BY i) FROM a"); got != "1,3,5,7,9" {
		t.Error(got)
	}
}

func TestALargeInsertSelectIsOneTransaction(t *testing.T) {
	in := start(t, nil)
	in.topic("src", nil)
	value := `{"s":"` + strings.Repeat("x", 10_000) + `"}`
	values := make([]string, 500)
	for i := range values {
		values[i] = value
	}
	for range 3 {
		in.produce(in.id("src"), values...)
	}
	run(t, in, "CREATE TABLE dst (s LONGTEXT, n TINYINT) PARTITION BY KEY(_key) PARTITIONS 3")
	db := in.open("app", "", "")
	res, err := db.Exec("INSERT INTO dst (s) SELECT s FROM src")
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := res.RowsAffected(); n != 1500 {
		t.Error(n)
	}
	if got := ask(t, db, "SELECT COUNT(*), MIN(LENGTH(s)) FROM dst"); got != "1500,10000" {
		t.Error(got)
	}
	// The last row does not fit: what was written before does not count.
	if _, err := db.Exec("INSERT INTO dst (s, n) SELECT s, IF(_offset = 1499, 200, 1) FROM src"); errNumber(err) != 1264 {
		t.Error(err)
	}
	if got := ask(t, db, "SELECT COUNT(*) FROM dst"); got != "1500" {
		t.Error(got)
	}
	if open := in.store.OpenTransactions(); len(open) != 0 {
		t.Error(open)
	}
	// Within a transaction, a part of which cannot be taken back, all of it goes.
	for _, q := range []string{"BEGIN", "INSERT INTO dst (n) VALUES (1)"} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec("INSERT INTO dst (s, n) SELECT s, IF(_offset = 1499, 200, 1) FROM src"); errNumber(err) != 1264 || !strings.Contains(err.Error(), "rolled back") {
		t.Error(err)
	}
	if _, err := db.Exec("COMMIT"); err != nil {
		t.Error(err)
	}
	if got := ask(t, db, "SELECT COUNT(*) FROM dst"); got != "1500" {
		t.Error(got)
	}
}

func TestInsertWithoutNamesTakesTheTopicsOwnColumns(t *testing.T) {
	in := start(t, nil)
	db := in.open("app", "", "")
	run(t, in,
		"CREATE TABLE a (i INT, s VARCHAR(9))", "INSERT INTO a VALUES (1, 'x'), (2, NULL)",
		"INSERT INTO a SELECT i + 2, s FROM a", "INSERT INTO a VALUES (DEFAULT, DEFAULT, DEFAULT, 'k', 9, 'all')")
	if got := ask(t, db, "SELECT _key, i, s FROM a WHERE _offset < 5 ORDER BY _offset"); got != "NULL,1,x / NULL,2,NULL / NULL,3,x / NULL,4,NULL / k,9,all" {
		t.Error(got)
	}
	for _, q := range []string{"INSERT INTO a VALUES (1)", "INSERT INTO a VALUES (1,2,3)", "INSERT INTO a VALUES (1,'x'), (1)", "INSERT INTO a SELECT 1", "INSERT INTO a SELECT 1 FROM a WHERE FALSE", "INSERT INTO a SELECT 1,2,3,4,5,6,7,8,9 FROM a LIMIT 0"} {
		if _, err := table(t, db, q); errNumber(err) != 1136 {
			t.Errorf("%s: %v", q, err)
		}
	}
}
