package client

import (
	"bytes"
	"context"
	"errors"
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
	earlier := ""
	c := newCompleter(se.db, func() string { return earlier })
	for _, step := range []struct {
		earlier, line string
		want          []string
		length        int
	}{
		{"", "sel", []string{"ect "}, 3},
		{"", "SEL", []string{"ECT "}, 3},
		{"", "SELECT * FROM or", []string{"ders "}, 2},
		{"", "SELECT * FROM `or", []string{"der-items`", "ders`"}, 2},
		{"", `\d or`, []string{"ders "}, 2},
		{"", "SELECT * FROM orders WHERE stat", []string{"us "}, 4},
		{"", "SELECT `shi", []string{"p.city`"}, 3}, // orders was named before
		{"SELECT *\nFROM orders\n", "WHERE _off", []string{"set "}, 4},
		{"", "SELECT * FROM nope", nil, 4},
	} {
		earlier = step.earlier
		got, length := c.Do([]rune(step.line), len([]rune(step.line)))
		var texts []string
		for _, g := range got {
			texts = append(texts, string(g))
		}
		if !slices.Equal(texts, step.want) || length != step.length {
			t.Errorf("%q: %q, %d", step.line, texts, length)
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
	if _, err := se.db.ExecContext(t.Context(), "KILL "+se.connID); err != nil {
		t.Fatal(err)
	}
	_ = se.run(t.Context(), statement{text: "SELECT 1 AS a"}) // finds the connection gone
	out.Reset()
	if err := se.run(t.Context(), statement{text: "SELECT 2 AS a"}); err != nil || !strings.Contains(out.String(), "a\n2\n") {
		t.Fatalf("%v %q", err, out)
	}
}
