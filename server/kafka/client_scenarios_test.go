package kafka

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// What Apache Kafka's own client tests try, tried by a client here; which is which is in
// test/interop/kfake-scenarios.md.

// next returns the next n records that cl reads, in order.
func next(t *testing.T, cl *kgo.Client, n int) (got []*kgo.Record) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	for len(got) < n {
		fs := cl.PollRecords(ctx, n-len(got))
		if err := fs.Err(); err != nil {
			t.Fatalf("after %d of %d records: %v", len(got), n, err)
		}
		got = append(got, fs.Records()...)
	}
	return got
}

func (e *env) send(topic string, values ...string) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	cl := e.client(kgo.DefaultProduceTopic(topic))
	defer cl.Close()
	for _, v := range values { // each a batch of its own
		if err := cl.ProduceSync(ctx, kgo.StringRecord(v)).FirstErr(); err != nil {
			e.t.Fatal(err)
		}
	}
}

func from(topic string, o kgo.Offset) kgo.Opt {
	return kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: o}})
}

func numbered(n int) (values []string) {
	for i := range n {
		values = append(values, fmt.Sprint("v", i))
	}
	return values
}

func TestAnAssignedConsumerReadsFromWhereItStands(t *testing.T) {
	e := start(t)
	e.topic("t", 1)
	e.send("t", numbered(10)...)
	for name, c := range map[string]struct {
		at    kgo.Offset
		first int64
	}{
		"the start":               {kgo.NewOffset().AtStart(), 0},
		"an offset":               {kgo.NewOffset().At(5), 5},
		"some before the end":     {kgo.NewOffset().AtEnd().Relative(-2), 8},
		"the time of a record on": {kgo.NewOffset().AfterMilli(1), 0},
	} {
		t.Run(name, func(t *testing.T) {
			cl := e.client(from("t", c.at))
			defer cl.Close()
			got := next(t, cl, int(10-c.first))
			for i, r := range got {
				if want := c.first + int64(i); r.Offset != want || string(r.Value) != fmt.Sprint("v", want) {
					t.Errorf("%d: offset %d %q", i, r.Offset, r.Value)
				}
			}
		})
	}
}

func TestAConsumerAtTheEndSeesNothingOld(t *testing.T) {
	e := start(t)
	e.topic("t", 1)
	e.send("t", "old1", "old2")
	for name, opts := range map[string][]kgo.Opt{
		"that starts there":           {from("t", kgo.NewOffset().AtEnd())},
		"that is put back to the end": {from("t", kgo.NewOffset().At(100)), kgo.ConsumeResetOffset(kgo.NewOffset().AtEnd())},
	} {
		t.Run(name, func(t *testing.T) {
			stands := make(chan struct{}, 1)
			cl := e.client(append(opts, kgo.WithHooks(listed{stands}))...)
			defer cl.Close()
			<-stands
			e.send("t", name)
			if got := next(t, cl, 1); string(got[0].Value) != name {
				t.Errorf("offset %d %q", got[0].Offset, got[0].Value)
			}
		})
	}
}

// listed tells when offsets were listed: the client stands at the end then.
type listed struct{ c chan struct{} }

func (l listed) OnBrokerRead(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, _ error) {
	if key == int16(kmsg.ListOffsets) {
		select {
		case l.c <- struct{}{}:
		default:
		}
	}
}

func TestAConsumerOutOfRangeIsPutBackOrTold(t *testing.T) {
	e := start(t)
	e.topic("t", 1)
	e.send("t", "v0", "v1", "v2")
	back := e.client(from("t", kgo.NewOffset().At(100)), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if got := next(t, back, 3); got[0].Offset != 0 {
		t.Errorf("put back to %d", got[0].Offset)
	}
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	told := e.client(from("t", kgo.NewOffset().At(100)), kgo.ConsumeResetOffset(kgo.NoResetOffset()))
	fs := told.PollFetches(ctx)
	if fs.NumRecords() != 0 || len(fs.Errors()) == 0 {
		t.Errorf("%d records, errors %v", fs.NumRecords(), fs.Errors())
	}
}

func TestARecordAboveTheFetchSizeComesAlone(t *testing.T) {
	e := start(t)
	id := e.topic("t", 1)
	want := []string{"small", strings.Repeat("x", 10_000), "small again"}
	e.send("t", want...)
	cl := e.client(from("t", kgo.NewOffset().AtStart()), kgo.FetchMaxPartitionBytes(512))
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	for i, w := range want {
		fs := cl.PollFetches(ctx)
		if fs.Err() != nil || fs.NumRecords() != 1 || string(fs.Records()[0].Value) != w {
			t.Fatalf("fetch %d: %d records, %v", i, fs.NumRecords(), fs.Err())
		}
	}
	for i, w := range want { // the limit of the whole request
		r := fetchRequest1(12, "t", id, 0, int64(i))
		r.MaxBytes = 512
		mustEqual(t, values(t, onlyFetched(t, e.raw().ask(r)).RecordBatches)[:1], w)
		if got := values(t, onlyFetched(t, e.raw().ask(r)).RecordBatches); len(got) != 1 {
			t.Errorf("from %d: %d records", i, len(got))
		}
	}
}

func TestPollsOfAFewRecordsAndWithoutPatienceReadEverything(t *testing.T) {
	e := start(t)
	e.topic("t", 1)
	e.send("t", numbered(20)...)
	few := e.client(from("t", kgo.NewOffset().AtStart()))
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	seen, polls := 0, 0
	for ; seen < 20; polls++ {
		fs := few.PollRecords(ctx, 3)
		if n := fs.NumRecords(); fs.Err() != nil || n == 0 || n > 3 {
			t.Fatalf("%d records, %v", n, fs.Err())
		}
		seen += fs.NumRecords()
	}
	if polls < 7 {
		t.Errorf("20 records by 3 in %d polls", polls)
	}
	hasty := e.client(from("t", kgo.NewOffset().AtStart()))
	for seen = 0; seen < 20 && ctx.Err() == nil; {
		once, stop := context.WithTimeout(ctx, 5*time.Millisecond)
		seen += hasty.PollFetches(once).NumRecords()
		stop()
	}
	if seen != 20 {
		t.Errorf("%d records", seen)
	}
}

func TestCommitsComeBackAsTheyWereMade(t *testing.T) {
	e := start(t)
	e.topic("t", 1)
	e.send("t", numbered(10)...)
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	committed := func(group string) (int64, string, int16) {
		r := kmsg.NewPtrOffsetFetchRequest()
		r.Groups = []kmsg.OffsetFetchRequestGroup{{Group: group, MemberEpoch: -1, Topics: []kmsg.OffsetFetchRequestGroupTopic{{Topic: "t", Partitions: []int32{0}}}}}
		r.Version = 8
		resp := e.raw().ask(r).(*kmsg.OffsetFetchResponse)
		p := resp.Groups[0].Topics[0].Partitions[0]
		return p.Offset, api.Deref(p.Metadata), p.ErrorCode
	}
	if o, m, code := committed("nobody"); o != -1 || m != "" || code != 0 {
		t.Errorf("without a commit: %d %q %d", o, m, code)
	}
	for _, c := range []struct {
		offset   int64
		metadata string
	}{{3, ""}, {7, "with words"}, {5, "back"}} {
		r := kmsg.NewPtrOffsetCommitRequest()
		r.Group, r.Generation = "simple", -1
		r.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Offset: c.offset, LeaderEpoch: -1, Metadata: &c.metadata}}}}
		r.Version = 8
		if code := e.raw().ask(r).(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode; code != 0 {
			t.Fatal(code)
		}
		for range 3 { // reading changes nothing
			if o, m, code := committed("simple"); o != c.offset || m != c.metadata || code != 0 {
				t.Errorf("%d %q %d, want %v", o, m, code, c)
			}
		}
	}
	o, _, _ := committed("simple")
	if got := next(t, e.client(from("t", kgo.NewOffset().At(o))), 5); got[0].Offset != 5 {
		t.Errorf("goes on at %d", got[0].Offset)
	}
	for _, n := range []int{10, 4} { // all and a part of what there is
		group := fmt.Sprint("reads", n)
		c := e.client(kgo.ConsumerGroup(group), kgo.ConsumeTopics("t"), kgo.DisableAutoCommit(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
		last := next(t, c, n)[n-1]
		if err := c.CommitRecords(ctx, last); err != nil {
			t.Fatal(err)
		}
		c.Close()
		if o, _, _ := committed(group); o != int64(n) {
			t.Errorf("committed %d of %d", o, n)
		}
	}
}

func TestAFencedTransactionalProducerCommitsNoMore(t *testing.T) {
	for name, before := range map[string]bool{"in a transaction": false, "after a committed one": true} {
		t.Run(name, func(t *testing.T) {
			e := start(t)
			e.topic("t", 1)
			ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
			defer cancel()
			id := "tx"
			p := e.client(kgo.DefaultProduceTopic("t"), kgo.TransactionalID(id))
			write := func(how kgo.TransactionEndTry) error {
				if err := p.BeginTransaction(); err != nil {
					return err
				}
				if err := p.ProduceSync(ctx, kgo.StringRecord("v")).FirstErr(); err != nil {
					return err
				}
				return p.EndTransaction(ctx, how)
			}
			fence := func() {
				r := kmsg.NewPtrInitProducerIDRequest()
				r.TransactionalID, r.TransactionTimeoutMillis, r.ProducerID, r.ProducerEpoch = &id, 60_000, -1, -1
				if resp, err := r.RequestWith(ctx, e.client()); err != nil || resp.ErrorCode != 0 {
					t.Fatal(resp, err)
				}
			}
			if before {
				if err := write(kgo.TryCommit); err != nil {
					t.Fatal(err)
				}
				fence()
				if err := write(kgo.TryCommit); err == nil {
					t.Error("the fenced producer committed")
				}
				mustEqual(t, e.values("t", kgo.ReadCommitted()), "v")
				return
			}
			if err := p.BeginTransaction(); err != nil {
				t.Fatal(err)
			}
			if err := p.ProduceSync(ctx, kgo.StringRecord("v")).FirstErr(); err != nil {
				t.Fatal(err)
			}
			fence()
			if err := p.EndTransaction(ctx, kgo.TryCommit); err == nil {
				t.Error("the fenced producer committed")
			}
			mustEqual(t, e.values("t", kgo.ReadCommitted()))
		})
	}
}

func TestOneRequestInFlightIsEnoughForTransactions(t *testing.T) {
	e := start(t)
	e.topic("t", 1)
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	p := e.client(kgo.DefaultProduceTopic("t"), kgo.TransactionalID("tx"), kgo.MaxProduceRequestsInflightPerBroker(1))
	for value, how := range map[string]kgo.TransactionEndTry{"aborted": kgo.TryAbort, "committed": kgo.TryCommit} {
		if err := p.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := p.ProduceSync(ctx, kgo.StringRecord(value)).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.EndTransaction(ctx, how); err != nil {
			t.Fatal(err)
		}
	}
	mustEqual(t, e.values("t", kgo.ReadCommitted()), "committed", "committed", "committed")
	if all := e.values("t", kgo.ReadUncommitted()); len(all) != 6 {
		t.Errorf("%q", all)
	}
}

func TestProducersAreDescribedWithTheirOpenTransaction(t *testing.T) {
	e := start(t)
	e.topic("t", 1)
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	p := e.client(kgo.DefaultProduceTopic("t"), kgo.TransactionalID("tx"))
	open := func() (n int) {
		r := kmsg.NewPtrDescribeProducersRequest()
		r.Topics = []kmsg.DescribeProducersRequestTopic{{Topic: "t", Partitions: []int32{0}}}
		part := e.raw().ask(r).(*kmsg.DescribeProducersResponse).Topics[0].Partitions[0]
		if part.ErrorCode != 0 {
			t.Fatal(part.ErrorCode)
		}
		for _, a := range part.ActiveProducers {
			if a.CurrentTxnStartOffset >= 0 {
				n++
			}
		}
		return n
	}
	if err := p.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := p.ProduceSync(ctx, kgo.StringRecord("v")).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if n := open(); n != 1 {
		t.Errorf("%d open transactions", n)
	}
	if err := p.EndTransaction(ctx, kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	if n := open(); n != 0 {
		t.Errorf("%d open transactions after the commit", n)
	}
}

func TestTheLargestTimestampIsFoundHoweverItCame(t *testing.T) {
	e := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	for name, c := range map[string]struct {
		codec   kgo.CompressionCodec
		batches bool
	}{"one batch": {kgo.NoCompression(), false}, "compressed": {kgo.GzipCompression(), false}, "batches": {kgo.NoCompression(), true}} {
		t.Run(name, func(t *testing.T) {
			topic := strings.ReplaceAll(name, " ", "-")
			e.topic(topic, 1)
			p := e.client(kgo.DefaultProduceTopic(topic), kgo.ProducerBatchCompression(c.codec))
			var rs []*kgo.Record
			for _, at := range []int64{1_000, 3_000, 2_000} {
				rs = append(rs, &kgo.Record{Value: []byte("v"), Timestamp: time.UnixMilli(at)})
			}
			for n := len(rs); len(rs) > 0; rs = rs[n:] {
				if c.batches {
					n = 1
				}
				if err := p.ProduceSync(ctx, rs[:n]...).FirstErr(); err != nil {
					t.Fatal(err)
				}
			}
			r := kmsg.NewPtrListOffsetsRequest()
			r.ReplicaID, r.Version = -1, 7
			r.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: topic, Partitions: []kmsg.ListOffsetsRequestTopicPartition{{Timestamp: -3, CurrentLeaderEpoch: -1}}}}
			if got := e.raw().ask(r).(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0]; got.Offset != 1 || got.Timestamp != 3_000 {
				t.Errorf("offset %d at %d", got.Offset, got.Timestamp)
			}
		})
	}
}

func TestTopicsAreAssignedOrCountedButNotBoth(t *testing.T) {
	a := start(t)
	ask := func(n int32, rf int16) kmsg.CreateTopicsResponseTopic {
		r := kmsg.NewPtrCreateTopicsRequest()
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = "assigned", n, rf
		for p := range int32(3) {
			topic.ReplicaAssignment = append(topic.ReplicaAssignment, kmsg.CreateTopicsRequestTopicReplicaAssignment{Partition: p, Replicas: []int32{a.srv.o.NodeID}})
		}
		r.Topics = append(r.Topics, topic)
		return a.raw().ask(versioned(r, 7)).(*kmsg.CreateTopicsResponse).Topics[0]
	}
	if got := ask(10, 1); got.ErrorCode != kafkaerr.InvalidRequest {
		t.Errorf("both: %d", got.ErrorCode)
	}
	if got := ask(-1, -1); got.ErrorCode != kafkaerr.None || got.NumPartitions != 3 {
		t.Errorf("assigned: %d, %d partitions", got.ErrorCode, got.NumPartitions)
	}
}

func TestKeysValuesAndHeadersComeBackUnderEveryCodec(t *testing.T) {
	e := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	for i, codec := range []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()} {
		topic := fmt.Sprint("codec", i)
		e.topic(topic, 1)
		sent := &kgo.Record{Topic: topic, Key: []byte("key"), Value: bytes.Repeat([]byte("value"), 100), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("w")}}}
		if err := e.client(kgo.ProducerBatchCompression(codec)).ProduceSync(ctx, sent).FirstErr(); err != nil {
			t.Fatal(err)
		}
		got := next(t, e.client(from(topic, kgo.NewOffset().AtStart())), 1)[0]
		if !bytes.Equal(got.Key, sent.Key) || !bytes.Equal(got.Value, sent.Value) || len(got.Headers) != 1 || got.Headers[0].Key != "h" || string(got.Headers[0].Value) != "w" {
			t.Errorf("%s: %+v", topic, got)
		}
	}
}

func TestAFencedMemberOfAConsumerGroupIsToldInEveryWay(t *testing.T) {
	a := start(t)
	a.create("t", 2)
	beat := func(member string, epoch int32, instance string, topics ...string) *kmsg.ConsumerGroupHeartbeatResponse {
		r := kmsg.NewPtrConsumerGroupHeartbeatRequest()
		r.Group, r.MemberID, r.MemberEpoch, r.RebalanceTimeoutMillis, r.InstanceID, r.SubscribedTopicNames = "g", member, epoch, 5000, api.Nullable(instance), topics
		if epoch == 0 {
			r.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		}
		return a.raw().ask(versioned(r, 1)).(*kmsg.ConsumerGroupHeartbeatResponse)
	}
	one := beat("one", 0, "i", "t")
	if one.ErrorCode != kafkaerr.None || one.MemberEpoch < 1 || one.Assignment == nil {
		t.Fatalf("%+v", one)
	}
	for name, c := range map[string]struct {
		got  *kmsg.ConsumerGroupHeartbeatResponse
		want *kerr.Error
	}{
		"another member under its instance": {beat("two", 11, "i", "t"), kerr.FencedInstanceID},
		"an instance that is taken":         {beat("two", 0, "i", "t"), kerr.UnreleasedInstanceID},
		"an epoch that has not come":        {beat("one", one.MemberEpoch+9, "i"), kerr.FencedMemberEpoch},
		"a member who never was":            {beat("three", 3, ""), kerr.UnknownMemberID},
	} {
		if c.got.ErrorCode != c.want.Code {
			t.Errorf("%s: %v, want %v", name, kerr.ErrorForCode(c.got.ErrorCode), c.want)
		}
	}
	if left := beat("one", -2, "i"); left.ErrorCode != kafkaerr.None || left.MemberEpoch != -2 {
		t.Fatalf("%+v", left)
	}
	back := beat("two", 0, "i", "t")
	if back.ErrorCode != kafkaerr.None || back.Assignment == nil || len(back.Assignment.Topics) != 1 || len(back.Assignment.Topics[0].Partitions) != 2 {
		t.Errorf("the static member that came back: %+v", back)
	}
}
