package rewrite

import (
	"strings"
	"testing"
)

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
		s, err := Read(c.text, false)
		if err != nil || s.Text != c.want {
			t.Errorf("%q\n got %q %v\nwant %q", c.text, s.Text, err, c.want)
		}
	}
}

func TestPlacesOfWhatIsWrittenOtherwiseAreKnown(t *testing.T) {
	const text = `SELECT 1--1, 'a\%b' IS UNKNOWN, 5 = ANY (SELECT 5), 2`
	s, err := Read(text, false)
	if err != nil {
		t.Fatal(err)
	}
	if want := `SELECT 1- -1, 'a\\%b' IS NULL, 5  IN  (SELECT 5), 2`; s.Text != want {
		t.Fatal(s.Text)
	}
	for parsed, want := range map[string]string{
		"1- -1": "1--1", `'a\\%b' IS NULL`: `'a\%b' IS UNKNOWN`, "5  IN  (SELECT 5)": "5 = ANY (SELECT 5)", "2": "2", "SELECT": "SELECT", s.Text: text,
	} {
		at := strings.LastIndex(s.Text, parsed)
		if got := text[s.written(at):s.written(at+len(parsed))]; got != want {
			t.Errorf("%s: %s, want %s", parsed, got, want)
		}
	}
}
