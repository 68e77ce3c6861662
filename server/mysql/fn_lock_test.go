package mysql

import (
	"strings"
	"testing"
	"time"
)

func TestUserLocksExcludeOtherSessions(t *testing.T) {
	in := start(t, nil)
	one, two := in.open("a", "", ""), in.open("b", "", "")
	one.SetMaxOpenConns(1)
	two.SetMaxOpenConns(1)
	for _, c := range []struct {
		first       bool
		query, want string
	}{
		{true, "SELECT GET_LOCK('l', 0), GET_LOCK('L', 10)", "1,1"},
		{false, "SELECT GET_LOCK('l', 0), GET_LOCK('l', 0.01), IS_FREE_LOCK('l'), RELEASE_LOCK('l'), RELEASE_LOCK('none')", "0,0,0,0,NULL"},
		{true, "SELECT IS_USED_LOCK('l') = CONNECTION_ID(), RELEASE_LOCK('l')", "1,1"},
		{false, "SELECT IS_FREE_LOCK('l')", "0"},
		{true, "SELECT RELEASE_ALL_LOCKS(), RELEASE_ALL_LOCKS()", "1,0"},
		{false, "SELECT IS_FREE_LOCK('l'), IS_USED_LOCK('l'), GET_LOCK('l', -1)", "1,NULL,1"},
		{true, "SELECT GET_LOCK('', 0)", "error 3057"},
		{true, "SELECT GET_LOCK(REPEAT('x', 65), 0)", "error 3057"},
		{true, "SELECT GET_LOCK(NULL, 0)", "error 3057"},
	} {
		db := two
		if c.first {
			db = one
		}
		if got := ask(t, db, c.query); got != c.want && !strings.HasPrefix(got, c.want+":") {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
	if err := two.Close(); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, one, "SELECT GET_LOCK('l', 30)"); got != "1" {
		t.Error("a closed session keeps its lock:", got)
	}
	if _, err := one.Exec("SET max_execution_time = 30"); err != nil {
		t.Fatal(err)
	}
	three := in.open("c", "", "max_execution_time=30")
	began := time.Now()
	if _, err := table(t, three, "SELECT GET_LOCK('l', -1)"); errNumber(err) != 3024 {
		t.Error("waiting for a lock outlives its deadline:", err, time.Since(began))
	}
}
