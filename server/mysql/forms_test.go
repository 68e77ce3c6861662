package mysql

import (
	"strings"
	"testing"
)

func TestFormsThatTheParserDoesNotKnow(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "i INT, s VARCHAR(20)"}, `{"i":5,"s":"IS UNKNOWN"}`, `{"s":"= ANY (SELECT 1)"}`)
	cases{
		{"SELECT (1 IS NULL) IS UNKNOWN, NULL IS UNKNOWN, 1 IS NOT UNKNOWN", "0,1,1"},
		{"SELECT s FROM t WHERE i IS not\n unknown", "IS UNKNOWN"},
		{"SELECT s FROM t WHERE s = 'IS UNKNOWN' OR s = '= ANY (SELECT 1)' /* IS UNKNOWN */", "IS UNKNOWN / = ANY (SELECT 1)"},
		{"SELECT 5 = ANY (SELECT 5), 1 <> ALL (SELECT 2), 1<>ALL(SELECT 1), 5=SOME(SELECT 4), 5!=ALL(SELECT NULL)", "1,1,0,0,NULL"},
		{"SELECT i FROM t WHERE i = any(select i from t)", "5"},
		{"SELECT * FROM JSON_TABLE('[1,2]','$' COLUMNS(a INT PATH '$[0]')) j", "1"},
		{`SELECT * FROM JSON_TABLE('{"a":[1,2]}','$.a' COLUMNS(x INT PATH '$[1]', o FOR ORDINALITY)) j`, "2,1"},
		{`SELECT * FROM JSON_TABLE('[{"b":[1,2]},{"b":[3,4]}]','$[*].b' COLUMNS(x INT PATH '$[1]')) j`, "2 / 4"},
		{`SELECT * FROM JSON_TABLE('[[1,2],[3]]','$[0]' COLUMNS(x INT PATH '$[1]')) j`, "2"},
		{`SELECT * FROM JSON_TABLE('{"a":1}','$.z' COLUMNS(x INT PATH '$')) j`, ""},
		{`SELECT * FROM JSON_TABLE(NULL,'$' COLUMNS(x INT PATH '$')) j`, ""},
	}.check(t, in)
	if _, err := table(t, in.open("app", "", ""), "SELECT 1 > ALL (SELECT 4)"); errNumber(err) != 1235 {
		t.Error(err)
	}
	r, err := in.open("app", "", "").Query("SELECT 1 IS UNKNOWN, 2 IS UNKNOWN")
	if err != nil {
		t.Fatal(err)
	}
	if names, err := r.Columns(); err != nil || names[1] != "2 IS UNKNOWN" {
		t.Error(names, err)
	}
	_ = r.Close()
	r, err = in.open("app", "", "").Query("SHOW TABLES LIKE 't%'")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if names, err := r.Columns(); err != nil || names[0] != "Tables_in_kafka (t%)" {
		t.Error(names, err)
	}
}

func TestWordsThatMySQLDoesNotReserveAreNames(t *testing.T) {
	in := start(t, nil)
	db := in.open("app", "", "multiStatements=true")
	for _, c := range [][2]string{
		{"CREATE TABLE copy (id INT, next INT, off INT, escape INT)", ""},
		{"INSERT INTO copy (next, off, escape) VALUES (1, 2, 3)", ""},
		{"SELECT copy.next, off, escape + next FROM copy WHERE next = 1 AND off LIKE '2' ESCAPE '!' AND 'next' <> `escape` ORDER BY escape", "1,2,4"},
		{"SELECT DEFAULT(next) FROM copy", "NULL"},
		{"CREATE VIEW v AS SELECT next FROM copy", ""},
		{"SELECT * FROM v", "1"},
	} {
		if got := ask(t, db, c[0]); got != c[1] {
			t.Error(c[0], got)
		}
	}
	if _, err := table(t, db, "SELECT copy FROM"); errNumber(err) != 1064 {
		t.Error(err)
	}
}

func TestSetNamesSetsTheCollationToo(t *testing.T) {
	in := start(t, nil)
	db := in.open("app", "", "")
	for _, c := range [][2]string{
		{"SET NAMES utf8mb4 COLLATE utf8mb4_0900_bin", "utf8mb4_0900_bin"},
		{"SET NAMES utf8mb4", "utf8mb4_0900_ai_ci"},
		{"set @a = 1, names 'utf8mb4' collate 'utf8mb4_bin' /* COLLATE x */", "utf8mb4_bin"},
		{"SET NAMES utf8mb4 COLLATE DEFAULT", "utf8mb4_0900_ai_ci"},
	} {
		if _, err := db.Exec(c[0]); err != nil {
			t.Fatal(c[0], err)
		}
		if got := ask(t, db, "SELECT @@collation_connection"); got != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
	for text, number := range map[string]int{"SET NAMES utf8mb4 COLLATE latin1_bin": 1253, "SET NAMES utf8mb4 COLLATE nosuch": 1273} {
		if _, err := db.Exec(text); errNumber(err) != number {
			t.Errorf("%s: %v, want %d", text, err, number)
		}
	}
}

func TestColumnsAreCalledAsTheyAreWritten(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "i INT, s VARCHAR(9), next INT"}, `{"i":1,"s":"x"}`)
	db := in.open("app", "", "")
	for _, e := range []string{
		"NOT i", "NOT (i = 1)", "NOT NOT i", "not i in (1,2)", "(NOT i)", "i IS UNKNOWN", "5 = ANY (SELECT i FROM t)", "1--1", "next+1", "avg( i )", "s LIKE 'x\\_'", "'a'",
		"i NOT IN (1,2)", "GROUP_CONCAT(s)", "CAST(i AS CHAR)", "s REGEXP 'x'", "SUM(i) OVER (ORDER BY i)", "(SELECT MAX(i) FROM t)",
	} {
		for _, query := range []string{"SELECT " + e + " FROM t", "SELECT * FROM (SELECT " + e + " FROM t) d", "SELECT " + e + " FROM t UNION SELECT " + e + " FROM t", "WITH c AS (SELECT " + e + " FROM t) SELECT * FROM c"} {
			r, err := db.Query(query)
			if err != nil {
				t.Error(query, err)
				continue
			}
			if names, err := r.Columns(); err != nil || names[0] != e && (e != "'a'" || names[0] != "a") {
				t.Error(query, names, err)
			}
			_ = r.Close()
		}
	}
	if got := ask(t, db, "SELECT a, b FROM (SELECT \"a\", 'b' UNION SELECT 1, 2) d"); got != "a,b / 1,2" {
		t.Error(got)
	}
}

func TestAnAggregateOfConstantsMayBeSelectedTwice(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "i INT, s VARCHAR(9)"}, `{"i":1,"s":"x"}`, `{"i":2,"s":"y"}`, `{"i":4,"s":"y"}`)
	bothWays(t, in.open("app", "", ""), []struct{ query, want string }{
		{"SELECT SUM(2), SUM(2), sum(2) FROM t", "6,6,6"},
		{"SELECT COUNT(1), COUNT(1), COUNT(*), COUNT(*), MAX(1.5), MAX(1.5), SUM(i), SUM(i) FROM t", "3,3,3,3,1.5,1.5,7,7"},
		{"SELECT COUNT(1), COUNT(*) c, SUM( 2 ), SUM(2) FROM t HAVING c > 2", "3,3,6,6"},
		{"SELECT s, COUNT(1), COUNT(1) FROM t GROUP BY s HAVING COUNT(1) > 1 ORDER BY COUNT(1)", "y,2,2"},
		{"SELECT (SELECT COUNT(1) FROM t) a, x.* FROM (SELECT COUNT(1) c, s FROM t GROUP BY s) x ORDER BY 2", "3,1,x / 3,2,y"},
	})
	r, err := in.open("app", "", "").Query("SELECT SUM(2), sum(2), 1--1, 'a\\%' LIKE 'a\\_' FROM t")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if names, err := r.Columns(); err != nil || strings.Join(names, "|") != "SUM(2)|sum(2)|1--1|'a\\%' LIKE 'a\\_'" {
		t.Error(names, err)
	}
}
