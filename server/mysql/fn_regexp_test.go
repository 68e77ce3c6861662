package mysql

import (
	"strings"
	"testing"
)

func TestALongMatchEndsWithItsStatement(t *testing.T) {
	in := start(t, nil)
	db := in.open("app", "", "max_execution_time=100")
	db.SetMaxOpenConns(1)
	const hard = "'(a?b?c?d?e?f?g?h?){100}z'"
	for _, q := range []string{
		"SELECT REGEXP_LIKE(REPEAT('a', 8000000), " + hard + ")",
		"SELECT REPEAT('a', 8000000) REGEXP " + hard,
		"SELECT REGEXP_SUBSTR(REPEAT('a', 8000000), " + hard + ")",
		"SELECT REGEXP_REPLACE(REPEAT('c', 4000000), 'c.*b|c', 'x')",
	} {
		if _, err := table(t, db, q); errNumber(err) != 3024 {
			t.Errorf("%s: %v", q, err)
		}
	}
	if got := ask(t, db, "SELECT REGEXP_INSTR(REPEAT('a', 4000000), '\\\\b(a?b?c?d?){100}z')"); !strings.HasPrefix(got, "error 3699") {
		t.Error("what cannot be watched:", got)
	}
}
