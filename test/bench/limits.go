package main

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// The sizes that are promised.
const (
	limitTopics     = 100
	limitPartitions = 100 // of each topic
	limitKafkaIdle  = 4000
	limitMySQLIdle  = 1000
	limitActive     = 50
	limitGroups     = 10_000
)

// limitRow is one line of the table.
type limitRow struct{ what, value string }

// limits is what Millrace alone is measured for: many partitions, connections, groups.
type limits struct {
	s     settings
	mysql string // address
	rows  []limitRow
}

func (l *limits) add(what, format string, args ...any) {
	l.rows = append(l.rows, limitRow{what, fmt.Sprintf(format, args...)})
	progress("%s: %s", what, l.rows[len(l.rows)-1].value)
}

// broker is Millrace with a MySQL address that is known.
func (l *limits) broker() broker {
	return broker{"Millrace", "limits", func(dir string, p *process) (*exec.Cmd, error) {
		cmd, err := millraceBroker(l.s.millrace).command(dir, p)
		l.mysql = p.mysql
		return cmd, err
	}}
}

func runLimits(ctx context.Context, s settings) error {
	l := &limits{s: s}
	parts := []struct {
		name string
		do   func(context.Context, string) error
	}{{"partitions", l.partitions}, {"connections", l.connections}, {"groups", l.groups}, {"tables", l.tables}}
	known := false
	for _, p := range parts {
		if s.limits != p.name && s.limits != "all" {
			continue
		}
		known = true
		dir := filepath.Join(s.dir, "limits-"+p.name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		err := p.do(ctx, dir)
		if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if !known {
		return fmt.Errorf("no limits named %q", s.limits)
	}
	fmt.Print("| | Millrace |\n|---|---:|\n")
	for _, r := range l.rows {
		fmt.Printf("| %s | %s |\n", r.what, r.value)
	}
	return nil
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }

// partitions: starts and acknowledgements with many partitions.
func (l *limits) partitions(ctx context.Context, dir string) error {
	p, err := l.broker().startIn(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { p.kill() }()
	topics, err := createMany(ctx, p.address)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%d partitions", limitTopics*limitPartitions)
	before := p.cpu()
	acks, err := offer(ctx, p.address, topics, 100, 2000, l.s.seconds)
	if err != nil {
		return err
	}
	l.add(what+", produce ack p50 / p99 at 2,000 records/s over all, ms", "%.2f / %.2f", ms(percentile(acks, 50)), ms(percentile(acks, 99)))
	l.add(what+", CPU so, % of one", "%.0f", 100*(p.cpu()-before).Seconds()/l.s.seconds.Seconds())
	l.add(what+", RSS, MiB", "%.0f", mib(p.rss("VmRSS")))
	p.stop()
	if p, err = l.broker().startIn(ctx, dir); err != nil {
		return err
	}
	l.add(what+", start after a clean stop, s", "%.2f", p.ready.Seconds())
	t, err := fill(ctx, p.address, topics, l.s.gigabytes*1_000_000_000)
	if err != nil {
		return err
	}
	l.add(fmt.Sprintf("%s, %d GB of 1 KB records written, MB/s", what, l.s.gigabytes), "%.0f", t.megabytes())
	l.add(what+", RSS peak, MiB", "%.0f", mib(p.rss("VmHWM")))
	p.kill()
	if p, err = l.broker().startIn(ctx, dir); err != nil {
		return err
	}
	l.add(fmt.Sprintf("%s, start after kill −9 right then, s", what), "%.2f", p.ready.Seconds())
	p.stop()
	if p, err = l.broker().startIn(ctx, dir); err != nil {
		return err
	}
	l.add(fmt.Sprintf("%s and %d GB, start after a clean stop, s", what, l.s.gigabytes), "%.2f", p.ready.Seconds())
	return nil
}

// connections: many idle ones beside a few that produce.
func (l *limits) connections(ctx context.Context, dir string) error {
	p, err := l.broker().startIn(ctx, dir)
	if err != nil {
		return err
	}
	defer p.kill()
	cl, err := kgo.NewClient(kgo.SeedBrokers(p.address))
	if err != nil {
		return err
	}
	defer cl.Close()
	if err := createTopic(ctx, cl, "active"); err != nil {
		return err
	}
	measure := func(what string) error {
		acks, err := offerFromMany(ctx, p.address, "active", limitActive, 5000, l.s.seconds)
		if err != nil {
			return err
		}
		l.add(what+", produce ack p50 / p99 at 5,000 records/s, ms", "%.2f / %.2f", ms(percentile(acks, 50)), ms(percentile(acks, 99)))
		l.add(what+", RSS, MiB", "%.0f", mib(p.rss("VmRSS")))
		return nil
	}
	active := fmt.Sprintf("%d producers", limitActive)
	if err := measure(active + " alone"); err != nil {
		return err
	}
	var closers []io.Closer
	defer func() {
		for _, c := range closers {
			_ = c.Close()
		}
	}()
	began := time.Now()
	for range limitKafkaIdle {
		c, err := greetKafka(p.address)
		if err != nil {
			return err
		}
		closers = append(closers, c)
	}
	connector, err := mysql.NewConnector(&mysql.Config{User: "root", Net: "tcp", Addr: l.mysql, AllowNativePasswords: true})
	if err != nil {
		return err
	}
	var sqls []driver.Conn
	for range limitMySQLIdle {
		c, err := connector.Connect(ctx)
		if err != nil {
			return err
		}
		closers, sqls = append(closers, c), append(sqls, c)
	}
	l.add(fmt.Sprintf("%d Kafka and %d MySQL connections opened one after the other, s", limitKafkaIdle, limitMySQLIdle), "%.2f", time.Since(began).Seconds())
	if err := measure(active + " beside them"); err != nil {
		return err
	}
	for _, c := range sqls {
		if err := c.(driver.Pinger).Ping(ctx); err != nil {
			return fmt.Errorf("an idle MySQL connection: %w", err)
		}
	}
	return nil
}

// groups: many consumer groups with offsets.
func (l *limits) groups(ctx context.Context, dir string) error {
	p, err := l.broker().startIn(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { p.kill() }()
	before := p.rss("VmRSS")
	took, err := commitMany(ctx, p.address)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%d groups with offsets of %d partitions", limitGroups, partitions)
	l.add(what+", commits/s", "%.0f", limitGroups/took.Seconds())
	l.add(what+", RSS before and after, MiB", "%.0f, %.0f", mib(before), mib(p.rss("VmRSS")))
	p.kill()
	if p, err = l.broker().startIn(ctx, dir); err != nil {
		return err
	}
	l.add(what+", start after kill −9, s", "%.2f", p.ready.Seconds())
	p.stop()
	if p, err = l.broker().startIn(ctx, dir); err != nil {
		return err
	}
	l.add(what+", start after a clean stop, s", "%.2f", p.ready.Seconds())
	l.add(what+", RSS after it, MiB", "%.0f", mib(p.rss("VmRSS")))
	return checkGroup(ctx, p.address, groupName(limitGroups-1))
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

func createMany(ctx context.Context, address string) ([]string, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(address))
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = 60_000
	var names []string
	for i := range limitTopics {
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = fmt.Sprintf("limits-%02d", i), limitPartitions, 1
		req.Topics, names = append(req.Topics, t), append(names, t.Topic)
	}
	r, err := req.RequestWith(ctx, cl)
	if err != nil {
		return nil, err
	}
	for _, t := range r.Topics {
		if t.ErrorCode != 0 {
			return nil, fmt.Errorf("create %s: error %d", t.Topic, t.ErrorCode)
		}
	}
	return names, nil
}

// acknowledgements gathers how long they took.
type acknowledgements struct {
	sync.Mutex
	took   []time.Duration
	failed error
}

// offerTo sends rate records a second, each to the partition and topic whose turn it is.
func (a *acknowledgements) offerTo(ctx context.Context, cl *kgo.Client, topics []string, size, rate int, d time.Duration) error {
	began, tick := time.Now(), time.Second/time.Duration(rate)
	for i := range int(d.Seconds() * float64(rate)) {
		due := began.Add(time.Duration(i) * tick)
		if wait := time.Until(due); wait > 0 {
			time.Sleep(wait)
		}
		r := &kgo.Record{Topic: topics[i%len(topics)], Value: payloadAt(size, due.Sub(began))}
		cl.Produce(ctx, r, func(_ *kgo.Record, err error) {
			a.Lock()
			defer a.Unlock()
			a.took = append(a.took, time.Since(due))
			if err != nil {
				a.failed = err
			}
		})
	}
	return cl.Flush(ctx)
}

func (a *acknowledgements) result() ([]time.Duration, error) {
	a.Lock()
	defer a.Unlock()
	return a.took, a.failed
}

func limitProducer(address string) (*kgo.Client, error) {
	return kgo.NewClient(kgo.SeedBrokers(address), kgo.RecordPartitioner(kgo.RoundRobinPartitioner()),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerLinger(0))
}

func offer(ctx context.Context, address string, topics []string, size, rate int, d time.Duration) ([]time.Duration, error) {
	cl, err := limitProducer(address)
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	// The client learns of all topics first.
	var warm acknowledgements
	if err := warm.offerTo(ctx, cl, topics, size, rate, time.Second); err != nil {
		return nil, err
	}
	var a acknowledgements
	if err := a.offerTo(ctx, cl, topics, size, rate, d); err != nil {
		return nil, err
	}
	return a.result()
}

// offerFromMany shares the rate among n clients.
func offerFromMany(ctx context.Context, address, topic string, n, rate int, d time.Duration) ([]time.Duration, error) {
	var a acknowledgements
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() {
			cl, err := limitProducer(address)
			if err != nil {
				errs[i] = err
				return
			}
			defer cl.Close()
			var warm acknowledgements
			if errs[i] = warm.offerTo(ctx, cl, []string{topic}, 100, 10, time.Second); errs[i] == nil {
				errs[i] = a.offerTo(ctx, cl, []string{topic}, 100, rate/n, d)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return a.result()
}

// fill writes so many bytes of 1 KB records as fast as they are taken.
func fill(ctx context.Context, address string, topics []string, bytes int64) (throughput, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.RecordPartitioner(kgo.StickyPartitioner()),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.MaxBufferedRecords(50_000), kgo.ProducerLinger(5*time.Millisecond))
	if err != nil {
		return throughput{}, err
	}
	defer cl.Close()
	value := payload(1024)
	var failed atomic.Pointer[error]
	var t throughput
	began := time.Now()
	for i := 0; t.bytes < bytes; i++ {
		topic := topics[i%len(topics)]
		for range 500 {
			t.records, t.bytes = t.records+1, t.bytes+int64(len(value))
			cl.Produce(ctx, &kgo.Record{Topic: topic, Value: value}, func(_ *kgo.Record, err error) {
				if err != nil {
					failed.Store(&err)
				}
			})
		}
	}
	if err := cl.Flush(ctx); err != nil {
		return t, err
	}
	t.took = time.Since(began)
	if err := failed.Load(); err != nil {
		return t, *err
	}
	return t, nil
}

// greetKafka opens a connection and has one ApiVersions answered, as every client does.
func greetKafka(address string) (net.Conn, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	// Size, key 18, version 0, correlation id, client id "idle".
	const clientID = "idle"
	b := []byte{0, 0, 0, byte(10 + len(clientID)), 0, 18, 0, 0, 0, 0, 0, 1, 0, byte(len(clientID))}
	if _, err := c.Write(append(b, clientID...)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	var size [4]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if _, err := io.CopyN(io.Discard, c, int64(binary.BigEndian.Uint32(size[:]))); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func groupName(i int) string { return fmt.Sprintf("limits-%05d", i) }

// commitMany commits offsets for many groups, from several clients at once.
func commitMany(ctx context.Context, address string) (time.Duration, error) {
	const clients = 16
	// Commits of that version name their topics.
	cl, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.MaxVersions(kversion.V3_9_0()))
	if err != nil {
		return 0, err
	}
	defer cl.Close()
	if err := createTopic(ctx, cl, "grouped"); err != nil {
		return 0, err
	}
	began := time.Now()
	var wg sync.WaitGroup
	errs := make([]error, clients)
	for c := range clients {
		wg.Go(func() {
			for i := c; i < limitGroups && errs[c] == nil; i += clients {
				errs[c] = commit(ctx, cl.SeedBrokers()[0], groupName(i))
			}
		})
	}
	wg.Wait()
	return time.Since(began), errors.Join(errs...)
}

func commit(ctx context.Context, b *kgo.Broker, group string) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = group, -1
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic = "grouped"
	for i := range int32(partitions) {
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset = i, 7
		t.Partitions = append(t.Partitions, p)
	}
	req.Topics = append(req.Topics, t)
	r, err := b.RetriableRequest(ctx, req)
	if err != nil {
		return err
	}
	for _, t := range r.(*kmsg.OffsetCommitResponse).Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode != 0 {
				return fmt.Errorf("commit of %s: error %d", group, p.ErrorCode)
			}
		}
	}
	return nil
}

// checkGroup says whether the group still has its offsets.
func checkGroup(ctx context.Context, address, group string) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(address))
	if err != nil {
		return err
	}
	defer cl.Close()
	req := kmsg.NewPtrOffsetFetchRequest()
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = group
	req.Groups, req.Group = append(req.Groups, g), group
	r, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	n := 0
	for _, g := range r.Groups {
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				if strings.HasPrefix(g.Group, "limits-") && p.Offset == 7 {
					n++
				}
			}
		}
	}
	if n != partitions {
		return fmt.Errorf("%s has the offsets of %d partitions after a start, want %d", group, n, partitions)
	}
	return nil
}
