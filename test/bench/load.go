package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const partitions = 6

// throughput of one phase.
type throughput struct {
	records, bytes int64
	took           time.Duration
}

func (t throughput) megabytes() float64 { return float64(t.bytes) / 1e6 / t.took.Seconds() }
func (t throughput) perSecond() float64 { return float64(t.records) / t.took.Seconds() }

// latency of one phase: from produce to ack, and from produce to a consumer.
type latency struct{ ack50, ack99, p50, p99 time.Duration }

func createTopic(ctx context.Context, cl *kgo.Client, topic string) error {
	req := kmsg.NewPtrCreateTopicsRequest()
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = topic, partitions, 1
	req.Topics = append(req.Topics, t)
	r, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	if code := r.Topics[0].ErrorCode; code != 0 {
		return fmt.Errorf("create %s: error %d", topic, code)
	}
	return nil
}

// payload is incompressible text, so that no one gains from zeros.
func payload(size int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, size)
	for i := range b {
		b[i] = byte('A' + r.IntN(26))
	}
	return b
}

// produce sends records of size bytes, acks=all, as fast as they are taken.
func produce(ctx context.Context, address, topic string, size int, d time.Duration) (throughput, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.DefaultProduceTopic(topic),
		kgo.RecordPartitioner(kgo.RoundRobinPartitioner()),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.MaxBufferedRecords(50_000),
		kgo.ProducerBatchMaxBytes(1_000_000), kgo.ProducerLinger(5*time.Millisecond))
	if err != nil {
		return throughput{}, err
	}
	defer cl.Close()
	if err := createTopic(ctx, cl, topic); err != nil {
		return throughput{}, err
	}
	value := payload(size)
	var mu sync.Mutex
	var failed error
	var t throughput
	began := time.Now()
	for time.Since(began) < d {
		for range 1000 {
			t.records++
			cl.Produce(ctx, &kgo.Record{Value: value}, func(_ *kgo.Record, err error) {
				if err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			})
		}
	}
	if err := cl.Flush(ctx); err != nil {
		return t, err
	}
	t.took = time.Since(began)
	t.bytes = t.records * int64(size)
	mu.Lock()
	defer mu.Unlock()
	return t, failed
}

// consume reads the topic from its beginning until n records have come.
func consume(ctx context.Context, address, topic string, n int64) (throughput, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxBytes(50<<20), kgo.FetchMaxPartitionBytes(4<<20))
	if err != nil {
		return throughput{}, err
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	var t throughput
	began := time.Now()
	for t.records < n {
		fs := cl.PollFetches(ctx)
		if err := fs.Err(); err != nil {
			return t, err
		}
		fs.EachRecord(func(r *kgo.Record) { t.records++; t.bytes += int64(len(r.Value)) })
	}
	t.took = time.Since(began)
	return t, nil
}

// endToEnd offers rate records a second and times each to its ack and to a consumer.
func endToEnd(ctx context.Context, address, topic string, size, rate int, d time.Duration) (latency, error) {
	producer, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.DefaultProduceTopic(topic),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerLinger(0))
	if err != nil {
		return latency{}, err
	}
	defer producer.Close()
	if err := createTopic(ctx, producer, topic); err != nil {
		return latency{}, err
	}
	consumer, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMinBytes(1))
	if err != nil {
		return latency{}, err
	}
	defer consumer.Close()

	total := int(d.Seconds() * float64(rate))
	began := time.Now()
	var mu sync.Mutex
	acks := make([]time.Duration, 0, total)
	var failed error
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.Second / time.Duration(rate)
		for i := range total {
			due := began.Add(time.Duration(i) * tick)
			if wait := time.Until(due); wait > 0 {
				time.Sleep(wait)
			}
			value := payloadAt(size, due.Sub(began))
			producer.Produce(ctx, &kgo.Record{Value: value}, func(_ *kgo.Record, err error) {
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					failed = err
				}
				acks = append(acks, time.Since(due))
			})
		}
	})
	ends := make([]time.Duration, 0, total)
	ctx, cancel := context.WithTimeout(ctx, d+2*time.Minute)
	defer cancel()
	for len(ends) < total {
		fs := consumer.PollFetches(ctx)
		if err := fs.Err(); err != nil {
			return latency{}, err
		}
		now := time.Since(began)
		fs.EachRecord(func(r *kgo.Record) {
			ends = append(ends, now-time.Duration(binary.BigEndian.Uint64(r.Value)))
		})
	}
	wg.Wait()
	if err := producer.Flush(ctx); err != nil {
		return latency{}, err
	}
	mu.Lock()
	defer mu.Unlock()
	return latency{percentile(acks, 50), percentile(acks, 99), percentile(ends, 50), percentile(ends, 99)}, failed
}

// payloadAt is a value that carries when it was due.
func payloadAt(size int, due time.Duration) []byte {
	b := make([]byte, size)
	binary.BigEndian.PutUint64(b, uint64(due))
	return b
}

func percentile(d []time.Duration, p int) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[min(len(d)-1, len(d)*p/100)]
}
