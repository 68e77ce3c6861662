package mysql

import (
	"fmt"
	"strings"
	"testing"
)

// TestTransactionsKeepTheirAccessMode runs scripts on one connection: each step is a statement and what it gives, rows, ok or
// the number of an error. Row counts are of table a, which each script begins with empty.
func TestTransactionsKeepTheirAccessMode(t *testing.T) {
	const (
		insert = "INSERT INTO a (i) VALUES (1)"
		count  = "SELECT COUNT(*) FROM a"
		mode   = "SELECT @@transaction_read_only"
	)
	for name, script := range map[string][][2]string{
		"a transaction that only reads refuses every change": {
			{"START TRANSACTION READ ONLY", "ok"},
			{insert, "1792"},
			{"INSERT INTO a (i) SELECT 1", "1792"},
			{"DELETE FROM a WHERE _partition=0 AND _offset<1", "1792"},
			{"TRUNCATE TABLE a", "1792"},
			{"DROP TABLE a", "1792"},
			{"CREATE TABLE b (i INT)", "1792"},
			{"ALTER TABLE a ADD COLUMN j INT", "1792"},
			{"ALTER TABLE a ADD PARTITION PARTITIONS 1", "1792"},
			{"CREATE VIEW v AS SELECT 1", "1792"},
			{"CREATE USER u IDENTIFIED BY 'x'", "1792"},
			{"CALL millrace.pin('a')", "1792"},
			{"CALL millrace.suggest('a')", ""},
			{count, "0"},
			{"COMMIT", "ok"},
			{insert, "ok"},
			{count, "1"},
		},
		"it begins as the session's variable says": {
			{"SET SESSION TRANSACTION READ ONLY", "ok"},
			{mode, "1"},
			{insert, "1792"},
			{"BEGIN", "ok"},
			{insert, "1792"},
			{"COMMIT", "ok"},
			{"START TRANSACTION READ WRITE", "ok"},
			{insert, "ok"},
			{"COMMIT", "ok"},
			{insert, "1792"},
			{"SET SESSION TRANSACTION READ WRITE", "ok"},
			{insert, "ok"},
			{"SET SESSION transaction_read_only=1", "ok"},
			{insert, "1792"},
			{"SET SESSION transaction_read_only=0", "ok"},
			{count, "2"},
		},
		"SET TRANSACTION is about the next one alone": {
			{"SET TRANSACTION READ ONLY", "ok"},
			{mode, "0"},
			{"BEGIN", "ok"},
			{insert, "1792"},
			{"COMMIT", "ok"},
			{insert, "ok"},
			{"SET TRANSACTION READ ONLY", "ok"},
			{insert, "1792"},
			{insert, "ok"},
			{"SET TRANSACTION READ ONLY", "ok"},
			{count, "2"},
			{insert, "ok"},
			{"SET TRANSACTION READ ONLY", "ok"},
			{"START TRANSACTION READ WRITE", "ok"},
			{insert, "ok"},
			{"ROLLBACK", "ok"},
			{count, "3"},
			{"SET autocommit=0", "ok"},
			{"SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY", "ok"},
			{count, "3"},
			{insert, "1792"},
			{"ROLLBACK", "ok"},
			{insert, "ok"},
			{"ROLLBACK", "ok"},
		},
		"SET TRANSACTION is refused within one": {
			{"BEGIN", "ok"}, {"SET TRANSACTION READ ONLY", "1568"}, {"SET SESSION TRANSACTION READ ONLY", "ok"}, {insert, "ok"}, {"COMMIT", "ok"}, {insert, "1792"},
		},
		"AND CHAIN begins another transaction of the same mode": {
			{"START TRANSACTION READ ONLY", "ok"},
			{"COMMIT AND CHAIN", "ok"},
			{insert, "1792"},
			{"ROLLBACK", "ok"},
			{"BEGIN", "ok"},
			{insert, "ok"},
			{"COMMIT WORK AND CHAIN;", "ok"},
			{insert, "ok"},
			{count, "2"},
			{"ROLLBACK /* AND CHAIN */ AND NO CHAIN NO RELEASE", "ok"},
			{count, "1"},
			{insert, "ok"},
			{"ROLLBACK", "ok"},
			{count, "2"},
			{"BEGIN", "ok"},
			{insert, "ok"},
			{"COMMIT RELEASE", "1235"},
			{"ROLLBACK", "ok"},
			{count, "2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := start(t, nil)
			run(t, in, "CREATE TABLE a (i INT)")
			db := in.open("app", "", "")
			for i, step := range script {
				got := ask(t, db, step[0])
				if step[1] == "ok" && got == "" {
					continue
				}
				if n, _, failed := strings.Cut(strings.TrimPrefix(got, "error "), ":"); strings.HasPrefix(got, "error ") && failed {
					got = n
				}
				if got != step[1] {
					t.Fatalf("step %d, %s: %s, want %s", i, step[0], got, step[1])
				}
			}
		})
	}
}

func TestEveryStatementSeesWhatIsCommittedWhenItBegins(t *testing.T) {
	in := start(t, nil)
	run(t, in, "CREATE TABLE a (i INT)")
	db := in.open("app", "", "")
	if got := ask(t, db, "SELECT @@transaction_isolation, @@tx_isolation"); got != "READ-COMMITTED,READ-COMMITTED" {
		t.Error(got)
	}
	for i, s := range []struct {
		set   string
		warns bool
	}{
		{"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", false},
		{"SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", false},
		{"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", true},
		{"SET SESSION transaction_isolation = 'SERIALIZABLE'", true},
		{"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", true},
	} {
		execAll(t, db, s.set)
		if got := ask(t, db, "SHOW WARNINGS"); s.warns != strings.Contains(got, "READ COMMITTED") {
			t.Errorf("%s: warnings %q", s.set, got)
		}
		execAll(t, db, "BEGIN")
		if got := ask(t, db, "SELECT COUNT(*) FROM a"); got != fmt.Sprint(i) {
			t.Errorf("%s: %s rows first", s.set, got)
		}
		run(t, in, "INSERT INTO a (i) VALUES (1)")
		if got := ask(t, db, "SELECT COUNT(*) FROM a"); got != fmt.Sprint(i+1) {
			t.Errorf("%s: %s rows then", s.set, got)
		}
		execAll(t, db, "COMMIT")
	}
}
