package server_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"millrace/internal/testkit"
	"millrace/server"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// compacted makes a compacted topic with records of the keys a, b, a, c, a, each with a header, and lets it be compacted.
func compacted(ctx context.Context, t *testing.T, s *server.Server, topic string) (*kgo.Client, *sql.DB) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.KafkaAddr()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	create := kmsg.NewPtrCreateTopicsRequest()
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = topic, 1, 1
	rt.Configs = []kmsg.CreateTopicsRequestTopicConfig{{Name: "cleanup.policy", Value: kmsg.StringPtr("compact")}}
	create.Topics = append(create.Topics, rt)
	if resp, err := create.RequestWith(ctx, cl); err != nil || resp.Topics[0].ErrorCode != 0 {
		t.Fatal(resp, err)
	}
	for i, key := range strings.Fields("a b a c a") {
		h := kgo.RecordHeader{Key: "h", Value: fmt.Appendf(nil, "o%d", i)}
		r := &kgo.Record{Topic: topic, Key: []byte(key), Value: fmt.Appendf(nil, `{"n":%d}`, i), Headers: []kgo.RecordHeader{h}}
		if err := cl.ProduceSync(ctx, r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("mysql", "app@tcp("+s.MySQLAddr()+")/kafka")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.ExecContext(ctx, "CALL millrace.compact('"+topic+"')"); err != nil {
		t.Fatal(err)
	}
	return cl, db
}

// TestBothWiresSeeTheNewestRecordOfEachKey is cases.md C54's compaction.
func TestBothWiresSeeTheNewestRecordOfEachKey(t *testing.T) {
	s := testkit.Server(t)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cl, db := compacted(ctx, t, s, "c54")

	cl.AddConsumePartitions(map[string]map[int32]kgo.Offset{"c54": {0: kgo.NewOffset().At(0)}})
	var got []string
	for len(got) < 3 {
		f := cl.PollFetches(ctx)
		if err := f.Err(); err != nil {
			t.Fatal(err)
		}
		f.EachRecord(func(r *kgo.Record) {
			got = append(got, fmt.Sprintf("%s(%d) %s=%s", r.Key, r.Offset, r.Headers[0].Key, r.Headers[0].Value))
		})
	}
	if s := strings.Join(got, ", "); s != "b(1) h=o1, c(3) h=o3, a(4) h=o4" {
		t.Error(s)
	}
	var rows, first, last, sum int
	q := "SELECT COUNT(*), MIN(_offset), MAX(_offset), SUM(n) FROM c54"
	if err := db.QueryRowContext(ctx, q).Scan(&rows, &first, &last, &sum); err != nil || rows != 3 || first != 1 || last != 4 || sum != 8 {
		t.Error(rows, first, last, sum, err)
	}
	var n int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM c54").Scan(&n); err != nil || n != 3 {
		t.Error(n, err)
	}
}

// A consumer gets to the end although the last record of the partition is gone.
func TestAConsumerPassesOverATombstoneThatWasRemovedAtTheEnd(t *testing.T) {
	s := testkit.Server(t)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cl, db := compacted(ctx, t, s, "gone")
	alter := kmsg.NewPtrIncrementalAlterConfigsRequest()
	alter.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{
		ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "gone",
		Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: "delete.retention.ms", Op: kmsg.IncrementalAlterConfigOpSet, Value: kmsg.StringPtr("0")}},
	}}
	if resp, err := alter.RequestWith(ctx, cl); err != nil || resp.Resources[0].ErrorCode != 0 {
		t.Fatal(resp, err)
	}
	if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "gone", Key: []byte("a")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	// The first pass notes the tombstone, the second drops it.
	for range 2 {
		if _, err := db.ExecContext(ctx, "CALL millrace.compact('gone')"); err != nil {
			t.Fatal(err)
		}
	}
	consumer, err := kgo.NewClient(kgo.SeedBrokers(s.KafkaAddr()), kgo.KeepControlRecords(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{"gone": {0: kgo.NewOffset().At(0)}}))
	if err != nil {
		t.Fatal(err)
	}
	defer consumer.Close()
	if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "gone", Key: []byte("d"), Value: []byte("{}")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for len(got) < 3 {
		f := consumer.PollFetches(ctx)
		if err := f.Err(); err != nil {
			t.Fatal(err)
		}
		f.EachRecord(func(r *kgo.Record) { got = append(got, fmt.Sprintf("%s(%d)", r.Key, r.Offset)) })
	}
	if s := strings.Join(got, ", "); s != "b(1), c(3), d(6)" {
		t.Error(s)
	}
}
