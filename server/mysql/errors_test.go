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

func TestWhatIsMissingIsNamedAsItWasWritten(t *testing.T) {
	in := start(t, nil)
	in.topic("orders", nil, `{"payment":{"amount":3,"card":{"last4":"1"}}}`)
	db := in.open("app", "", "")
	dotted := "Unknown column 'payment.amount' in 'field list': the name has dots, write it in backticks: `payment.amount`"
	for query, want := range map[string]string{
		"SELECT * FROM ORDERS":                                          "error 1146: Error 1146 (42S02): Table 'kafka.ORDERS' doesn't exist",
		"SELECT * FROM orders JOIN Orders o":                            "error 1146: Error 1146 (42S02): Table 'kafka.Orders' doesn't exist",
		"SELECT * FROM millrace.Nope":                                   "error 1146: Error 1146 (42S02): Table 'millrace.Nope' doesn't exist",
		"SHOW INDEX FROM millrace.nope":                                 "error 1146: Error 1146 (42S02): Table 'millrace.nope' doesn't exist",
		"SHOW CREATE TABLE millrace.nope":                               "error 1146: Error 1146 (42S02): Table 'millrace.nope' doesn't exist",
		"DESCRIBE millrace.nope":                                        "error 1146: Error 1146 (42S02): Table 'millrace.nope' doesn't exist",
		"ANALYZE TABLE millrace.nope":                                   "error 1146: Error 1146 (42S02): Table 'millrace.nope' doesn't exist",
		"SELECT payment.amount FROM orders":                             "error 1054: Error 1054 (42S22): " + dotted,
		"SELECT 1 FROM orders WHERE payment.amount > 2":                 "error 1054: Error 1054 (42S22): " + dotted,
		"SELECT 1 FROM orders ORDER BY payment.amount":                  "error 1054: Error 1054 (42S22): " + dotted,
		"SELECT SUM(payment.amount) FROM orders o":                      "error 1054: Error 1054 (42S22): " + dotted,
		"SELECT orders.payment.amount FROM orders":                      "error 1054: Error 1054 (42S22): Unknown column 'orders.payment.amount' in 'field list': the name has dots, write it in backticks: `payment.amount`",
		"SELECT payment.card.last4 FROM orders":                         "error 1054: Error 1054 (42S22): Unknown column 'payment.card.last4' in 'field list': the name has dots, write it in backticks: `payment.card.last4`",
		"SELECT payment.nope FROM orders":                               "error 1054: Error 1054 (42S22): Unknown column 'payment.nope' in 'field list'",
		"SELECT o.nope FROM orders o":                                   "error 1054: Error 1054 (42S22): Unknown column 'o.nope' in 'field list'",
		"SELECT `payment.amount` + orders.`payment.amount` FROM orders": "6",
	} {
		if got := ask(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

func TestAPathIntoAValueThatIsNotJSONSaysHowToLeaveItOut(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"c":1}`, `nonsense`, `[1,2]`, `42`)
	db := in.open("app", "", "")
	const hint = "filter with _error IS NULL"
	if got := ask(t, db, "SELECT x._value->>'$.c' FROM t x"); !strings.HasPrefix(got, "error 3141") || !strings.Contains(got, hint) {
		t.Error(got)
	}
	if got := ask(t, db, "SELECT JSON_EXTRACT('{', '$.c')"); !strings.HasPrefix(got, "error 3141") || strings.Contains(got, hint) {
		t.Error(got)
	}
	if got := ask(t, db, "SELECT _value->>'$.c', c FROM t WHERE _error IS NULL"); got != "1,1 / NULL,NULL / NULL,NULL" {
		t.Error(got)
	}
}
