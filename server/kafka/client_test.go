package kafka

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestAClientProducesAndConsumesWithEveryCodec(t *testing.T) {
	e := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	for name, codec := range map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	} {
		t.Run(name, func(t *testing.T) {
			topic := "codec-" + name
			e.topic(topic, 3)
			cl := e.client(kgo.DefaultProduceTopic(topic), kgo.ProducerBatchCompression(codec), kgo.ConsumeTopics(topic))
			const n = 500
			var recs []*kgo.Record
			for i := range n {
				recs = append(recs, &kgo.Record{
					Key: fmt.Appendf(nil, "k%d", i), Value: fmt.Appendf(nil, `{"n":%d,"pad":"%s"}`, i, strings.Repeat("x", i%100)),
					Headers: []kgo.RecordHeader{{Key: "source", Value: []byte("web")}, {Key: "null"}},
				})
			}
			if err := cl.ProduceSync(ctx, recs...).FirstErr(); err != nil {
				t.Fatal(err)
			}
			seen := map[string]string{}
			for len(seen) < n {
				fs := cl.PollFetches(ctx)
				if err := fs.Err0(); err != nil {
					t.Fatal(err)
				}
				fs.EachError(func(topic string, p int32, err error) { t.Fatal(topic, p, err) })
				fs.EachRecord(func(r *kgo.Record) {
					if len(r.Headers) != 2 || string(r.Headers[0].Value) != "web" || r.Headers[1].Value != nil {
						t.Fatalf("headers %v", r.Headers)
					}
					seen[string(r.Key)] = string(r.Value)
				})
			}
			for _, r := range recs {
				if seen[string(r.Key)] != string(r.Value) {
					t.Fatalf("%s: %q, sent %q", r.Key, seen[string(r.Key)], r.Value)
				}
			}
		})
	}
}

func TestAConsumerWaitingAtTheEndGetsTheNextRecord(t *testing.T) {
	e := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	e.topic("t", 1)
	producer := e.client(kgo.DefaultProduceTopic("t"))
	consumer := e.client(kgo.ConsumeTopics("t"), kgo.FetchMaxWait(30*time.Second))
	for i := range 50 {
		want := fmt.Sprint("v", i)
		if err := producer.ProduceSync(ctx, kgo.StringRecord(want)).FirstErr(); err != nil {
			t.Fatal(err)
		}
		fs := consumer.PollFetches(ctx)
		if err := fs.Err(); err != nil {
			t.Fatal(err)
		}
		if rs := fs.Records(); len(rs) != 1 || string(rs[0].Value) != want || rs[0].Offset != int64(i) {
			t.Fatalf("round %d: %v", i, rs)
		}
	}
}

func TestAGroupConsumesCommitsAndResumes(t *testing.T) {
	e := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	e.topic("t", 2)
	producer := e.client(kgo.DefaultProduceTopic("t"), kgo.RecordPartitioner(kgo.RoundRobinPartitioner()))
	consume := func(n int) map[string]bool {
		got := map[string]bool{}
		c := e.client(kgo.ConsumeTopics("t"), kgo.ConsumerGroup("g"), kgo.DisableAutoCommit(),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
		for len(got) < n {
			fs := c.PollFetches(ctx)
			if err := fs.Err(); err != nil {
				t.Fatal(err)
			}
			fs.EachRecord(func(r *kgo.Record) { got[string(r.Value)] = true })
		}
		if err := c.CommitUncommittedOffsets(ctx); err != nil {
			t.Fatal(err)
		}
		c.LeaveGroup()
		c.Close()
		return got
	}
	for round := range 2 {
		for i := range 100 {
			producer.Produce(ctx, kgo.StringRecord(fmt.Sprint(round, "-", i)), nil)
		}
		if err := producer.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		if got := consume(100); len(got) != 100 || !got[fmt.Sprint(round, "-99")] {
			t.Fatalf("round %d: %d records", round, len(got))
		}
	}
}
