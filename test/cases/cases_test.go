// Package cases_test asks SQL about the kinds of data and statements on which other systems were found to
// answer wrongly. README.md lists them and where each is tested. Every question of testdata is asked in five
// ways, which must agree with the written answer: carried out in columns and not, over what just arrived and
// over what was sealed, and both again after a restart.
package cases_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"millrace/internal/testkit"
	"millrace/server"

	"github.com/go-sql-driver/mysql"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// question is a statement and its answer: rows of cells with | between them, or the error.
type question struct {
	file string
	line int
	sql  string
	want []string
}

// script is a file of testdata. Lines are
//
//	topic NAME [PARTITIONS] [CONFIG=VALUE]  makes a topic; a config's value goes to the end of the line
//	value JSON, values N JSON               produces to the last topic, partition 0
//	record [key=K] [ts=MS] [h=NAME=VALUE] [null | value=TEXT] the same; escapes as in Go's strings
//	roll                                    seals what there is
//	do NAME                                 a set-up of setups
//	sql STATEMENT                           a set-up, once
//	ask STATEMENT                           a question; the lines up to a blank one are the rows
type script struct {
	t         *testing.T
	file      string
	cl        *kgo.Client
	db        *sql.DB
	topic     string
	pending   []*kgo.Record
	questions []question
}

func TestCasesHaveTheirAnswersInEveryWay(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	data := t.TempDir()
	start := func() (*server.Server, *sql.DB) {
		s := testkit.Server(t, func(o *server.Options) { o.Data = data })
		db, err := sql.Open("mysql", "root@tcp("+s.MySQLAddr()+")/kafka?multiStatements=true")
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1) // one session
		return s, db
	}
	s, db := start()
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.KafkaAddr()), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	var questions []question
	for _, file := range files {
		sc := &script{t: t, file: file, cl: cl, db: db}
		sc.run()
		questions = append(questions, sc.questions...)
	}
	ask(t, db, "in columns", 1, questions)
	ask(t, db, "row by row", 0, questions)
	if _, err := db.Exec("CALL millrace.seal('c01')"); err != nil {
		t.Fatal(err)
	}
	ask(t, db, "sealed, in columns", 1, questions)
	db.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, db = start()
	defer db.Close()
	ask(t, db, "after a restart, in columns", 1, questions)
	ask(t, db, "after a restart, row by row", 0, questions)
	t.Logf("%d questions, each in 5 ways", len(questions))
}

func ask(t *testing.T, db *sql.DB, way string, pushdown int, questions []question) {
	t.Helper()
	if _, err := db.Exec(fmt.Sprintf("SET millrace_pushdown=%d", pushdown)); err != nil {
		t.Fatal(err)
	}
	for _, q := range questions {
		if got := answer(db, q.sql); strings.Join(got, "\n") != strings.Join(q.want, "\n") {
			t.Errorf("%s:%d %s: %s\n got %q\nwant %q", q.file, q.line, way, q.sql, got, q.want)
		}
	}
}

// answer is a statement's rows, of its last result.
func answer(db *sql.DB, statement string) (out []string) {
	rows, err := db.Query(statement)
	if err != nil {
		return []string{spellError(err)}
	}
	defer rows.Close()
	for {
		out = nil
		cols, err := rows.Columns()
		if err != nil {
			return []string{spellError(err)}
		}
		cells := make([]sql.RawBytes, len(cols))
		dest := make([]any, len(cols))
		for i := range cells {
			dest[i] = &cells[i]
		}
		for rows.Next() {
			if err := rows.Scan(dest...); err != nil {
				return []string{spellError(err)}
			}
			row := make([]string, len(cells))
			for i, c := range cells {
				if row[i] = "NULL"; c != nil {
					row[i] = string(c)
				}
			}
			line := strings.Join(row, "|")
			if line == "" {
				line = "(empty)" // a blank line ends an answer
			}
			out = append(out, line)
		}
		if err := rows.Err(); err != nil {
			return []string{spellError(err)}
		}
		if !rows.NextResultSet() {
			return out
		}
	}
}

func spellError(err error) string {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return fmt.Sprintf("error %d %s", e.Number, e.SQLState[:])
	}
	return "error: " + err.Error()
}

func (sc *script) run() {
	f, err := os.Open(sc.file)
	if err != nil {
		sc.t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	asking := false
	for n := 1; in.Scan(); n++ {
		line := in.Text()
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "":
			asking = false
		case asking:
			q := &sc.questions[len(sc.questions)-1]
			q.want = append(q.want, line)
		case strings.HasPrefix(line, "#"):
		case word == "ask":
			sc.flush()
			sc.questions = append(sc.questions, question{filepath.Base(sc.file), n, rest, nil})
			asking = true
		default:
			if err := sc.step(word, rest); err != nil {
				sc.t.Fatalf("%s:%d: %s: %v", sc.file, n, line, err)
			}
		}
	}
	if err := in.Err(); err != nil {
		sc.t.Fatal(err)
	}
	sc.flush()
}

func (sc *script) step(word, rest string) error {
	switch word {
	case "topic":
		sc.flush()
		return sc.create(rest)
	case "value", "values":
		times := 1
		if word == "values" {
			count, value, _ := strings.Cut(rest, " ")
			var err error
			if times, err = strconv.Atoi(count); err != nil {
				return err
			}
			rest = value
		}
		for range times {
			sc.pending = append(sc.pending, &kgo.Record{Topic: sc.topic, Value: []byte(rest)})
		}
		return nil
	case "record":
		r, err := record(rest)
		r.Topic = sc.topic
		sc.pending = append(sc.pending, r)
		return err
	case "roll":
		sc.flush()
		_, err := sc.db.Exec("CALL millrace.seal('" + sc.topic + "')")
		return err
	case "sql":
		sc.flush()
		_, err := sc.db.Exec(rest)
		return err
	case "do":
		sc.flush()
		return setups[rest](sc)
	}
	return errors.New("unknown step")
}

// create is `topic NAME [PARTITIONS] [CONFIG=VALUE]`.
func (sc *script) create(rest string) error {
	name, rest, _ := strings.Cut(rest, " ")
	sc.topic = name
	partitions := int32(1)
	if n, more, _ := strings.Cut(rest, " "); n != "" && !strings.Contains(n, "=") {
		p, err := strconv.Atoi(n)
		if err != nil {
			return err
		}
		partitions, rest = int32(p), more
	}
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, 1
	if key, value, ok := strings.Cut(rest, "="); ok {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = key, &value
		topic.Configs = append(topic.Configs, config)
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(context.Background(), sc.cl)
	if err != nil {
		return err
	}
	if m := resp.Topics[0].ErrorMessage; m != nil {
		return errors.New(*m)
	}
	return kerr.ErrorForCode(resp.Topics[0].ErrorCode)
}

func record(text string) (*kgo.Record, error) {
	r := &kgo.Record{}
	for text != "" {
		if value, ok := strings.CutPrefix(text, "value="); ok { // to the end of the line
			v, err := strconv.Unquote(`"` + strings.ReplaceAll(value, `"`, `\"`) + `"`)
			r.Value = []byte(v)
			return r, err
		}
		word, rest, _ := strings.Cut(text, " ")
		text = rest
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "key":
			k, err := strconv.Unquote(`"` + value + `"`)
			if err != nil {
				return r, err
			}
			r.Key = []byte(k)
		case "ts":
			ms, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return r, err
			}
			r.Timestamp = time.UnixMilli(ms)
		case "h":
			name, v, _ := strings.Cut(value, "=")
			r.Headers = append(r.Headers, kgo.RecordHeader{Key: name, Value: []byte(v)})
		case "null":
		default:
			return r, fmt.Errorf("no %s of a record", name)
		}
	}
	return r, nil
}

func (sc *script) flush() {
	sc.t.Helper()
	if err := sc.cl.ProduceSync(context.Background(), sc.pending...).FirstErr(); err != nil {
		sc.t.Fatal(sc.file, err)
	}
	sc.pending = nil
}
