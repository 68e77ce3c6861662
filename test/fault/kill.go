package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const partitions = 4

// producers by topic; the idempotent ones must not double a record.
var producers = map[string][]kgo.Opt{
	"kill-idempotent": {},
	"kill-zstd":       {kgo.ProducerBatchCompression(kgo.ZstdCompression())},
	"kill-acks-all":   {kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(1)},
	"kill-acks-one":   {kgo.DisableIdempotentWrite(), kgo.RequiredAcks(kgo.LeaderAck()), kgo.MaxProduceRequestsInflightPerBroker(1)},
}

var idempotent = map[string]bool{"kill-idempotent": true, "kill-zstd": true}

// killRun kills the server at random moments under four producers and a consumer.
func killRun(ctx context.Context, binary string, random *rand.Rand, kills int) error {
	dir, err := os.MkdirTemp("", "millrace-kill")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// A small seal size makes segments, checkpoints and recycling part of the run.
	p := newProcess(binary, dir, filepath.Join(dir, "data"), "--seal-bytes", "4MiB")
	if err := p.start(); err != nil {
		return err
	}
	defer func() { p.kill() }()
	var topics []string
	for t := range producers {
		topics = append(topics, t)
	}
	if err := createTopics(ctx, p, topics); err != nil {
		return err
	}

	h := newHistory()
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	failures := make(chan error, len(topics)+1)
	for topic, opts := range producers {
		wg.Go(func() {
			if err := produceUntil(running, p, topic, opts, h); err != nil {
				failures <- fmt.Errorf("producer of %s: %w", topic, err)
			}
		})
	}
	wg.Go(func() {
		if err := consumeUntil(running, p, topics, h); err != nil {
			failures <- fmt.Errorf("consumer: %w", err)
		}
	})

	for range kills {
		time.Sleep(time.Duration(200+random.IntN(1500)) * time.Millisecond)
		p.kill()
		for random.IntN(3) == 0 { // while it starts, too
			if err := p.launch(); err != nil {
				return err
			}
			time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
			p.kill()
		}
		if err := p.start(); err != nil {
			return err
		}
	}
	time.Sleep(time.Second)
	cancel()
	wg.Wait()
	select {
	case err := <-failures:
		return err
	default:
	}
	if err := h.verify(ctx, p, topics, idempotent); err != nil {
		return err
	}
	if err := p.stop(); err != nil {
		return err
	}
	if err := p.start(); err != nil {
		return err
	}
	fmt.Printf("slowest of %d starts: %v\n", kills+2, p.slowestStart.Round(time.Millisecond))
	return h.verify(ctx, p, topics, idempotent)
}

// produceUntil produces until ctx ends; every record it gives up on is a problem
// for idempotent producers only when the record was acknowledged.
func produceUntil(ctx context.Context, p *process, topic string, opts []kgo.Opt, h *history) error {
	cl, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(p.kafka), kgo.DefaultProduceTopic(topic),
		kgo.RecordPartitioner(kgo.RoundRobinPartitioner()), kgo.MaxBufferedRecords(2000),
		kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }),
		kgo.RecordRetries(1 << 30), kgo.RetryTimeout(time.Minute), kgo.ProducerLinger(2 * time.Millisecond),
	}, opts...)...)
	if err != nil {
		return err
	}
	defer cl.Close()
	var mu sync.Mutex
	var fatal error
	for i := int64(0); ctx.Err() == nil; i++ {
		id := identity{topic, i}
		value, _ := json.Marshal(id)
		// Not ctx: an interrupted idempotent producer would lose its sequence.
		cl.Produce(context.Background(), &kgo.Record{Value: value}, func(r *kgo.Record, err error) {
			if err == nil {
				h.ack(r, id)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if idempotent[topic] && fatal == nil {
				fatal = err
			}
		})
		if i%50 == 49 {
			time.Sleep(5 * time.Millisecond) // some 10,000 records a second
		}
	}
	flush, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := cl.Flush(flush); err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	return fatal
}

func consumeUntil(ctx context.Context, p *process, topics []string, h *history) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(p.kafka), kgo.ConsumeTopics(topics...),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.KeepRetryableFetchErrors(),
		kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }))
	if err != nil {
		return err
	}
	defer cl.Close()
	for ctx.Err() == nil {
		cl.PollFetches(ctx).EachRecord(h.see)
	}
	return nil
}

// createTopics makes those that do not exist yet.
func createTopics(ctx context.Context, p *process, topics []string) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(p.kafka))
	if err != nil {
		return err
	}
	defer cl.Close()
	req := kmsg.NewPtrCreateTopicsRequest()
	for _, name := range topics {
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = name, partitions, 1
		req.Topics = append(req.Topics, t)
	}
	r, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	for _, t := range r.Topics {
		if t.ErrorCode != 0 && t.ErrorCode != kerr.TopicAlreadyExists.Code {
			return fmt.Errorf("create %s: error %d", t.Topic, t.ErrorCode)
		}
	}
	return nil
}

// Which offset listOffset asks for.
const (
	latest   = -1
	earliest = -2
)

func listOffset(ctx context.Context, cl *kgo.Client, topic string, partition int32, which int64) (int64, error) {
	req := kmsg.NewPtrListOffsetsRequest()
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = topic
	part := kmsg.NewListOffsetsRequestTopicPartition()
	part.Partition, part.Timestamp = partition, which
	t.Partitions = append(t.Partitions, part)
	req.Topics = append(req.Topics, t)
	shards := cl.RequestSharded(ctx, req)
	if len(shards) == 0 {
		return 0, errors.New("no answer to ListOffsets")
	}
	if err := shards[0].Err; err != nil {
		return 0, err
	}
	got := shards[0].Resp.(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0]
	if got.ErrorCode != 0 {
		return 0, fmt.Errorf("ListOffsets %s/%d: error %d", topic, partition, got.ErrorCode)
	}
	return got.Offset, nil
}
