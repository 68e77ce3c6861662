package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/twmb/franz-go/pkg/kgo"
)

// What a statement may keep, what the columns' cache may, and what the whole process must stay below.
const (
	memoryQuery = 512 << 20
	memoryCache = 64 << 20
	memoryMost  = 1 << 30
	memoryAck99 = 250 * time.Millisecond
)

// heavy is a statement that keeps more than its budget.
type heavy struct {
	what, query string
	rows        int64
	mayFail     bool // error 1038 is an answer, too
}

// runMemory has statements run whose rows do not fit their budget, beside a producer, and says what memory and
// time the server took. It fails when one of them hurts more than itself.
func runMemory(ctx context.Context, s settings) error {
	dir := filepath.Join(s.dir, "memory")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, err := millraceBroker(s.millrace, "--query-memory", strconv.Itoa(memoryQuery), "--column-cache", strconv.Itoa(memoryCache),
		"--memory-limit", strconv.Itoa(memoryMost*3/4), "--statement-timeout", "10m").startIn(ctx, dir)
	if err != nil {
		return err
	}
	defer p.stop()
	const wide, many = 600_000, 10_000_000
	text := payload(2000)
	if err := load(ctx, p.address, "wide", wide, func(i int, r *rand.Rand, b []byte) []byte {
		b = fmt.Appendf(b, `{"i":%d,"s":"`, i)
		at := r.IntN(1000)
		b = append(append(b, text[at:]...), text[:at]...)
		return append(b, `"}`...)
	}); err != nil {
		return err
	}
	if err := load(ctx, p.address, "many", many, func(i int, _ *rand.Rand, b []byte) []byte {
		return fmt.Appendf(b, `{"k":%d,"t":"key number %d"}`, i, i)
	}); err != nil {
		return err
	}
	progress("loaded")

	fmt.Println("| statement | rows | seconds | RSS before, MiB | RSS at most, MiB | RSS after, MiB | ack p50, ms | ack p99, ms | answer |")
	fmt.Println("|---|---:|---:|---:|---:|---:|---:|---:|---|")
	var failed []error
	for _, h := range []heavy{
		{"nothing but the producer, for 5 s", "SELECT SLEEP(5)", 1, false},
		{"ORDER BY of 1.2 GB, all rows read", "SELECT i, s FROM wide ORDER BY s, i", wide, false},
		{"the same, counted (C34)", "SELECT COUNT(*) FROM (SELECT i, s FROM wide ORDER BY s, i) t", 1, false},
		{"SELECT of 1.2 GB, all rows read", "SELECT i, s FROM wide", wide, false},
		{"10 M groups of an integer, all rows read", "SELECT k, COUNT(*) FROM many GROUP BY k", many, true},
		{"10 M groups of a text, the ten largest", "SELECT t, COUNT(*) c, MAX(k) m FROM many GROUP BY t ORDER BY m DESC LIMIT 10", 10, true},
		{"10 M distinct texts", "SELECT COUNT(DISTINCT t) FROM many", 1, true},
		{"join of 10 M with 10 M rows", "SELECT COUNT(*), SUM(a.k) FROM many a JOIN many b ON a.t = b.t", 1, true},
		{"join of 1.2 GB with itself", "SELECT COUNT(*), MIN(a.s), MAX(b.s) FROM wide a JOIN wide b ON a.i = b.i", 1, true},
		{"windows over 1.2 GB", "SELECT COUNT(*), MAX(n) FROM (SELECT s, ROW_NUMBER() OVER (ORDER BY s, i) n FROM wide) t", 1, true},
	} {
		if s.steps != "" && !bytes.Contains([]byte(h.what+h.query), []byte(s.steps)) {
			continue
		}
		if err := runHeavy(ctx, p, &h); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", h.what, err))
		}
	}
	return errors.Join(failed...)
}

func runHeavy(ctx context.Context, p *process, h *heavy) error {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0); err != nil {
		return err
	}
	before := p.rss("VmRSS")
	beside, stop := context.WithCancel(ctx)
	defer stop()
	acks := make(chan []time.Duration, 1)
	var offered error
	go func() {
		d, err := offerUntil(beside, p.address, "beside", 5000)
		offered = err
		acks <- d
	}()
	began := time.Now()
	rows, err := readAll(ctx, p.mysql, h.query)
	took := time.Since(began)
	stop()
	d := <-acks
	peak, after := p.rss("VmHWM"), p.rss("VmRSS")
	p50, p99 := percentile(d, 50), percentile(d, 99)
	answer := "all"
	var refused *mysql.MySQLError
	switch {
	case err == nil && rows != h.rows:
		err = fmt.Errorf("%d rows instead of %d", rows, h.rows)
		answer = err.Error()
	case errors.As(err, &refused) && refused.Number == 1038 && h.mayFail:
		err, answer = nil, "error 1038"
	case err != nil:
		answer = err.Error()
	}
	fmt.Printf("| %s | %d | %.1f | %d | %d | %d | %.2f | %.1f | %s |\n", h.what, rows, took.Seconds(), before>>20, peak>>20, after>>20, ms(p50), ms(p99), answer)
	if offered != nil {
		err = errors.Join(err, fmt.Errorf("the producer beside it: %w", offered))
	}
	if peak > memoryMost {
		err = errors.Join(err, fmt.Errorf("the server took %d MiB", peak>>20))
	}
	if p99 > memoryAck99 {
		err = errors.Join(err, fmt.Errorf("the producer beside it waited %v at the 99th percentile", p99))
	}
	return err
}

// readAll reads all rows of a query and throws them away.
func readAll(ctx context.Context, address, query string) (int64, error) {
	db, err := sql.Open("mysql", "app@tcp("+address+")/kafka")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return 0, err
	}
	return drain(rows)
}

// drain reads what is left of a result and closes it.
func drain(rows *sql.Rows) (int64, error) {
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return 0, err
	}
	into := make([]any, len(columns))
	for i := range into {
		into[i] = new(sql.RawBytes)
	}
	n := int64(0)
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return n, err
		}
		n++
	}
	return n, rows.Err()
}

// load produces n records that value makes, as fast as they are taken.
func load(ctx context.Context, address, topic string, n int, value func(i int, r *rand.Rand, b []byte) []byte) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.DefaultProduceTopic(topic),
		kgo.RecordPartitioner(kgo.RoundRobinPartitioner()), kgo.MaxBufferedRecords(50_000),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerBatchMaxBytes(1_000_000), kgo.ProducerLinger(5*time.Millisecond))
	if err != nil {
		return err
	}
	defer cl.Close()
	if err := createTopic(ctx, cl, topic); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(7, 8))
	var failed atomic.Pointer[error]
	for i := range n {
		cl.Produce(ctx, &kgo.Record{Value: value(i, r, nil)}, func(_ *kgo.Record, err error) {
			if err != nil {
				failed.Store(&err)
			}
		})
	}
	if err := cl.Flush(ctx); err != nil {
		return err
	}
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// offerUntil offers so many records of 1 KB a second to a topic, made when it is not there, until ctx ends, and returns when
// each was acknowledged after it was due.
func offerUntil(ctx context.Context, address, topic string, rate int) ([]time.Duration, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.DefaultProduceTopic(topic), kgo.AllowAutoTopicCreation(),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerLinger(0))
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	var mu sync.Mutex
	var acks []time.Duration
	var failed error
	value := fmt.Appendf(nil, `{"n":1,"text":"%s"}`, payload(1000))
	began := time.Now()
	for i := 0; ctx.Err() == nil; i++ {
		due := began.Add(time.Duration(i) * time.Second / time.Duration(rate))
		if wait := time.Until(due); wait > 0 {
			time.Sleep(wait)
		}
		cl.Produce(context.WithoutCancel(ctx), &kgo.Record{Value: value}, func(_ *kgo.Record, err error) {
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = err
				return
			}
			acks = append(acks, time.Since(due))
		})
	}
	if err := cl.Flush(context.WithoutCancel(ctx)); err != nil {
		return nil, err
	}
	mu.Lock()
	defer mu.Unlock()
	return acks, failed
}
