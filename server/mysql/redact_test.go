package mysql

import (
	"strings"
	"testing"

	"millrace/server/mysql/sqlerr"
)

func TestStatementsAreLoggedWithoutTheirLiterals(t *testing.T) {
	for _, text := range []string{
		"CREATE USER 'bob'@'%' IDENTIFIED BY 'hunter2'",
		"SELECT * FROM t WHERE a = 'hunter2' AND b IN (1, 2)",
		"SELECT `a` FROM t WHERE x = \"hunter2\" /* hunter2 */",
		"not SQL 'hunter2' at all",
		"SELECT 'hunter2",
		strings.Repeat("x", 5000) + "'hunter2'",
	} {
		got := redacted(text)
		if strings.Contains(got, "hunter2") {
			t.Errorf("%q is logged as %q", text, got)
		}
		if len(got) > sqlerr.MaxClip+8 {
			t.Errorf("%d bytes are logged", len(got))
		}
	}
	if got := redacted("SELECT a FROM t WHERE b = 5"); !strings.Contains(got, "from") {
		t.Errorf("nothing is left to recognise the statement by: %q", got)
	}
}
