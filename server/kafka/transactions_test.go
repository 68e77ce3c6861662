package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"millrace/server/kafka/kafkaerr"

	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// values consumes topic from its start until the end offset.
func (e *env) values(topic string, iso kgo.IsolationLevel) (values []string) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	t, ok := e.st.Topics().ByName(topic)
	if !ok {
		e.t.Fatal("no topic ", topic)
	}
	ends := map[int32]int64{}
	for p := range t.Partitions {
		b, err := e.st.Bounds(state.TopicPartition{Topic: t.ID, Partition: p})
		if err != nil {
			e.t.Fatal(err)
		}
		if ends[p] = b.End; iso == kgo.ReadCommitted() {
			ends[p] = b.LastStable
		}
	}
	at := map[int32]int64{}
	c := e.client(kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(iso), kgo.KeepControlRecords())
	defer c.Close()
	done := func() bool {
		for p, end := range ends {
			if at[p] < end {
				return false
			}
		}
		return true
	}
	for !done() {
		fs := c.PollFetches(ctx)
		if err := fs.Err(); err != nil {
			e.t.Fatal(err)
		}
		fs.EachRecord(func(r *kgo.Record) {
			at[r.Partition] = max(at[r.Partition], r.Offset+1)
			if !r.Attrs.IsControl() {
				values = append(values, string(r.Value))
			}
		})
	}
	return values
}

func mustEqual(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
}

// cases.md C46
func TestAnOpenTransactionIsReadOnlyByThoseWhoReadUncommitted(t *testing.T) {
	e := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	e.topic("c46", 1)
	tx := e.client(kgo.DefaultProduceTopic("c46"), kgo.TransactionalID("t1"))
	plain := e.client(kgo.DefaultProduceTopic("c46"))
	if err := tx.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"o0", "o1"} {
		if err := tx.ProduceSync(ctx, kgo.StringRecord(v)).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	if err := plain.ProduceSync(ctx, kgo.StringRecord("o2")).FirstErr(); err != nil {
		t.Fatal(err)
	}
	ends := func(iso int8) int64 {
		req := kmsg.NewPtrListOffsetsRequest()
		req.IsolationLevel = iso
		req.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: "c46", Partitions: []kmsg.ListOffsetsRequestTopicPartition{{Timestamp: -1, CurrentLeaderEpoch: -1}}}}
		resp, err := req.RequestWith(ctx, plain)
		if err != nil {
			t.Fatal(err)
		}
		return resp.Topics[0].Partitions[0].Offset
	}
	if c, u := ends(1), ends(0); c != 0 || u != 3 {
		t.Fatal(c, u)
	}
	mustEqual(t, e.values("c46", kgo.ReadCommitted()))
	mustEqual(t, e.values("c46", kgo.ReadUncommitted()), "o0", "o1", "o2")
	if err := tx.EndTransaction(ctx, kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, e.values("c46", kgo.ReadCommitted()), "o0", "o1", "o2")
	if c := ends(1); c != 4 {
		t.Fatal(c)
	}
}

// cases.md C47
func TestAbortedRecordsDoNotLeak(t *testing.T) {
	e := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	e.topic("c47", 1)
	a := e.client(kgo.DefaultProduceTopic("c47"), kgo.TransactionalID("a"))
	b := e.client(kgo.DefaultProduceTopic("c47"), kgo.TransactionalID("b"))
	send := func(c *kgo.Client, v string) {
		t.Helper()
		if err := c.ProduceSync(ctx, kgo.StringRecord(v)).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	ok := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	ok(a.BeginTransaction(), b.BeginTransaction())
	for _, v := range []string{"0", "1"} {
		send(a, "A"+v)
		send(b, "B"+v)
	}
	ok(a.EndTransaction(ctx, kgo.TryAbort), b.EndTransaction(ctx, kgo.TryCommit))
	ok(a.BeginTransaction(), a.EndTransaction(ctx, kgo.TryAbort)) // empty
	ok(a.BeginTransaction())
	send(a, "A2")
	ok(a.EndTransaction(ctx, kgo.TryAbort))
	send(e.client(kgo.DefaultProduceTopic("c47")), "P0")
	mustEqual(t, e.values("c47", kgo.ReadCommitted()), "B0", "B1", "P0")
	mustEqual(t, e.values("c47", kgo.ReadUncommitted()), "A0", "B0", "A1", "B1", "A2", "P0")
	// The same from segments.
	ok(e.st.Seal(ctx))
	mustEqual(t, e.values("c47", kgo.ReadCommitted()), "B0", "B1", "P0")
}

// cases.md C50
func TestAnOffsetInAnOpenTransactionIsUnstableUntilItTimesOut(t *testing.T) {
	e := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	e.topic("c50", 1)
	r := e.raw()
	init := kmsg.NewPtrInitProducerIDRequest()
	init.Version, init.TransactionalID, init.TransactionTimeoutMillis = 4, kmsg.StringPtr("x"), 100
	init.ProducerID, init.ProducerEpoch = -1, -1
	id := r.ask(init).(*kmsg.InitProducerIDResponse)
	if id.ErrorCode != 0 {
		t.Fatal(id.ErrorCode)
	}
	commit := kmsg.NewPtrTxnOffsetCommitRequest()
	commit.Version, commit.TransactionalID, commit.Group, commit.Generation = 5, "x", "g", -1
	commit.ProducerID, commit.ProducerEpoch = id.ProducerID, id.ProducerEpoch
	commit.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: "c50", Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{Offset: 5, LeaderEpoch: -1}}}}
	if c := r.ask(commit).(*kmsg.TxnOffsetCommitResponse); c.Topics[0].Partitions[0].ErrorCode != 0 {
		t.Fatalf("%+v", c)
	}
	fetch := kmsg.NewPtrOffsetFetchRequest()
	fetch.Version, fetch.RequireStable = 8, true
	fetch.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "g", Topics: []kmsg.OffsetFetchRequestGroupTopic{{Topic: "c50", Partitions: []int32{0}}}}}
	stable := func() kmsg.OffsetFetchResponseGroupTopicPartition {
		return r.ask(fetch).(*kmsg.OffsetFetchResponse).Groups[0].Topics[0].Partitions[0]
	}
	if p := stable(); p.ErrorCode != kafkaerr.UnstableOffsetCommit {
		t.Fatalf("%+v", p)
	}
	fetch.Groups[0].Topics = nil
	if p := stable(); p.ErrorCode != kafkaerr.UnstableOffsetCommit {
		t.Fatalf("of all: %+v", p)
	}
	fetch.Groups[0].Topics = []kmsg.OffsetFetchRequestGroupTopic{{Topic: "c50", Partitions: []int32{0}}}
	for p := stable(); p.ErrorCode != 0; p = stable() {
		if ctx.Err() != nil {
			t.Fatalf("%+v", p)
		}
	}
	if p := stable(); p.Offset != -1 {
		t.Fatalf("%+v", p)
	}
	end := kmsg.NewPtrEndTxnRequest()
	end.Version, end.TransactionalID, end.ProducerID, end.ProducerEpoch, end.Commit = 4, "x", id.ProducerID, id.ProducerEpoch, true
	if c := r.ask(end).(*kmsg.EndTxnResponse).ErrorCode; c != kafkaerr.ProducerFenced {
		t.Fatal(c)
	}
}

func TestConsumeTransformProduceIsExactlyOnce(t *testing.T) {
	e := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	e.topic("in", 3)
	e.topic("out", 3)
	in := e.client(kgo.DefaultProduceTopic("in"))
	const n = 300
	for i := range n {
		in.Produce(ctx, kgo.StringRecord(fmt.Sprint(i)), nil)
	}
	if err := in.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	copied := 0
	for round := 0; copied < n; round++ { // a new process, the same transactional id, each time
		s, err := kgo.NewGroupTransactSession(kgo.SeedBrokers(e.addr), kgo.TransactionalID("copy"), kgo.DefaultProduceTopic("out"),
			kgo.ConsumeTopics("in"), kgo.ConsumerGroup("g"), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
			kgo.FetchMaxBytes(1500), kgo.FetchMaxPartitionBytes(700))
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			fs := s.PollRecords(ctx, 50)
			if err := fs.Err(); err != nil {
				t.Fatal(err)
			}
			if err := s.Begin(); err != nil {
				t.Fatal(err)
			}
			fs.EachRecord(func(r *kgo.Record) { s.Produce(ctx, kgo.StringRecord(string(r.Value)), nil) })
			abort := round%2 == 0 && copied > 0
			committed, err := s.End(ctx, kgo.TransactionEndTry(!abort))
			if err != nil {
				t.Fatal(err)
			}
			if committed {
				copied += fs.NumRecords()
			}
			if abort || copied >= n {
				break
			}
		}
		s.Close()
	}
	got := e.values("out", kgo.ReadCommitted())
	seen := map[string]bool{}
	for _, v := range got {
		seen[v] = true
	}
	if len(got) != n || len(seen) != n {
		t.Fatalf("%d records, %d different, want %d", len(got), len(seen), n)
	}
}

func TestATransactionSurvivesARestartAndIsCommittedByAnother(t *testing.T) {
	e := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	e.topic("t", 2)
	tx := e.client(kgo.DefaultProduceTopic("t"), kgo.TransactionalID("flink"))
	if err := tx.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := tx.ProduceSync(ctx, kgo.StringRecord("v")).FirstErr(); err != nil {
		t.Fatal(err)
	}
	id, epoch, err := tx.ProducerID(ctx)
	if err != nil {
		t.Fatal(err)
	}
	tx.Close() // the process is gone, its transaction is not
	e.close()
	e.open()
	r := e.raw()
	list := kmsg.NewPtrListTransactionsRequest()
	list.StateFilters, list.DurationFilterMillis = []string{"Ongoing", "Nonsense"}, -1
	l := r.ask(list).(*kmsg.ListTransactionsResponse)
	if len(l.TransactionStates) != 1 || l.TransactionStates[0].ProducerID != id || !slices.Equal(l.UnknownStateFilters, []string{"Nonsense"}) {
		t.Fatalf("%+v", l)
	}
	describe := kmsg.NewPtrDescribeTransactionsRequest()
	describe.TransactionalIDs = []string{"flink"}
	if d := r.ask(describe).(*kmsg.DescribeTransactionsResponse).TransactionStates[0]; d.State != "Ongoing" || len(d.Topics) != 1 || d.ProducerEpoch != epoch {
		t.Fatalf("%+v", d)
	}
	mustEqual(t, e.values("t", kgo.ReadCommitted()))
	end := kmsg.NewPtrEndTxnRequest()
	end.Version, end.TransactionalID, end.ProducerID, end.ProducerEpoch, end.Commit = 4, "flink", id, epoch, true
	for range 2 { // the second is a repeat
		if c := r.ask(end).(*kmsg.EndTxnResponse).ErrorCode; c != 0 {
			t.Fatal(kerr.ErrorForCode(c))
		}
	}
	mustEqual(t, e.values("t", kgo.ReadCommitted()), "v")
	if end.Commit = false; r.ask(end).(*kmsg.EndTxnResponse).ErrorCode != kafkaerr.InvalidTxnState {
		t.Fatal("an abort after the commit")
	}
}

func TestFeaturesOfLevelZeroAreKeptFromOldClients(t *testing.T) {
	e := start(t)
	r := e.raw()
	for _, version := range []int16{3, 4} {
		req := kmsg.NewPtrApiVersionsRequest()
		req.Version, req.ClientSoftwareName, req.ClientSoftwareVersion = version, "test", "1"
		resp := r.ask(req).(*kmsg.ApiVersionsResponse)
		finalized := false
		for _, f := range resp.FinalizedFeatures {
			finalized = finalized || f.Name == "transaction.version" && f.MaxVersionLevel == 2
		}
		if !finalized || resp.FinalizedFeaturesEpoch < 0 {
			t.Errorf("version %d: %+v", version, resp.FinalizedFeatures)
		}
		for _, f := range resp.SupportedFeatures {
			if version < 4 && f.MinVersion == 0 {
				t.Errorf("version %d lists %s", version, f.Name)
			}
		}
	}
}
