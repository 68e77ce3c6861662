package mysql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"
)

func TestErrorNumbersAreMySQLs(t *testing.T) {
	in := start(t, nil)
	in.topic("orders", nil, `{"x":1,"s":"a"}`)
	db := in.open("app", "", "multiStatements=true")
	for _, c := range []struct {
		query string
		want  int
		state string
	}{
		{"SELEC 1", 1064, "42000"},
		{"", 1065, "42000"},
		{"-- nothing", 1065, "42000"},
		{"SELECT nosuch FROM orders", 1054, "42S22"},
		{"SELECT o.nosuch FROM orders o", 1054, "42S22"},
		{"SELECT x, s FROM orders GROUP BY x", 1055, "42000"},
		{"SELECT * FROM nosuch", 1146, "42S02"},
		{"SELECT * FROM nodb.t", 1049, "42000"},
		{"USE nodb", 1049, "42000"},
		{"SELECT nosuch(1)", 1305, "42000"},
		{"SELECT FIRST(x) FROM orders", 1305, "42000"},
		{"CALL millrace.nosuch()", 1305, "42000"},
		{"DROP TABLE `#T_1_Connect`", 1051, "42S02"},
		{"SELECT x FROM orders a JOIN orders b", 1052, "23000"},
		{"SELECT 1 FROM orders a, orders a", 1066, "42000"},
		{"SELECT @@nosuch", 1193, "HY000"},
		{"SET nosuch=1", 1193, "HY000"},
		{"SET @@version='x'", 1238, "HY000"},
		{"SET time_zone='Mars'", 1298, "HY000"},
		{"SET time_zone='Europe/Berlin'", 0, ""},
		{"SET @@session.nosuch=1", 1193, "HY000"},
		{"SET millrace_pushdown=maybe", 1231, "42000"},
		{"SELECT (SELECT 1 UNION SELECT 2)", 1242, "21000"},
		{"SELECT 1 UNION SELECT 1, 2", 1222, "21000"},
		{"SELECT JSON_EXTRACT('{', '$.a')", 3141, "22032"},
		{"SELECT JSON_EXTRACT('{}', 'a')", 3143, "42000"},
		{"SELECT REGEXP_LIKE('a', '(')", 3688, "HY000"},
		{"SELECT 'a' REGEXP '(?=a)'", 3690, "HY000"},
		{"KILL 4000000000", 1094, "HY000"},
		{"EXECUTE nosuch", 1243, "HY000"},
		{"UPDATE orders SET x=1", 1235, "42000"},
		{"DELETE FROM orders WHERE x=1", 1235, "42000"},
		{"INSERT INTO orders VALUES (1)", 1136, "21S01"},
		{"CREATE TABLE orders (a INT)", 1050, "42S01"},
		{"SELECT * FROM orders a NATURAL JOIN orders b", 1235, "42000"},
		{"DROP TABLE nosuch", 1051, "42S02"},
		{"DROP TABLE IF EXISTS nosuch", 0, ""},
		{"SELECT 1; SELECT 2", 0, ""},
	} {
		_, err := table(t, db, c.query)
		if got := errNumber(err); got != c.want {
			t.Errorf("%s: %d (%v), want %d", c.query, got, err, c.want)
			continue
		}
		if e := new(driver.MySQLError); err != nil && asMySQL(err, &e) && string(e.SQLState[:]) != c.state {
			t.Errorf("%s: state %s, want %s", c.query, e.SQLState, c.state)
		}
	}
	// After an error in the middle the rest is dropped and the connection keeps its step.
	if _, err := db.Exec("SELECT 1; SELECT nosuch(); SELECT 3"); err == nil {
		r, err := db.Query("SELECT 1; SELECT nosuch(); SELECT 3")
		if err != nil {
			t.Fatal(err)
		}
		for r.NextResultSet() {
		}
		if errNumber(r.Err()) != 1305 {
			t.Error(r.Err())
		}
		_ = r.Close()
	}
	if got := ask(t, db, "SELECT 42"); got != "42" {
		t.Errorf("out of step: %s", got)
	}
}

func TestEveryStatementOfSeveralAnswers(t *testing.T) {
	in := start(t, nil)
	db := in.open("app", "", "multiStatements=true")
	r, err := db.Query("SELECT 1; SET @a=2; SELECT @a; ; SELECT 'x;y'; -- end\n")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []string
	for {
		for r.Next() {
			var s string
			if err := r.Scan(&s); err != nil {
				t.Fatal(err)
			}
			got = append(got, s)
		}
		if !r.NextResultSet() {
			break
		}
	}
	if r.Err() != nil || strings.Join(got, " ") != "1 2 x;y" {
		t.Fatalf("%q %v", got, r.Err())
	}
	plain := in.open("app", "", "")
	if _, err := table(t, plain, "SELECT 1; SELECT 2"); errNumber(err) != 1064 {
		t.Errorf("several statements without the capability: %v", err)
	}
}

func TestStatementsAreBoundedInTime(t *testing.T) { // C35
	in := start(t, func(o *Options) { o.StatementTimeout = 20 * time.Second })
	values := make([]string, 2000)
	for i := range values {
		values[i] = fmt.Sprintf(`{"i":%d}`, i)
	}
	in.topic("c35", nil, `{"i":0}`)
	in.produce(in.id("c35"), values...)
	const forever = "SELECT COUNT(*) FROM c35 a,c35 b,c35 c WHERE a.i+b.i+c.i=-1"

	t.Run("max_execution_time", func(t *testing.T) {
		db := in.open("app", "", "")
		if _, err := db.Exec("SET SESSION max_execution_time=300"); err != nil {
			t.Fatal(err)
		}
		if _, err := table(t, db, forever); errNumber(err) != 3024 || !strings.Contains(err.Error(), "max_execution_time") {
			t.Error(err)
		}
		if _, err := table(t, in.open("app", "", ""), "SELECT /*+ MAX_EXECUTION_TIME(300) */ COUNT(*) FROM c35 a,c35 b,c35 c WHERE a.i+b.i+c.i=-1"); errNumber(err) != 3024 {
			t.Error("hint:", err)
		}
		if _, err := table(t, db, "SELECT SLEEP(10)"); errNumber(err) != 3024 {
			t.Error("sleep:", err)
		}
	})
	t.Run("KILL QUERY", func(t *testing.T) {
		victim := in.open("app", "", "")
		id := ask(t, victim, "SELECT CONNECTION_ID()")
		done := make(chan error, 1)
		go func() {
			_, err := table(t, victim, forever)
			done <- err
		}()
		other := in.open("app", "", "")
		for !strings.Contains(ask(t, other, "SELECT INFO FROM information_schema.processlist WHERE ID="+id), "a.i+b.i") {
			time.Sleep(5 * time.Millisecond)
		}
		if _, err := other.Exec("KILL QUERY " + id); err != nil {
			t.Fatal(err)
		}
		if err := <-done; errNumber(err) != 1317 {
			t.Error(err)
		}
		if got := ask(t, victim, "SELECT 1"); got != "1" {
			t.Errorf("after KILL QUERY: %s", got)
		}
	})
	t.Run("KILL CONNECTION", func(t *testing.T) {
		victim := in.open("app", "", "")
		id := ask(t, victim, "SELECT CONNECTION_ID()")
		other := in.open("app", "", "")
		if _, err := other.Exec("KILL " + id); err != nil {
			t.Fatal(err)
		}
		for strings.Contains(" / "+ask(t, other, "SELECT ID FROM information_schema.processlist")+" / ", " / "+id+" / ") {
			time.Sleep(5 * time.Millisecond)
		}
	})
	t.Run("client death", func(t *testing.T) {
		db := in.open("app", "", "")
		ctx, cancel := context.WithCancel(context.Background())
		conn, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var id string
		if err := conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = conn.QueryContext(ctx, forever)
		}()
		other := in.open("app", "", "")
		for !strings.Contains(ask(t, other, "SELECT INFO FROM information_schema.processlist WHERE ID="+id), "a.i+b.i") {
			time.Sleep(5 * time.Millisecond)
		}
		cancel() // the driver closes its socket
		<-done
		for ask(t, other, "SELECT ID FROM information_schema.processlist WHERE ID="+id) != "" {
			time.Sleep(5 * time.Millisecond)
		}
	})
	t.Run("long expressions", func(t *testing.T) {
		db := in.open("app", "", "")
		start := time.Now()
		_, err := table(t, db, "SELECT 1"+strings.Repeat("+1", 4999))
		if errNumber(err) != 1436 {
			t.Error(err)
		}
		_, err = table(t, db, "SELECT 1 WHERE 1=1"+strings.Repeat(" OR 1=2", 500))
		if err != nil {
			t.Error(err)
		}
		if got := ask(t, db, "SELECT 5 IN (0"+strings.Repeat(",1", 20000)+")"); got != "0" {
			t.Error(got)
		}
		_, err = table(t, db, "SELECT '"+strings.Repeat("x", 2<<20)+"'")
		if errNumber(err) != 1153 {
			t.Error(err)
		}
		t.Log("took", time.Since(start))
	})
}

func TestRegularExpressionsTakeLinearTime(t *testing.T) { // C36
	in := start(t, nil)
	in.topic("r", nil, `{"s":"Straße 12"}`, `{"s":"abc"}`)
	cases{
		{"SELECT REGEXP_LIKE(CONCAT(REPEAT('a',28),'!'),'^(a+)+$')", "0"},
		{"SELECT CONCAT(REPEAT('a',28),'!') REGEXP '^(a+)+$'", "0"},
		{"SELECT s FROM r WHERE s REGEXP '^[a-c]+$'", "abc"},
		{"SELECT s FROM r WHERE s NOT REGEXP '^[a-c]+$'", "Straße 12"},
		{"SELECT s RLIKE 'ABC', REGEXP_LIKE(s,'ABC','i') FROM r ORDER BY _offset", "0,0 / 0,1"},
		{"SELECT REGEXP_SUBSTR('abc def ghi','[a-z]+',1,3), REGEXP_SUBSTR('abc','x')", "ghi,NULL"},
		{"SELECT REGEXP_SUBSTR('abc def ghi','[a-z]+',2,2), REGEXP_SUBSTR('abc def','[a-z]+',2)", "def,bc"},
		{"SELECT REGEXP_INSTR('Straße 12','[0-9]+'), REGEXP_INSTR('dog cat dog','dog',2), REGEXP_INSTR('a','b')", "8,9,0"},
		{"SELECT REGEXP_REPLACE('a b c','(\\\\w) (\\\\w)','$2-$1'), REGEXP_REPLACE('abc abc','b','X',1,2)", "b-a c,abc aXc"},
		{"SELECT REGEXP_LIKE(NULL,'a'), 'a' REGEXP NULL", "NULL,NULL"},
		{"SELECT LENGTH(REPEAT('a',200000000)), LENGTH(REPEAT('a',1000))", "NULL,1000"},
	}.check(t, in)
}

func TestToolsFirstQueriesSucceed(t *testing.T) { // C38, C39
	in := start(t, nil)
	in.topic("c39", nil, `{"x":1}`)
	db := in.open("app", "", "")
	for _, q := range []string{
		"SET NAMES utf8mb4", "SET character_set_results=NULL", "SET SQL_AUTO_IS_NULL=0", "SET @@sql_select_limit=DEFAULT",
		"SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci", "SET autocommit=1", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
		"SET SESSION TRANSACTION READ ONLY", "SET sql_mode='STRICT_TRANS_TABLES'", "SET time_zone='+02:00'", "SET net_write_timeout=600",
		"SET sql_mode=CONCAT(@@sql_mode,',STRICT_TRANS_TABLES')",
		"SELECT CONNECTION_ID()", "SELECT @@session.auto_increment_increment AS auto_increment_increment, @@character_set_client AS character_set_client, @@character_set_connection AS character_set_connection, @@character_set_results AS character_set_results, @@character_set_server AS character_set_server, @@collation_server AS collation_server, @@collation_connection AS collation_connection, @@init_connect AS init_connect, @@interactive_timeout AS interactive_timeout, @@license AS license, @@lower_case_table_names AS lower_case_table_names, @@max_allowed_packet AS max_allowed_packet, @@net_write_timeout AS net_write_timeout, @@performance_schema AS performance_schema, @@sql_mode AS sql_mode, @@system_time_zone AS system_time_zone, @@time_zone AS time_zone, @@transaction_isolation AS transaction_isolation, @@wait_timeout AS wait_timeout",
		"SELECT @@tx_isolation", "SELECT @@transaction_read_only", "SELECT @@version_comment LIMIT 1", "SELECT DATABASE(), USER(), CURRENT_USER(), SESSION_USER()",
		"SELECT table_name,column_name FROM information_schema.columns WHERE data_type='enum' AND table_schema='kafka'",
		"SELECT * FROM information_schema.key_column_usage WHERE table_schema='kafka'",
		"SHOW KEYS FROM c39", "SHOW INDEX FROM c39", "SHOW TABLE STATUS LIKE 'c39'", "SHOW FULL COLUMNS FROM c39", "SHOW COLUMNS FROM c39 LIKE 'x'",
		"SHOW FULL TABLES", "SHOW FULL TABLES FROM kafka", "SHOW TABLES LIKE 'c39'", "SHOW DATABASES", "SHOW SCHEMAS",
		"SHOW VARIABLES", "SHOW SESSION VARIABLES LIKE 'lower_case_table_names'", "SHOW GLOBAL STATUS", "SHOW STATUS LIKE 'Ssl_cipher'",
		"SHOW WARNINGS", "SHOW ERRORS", "SHOW COUNT(*) WARNINGS", "SHOW ENGINES", "SHOW STORAGE ENGINES", "SHOW COLLATION", "SHOW CHARACTER SET", "SHOW PLUGINS",
		"SHOW CREATE TABLE c39", "SHOW CREATE DATABASE kafka", "SHOW TRIGGERS", "SHOW EVENTS", "SHOW PROCEDURE STATUS", "SHOW FUNCTION STATUS",
		"SHOW PROCESSLIST", "SHOW FULL PROCESSLIST", "SHOW GRANTS", "SHOW PRIVILEGES", "SHOW OPEN TABLES", "SHOW ENGINE INNODB STATUS", "SHOW PROFILES",
		"DESCRIBE c39", "DESC c39 x", "EXPLAIN c39", "EXPLAIN SELECT * FROM c39", "EXPLAIN FORMAT=JSON SELECT * FROM c39", "EXPLAIN FORMAT=TREE SELECT * FROM c39", "EXPLAIN ANALYZE SELECT * FROM c39",
		"USE kafka", "USE information_schema", "USE mysql", "USE performance_schema", "USE millrace", "USE kafka", "DO 1", "BEGIN", "START TRANSACTION READ ONLY", "COMMIT", "ROLLBACK", "LOCK TABLES c39 READ", "UNLOCK TABLES",
		"SELECT TABLE_NAME, TABLE_COMMENT, TABLE_TYPE, TABLE_SCHEMA FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'kafka'",
		"SELECT * FROM information_schema.statistics WHERE table_schema='kafka'", "SELECT * FROM information_schema.schemata",
		"SELECT * FROM information_schema.routines", "SELECT * FROM information_schema.referential_constraints", "SELECT * FROM information_schema.table_constraints WHERE table_schema='kafka'",
		"SELECT CASE WHEN IS_NULLABLE COLLATE utf8mb4_0900_bin = 'NO' THEN 0 ELSE 1 END, IF (EXTRA COLLATE utf8mb4_0900_bin LIKE '%auto_increment%','YES','NO') FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = 'kafka'",
		"SELECT MAKEDATE(2026,32), SEC_TO_TIME(3661), UTC_TIME()", "SELECT NOW(), CURDATE(), UNIX_TIMESTAMP()",
	} {
		if _, err := table(t, db, q); err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
	if got := ask(t, db, "SELECT TABLE_NAME, CASE WHEN TABLE_TYPE='BASE TABLE' THEN 'TABLE' ELSE TABLE_TYPE END AS TABLE_TYPE FROM information_schema.tables WHERE TABLE_SCHEMA='kafka' HAVING TABLE_TYPE IN ('TABLE','VIEW') ORDER BY 2,1"); got != "c39,TABLE" {
		t.Error(got)
	}
	if got := ask(t, db, "SHOW KEYS FROM c39"); !strings.Contains(got, "PRIMARY,1,_partition") {
		t.Error(got)
	}
	t.Log(ask(t, db, "SHOW FULL COLUMNS FROM c39"))
	t.Log(ask(t, db, "SHOW CREATE TABLE c39"))
	t.Log(ask(t, db, "EXPLAIN SELECT * FROM c39 WHERE _partition=0 AND _offset>3"))
	if _, err := db.Exec("SELECT nosuch()"); errNumber(err) != 1305 {
		t.Error(err)
	}
	if got := ask(t, db, "SHOW WARNINGS"); !strings.HasPrefix(got, "Error,1305,") {
		t.Error(got)
	}
}

func TestPreparedStatementsKeepTypes(t *testing.T) { // C33
	in := start(t, nil)
	in.topic("p", map[string]string{"millrace.columns": "d DECIMAL(10,2), t DATETIME(6), ti TIME(3), dt DATE, f DOUBLE, u BIGINT UNSIGNED, b BOOLEAN, s VARCHAR(20), j JSON"},
		`{"d":"1.10","t":"2026-08-12 01:02:03.000456","ti":"-100:01:02.5","dt":"2026-02-28","f":1.5,"u":18446744073709551615,"b":true,"s":"ä","j":[1, 2.50]}`,
		`{}`)
	db := in.open("app", "", "")
	const want = "1.10,2026-08-12 01:02:03.000456,-100:01:02.500000,2026-02-28,1.5,18446744073709551615,1,ä,[1, 2.50]"
	const nulls = "NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL"
	const q = "SELECT d,t,ti,dt,f,u,b,s,j FROM p WHERE _offset = ?"
	if got := ask(t, db, strings.Replace(q, "?", "0", 1)); got != want {
		t.Errorf("text\n got %s\nwant %s", got, want)
	}
	for offset, w := range []string{want, nulls} {
		if got := ask(t, db, q, offset); got != w {
			t.Errorf("prepared\n got %s\nwant %s", got, w)
		}
	}
	for _, c := range []struct {
		arg  any
		want string
	}{
		{int64(-5), "-5"},
		{uint64(18446744073709551615), "18446744073709551615"},
		{1.25, "1.25"},
		{"a'b", "a'b"},
		{nil, "NULL"},
		{true, "1"},
		{[]byte("x"), "x"},
		{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "2026-01-02 03:04:05"},
	} {
		if got := ask(t, db, "SELECT ?", c.arg); got != c.want {
			t.Errorf("%v: %s, want %s", c.arg, got, c.want)
		}
	}
	for _, c := range []struct {
		query string
		args  []any
		want  string
	}{
		{"SELECT COUNT(*) FROM p WHERE s = ?", []any{"ä"}, "1"},
		{"SELECT COUNT(*) FROM p WHERE d = ?", []any{"1.1"}, "1"},
		{"SELECT COUNT(*) FROM p WHERE u = ?", []any{uint64(18446744073709551615)}, "1"},
		{"SELECT COUNT(*) FROM p WHERE t < ?", []any{time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}, "1"},
		{"SELECT s FROM p WHERE _offset IN (?,?) ORDER BY _offset LIMIT ?", []any{0, 1, 1}, "ä"},
		{"SELECT ? + ?", []any{1, 2}, "3"},
		{"SELECT s FROM p WHERE s LIKE ? AND _value->>'$.s' = ?", []any{"%", "ä"}, "ä"},
	} {
		if got := ask(t, db, c.query, c.args...); got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
	for _, q := range []string{"PREPARE s FROM 'SELECT ?'", "SET @a=CAST(123.45 AS DECIMAL(5,2))"} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(q, err)
		}
	}
	if got := ask(t, db, "EXECUTE s USING @a"); got != "123.45" {
		t.Error(got)
	}
	if _, err := db.Exec("DEALLOCATE PREPARE s"); err != nil {
		t.Error(err)
	}
}

func TestAColumnThatCameWithTheLastRecordCanBeNamed(t *testing.T) {
	in := start(t, nil)
	in.topic("fresh", nil, `{"a":1}`)
	db := in.open("app", "", "")
	st, err := db.Prepare("SELECT * FROM fresh ORDER BY _offset DESC LIMIT 1")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		col := fmt.Sprintf("c%d", i)
		in.produce(in.id("fresh"), fmt.Sprintf(`{"%s":%d}`, col, i))
		if got := ask(t, db, "SELECT "+col+" FROM fresh WHERE "+col+" IS NOT NULL"); got != fmt.Sprint(i) {
			t.Fatalf("%s: %s", col, got)
		}
		if got := askPrepared(t, st); !strings.HasSuffix(got, fmt.Sprintf(",%d", i)) {
			t.Fatalf("prepared before %s came: %s", col, got)
		}
	}
}

func TestDeleteAndTruncateMoveTheLogStart(t *testing.T) {
	in := start(t, nil)
	in.topic("d", nil, `{"x":0}`, `{"x":1}`, `{"x":2}`, `{"x":3}`)
	db := in.open("app", "", "")
	r, err := db.Exec("DELETE FROM d WHERE _partition=0 AND _offset<2")
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := r.RowsAffected(); n != 2 {
		t.Errorf("%d rows", n)
	}
	if got := ask(t, db, "SELECT x FROM d ORDER BY _offset"); got != "2 / 3" {
		t.Error(got)
	}
	if _, err := db.Exec("TRUNCATE TABLE d"); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, db, "SELECT COUNT(*) FROM d"); got != "0" {
		t.Error(got)
	}
}

func asMySQL(err error, e **driver.MySQLError) bool {
	return errors.As(err, e)
}

func TestCloseEndsWhatRuns(t *testing.T) {
	in := start(t, nil)
	busy := in.open("app", "", "")
	idle := in.open("app", "", "")
	if err := idle.Ping(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := table(t, busy, "SELECT SLEEP(60)")
		done <- err
	}()
	other := in.open("app", "", "")
	for ask(t, other, "SELECT ID FROM information_schema.processlist WHERE INFO LIKE 'SELECT SLEEP%'") == "" {
		time.Sleep(5 * time.Millisecond)
	}
	if err := in.s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; errNumber(err) != 1053 {
		t.Error(err)
	}
}

func TestEveryTableOfInformationSchemaAnswers(t *testing.T) {
	in := start(t, nil)
	in.topic("a", nil, `{"x":1}`)
	db := in.open("app", "", "")
	names, err := table(t, db, "SELECT table_name FROM information_schema.tables WHERE table_schema='information_schema'")
	if err != nil || len(names) < 50 {
		t.Fatal(len(names), err)
	}
	for _, n := range names {
		if _, err := table(t, db, "SELECT * FROM information_schema."+n[0]); err != nil {
			t.Errorf("%s: %v", n[0], err)
		}
	}
}

func TestWarningsAreShownOnce(t *testing.T) { // C37
	in := start(t, nil)
	db := in.open("app", "", "")
	if got := ask(t, db, "SELECT CAST('2020-01-01 a' AS DATETIME)"); got != "2020-01-01 00:00:00" {
		t.Error(got)
	}
	for range 2 {
		if got := ask(t, db, "SHOW WARNINGS"); got != "Warning,1292,Truncated incorrect datetime value: '2020-01-01 a'" {
			t.Error(got)
		}
	}
	if got := ask(t, db, "SHOW COUNT(*) WARNINGS"); got != "1" {
		t.Error(got)
	}
	if got := ask(t, db, "SELECT 1"); got != "1" {
		t.Error(got)
	}
	if got := ask(t, db, "SHOW WARNINGS"); got != "" {
		t.Error(got)
	}
}

func TestTextIsSentInTheCharacterSetAskedFor(t *testing.T) {
	in := start(t, nil)
	db := in.open("app", "", "")
	if got := ask(t, db, "SELECT 'ä'"); got != "ä" {
		t.Errorf("%q", got)
	}
	if _, err := db.Exec("SET character_set_results=latin1"); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, db, "SELECT 'ä'"); got != "\xe4" {
		t.Errorf("%q", got)
	}
}

func TestAZoneThatDoesNotExistLeavesTheSessionsZone(t *testing.T) {
	in := start(t, nil)
	db := in.open("app", "", "")
	execAll(t, db, "SET time_zone = '+02:00'")
	if _, err := db.Exec("SET time_zone = 'Mars'"); errNumber(err) != 1298 {
		t.Error(err)
	}
	if got := ask(t, db, "SELECT @@time_zone, TIMESTAMPDIFF(HOUR, UTC_TIMESTAMP(), NOW())"); got != "+02:00,2" {
		t.Error(got)
	}
}
