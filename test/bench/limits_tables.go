package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	limitTables  = 10_000
	createAtOnce = 1_000
	tableRecord  = `{"id":7,"name":"abc","price":1.5,"ok":true,"user":{"id":7,"name":"x","address":{"street":"s","zip":"z"}},"tags":["a"],"status":"new","country":"DE"}`
)

// metadataStatements are what tools ask of one table among many, in the spellings they use.
var metadataStatements = []struct{ what, text string }{
	{"SHOW TABLES", "SHOW TABLES"},
	{"SHOW TABLES LIKE", "SHOW TABLES LIKE 'table-0012%'"},
	{"SHOW FULL TABLES", "SHOW FULL TABLES"},
	{"SHOW TABLE STATUS LIKE", "SHOW TABLE STATUS LIKE 'table-00123'"},
	{"SHOW FULL COLUMNS", "SHOW FULL COLUMNS FROM `table-00124`"},
	{"information_schema.columns, table_name =", "SELECT * FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'table-00125'"},
	{"information_schema.columns, LOWER(table_name) =", "SELECT * FROM information_schema.columns WHERE LOWER(table_name) = 'table-00126'"},
	{"information_schema.columns, table_name IN", "SELECT * FROM information_schema.columns WHERE table_name IN ('table-00127', 'table-00128')"},
	{"information_schema.columns, table_name LIKE", "SELECT * FROM information_schema.columns WHERE table_name LIKE 'table-0013%'"},
	{"information_schema.tables, LOWER(table_name) =", "SELECT * FROM information_schema.tables WHERE LOWER(table_name) = 'table-00140'"},
	{"information_schema.statistics", "SELECT * FROM information_schema.statistics WHERE table_name = 'table-00141'"},
	{"information_schema.key_column_usage, LIKE", "SELECT * FROM information_schema.key_column_usage WHERE table_name LIKE 'table-00142'"},
	{"columns joined with tables", "SELECT c.* FROM information_schema.columns c JOIN information_schema.tables t ON c.table_schema = t.table_schema AND c.table_name = t.table_name WHERE t.table_name = 'table-00143'"},
	{"information_schema.tables, all", "SELECT * FROM information_schema.tables WHERE table_schema = 'kafka'"},
	{"information_schema.columns, all (100,000 and more)", "SELECT COUNT(*) FROM information_schema.columns"},
}

// tables: what tools ask about one of many tables, right after a start.
func (l *limits) tables(ctx context.Context, dir string) error {
	p, err := l.broker().startIn(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { p.kill() }()
	if err := createTables(ctx, p.address); err != nil {
		return err
	}
	p.stop()
	if p, err = l.broker().startIn(ctx, dir); err != nil {
		return err
	}
	what := fmt.Sprintf("%d topics", limitTables)
	l.add(what+", start after a clean stop, s", "%.2f", p.ready.Seconds())
	db, err := sql.Open("mysql", "root@tcp("+l.mysql+")/kafka")
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.PingContext(ctx); err != nil {
		return err
	}
	for _, s := range metadataStatements {
		began := time.Now()
		n, err := countRows(ctx, db, s.text)
		if err != nil {
			return fmt.Errorf("%s: %w", s.text, err)
		}
		first := time.Since(began)
		began = time.Now()
		if _, err := countRows(ctx, db, s.text); err != nil {
			return err
		}
		l.add(fmt.Sprintf("%s, %s, first / again, ms (rows)", what, s.what), "%.0f / %.0f (%d)", ms(first), ms(time.Since(began)), n)
	}
	l.add(what+", RSS after all that, MiB", "%.0f", mib(p.rss("VmRSS")))
	p.stop()
	return nil
}

func countRows(ctx context.Context, db *sql.DB, query string) (n int, err error) {
	r, err := db.QueryContext(ctx, query)
	if err != nil {
		return 0, err
	}
	for r.Next() {
		n++
	}
	return n, errors.Join(r.Err(), r.Close())
}

// createTables makes topics of one partition with a record each.
func createTables(ctx context.Context, address string) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.ProducerLinger(5*time.Millisecond), kgo.MaxBufferedRecords(2*limitTables))
	if err != nil {
		return err
	}
	defer cl.Close()
	name := func(i int) string { return fmt.Sprintf("table-%05d", i) }
	for from := 0; from < limitTables; from += createAtOnce {
		req := kmsg.NewPtrCreateTopicsRequest()
		req.TimeoutMillis = 60_000
		for i := range createAtOnce {
			t := kmsg.NewCreateTopicsRequestTopic()
			t.Topic, t.NumPartitions, t.ReplicationFactor = name(from+i), 1, 1
			req.Topics = append(req.Topics, t)
		}
		r, err := req.RequestWith(ctx, cl)
		if err != nil {
			return err
		}
		for _, t := range r.Topics {
			if t.ErrorCode != 0 {
				return fmt.Errorf("create %s: error %d", t.Topic, t.ErrorCode)
			}
		}
	}
	var a acknowledgements
	for i := range limitTables {
		cl.Produce(ctx, &kgo.Record{Topic: name(i), Value: []byte(tableRecord)}, func(_ *kgo.Record, err error) {
			a.Lock()
			defer a.Unlock()
			if err != nil {
				a.failed = err
			}
		})
	}
	if err := cl.Flush(ctx); err != nil {
		return err
	}
	_, err = a.result()
	return err
}
