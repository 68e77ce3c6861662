package mysql

import (
	"strings"
	"testing"
)

func TestAMissingTableIsNamedWithItsDatabase(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"a":1}`)
	db := in.open("app", "", "")
	for query, want := range map[string]string{
		"SELECT * FROM foo":                                                "kafka.foo",
		"SELECT * FROM performance_schema.foo":                             "performance_schema.foo",
		"SELECT * FROM information_schema.foo":                             "information_schema.foo",
		"SELECT * FROM t JOIN millrace.foo f ON f.a = t.a":                 "millrace.foo",
		"SELECT (SELECT COUNT(*) FROM sys.foo)":                            "sys.foo",
		"SELECT * FROM `my-topic.v1`":                                      "kafka.my-topic.v1",
		"SHOW COLUMNS FROM mysql.foo":                                      "mysql.foo",
		"EXPLAIN SELECT * FROM performance_schema.foo":                     "performance_schema.foo",
		"WITH foo AS (SELECT 1) SELECT * FROM foo, performance_schema.bar": "performance_schema.bar",
	} {
		if got := ask(t, db, query); !strings.HasPrefix(got, "error 1146:") || !strings.Contains(got, "'"+want+"'") {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
		if _, err := db.Prepare(query); strings.HasPrefix(query, "SELECT") && (err == nil || !strings.Contains(err.Error(), "'"+want+"'")) {
			t.Errorf("prepare %s: %v", query, err)
		}
	}
	for _, query := range []string{"DO 1", "DO 1, SLEEP(0)", "DO 1 INTO @x", "DO 1 FROM t WHERE a = 2"} {
		if _, err := db.Exec(query); err != nil {
			t.Errorf("%s: %v", query, err)
		}
	}
}
