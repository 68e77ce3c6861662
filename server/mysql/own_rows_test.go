package mysql

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"millrace/catalog/sqltable"
	colset "millrace/scan/columns"

	"github.com/prometheus/client_golang/prometheus"
)

// execAll carries statements out on one connection.
func execAll(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// TestATransactionSeesItsOwnRowsInEveryKindOfQuery asks each question inside a transaction, and again after COMMIT: the answers
// must be the same, with pushdown and without, and nobody else sees the rows before.
func TestATransactionSeesItsOwnRowsInEveryKindOfQuery(t *testing.T) {
	in := start(t, nil)
	run(t, in,
		"CREATE TABLE o (id BIGINT, status VARCHAR(10), amount DECIMAL(10,2), at TIMESTAMP(3)) PARTITION BY KEY(_key) PARTITIONS 3",
		"CREATE TABLE names (status VARCHAR(10), name VARCHAR(20))",
		"INSERT INTO names (status, name) VALUES ('new', 'fresh'), ('paid', 'done')",
		"CREATE VIEW paid AS SELECT id, amount FROM o WHERE status = 'paid'",
	)
	db, other := in.open("app", "", ""), in.open("app", "", "")
	var committed []string
	for i := range 3000 {
		committed = append(committed, fmt.Sprintf("('k%d', %d, '%s', %d.25, '2024-01-01 00:%02d:00')", i%50, i, []string{"new", "paid"}[i%2], i%100, i%60))
	}
	run(t, in, "INSERT INTO o (_key, id, status, amount, at) VALUES "+strings.Join(committed, ","))
	queries := []string{
		"SELECT COUNT(*) FROM o",
		"SELECT COUNT(*) FROM o WHERE _partition = 1",
		"SELECT COUNT(*), MIN(_offset), MAX(_offset) FROM o",
		"SELECT _partition, COUNT(*), MAX(_offset) FROM o GROUP BY _partition ORDER BY _partition",
		"SELECT MIN(id), MAX(id), SUM(amount), AVG(amount), COUNT(DISTINCT _key), COUNT(at) FROM o",
		"SELECT MAX(_timestamp) > NOW() - INTERVAL 1 HOUR, COUNT(_timestamp) FROM o",
		"SELECT status, COUNT(*), SUM(amount) FROM o GROUP BY status ORDER BY status",
		"SELECT id FROM o WHERE id > 2990 AND status = 'paid' ORDER BY id",
		"SELECT id, _partition, _offset, _key FROM o WHERE id IN (1, 10001, 10002) ORDER BY id",
		"SELECT id FROM o ORDER BY id DESC LIMIT 3",
		"SELECT _offset, id FROM o WHERE _partition = 0 ORDER BY _offset DESC LIMIT 4",
		"SELECT id, _value, _headers, _error FROM o WHERE id > 10000 ORDER BY id",
		"SELECT n.name, COUNT(*) FROM o JOIN names n ON o.status = n.status GROUP BY n.name ORDER BY n.name",
		"SELECT o.id, n.name FROM o LEFT JOIN names n USING (status) WHERE o.id > 9999 ORDER BY o.id",
		"SELECT COUNT(*) FROM o a JOIN o b ON a.id = b.id",
		"SELECT id FROM o WHERE amount = (SELECT MAX(amount) FROM o) ORDER BY id",
		"SELECT id FROM o WHERE id IN (SELECT MAX(id) FROM o GROUP BY status) ORDER BY id",
		"SELECT COUNT(*), SUM(amount) FROM paid",
		"WITH x AS (SELECT status, id FROM o WHERE id >= 10000) SELECT status, COUNT(*) FROM x GROUP BY status ORDER BY status",
		"SELECT id FROM o WHERE id > 10000 UNION ALL SELECT COUNT(*) FROM names ORDER BY 1",
		"SELECT id, SUM(amount) OVER (ORDER BY id) FROM o WHERE id > 10000 ORDER BY id",
		"SELECT COUNT(*), COUNT(DISTINCT status) FROM `o$latest`",
		"SELECT _key, id FROM `o$latest` WHERE _key IN ('k1', 'own') ORDER BY _key",
		"SELECT COUNT(*), COUNT(producer_id), SUM(LENGTH(value)) FROM `o$raw`",
		"SELECT COUNT(*) FROM `o$errors`",
		"SELECT COUNT(*), SUM(amount) FROM o AS OF TIMESTAMP '2037-01-01 00:00:00'",
		"SELECT DISTINCT status FROM o ORDER BY status",
		"SELECT DATE_FORMAT(at, '%H:%i'), COUNT(*) FROM o GROUP BY 1 ORDER BY 1 LIMIT 5",
	}
	shapes := []string{"SET millrace_pushdown=1", "SET millrace_pushdown=0"}
	ask3 := func(shape, q string) (own, others string) {
		execAll(t, db, shape)
		execAll(t, other, shape)
		return ask(t, db, q), ask(t, other, q)
	}
	before := map[string]string{}
	for _, q := range queries {
		before[q] = ask(t, other, q)
		if own := ask(t, db, q); own != before[q] {
			t.Fatalf("%s: sessions differ before: %s, %s", q, own, before[q])
		}
	}
	execAll(t, db, "BEGIN",
		"INSERT INTO o (_key, id, status, amount, at) VALUES ('own', 10000, 'paid', 500, '2024-01-02 01:02:03'), ('k1', 10001, 'sent', 0.01, NULL), (NULL, 10002, 'new', -7, '2020-01-01')",
	)
	// Others write meanwhile, before, between and behind the rows of the transaction.
	execAll(t, other, "INSERT INTO o (_key, id, status, amount) VALUES ('k2', 20000, 'void', 3), ('k3', 20001, 'void', 4), (NULL, 20002, 'void', 5)")
	for _, q := range queries {
		before[q] = ask(t, other, q)
	}
	execAll(t, db, "INSERT INTO o (_key, _value) VALUES ('own', '{\"id\":\"x\"}'), ('k5', NULL)",
		"INSERT INTO o (_key, id, status) SELECT _key, id + 1000000, status FROM o WHERE id >= 10000 AND id < 20000")
	inside := map[string]string{}
	for _, q := range queries {
		for _, shape := range shapes {
			own, others := ask3(shape, q)
			if others != before[q] {
				t.Errorf("%s; %s: another session sees %s, before %s", shape, q, others, before[q])
			}
			if inside[q] == "" {
				inside[q] = own
			} else if inside[q] != own {
				t.Errorf("%s: in columns %s, row by row %s", q, inside[q], own)
			}
		}
	}
	execAll(t, db, "COMMIT")
	for _, q := range queries {
		for _, shape := range shapes {
			own, others := ask3(shape, q)
			if own != inside[q] || others != inside[q] {
				t.Errorf("%s; %s: in the transaction %s, after it %s, others %s", shape, q, inside[q], own, others)
			}
		}
	}
	if got := inside["SELECT COUNT(*) FROM o"]; got != "3011" {
		t.Error(got)
	}
}

func TestColumnsThatATransactionBringsAreItsOwnUntilItCommits(t *testing.T) {
	in := start(t, nil)
	in.topic("e", nil, `{"n":1,"s":"x"}`)
	db, other := in.open("app", "", ""), in.open("app", "", "")
	columns := func(db *sql.DB) string {
		return ask(t, db, "SELECT GROUP_CONCAT(CONCAT(column_name, ' ', data_type) ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = 'e' AND ordinal_position > 7")
	}
	const was = "n bigint,s varchar"
	for _, end := range []string{"ROLLBACK", "COMMIT"} {
		execAll(t, db, "BEGIN", `INSERT INTO e (_value) VALUES ('{"n":2.5,"s":"y","more":{"z":true}}')`)
		for range 2 { // the second time what was read is not read again
			if got := columns(db); got != "n double,s varchar,more.z tinyint" {
				t.Error(got)
			}
		}
		for _, shape := range []string{"SET millrace_pushdown=1", "SET millrace_pushdown=0"} {
			execAll(t, db, shape)
			if got := ask(t, db, "SELECT n, s, `more.z` FROM e ORDER BY n"); got != "1,x,NULL / 2.5,y,1" {
				t.Errorf("%s: %s", shape, got)
			}
			if got := ask(t, db, "SELECT SUM(n), MAX(`more.z`), COUNT(_error) FROM e"); got != "3.5,1,0" {
				t.Errorf("%s: %s", shape, got)
			}
		}
		execAll(t, db, "INSERT INTO e (n, `more.z`) VALUES (0.25, FALSE)", `INSERT INTO e (_key, _value) VALUES (REPEAT('k', 20000), '{"last":[1]}')`)
		if got := columns(db); got != "n double,s varchar,more.z tinyint,last json" {
			t.Error(got)
		}
		if got := ask(t, db, "SELECT data_type FROM information_schema.columns WHERE table_name='e' AND column_name='_key'"); got != "longtext" {
			t.Error(got)
		}
		if got := columns(other); got != was {
			t.Error("another session sees", got)
		}
		if got := ask(t, other, "SELECT n, s FROM e"); got != "1,x" {
			t.Error("another session sees", got)
		}
		// Columns that others bring meanwhile are not lost.
		in.produce(in.id("e"), `{"theirs":1}`)
		if got := ask(t, db, "SELECT COUNT(theirs), COUNT(last), SUM(n) FROM e"); got != "1,1,3.75" {
			t.Error(got)
		}
		execAll(t, db, end)
		for _, db := range []*sql.DB{db, other} {
			switch got := columns(db); {
			case end == "ROLLBACK" && got != was+",theirs bigint":
				t.Error("after ROLLBACK", got)
			case end == "COMMIT" && got != "n double,s varchar,theirs bigint,more.z tinyint,last json":
				t.Error("after COMMIT", got)
			}
		}
		if end == "ROLLBACK" {
			run(t, in, "DROP TABLE e")
			in.topic("e", nil, `{"n":1,"s":"x"}`)
		}
	}
}

// What a statement of a transaction expanded of its own rows, the next need not: it is not read again from the first one on.
func TestOwnRowsAreExpandedOnce(t *testing.T) {
	registry := prometheus.NewRegistry()
	in := start(t, func(o *Options) {
		o.Provider = sqltable.NewProvider(o.Catalog, o.Store, sqltable.Options{Columns: colset.New(colset.Options{Registry: registry})})
	})
	run(t, in, "CREATE TABLE o (id BIGINT) PARTITION BY KEY(_key) PARTITIONS 1")
	expanded := func() float64 {
		t.Helper()
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() == "millrace_columns_expanded_rows_total" {
				return f.Metric[0].Counter.GetValue()
			}
		}
		t.Fatal("no such metric")
		return 0
	}
	const each, rounds = 100, 40
	var values []string
	for range each {
		values = append(values, "(1)")
	}
	db, other := in.open("app", "", ""), in.open("app", "", "")
	execAll(t, db, "BEGIN")
	for i := 1; i <= rounds; i++ {
		execAll(t, db, "INSERT INTO o (id) VALUES "+strings.Join(values, ","))
		want := each * i
		if i > rounds/2 { // a commit of another reaches into what was expanded
			execAll(t, other, "INSERT INTO o (id) VALUES (1)")
			want += i - rounds/2
		}
		if got := ask(t, db, "SELECT SUM(id) FROM o"); got != fmt.Sprint(want) {
			t.Fatalf("%d: %s, want %d", i, got, want)
		}
	}
	// Of every row a few columns: when it comes, and once more where blocks are cut anew; not once for each later statement.
	if n := expanded(); n > 6*each*rounds {
		t.Errorf("%v rows were expanded, of %d", n, each*rounds)
	}
	execAll(t, db, "ROLLBACK")
	if got := ask(t, db, "SELECT SUM(id) FROM o"); got != fmt.Sprint(rounds/2) {
		t.Error(got)
	}
}

func TestOwnRowsEndWithTheirTransaction(t *testing.T) {
	in := start(t, nil)
	run(t, in, "CREATE TABLE a (i INT)", "INSERT INTO a (i) VALUES (1)")
	db, other := in.open("app", "", ""), in.open("app", "", "")
	const all = "SELECT GROUP_CONCAT(i ORDER BY i) FROM a"
	expect := func(own, others string) {
		t.Helper()
		for _, shape := range []string{"SET millrace_pushdown=1", "SET millrace_pushdown=0"} {
			execAll(t, db, shape)
			if got := ask(t, db, all); got != own {
				t.Errorf("%s: the session sees %s, want %s", shape, got, own)
			}
		}
		if got := ask(t, other, all); got != others {
			t.Errorf("others see %s, want %s", got, others)
		}
	}
	execAll(t, db, "BEGIN", "INSERT INTO a (i) VALUES (2)")
	expect("1,2", "1")
	execAll(t, db, "ROLLBACK")
	expect("1", "1")
	// What is sealed while the transaction is open is as little anyone else's.
	execAll(t, db, "BEGIN", "INSERT INTO a (i) VALUES (3)")
	if err := in.store.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect("1,3", "1")
	execAll(t, db, "INSERT INTO a (i) VALUES (4)", "COMMIT")
	expect("1,3,4", "1,3,4")
	// Without autocommit, the next statement after an end begins another one.
	execAll(t, db, "SET autocommit=0", "INSERT INTO a (i) VALUES (5)")
	expect("1,3,4,5", "1,3,4")
	execAll(t, db, "ROLLBACK", "INSERT INTO a (i) VALUES (6)")
	expect("1,3,4,6", "1,3,4")
	execAll(t, db, "CREATE TABLE b (i INT)") // commits
	expect("1,3,4,6", "1,3,4,6")
	execAll(t, db, "INSERT INTO a (i) VALUES (7)", "SET autocommit=1")
	expect("1,3,4,6,7", "1,3,4,6,7")
	// A refused statement leaves what was before it, a SAVEPOINT that cannot be gone back to as well.
	execAll(t, db, "BEGIN", "INSERT INTO a (i) VALUES (8)", "SAVEPOINT s", "INSERT INTO a (i) VALUES (9)")
	if _, err := db.Exec("INSERT INTO a (i) VALUES (10), ('x')"); errNumber(err) != 1366 {
		t.Error(err)
	}
	if _, err := db.Exec("ROLLBACK TO SAVEPOINT s"); errNumber(err) != 1235 {
		t.Error(err)
	}
	expect("1,3,4,6,7,8,9", "1,3,4,6,7")
	// Each execution of a prepared statement sees what the transaction has by then.
	st, err := db.Prepare(all)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for _, want := range []string{"1,3,4,6,7,8,9", "1,3,4,6,7,8,9,11", "1,3,4,6,7"} {
		var got string
		if err := st.QueryRow().Scan(&got); err != nil || got != want {
			t.Errorf("prepared: %s, want %s (%v)", got, want, err)
		}
		switch want {
		case "1,3,4,6,7,8,9":
			execAll(t, db, "INSERT INTO a (i) VALUES (11)")
		default:
			execAll(t, db, "ROLLBACK")
		}
	}
	// Nothing of a topic that was emptied comes back.
	execAll(t, db, "BEGIN", "INSERT INTO a (i) VALUES (12)")
	run(t, in, "TRUNCATE TABLE a")
	execAll(t, db, "INSERT INTO a (i) VALUES (13)")
	expect("13", "NULL")
	execAll(t, db, "COMMIT")
	expect("13", "13")
}
