package client

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jedib0t/go-pretty/v6/text"
)

func split(input string) (sts []statement, pending bool) {
	var p splitter
	for line := range strings.SplitSeq(strings.TrimSuffix(input, "\n"), "\n") {
		p.feed(line)
		for {
			st, ok, err := p.next()
			if !ok || err != nil {
				break
			}
			sts = append(sts, st)
		}
	}
	return sts, p.pending()
}

func TestStatementsEndAtSemicolonsOutsideQuotesAndComments(t *testing.T) {
	for input, want := range map[string][]statement{
		"SELECT 1; SELECT 2;":                          {{text: "SELECT 1", line: 1}, {text: "SELECT 2", line: 1}},
		"SELECT\n 1\n;":                                {{text: "SELECT\n 1", line: 1}},
		"\n-- x\n  SELECT 1;\n\nSELECT 2;":             {{text: "-- x\n  SELECT 1", line: 3}, {text: "SELECT 2", line: 5}},
		"SELECT ';', \";\", `;`;":                      {{text: "SELECT ';', \";\", `;`", line: 1}},
		`SELECT 'it''s; \'fine;';`:                     {{text: `SELECT 'it''s; \'fine;'`, line: 1}},
		"SELECT `a\\`;":                                {{text: "SELECT `a\\`", line: 1}},
		"SELECT 1 -- one; two\n;":                      {{text: "SELECT 1 -- one; two", line: 1}},
		"SELECT 1 # one; two\n+1;":                     {{text: "SELECT 1 # one; two\n+1", line: 1}},
		"SELECT 1--1;":                                 {{text: "SELECT 1--1", line: 1}},
		"SELECT /* ; */ 1;":                            {{text: "SELECT /* ; */ 1", line: 1}},
		"/*! SELECT 1 */;":                             {{text: "/*! SELECT 1 */", line: 1}},
		";; -- nothing\n; SELECT 1;":                   {{text: "SELECT 1", line: 2}},
		"SELECT 1\\G SELECT 2\\g":                      {{text: "SELECT 1", line: 1, vertical: true}, {text: "SELECT 2", line: 1}},
		"SELECT 1 \\plot bar\nSELECT 2 \\plot line;\n": {{text: "SELECT 1", line: 1, plot: "bar"}, {text: "SELECT 2", line: 2, plot: "line"}},
		"SELECT 'multi\nline;\nstring';":               {{text: "SELECT 'multi\nline;\nstring'", line: 1}},
		"SELECT 1 \\watch":                             {{text: "SELECT 1", line: 1, watch: &watch{every: 2 * time.Second}}},
		"SELECT 1 \\plot \\watch 0.5 3;":               {{text: "SELECT 1", line: 1, plot: "line", watch: &watch{every: time.Second / 2, times: 3}}},
		"SELECT 1; \\watch 5":                          {{text: "SELECT 1", line: 1}, {line: 1, watch: &watch{every: 5 * time.Second}}},
		"\\G":                                          {{line: 1, vertical: true}},
	} {
		got, pending := split(input)
		if d := cmp.Diff(want, got, cmp.AllowUnexported(statement{}, watch{})); d != "" || pending {
			t.Errorf("%q: pending %v\n%s", input, pending, d)
		}
	}
	for input, want := range map[string]bool{"SELECT 1": true, "": false, "-- x": false, "/* x": true, "'": true, "SELECT 1;  ": false} {
		if _, pending := split(input); pending != want {
			t.Errorf("%q: pending %v", input, pending)
		}
	}
}

func TestWhichStatementsAnswer(t *testing.T) {
	for input, want := range map[string]bool{
		"-- a comment\nselect 1": true, "EXECUTE s": true, "INSERT INTO t VALUES (1) RETURNING a": true,
		"select 1": true, "(SELECT 1)": true, "/* x */ SHOW TABLES": true, "WITH a AS (SELECT 1) SELECT * FROM a": true, "explain select 1": true, "CALL millrace.seal('t')": true,
		"INSERT INTO t VALUES (1)": false, "SET x=1": false, "CREATE TABLE t (a INT)": false, "": false, "DROP TABLE t": false,
	} {
		if answers(input) != want {
			t.Errorf("%q: %v", input, !want)
		}
	}
}

var testColumns = []Column{{"id", NumberColumn}, {"name", TextColumn}, {"doc", JSONColumn}, {"raw", BinaryColumn}}

func printTest(t *testing.T, format string, width int, cols []Column, rows ...[][]byte) string {
	t.Helper()
	var b bytes.Buffer
	w, err := NewRowWriter(&b, format, width, cols)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := w.Row(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFormats(t *testing.T) {
	rows := [][][]byte{
		{[]byte("12345678901234567890"), []byte("a\tb\n\"c\", ü"), []byte(`{"x": 1.50}`), {0xff, 0x00}},
		{nil, []byte(""), nil, []byte("text")},
	}
	for format, want := range map[string]string{
		FormatTable: `
┌──────────────────────┬────────────────┬─────────────┬──────────┐
│                   id │ name           │ doc         │ raw      │
├──────────────────────┼────────────────┼─────────────┼──────────┤
│ 12345678901234567890 │ a\tb\n"c", ü   │ {"x": 1.50} │ 0xFF00   │
│                 NULL │                │ NULL        │ text     │
└──────────────────────┴────────────────┴─────────────┴──────────┘
`,
		FormatVertical: `
─── row 1 ────────────────────
  id: 12345678901234567890
name: a\tb
"c", ü
 doc: {"x": 1.50}
 raw: 0xFF00
─── row 2 ────────────────────
  id: NULL
name: 
 doc: NULL
 raw: text
`,
		FormatCSV: "\nid,name,doc,raw\n12345678901234567890,\"a\tb\n\"\"c\"\", ü\",\"{\"\"x\"\": 1.50}\",0xFF00\n,,,text\n",
		FormatTSV: "\nid\tname\tdoc\traw\n12345678901234567890\ta\\tb\\n\"c\", ü\t{\"x\": 1.50}\t0xFF00\nNULL\t\tNULL\ttext\n",
		FormatJSON: `
[
{"id":12345678901234567890,"name":"a\tb\n\"c\", ü","doc":{"x":1.50},"raw":"/wA="},
{"id":null,"name":"","doc":null,"raw":"text"}
]
`,
		FormatNDJSON: `
{"id":12345678901234567890,"name":"a\tb\n\"c\", ü","doc":{"x":1.50},"raw":"/wA="}
{"id":null,"name":"","doc":null,"raw":"text"}
`,
		FormatMarkdown: `
| id | name | doc | raw |
| ---:| --- | --- | --- |
| 12345678901234567890 | a\tb\n"c", ü | {"x": 1.50} | 0xFF00 |
| NULL |  | NULL | text |
`,
	} {
		got := "\n" + printTest(t, format, 0, testColumns, rows...)
		want = strings.ReplaceAll(want, "ü  ", "ü ")
		got = strings.ReplaceAll(got, "ü  ", "ü ")
		if format == FormatTable {
			// The borders follow the widths; compare cells.
			squeeze := func(s string) string {
				return strings.Join(strings.Fields(strings.NewReplacer("─", "").Replace(s)), " ")
			}
			got, want = squeeze(got), squeeze(want)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", format, d)
		}
	}
}

func TestTablesFitTheTerminal(t *testing.T) {
	cols := []Column{{"id", NumberColumn}, {"text", TextColumn}, {"other", TextColumn}}
	row := [][]byte{[]byte("7"), []byte(strings.Repeat("wide ", 50)), []byte("東京東京東京東京東京東京")}
	for _, width := range []int{40, 60, 80, 120} {
		for line := range strings.SplitSeq(strings.TrimSpace(printTest(t, FormatTable, width, cols, row)), "\n") {
			if w := text.StringWidth(line); w > width {
				t.Errorf("width %d: a line of %d: %s", width, w, line)
			}
		}
	}
	if got := printTest(t, FormatTable, 40, cols, row); !strings.Contains(got, " 7 ") || !strings.Contains(got, "…") {
		t.Errorf("narrow columns stay whole, wide ones are cut:\n%s", got)
	}
	if got := printTest(t, FormatTable, 20, cols, row); !strings.Contains(got, "row 1") {
		t.Errorf("where no table fits, cells get lines:\n%s", got)
	}
	if got := printTest(t, FormatTable, 0, cols, row); !strings.Contains(got, strings.Repeat("wide ", 50)[:249]) {
		t.Error("a table that goes to a file is cut")
	}
}

func TestLongResultsArePrintedInPages(t *testing.T) {
	var b bytes.Buffer
	w, _ := NewRowWriter(&b, FormatTable, 80, []Column{{"n", NumberColumn}})
	for range pageRows + 1 {
		w.Row([][]byte{[]byte("1")})
	}
	if !strings.Contains(b.String(), "│ 1 │") {
		t.Fatal("nothing is shown before the end")
	}
	w.Close()
	if n := strings.Count(b.String(), "│ 1 │"); n != pageRows+1 {
		t.Fatalf("%d rows", n)
	}
}

func TestStoredTextCannotDriveTheTerminal(t *testing.T) {
	evil := []byte("a\x1b[2Jb\u009b31m\u0007\x7f\xc3")
	for _, format := range []string{FormatTable, FormatVertical} {
		got := printTest(t, format, 80, []Column{{"\x1b]0;x\u0007", TextColumn}}, [][]byte{evil})
		if strings.ContainsAny(got, "\x1b\x07\x7f\u009b") {
			t.Errorf("%s: %q", format, got)
		}
		if !strings.Contains(got, `a\x1b[2Jb\x9b31m\x07\x7f\xc3`) {
			t.Errorf("%s: %q", format, got)
		}
	}
}

func plot(t *testing.T, kind string, cols []Column, rows ...[][]byte) (string, error) {
	t.Helper()
	var b bytes.Buffer
	w, err := newPlotWriter(&b, kind, 40, cols)
	if err != nil {
		return "", err
	}
	for _, r := range rows {
		if err := w.Row(r); err != nil {
			return "", err
		}
	}
	err = w.Close()
	return b.String(), err
}

func TestPlots(t *testing.T) {
	cols := []Column{{"status", TextColumn}, {"n", NumberColumn}}
	rows := [][][]byte{{[]byte("paid"), []byte("250")}, {[]byte("shipped"), []byte("50")}, {nil, nil}}
	got, err := plot(t, "bar", cols, rows...)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(got, "\n"), "\n")
	if len(lines) != 3 || strings.Count(lines[0], "█") != 5*strings.Count(lines[1], "█") || !strings.HasPrefix(lines[2], "NULL    NULL") {
		t.Fatalf("\n%s", got)
	}
	if got, err = plot(t, "line", cols, rows...); err != nil || !strings.Contains(got, "paid … NULL") {
		t.Fatalf("%v\n%s", err, got)
	}
	two := []Column{{"status", TextColumn}, {"n", NumberColumn}, {"late", NumberColumn}}
	got, err = plot(t, "bar", two, [][]byte{[]byte("paid"), []byte("8"), []byte("2")}, [][]byte{[]byte("open"), []byte("-4"), []byte("4")})
	if lines := strings.Split(got, "\n"); err != nil || len(lines) != 5 || !strings.HasPrefix(lines[0], "paid n     8 ██") || !strings.HasPrefix(lines[3], "open late  4 ██") || strings.Contains(lines[2], "█") {
		t.Errorf("%v\n%s", err, got)
	}
	for kind, cols := range map[string][]Column{"pie": cols, "line": {{"a", TextColumn}}} {
		if _, err := plot(t, kind, cols); err == nil {
			t.Errorf("%s of %v is accepted", kind, cols)
		}
	}
	if got, err := plot(t, "line", []Column{{"n", NumberColumn}}); err != nil || got != "" {
		t.Errorf("an empty result: %q %v", got, err)
	}
}

func TestPlansAreDrawnAsTrees(t *testing.T) {
	for plan, want := range map[string]string{
		"In columns:\n  Limit 5\n    Join\n      Scan a\n      Scan b\nScan a\n  columns: x\n  blocks: 1\nLimit(5)\n └─ Project\n     └─ Table\n": `
In columns:
└─ Limit 5
   └─ Join
      ├─ Scan a
      └─ Scan b
Scan a
├─ columns: x
└─ blocks: 1
Limit(5)
 └─ Project
     └─ Table
`,
		"-> Nested loop  (cost=1)\n    -> Filter: (a > 1)\n        -> Table scan on t\n    -> Index lookup on u\n": `
Nested loop  (cost=1)
├─ Filter: (a > 1)
│  └─ Table scan on t
└─ Index lookup on u
`,
		"{\n  \"a\": 1\n}\n": "\n{\n  \"a\": 1\n}\n",
		"one line\n":         "\none line\n",
	} {
		if d := cmp.Diff(want, "\n"+drawTree(plan)); d != "" {
			t.Error(d)
		}
	}
}

func TestTablesOfAStatementAreFoundWithTheirAliases(t *testing.T) {
	for text, want := range map[string][]tableRef{
		"SELECT a FROM t":                           {{table: "t"}},
		"SELECT a FROM t WHERE b":                   {{table: "t"}},
		"SELECT a FROM `my-t` AS x, db.u y WHERE 1": {{table: "my-t", alias: "x"}, {"db", "u", "y"}},
		"SELECT a FROM t x LEFT JOIN u ON x.a=u.b":  {{table: "t", alias: "x"}, {table: "u"}},
		"INSERT INTO t (a, b) VALUES (1, 2)":        {{table: "t"}},
		"SELECT 'FROM t' -- FROM u\n":               nil,
		"SELECT a FROM (SELECT b FROM t) d":         {{table: "t"}},
		"SELECT a FROM HOP(t, ts, 1, 2) w":          {{table: "t"}},
		"SELECT a FROM ":                            nil,
	} {
		ts, _ := tokens(text)
		if d := cmp.Diff(want, tableRefs(ts), cmp.AllowUnexported(tableRef{})); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
	text := "SELECT 1; SELECT a FROM t; SELECT ';'"
	if got, begin := statementAround(text, 12); got != " SELECT a FROM t" || begin != 9 {
		t.Error(got, begin)
	}
}

func TestWhatIsTypedIsKeptForItsOwnerOnly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	if err := os.WriteFile(file, []byte("SELECT 'an entry of before';\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	h := openHistory(file)
	for _, text := range []string{"SELECT\n  1;", "SELECT\n  1;", "CREATE USER a IDENTIFIED BY 'x';", " ", "\"quoted"} {
		if _, err := h.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"SELECT 'an entry of before';", "SELECT\n  1;", "\"quoted"}
	for _, h := range []*history{h, openHistory(file)} {
		if d := cmp.Diff(want, h.Dump()); d != "" {
			t.Error(d)
		}
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info.Mode(), err)
	}
	h = openHistory(filepath.Join(t.TempDir(), "none", "history"))
	if n, err := h.Write("SELECT 1;"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
}

func TestALongHistoryIsCut(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	if err := os.WriteFile(file, bytes.Repeat([]byte("\"SELECT 1;\"\n"), 2*maxHistory+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := openHistory(file).Len(); n != maxHistory {
		t.Fatal(n)
	}
	if b, err := os.ReadFile(file); err != nil || bytes.Count(b, []byte("\n")) != maxHistory {
		t.Fatal(err)
	}
}

func TestWideCharactersKeepTablesStraight(t *testing.T) {
	got := printTest(t, FormatTable, 80, []Column{{"name", TextColumn}, {"n", NumberColumn}},
		[][]byte{[]byte("東京"), []byte("1")}, [][]byte{[]byte("e\u0301té"), []byte("22")}, [][]byte{[]byte("🎉 ok"), []byte("3")}, [][]byte{[]byte("한국어"), nil})
	lines := strings.Split(strings.TrimSpace(got), "\n")
	for _, line := range lines {
		if w, want := text.StringWidth(line), text.StringWidth(lines[0]); w != want {
			t.Errorf("a line of %d instead of %d:\n%s", w, want, got)
		}
	}
}

func TestOnlyPagersThatScrollSidewaysGetWideTables(t *testing.T) {
	t.Setenv("LESS", "")
	for command, want := range map[string]bool{"less -S": true, "/usr/bin/less -FRSX": true, "less": false, "more": false, "": false, "cat -S": false, "less --chop-long-lines": true} {
		if chops(command) != want {
			t.Error(command)
		}
	}
	t.Setenv("LESS", "-RS")
	if !chops("less") {
		t.Error("the variable LESS is not looked at")
	}
}

func TestPasswordsInStatementsAreQuoted(t *testing.T) {
	got, err := identified("CREATE USER", "o'neil", "it's")
	if want := "CREATE USER 'o''neil'@'%' IDENTIFIED BY 'it''s'"; err != nil || got != want {
		t.Fatal(got, err)
	}
	if _, err := identified("CREATE USER", "a", `b\`); err == nil {
		t.Fatal("a backslash means different things in different modes and is accepted")
	}
}
