package mysql

import (
	"strings"
	"testing"
)

// What pandas' to_sql and migrations do beside making the table: the table is as it would be with the index, but there is none.
func TestIndexesAreAcceptedWithAWarning(t *testing.T) {
	in := start(t, nil)
	db := in.open("root", "", "")
	for _, c := range []struct{ query, index string }{
		{"CREATE TABLE x (`index` BIGINT, a DOUBLE, s VARCHAR(20), KEY by_a (a, _offset), INDEX (s))", "by_a"},
		{"CREATE INDEX ix_x_index ON x (`index`)", "ix_x_index"},
		{"CREATE INDEX by_s USING BTREE ON kafka.x (s(10) DESC, (LOWER(s)))", "by_s"},
		{"ALTER TABLE x ADD INDEX by_t (_timestamp), ADD COLUMN n INT", "by_t"},
		{"ALTER TABLE x ADD KEY by_n (n)", "by_n"},
	} {
		if _, err := db.Exec(c.query); err != nil {
			t.Fatalf("%s: %v", c.query, err)
		}
		var level, message string
		var code int
		if err := db.QueryRow("SHOW WARNINGS").Scan(&level, &code, &message); err != nil || level != "Warning" || code != 1235 || !strings.HasPrefix(message, "Index '"+c.index+"' is not made. ") {
			t.Errorf("%s: %s %d %s %v", c.query, level, code, message, err)
		}
	}
	run(t, in, "INSERT INTO x (`index`, a, n) VALUES (0, 1.5, 2)")
	if got := ask(t, db, "SELECT `index`, a, n FROM x"); got != "0,1.5,2" {
		t.Error(got)
	}
	if got := ask(t, db, "SELECT COUNT(*) FROM information_schema.statistics WHERE table_name='x' AND index_name<>'PRIMARY'"); got != "0" {
		t.Error(got)
	}
	for q, number := range map[string]int{
		"CREATE INDEX i ON x (nosuch)":         1072,
		"CREATE TABLE y (a INT, KEY (nosuch))": 1072,
		"CREATE INDEX i ON nosuch (a)":         1146,
		"CREATE UNIQUE INDEX i ON x (a)":       1235,
	} {
		if _, err := db.Exec(q); errNumber(err) != number {
			t.Errorf("%s: %v, want %d", q, err, number)
		}
	}
}
