package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// churnTopics are deleted, made again and trimmed all the time; one is also cut by
// retention.
var churnTopics = []string{"churn-0", "churn-1", "churn-2", "churn-retention"}

// churnRun kills the server while each topic has one client that produces, trims,
// deletes and makes it again. As the only one, the client knows what must be
// there: what was acknowledged since the topic was last made, from the last trim on.
func churnRun(ctx context.Context, binary string, random *rand.Rand, kills int) (err error) {
	dir, err := os.MkdirTemp("", "millrace-churn")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := newProcess(binary, dir, filepath.Join(dir, "data"), "--seal-bytes", "1MiB", "--seal-age", "1s", "--retention-every", "300ms", "--no-auto-create-topics")
	if err := p.start(); err != nil {
		return err
	}
	defer func() {
		p.kill()
		if err != nil {
			err = fmt.Errorf("%w\nserver: %s", err, p.tail())
		}
	}()
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	failures := make(chan error, len(churnTopics))
	all := make([]*churner, len(churnTopics))
	for i, name := range churnTopics {
		c := &churner{p: p, topic: name, retention: name == "churn-retention", random: rand.New(rand.NewPCG(random.Uint64(), 0))}
		all[i] = c
		wg.Go(func() {
			if err := c.run(running); err != nil {
				failures <- fmt.Errorf("%s: %w", c.topic, err)
				cancel()
			}
		})
	}
	for range kills {
		select {
		case <-time.After(time.Duration(100+random.IntN(1200)) * time.Millisecond):
		case <-running.Done():
		}
		p.kill()
		if err := p.start(); err != nil {
			cancel()
			wg.Wait()
			return err
		}
	}
	cancel()
	wg.Wait()
	close(failures)
	if err, failed := <-failures; failed {
		return err
	}
	var sum churnCounts
	check := func() error {
		for _, c := range all {
			if err := c.check(ctx); err != nil {
				return fmt.Errorf("at the end: %s: %w", c.topic, err)
			}
		}
		return nil
	}
	if err := check(); err != nil {
		return err
	}
	if err := p.stop(); err != nil {
		return err
	}
	if err := p.start(); err != nil {
		return err
	}
	if err := check(); err != nil {
		return err
	}
	for _, c := range all {
		sum.produced += c.counts.produced
		sum.made += c.counts.made
		sum.trimmed += c.counts.trimmed
		sum.checked += c.counts.checked
	}
	fmt.Printf("churn: %d kills; %d batches produced, %d topics made, %d trims, %d checks, retention cut up to offset %d\n",
		kills, sum.produced, sum.made, sum.trimmed, sum.checked, all[len(all)-1].highestCut)
	return p.stop()
}

type churnCounts struct{ produced, made, trimmed, checked int }

// churner is one topic and its only client.
type churner struct {
	p         *process
	topic     string
	retention bool
	random    *rand.Rand
	counts    churnCounts

	cl         *kgo.Client
	generation int // how often the topic was made
	next       int64
	acked      [partitions]map[int64]identity
	start      [partitions]int64 // no record before it; retention may move the real one further
	highestCut int64
}

func (c *churner) run(ctx context.Context) error {
	if err := c.make(); err != nil {
		return err
	}
	for ctx.Err() == nil {
		var err error
		switch k := c.random.IntN(100); {
		case k < 70:
			err = c.produce()
		case k < 82:
			err = c.trim()
		case k < 92:
			err = c.check(context.Background())
		case k < 97:
			_ = c.p.seal(context.Background(), c.topic) // or it was killed meanwhile
		case !c.retention:
			if err = c.remove(); err == nil {
				err = c.make()
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// patience bounds how long one request is tried again.
const patience = 20 * time.Second

// ask sends a request until it is answered with none of the errors of a server
// that was killed meanwhile, and returns its code.
func ask[R any](c *churner, send func(ctx context.Context, cl *kgo.Client) (R, int16, error)) (R, int16, error) {
	began := time.Now()
	for {
		cl, err := kgo.NewClient(kgo.SeedBrokers(c.p.kafka), kgo.RequestRetries(0))
		if err != nil {
			var none R
			return none, 0, err
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		r, code, err := send(ctx, cl)
		cancel()
		cl.Close()
		if err == nil {
			return r, code, nil
		}
		if time.Since(began) > patience {
			return r, 0, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (c *churner) make() error {
	_, code, err := ask(c, func(ctx context.Context, cl *kgo.Client) (int, int16, error) {
		req := kmsg.NewPtrCreateTopicsRequest()
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = c.topic, partitions, 1
		if c.retention {
			cfg := kmsg.NewCreateTopicsRequestTopicConfig()
			limit := "65536"
			cfg.Name, cfg.Value = "retention.bytes", &limit
			t.Configs = append(t.Configs, cfg)
		}
		req.Topics = append(req.Topics, t)
		r, err := req.RequestWith(ctx, cl)
		if err != nil {
			return 0, 0, err
		}
		return 0, r.Topics[0].ErrorCode, nil
	})
	if err != nil {
		return err
	}
	// It exists when the answer to an earlier attempt was lost.
	if code != 0 && code != kerr.TopicAlreadyExists.Code {
		return fmt.Errorf("create: %w", kerr.ErrorForCode(code))
	}
	c.generation++
	c.counts.made++
	for i := range c.acked {
		c.acked[i], c.start[i] = map[int64]identity{}, 0
	}
	return nil
}

func (c *churner) remove() error {
	_, code, err := ask(c, func(ctx context.Context, cl *kgo.Client) (int, int16, error) {
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.TopicNames = []string{c.topic}
		t := kmsg.NewDeleteTopicsRequestTopic()
		t.Topic = &c.topic
		req.Topics = append(req.Topics, t)
		r, err := req.RequestWith(ctx, cl)
		if err != nil {
			return 0, 0, err
		}
		return 0, r.Topics[0].ErrorCode, nil
	})
	if err == nil && code != 0 && code != kerr.UnknownTopicOrPartition.Code {
		err = fmt.Errorf("delete: %w", kerr.ErrorForCode(code))
	}
	return err
}

func (c *churner) trim() error {
	part := int32(c.random.IntN(partitions))
	var top int64
	for at := range c.acked[part] {
		top = max(top, at+1)
	}
	if top <= c.start[part] {
		return nil
	}
	before := c.start[part] + c.random.Int64N(top-c.start[part]) + 1
	low, code, err := ask(c, func(ctx context.Context, cl *kgo.Client) (int64, int16, error) {
		req := kmsg.NewPtrDeleteRecordsRequest()
		t := kmsg.NewDeleteRecordsRequestTopic()
		t.Topic = c.topic
		p := kmsg.NewDeleteRecordsRequestTopicPartition()
		p.Partition, p.Offset = part, before
		t.Partitions = append(t.Partitions, p)
		req.Topics = append(req.Topics, t)
		shards := cl.RequestSharded(ctx, req)
		if len(shards) != 1 {
			return 0, 0, fmt.Errorf("%d answers", len(shards))
		}
		if err := shards[0].Err; err != nil {
			return 0, 0, err
		}
		got := shards[0].Resp.(*kmsg.DeleteRecordsResponse).Topics[0].Partitions[0]
		return got.LowWatermark, got.ErrorCode, nil
	})
	if err != nil {
		return err
	}
	if c.retention && code == kerr.OffsetOutOfRange.Code {
		return nil // retention was faster
	}
	if code != 0 || low < before {
		return fmt.Errorf("DeleteRecords of %d before %d: %w, low watermark %d", part, before, kerr.ErrorForCode(code), low)
	}
	c.start[part] = low
	c.counts.trimmed++
	return nil
}

// produce sends a batch once; when no answer comes it may be there or not.
func (c *churner) produce() error {
	if c.cl == nil {
		cl, err := kgo.NewClient(kgo.SeedBrokers(c.p.kafka), kgo.DisableIdempotentWrite(), kgo.RecordPartitioner(kgo.ManualPartitioner()),
			kgo.RequestRetries(0), kgo.RecordRetries(0), kgo.UnknownTopicRetries(0), kgo.RecordDeliveryTimeout(2*time.Second), kgo.RetryTimeout(time.Second))
		if err != nil {
			return err
		}
		c.cl = cl
	}
	part := int32(c.random.IntN(partitions))
	var rs []*kgo.Record
	ids := map[*kgo.Record]identity{}
	for range 1 + c.random.IntN(20) {
		id := identity{fmt.Sprint(c.topic, "#", c.generation), c.next}
		c.next++
		value, _ := json.Marshal(struct {
			identity
			Padding string `json:"padding"`
		}{id, padding})
		r := &kgo.Record{Topic: c.topic, Value: value, Partition: part}
		rs, ids[r] = append(rs, r), id
	}
	for _, res := range c.cl.ProduceSync(context.Background(), rs...) {
		if res.Err == nil {
			c.acked[part][res.Record.Offset] = ids[res.Record]
			c.counts.produced++
		} else {
			// A new client: this one may remember the server of before.
			c.cl.Close()
			c.cl = nil
			return nil
		}
	}
	return nil
}

// check reads the whole topic.
func (c *churner) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		retry, err := c.checkOnce(ctx)
		if err == nil {
			c.counts.checked++
			return nil
		}
		if !retry || ctx.Err() != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// checkOnce wants another try when the server did not answer.
func (c *churner) checkOnce(ctx context.Context) (retry bool, err error) {
	starts, err := offsets(ctx, c.p, []string{c.topic}, earliest)
	if err != nil {
		return true, err
	}
	ends, err := offsets(ctx, c.p, []string{c.topic}, latest)
	if err != nil {
		return true, err
	}
	from := map[int32]kgo.Offset{}
	for part := range int32(partitions) {
		tp := place{c.topic, part, 0}
		start, end := starts[tp], ends[tp]
		if start < c.start[part] || start > c.start[part] && !c.retention {
			return false, fmt.Errorf("partition %d starts at %d, want %d", part, start, c.start[part])
		}
		if c.retention {
			c.start[part] = start
			c.highestCut = max(c.highestCut, start)
		}
		for at := range c.acked[part] {
			if at >= end {
				return false, fmt.Errorf("acknowledged record %d/%d is lost: the partition ends at %d", part, at, end)
			}
		}
		if start < end {
			from[part] = kgo.NewOffset().At(start)
		}
	}
	if len(from) == 0 {
		return false, nil
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.p.kafka), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{c.topic: from}),
		kgo.KeepRetryableFetchErrors(), kgo.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		return true, err
	}
	defer cl.Close()
	read := map[place]identity{}
	seenTo := map[int32]int64{}
	for {
		done := true
		for part := range from {
			done = done && seenTo[part] >= ends[place{c.topic, part, 0}]
		}
		if done {
			break
		}
		poll, cancel := context.WithTimeout(ctx, 5*time.Second)
		fs := cl.PollFetches(poll)
		cancel()
		if errs := fs.Errors(); len(errs) > 0 {
			return true, errs[0].Err
		}
		var bad error
		fs.EachRecord(func(r *kgo.Record) {
			var id identity
			if err := json.Unmarshal(r.Value, &id); err != nil {
				bad = err
			}
			read[place{r.Topic, r.Partition, r.Offset}] = id
			seenTo[r.Partition] = r.Offset + 1
		})
		if bad != nil {
			return false, bad
		}
	}
	return false, c.compare(read)
}

func (c *churner) compare(read map[place]identity) error {
	generation := fmt.Sprint(c.topic, "#", c.generation)
	count := map[identity]int{}
	for at, id := range read {
		if id.P != generation {
			return fmt.Errorf("%v reads %v, of a topic that was deleted; now it is %s", at, id, generation)
		}
		if count[id]++; count[id] > 1 {
			return fmt.Errorf("%v is there %d times", id, count[id])
		}
	}
	for part := range c.acked {
		for _, at := range slices.Sorted(maps.Keys(c.acked[part])) {
			if at < c.start[part] {
				delete(c.acked[part], at)
				continue
			}
			where := place{c.topic, int32(part), at}
			// Retention may cut between looking at the start and reading.
			if got, ok := read[where]; got != c.acked[part][at] && (ok || !c.retention) {
				return fmt.Errorf("acknowledged %v at %v reads %v (there: %v)", c.acked[part][at], where, got, ok)
			}
		}
	}
	return nil
}
