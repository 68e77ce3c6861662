package rewrite

import "testing"

func TestTextIsReadAsMySQLReadsIt(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`SELECT 1--1`, `SELECT 1- -1`},
		{`SELECT 1---1`, `SELECT 1- - -1`},
		{"SELECT 1--\t1", "SELECT 1--\t1"},
		{"SELECT 1 --", "SELECT 1 --"},
		{"SELECT 1 --\x01 2--3\n--4", "SELECT 1 --\x01 2--3\n- -4"},
		{`SELECT '--1', "a--b", ` + "`c--d`" + `, 1--1`, `SELECT '--1', "a--b", ` + "`c--d`" + `, 1- -1`},
		{"SELECT 1 /* 1--1 */ # 1--1\n--1", "SELECT 1 /* 1--1 */ # 1--1\n- -1"},
		{`SELECT 'a\%b', 'a\\%b', 'it''s--x', 1--'\_'`, `SELECT 'a\\%b', 'a\\%b', 'it''s--x', 1- -'\\_'`},
	} {
		if got := Text(c.text, false); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}
