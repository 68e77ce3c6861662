package mysql

import (
	"strings"
	"testing"

	"millrace/server/auth"
)

func TestViewsShowOneKindOfEventsOfATopic(t *testing.T) {
	in := start(t, nil)
	in.topic("events", nil,
		`{"kind":"order","id":1,"amount":10,"user":{"id":7}}`, `{"kind":"click","url":"/a","user":{"id":7}}`, `{"kind":"order","id":2,"amount":32.5,"user":{"id":8}}`, `{"kind":"click","url":"/b","user":{"id":8}}`)
	run(t, in,
		"CREATE VIEW orders AS SELECT _offset, id, CAST(amount AS DECIMAL(10,2)) AS amount, `user.id` AS uid FROM events WHERE _value->>'$.kind' = 'order'",
		"CREATE VIEW clicks (url, who) AS SELECT url, `user.id` FROM events WHERE kind = 'click'",
		"CREATE VIEW both_kinds AS SELECT o.id, c.url FROM orders o JOIN clicks c ON o.uid = c.who",
		"CREATE VIEW everything AS SELECT * FROM events")
	db := in.open("app", "", "")
	for q, want := range map[string]string{
		"SELECT * FROM orders ORDER BY id":                                   "0,1,10.00,7 / 2,2,32.50,8",
		"SELECT SUM(amount), COUNT(*) FROM orders":                           "42.50,2",
		"SELECT url FROM clicks WHERE who = 8":                               "/b",
		"SELECT * FROM kafka.both_kinds ORDER BY id":                         "1,/a / 2,/b",
		"SELECT v.id FROM orders AS v WHERE v.uid = 7":                       "1",
		"SELECT (SELECT MAX(id) FROM orders), (SELECT COUNT(*) FROM clicks)": "2,2",
		"WITH orders AS (SELECT 5 AS id) SELECT id FROM orders":              "5",
		"SELECT COUNT(*) FROM everything":                                    "4",
		"SHOW FULL TABLES":                                                   "both_kinds,VIEW / clicks,VIEW / events,BASE TABLE / everything,VIEW / orders,VIEW",

		"SELECT table_name, table_type FROM information_schema.tables WHERE table_schema='kafka' ORDER BY 1":                      "both_kinds,VIEW / clicks,VIEW / events,BASE TABLE / everything,VIEW / orders,VIEW",
		"SELECT table_name, view_definition, security_type, is_updatable FROM information_schema.views WHERE table_name='clicks'": "clicks,SELECT url, `user.id` FROM events WHERE kind = 'click',INVOKER,NO",
		"SELECT column_name, column_type FROM information_schema.columns WHERE table_name='orders'":                               "_offset,bigint / id,bigint / amount,decimal(10,2) / uid,bigint",
		"SELECT column_name FROM information_schema.columns WHERE table_schema='kafka' AND table_name IN ('clicks')":              "url / who",
		"DESCRIBE clicks":                     "url,varchar(16383),YES,,NULL, / who,bigint,YES,,NULL,",
		"SHOW COLUMNS FROM orders LIKE '%i_'": "id,bigint,YES,,NULL, / uid,bigint,YES,,NULL,",
	} {
		if got := ask(t, db, q); got != want {
			t.Errorf("%s:\n got %s\nwant %s", q, got, want)
		}
	}
	// A prepared statement over a view follows it, and stars what the topic has.
	st, err := db.Prepare("SELECT * FROM everything WHERE id = ?")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	in.produce(in.id("events"), `{"kind":"order","id":3,"fresh":"x"}`)
	if got := askPrepared(t, st, 3); !strings.HasSuffix(got, ",x") {
		t.Error(got)
	}
	// It can be made again from what is shown.
	shown, err := table(t, db, "SHOW CREATE VIEW clicks")
	if err != nil {
		t.Fatal(err)
	}
	run(t, in, "DROP VIEW clicks", shown[0][1])
	again, err := table(t, db, "SHOW CREATE TABLE clicks")
	if err != nil || again[0][1] != shown[0][1] {
		t.Error(again, shown, err)
	}
	run(t, in, "CREATE OR REPLACE VIEW clicks AS SELECT url FROM events WHERE kind = 'click' AND `user.id` = 7", "DROP VIEW IF EXISTS orders, nosuch")
	if got := ask(t, db, "SELECT * FROM clicks"); got != "/a" {
		t.Error(got)
	}
}

func TestViewsAreRefusedWithMySQLsNumbers(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"a":1}`)
	run(t, in, "CREATE VIEW v AS SELECT a FROM t", "CREATE VIEW w AS SELECT a FROM v")
	db := in.open("app", "", "")
	for _, c := range []struct {
		query string
		want  int
	}{
		{"CREATE VIEW v AS SELECT 1", 1050},
		{"CREATE VIEW IF NOT EXISTS v AS SELECT 1", 1064},
		{"CREATE VIEW t AS SELECT 1", 1050},
		{"CREATE OR REPLACE VIEW t AS SELECT 1", 1347},
		{"CREATE TABLE v (a INT)", 1050},
		{"CREATE VIEW x AS SELECT nosuch FROM t", 1054},
		{"CREATE VIEW x AS SELECT * FROM nosuch", 1146},
		{"CREATE VIEW x (a, b) AS SELECT a FROM t", 1353},
		{"CREATE VIEW x AS SELECT a, a FROM t", 1060},
		{"CREATE VIEW x AS SELECT a FROM t INTO OUTFILE '/tmp/x'", 1064},
		{"CREATE OR REPLACE VIEW v AS SELECT a FROM w", 1462},
		{"CREATE SQL SECURITY DEFINER VIEW x AS SELECT a FROM t", 1235},
		{"CREATE VIEW millrace.x AS SELECT 1", 1044},
		{"DROP VIEW nosuch", 1051},
		{"DROP VIEW t", 1347},
		{"DROP TABLE v", 1051},
		{"SHOW CREATE VIEW t", 1347},
		{"SHOW CREATE VIEW nosuch", 1146},
		{"INSERT INTO v (a) VALUES (1)", 1471},
		{"SELECT * FROM v AS OF '2020-01-01'", 1235},
	} {
		if _, err := table(t, db, c.query); errNumber(err) != c.want {
			t.Errorf("%s: %v, want %d", c.query, err, c.want)
		}
	}
	// A view of what is gone tells what is missing.
	run(t, in, "DROP TABLE t")
	if _, err := table(t, db, "SELECT * FROM w"); errNumber(err) != 1146 {
		t.Error(err)
	}
	if got := ask(t, db, "SELECT COUNT(*) FROM information_schema.columns WHERE table_name='v'"); got != "0" {
		t.Error(got)
	}
}

func TestViewsAreReadWithTheRightsOfWhoAsks(t *testing.T) {
	in := start(t, nil)
	in.topic("secret", nil, `{"a":1}`)
	run(t, in, "CREATE VIEW pv AS SELECT a FROM secret")
	for _, u := range []string{"root", "bob"} {
		if err := in.auth.AddUser(u, "pw"); err != nil {
			t.Fatal(err)
		}
	}
	if err := in.auth.Grant("bob", auth.Read, auth.Pattern{Type: auth.Topic, Name: "pv"}); err != nil {
		t.Fatal(err)
	}
	bob, root := in.open("bob", "pw", "tls=skip-verify"), in.open("root", "pw", "tls=skip-verify")
	if _, err := table(t, bob, "SELECT * FROM pv"); errNumber(err) != 1142 {
		t.Errorf("the view's topic may not be read: %v", err)
	}
	if got := ask(t, root, "SELECT * FROM pv"); got != "1" {
		t.Error(got)
	}
	for _, q := range []string{"CREATE VIEW mine AS SELECT 1", "DROP VIEW pv", "CREATE OR REPLACE VIEW pv AS SELECT 1", "CREATE TABLE mine (a INT)", "INSERT INTO secret (a) VALUES (1)", "ALTER TABLE secret ADD COLUMN b INT"} {
		if _, err := bob.Exec(q); errNumber(err) != 1142 {
			t.Errorf("%s: %v", q, err)
		}
	}
	if err := in.auth.Grant("bob", auth.Read, auth.Pattern{Type: auth.Topic, Name: "secret"}); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, bob, "SELECT * FROM pv"); got != "1" {
		t.Error(got)
	}
	if err := in.auth.Revoke("bob", auth.Read, auth.Pattern{Type: auth.Topic, Name: "pv"}); err != nil {
		t.Fatal(err)
	}
	if _, err := table(t, bob, "SELECT * FROM pv"); errNumber(err) != 1142 {
		t.Errorf("the view may not be read: %v", err)
	}
	if got := ask(t, bob, "SHOW TABLES"); got != "secret" {
		t.Error(got)
	}
}
