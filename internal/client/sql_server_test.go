package client

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"millrace/internal/testkit"

	"github.com/twmb/franz-go/pkg/kgo"
)

// sqlSession is a session on a server of the test's own with some topics.
func sqlSession(t *testing.T) (*session, *bytes.Buffer) {
	s := testkit.Server(t)
	var out bytes.Buffer
	sio := &IO{In: strings.NewReader(""), Out: &out, Err: &out}
	k := Kafka{Address: s.KafkaAddr()}
	cl, err := k.Client(t.Context(), sio)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for _, topic := range []string{"orders", "order-items"} {
		if _, err := createTopic(t.Context(), cl, topic, 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: "orders", Value: []byte(`{"status":"paid","ship":{"city":"Köln"}}`)}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	se, err := openSession(t.Context(), sio, &MySQL{Address: s.MySQLAddr(), Database: "kafka"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(se.close)
	return se, &out
}

func TestTabCompletesKeywordsTablesAndColumns(t *testing.T) {
	se, _ := sqlSession(t)
	c := newCompleter(se)
	for text, want := range map[string][]string{ // | is the cursor
		"sel|":                                    {"select"},
		"SEL|":                                    {"SELECT"},
		"coun|":                                   {"count("},
		"SELECT * FROM or|":                       {"order-items", "orders"},
		"SELECT * FROM `or|":                      {"order-items", "orders"},
		"SELECT * FROM orders o, |":               {"information_schema", "kafka", "millrace", "mysql", "order-items", "orders", "performance_schema", "sys"},
		"SELECT * FROM orders$r|":                 {"orders$raw"},
		`\d or|`:                                  {"order-items", "orders"},
		`\for|`:                                   {`\format`},
		`\format nd|`:                             {"ndjson"},
		"USE mill|":                               {"millrace"},
		"SELECT * FROM orders WHERE stat|":        {"status"},
		"SELECT stat| FROM orders":                {"status"},
		"SELECT `shi| FROM orders":                {"ship.city"},
		"SELECT `ship.c|` FROM orders":            {"ship.city"},
		"SELECT o.s| FROM orders o":               {"ship.city", "status"},
		"SELECT * FROM millrace.topi|":            {"topics"},
		"SELECT part| FROM millrace.topics":       {"partition", "partitions"},
		"SELECT *\nFROM orders\nWHERE _off|":      {"_offset"},
		"SELECT 1 FROM nope; SELECT 'it''s stat|": nil,
		"SELECT * FROM nope|":                     nil,
		"SELECT 1 -- sel|":                        nil,
		"INSERT INTO ord|":                        {"order-items", "orders"},
	} {
		pos := strings.IndexByte(text, '|')
		cands, _, _ := c.candidates(text[:pos]+text[pos+1:], pos)
		var texts []string
		for _, cand := range cands {
			texts = append(texts, cand.text)
		}
		slices.Sort(texts)
		if !slices.Equal(texts, want) {
			t.Errorf("%q: %q", text, texts)
		}
	}
}

func TestAnInterruptedStatementIsKilledAndTheSessionGoesOn(t *testing.T) {
	se, out := sqlSession(t)
	if err := se.run(t.Context(), statement{text: "SET @x = 7"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan error, 1)
	go func() {
		defer cancel()
		for { // until the server knows the statement
			rows, err := se.db.QueryContext(ctx, "SELECT id FROM information_schema.processlist WHERE info LIKE '%SLEEP(600)%' AND info NOT LIKE '%processlist%'")
			if err != nil {
				started <- err
				return
			}
			found := rows.Next()
			rows.Close()
			if found {
				started <- nil
				return
			}
		}
	}()
	err := se.run(ctx, statement{text: "SELECT SLEEP(600)"})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	out.Reset()
	se.format = FormatTSV
	if err := se.run(t.Context(), statement{text: "SELECT @x AS x"}); err != nil || out.String() != "x\n7\n" {
		t.Fatalf("%v %q", err, out)
	}
}

func TestALostConnectionIsMadeAgain(t *testing.T) {
	se, out := sqlSession(t)
	se.format = FormatTSV
	if err := se.run(t.Context(), statement{text: "USE millrace"}); err != nil {
		t.Fatal(err)
	}
	if _, err := se.db.ExecContext(t.Context(), "KILL "+se.connID); err != nil {
		t.Fatal(err)
	}
	_ = se.run(t.Context(), statement{text: "SELECT 1 AS a"}) // finds the connection gone
	out.Reset()
	if err := se.run(t.Context(), statement{text: "SELECT DATABASE() AS a"}); err != nil || !strings.Contains(out.String(), "a\nmillrace\n") {
		t.Fatalf("%v %q", err, out)
	}
	// One that was lost while nobody looked is found before a statement is sent.
	if _, err := se.db.ExecContext(t.Context(), "KILL "+se.connID); err != nil {
		t.Fatal(err)
	}
	se.used = se.used.Add(-2 * idleCheck)
	out.Reset()
	if err := se.run(t.Context(), statement{text: "SELECT 3 AS a"}); err != nil || !strings.Contains(out.String(), "connected again") || !strings.Contains(out.String(), "a\n3\n") {
		t.Fatalf("%v %q", err, out)
	}
}

// enough is a reader who leaves after the first lines.
type enough struct{ n int }

func (e *enough) Write(b []byte) (int, error) {
	if e.n++; e.n > 3 {
		return 0, outputError{errEnough}
	}
	return len(b), nil
}

func TestAnAnswerThatNobodyReadsOnIsEndedAtTheServer(t *testing.T) {
	se, out := sqlSession(t)
	se.out, se.format = &enough{}, FormatCSV
	// Some 10¹² rows: reading them to the end would never end.
	endless := "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n < 1000) SELECT a.n, b.n, c.n, d.n FROM r a, r b, r c, r d"
	if err := se.run(t.Context(), statement{text: endless}); !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
	se.out, se.format = out, FormatTSV
	if err := se.run(t.Context(), statement{text: "SELECT 2 AS a"}); err != nil || !strings.Contains(out.String(), "a\n2\n") {
		t.Fatalf("%v %q", err, out)
	}
}

func TestScripts(t *testing.T) {
	se, out := sqlSession(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	inner := write("inner.sql", "\n-- the inner one\nSELECT 'inner' AS a;\nSELECT nope;\nSELECT 'unreached' AS a;\n")
	loop := write("loop.sql", "source "+filepath.Join(dir, "loop.sql")+"\n")
	for _, c := range []struct {
		script, out, err string
		force            bool
	}{
		{script: "SELECT 1 AS a;\nSELECT 2\n AS b", out: "a\n1\nb\n2\n"},
		{script: "SELECT 1 AS a;\n\nSELECT\n nope;\nSELECT 2 AS b;", out: "a\n1\n", err: "line 3: Error 1054 (42S22): Unknown column 'nope' in 'field list'"},
		{script: "SELECT nope;\nSELECT 2 AS b;", out: "line 1: Error 1054 (42S22): Unknown column 'nope' in 'field list'\nb\n2\n", force: true},
		{script: "\\format ndjson\nSELECT 1 AS a;\n\\q\nSELECT 2;", out: "{\"a\":1}\n", err: "quit"},
		{script: "source " + inner + ";\nSELECT 1 AS a;", out: "a\ninner\n", err: "line 1: " + inner + ":4: Error 1054 (42S22): Unknown column 'nope' in 'field list'"},
		{script: "source " + loop, err: "more than 16 deep"},
		{script: "source /no/such/file", err: "line 1: open /no/such/file: no such file or directory"},
		{script: "DELIMITER //\nSELECT ';' AS a//\nDELIMITER ;\nSELECT 2 AS b;", out: "a\n;\nb\n2\n"},
		{script: "SELECT 1 AS a \\watch 0.1 2\n", out: "a\n1\na\n1\n"},
		{script: "SELECT 1 AS a;\n\\g\n", out: "a\n1\na\n1\n"},
		{script: "\\g\n", err: "line 1: there is no statement to run again"},
		{script: "SELECT 1 \\plot pie\n", err: `line 1: \plot pie: there are line and bar`},
		{script: "\\nope\n", err: `line 1: no command \nope`},
		{script: "\\d order-items\n", out: "Field\tType\tNull\tKey\tDefault\tExtra\n_partition\tint"},
		{script: "\\dt order%\n", out: "Tables_in_kafka (order%)\norder-items\norders\n"},
		{script: "\\warnings on\nSELECT CAST('5x' AS SIGNED) AS a;", out: "a\n5\nWarning 1292: Truncated incorrect INTEGER value: '5x'\n"},
	} {
		out.Reset()
		se.format, se.warnings = FormatTSV, false
		r := &runner{session: se, force: c.force}
		err := r.script(t.Context(), "line ", strings.NewReader(c.script))
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || !strings.HasPrefix(out.String(), c.out) || c.out == "" && out.Len() > 0 {
			t.Errorf("%q: %v\n%s", c.script, err, out)
		}
	}
}
