package kafka

import (
	"testing"

	"millrace/server/kafka/kafkaerr"

	"millrace/internal/recordbatch"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// transactor is a transactional producer made of single requests.
type transactor struct {
	*raw
	topic string
	id    state.TopicID
	ref   state.TransactionRef
}

func (e *env) transactor(name, topic string, id state.TopicID) *transactor {
	e.t.Helper()
	x := &transactor{raw: e.raw(), topic: topic, id: id, ref: state.TransactionRef{TransactionalID: name, ProducerID: -1, ProducerEpoch: -1}}
	if c := x.init(5); c != kafkaerr.None {
		e.t.Fatal("InitProducerId: ", c)
	}
	return x
}

// init asks for the next epoch, from version 3 on as the holder of the present one.
func (x *transactor) init(version int16) int16 {
	x.t.Helper()
	req := kmsg.NewPtrInitProducerIDRequest()
	req.Version, req.TransactionalID, req.TransactionTimeoutMillis = version, &x.ref.TransactionalID, 60_000
	req.ProducerID, req.ProducerEpoch = x.ref.ProducerID, x.ref.ProducerEpoch
	resp := x.ask(req).(*kmsg.InitProducerIDResponse)
	if resp.ErrorCode == kafkaerr.None {
		x.ref.ProducerID, x.ref.ProducerEpoch = resp.ProducerID, resp.ProducerEpoch
	}
	return resp.ErrorCode
}

func (x *transactor) produce(version int16, seq int32, value string) int16 {
	x.t.Helper()
	b := batch(1, value)
	b[22] |= 0x10 // transactional
	recordbatch.SetProducer(b, x.ref.ProducerID, x.ref.ProducerEpoch, seq)
	req := produceRequest(version, x.topic, x.id, 0, b)
	req.TransactionID = &x.ref.TransactionalID
	return onlyPart(x.t, x.ask(req)).ErrorCode
}

func (x *transactor) add(version int16, verify bool) int16 {
	x.t.Helper()
	req := kmsg.NewPtrAddPartitionsToTxnRequest()
	req.Version = version
	if version < 4 {
		req.TransactionalID, req.ProducerID, req.ProducerEpoch = x.ref.TransactionalID, x.ref.ProducerID, x.ref.ProducerEpoch
		req.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: x.topic, Partitions: []int32{0}}}
		return x.ask(req).(*kmsg.AddPartitionsToTxnResponse).Topics[0].Partitions[0].ErrorCode
	}
	req.Transactions = []kmsg.AddPartitionsToTxnRequestTransaction{{
		TransactionalID: x.ref.TransactionalID, ProducerID: x.ref.ProducerID, ProducerEpoch: x.ref.ProducerEpoch, VerifyOnly: verify,
		Topics: []kmsg.AddPartitionsToTxnRequestTransactionTopic{{Topic: x.topic, Partitions: []int32{0}}},
	}}
	return x.ask(req).(*kmsg.AddPartitionsToTxnResponse).Transactions[0].Topics[0].Partitions[0].ErrorCode
}

func (x *transactor) commitOffset(version int16) int16 {
	x.t.Helper()
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.Version, req.TransactionalID, req.Group, req.Generation = version, x.ref.TransactionalID, "g", -1
	req.ProducerID, req.ProducerEpoch = x.ref.ProducerID, x.ref.ProducerEpoch
	req.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: x.topic, Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{Offset: 1, LeaderEpoch: -1}}}}
	return x.ask(req).(*kmsg.TxnOffsetCommitResponse).Topics[0].Partitions[0].ErrorCode
}

func (x *transactor) addOffsets(version int16) int16 {
	x.t.Helper()
	req := kmsg.NewPtrAddOffsetsToTxnRequest()
	req.Version, req.TransactionalID, req.Group = version, x.ref.TransactionalID, "g"
	req.ProducerID, req.ProducerEpoch = x.ref.ProducerID, x.ref.ProducerEpoch
	return x.ask(req).(*kmsg.AddOffsetsToTxnResponse).ErrorCode
}

// end ends the transaction of ref; from version 5 on the producer goes on with what it is told.
func (x *transactor) end(version int16, ref state.TransactionRef, commit bool) int16 {
	x.t.Helper()
	req := kmsg.NewPtrEndTxnRequest()
	req.Version, req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = version, ref.TransactionalID, ref.ProducerID, ref.ProducerEpoch, commit
	resp := x.ask(req).(*kmsg.EndTxnResponse)
	if version >= 5 && resp.ErrorCode == kafkaerr.None {
		x.ref.ProducerID, x.ref.ProducerEpoch = resp.ProducerID, resp.ProducerEpoch
	}
	return resp.ErrorCode
}

// abortByAdmin is what kafka-transactions abort sends.
func (x *transactor) abortByAdmin(epoch int16, commit bool) int16 {
	x.t.Helper()
	req := kmsg.NewPtrWriteTxnMarkersRequest()
	req.Version = 1
	req.Markers = []kmsg.WriteTxnMarkersRequestMarker{{
		ProducerID: x.ref.ProducerID, ProducerEpoch: epoch, Committed: commit,
		Topics: []kmsg.WriteTxnMarkersRequestMarkerTopic{{Topic: x.topic, Partitions: []int32{0}}},
	}}
	return x.ask(req).(*kmsg.WriteTxnMarkersResponse).Markers[0].Topics[0].Partitions[0].ErrorCode
}

func wantCodes(t *testing.T, got ...int16) {
	t.Helper()
	for i := 0; i < len(got); i += 2 {
		if got[i] != got[i+1] {
			t.Fatalf("%d: code %d, want %d", i/2, got[i], got[i+1])
		}
	}
}

// cases.md C48
func TestALateCommitOfAnEarlierTransactionIsFenced(t *testing.T) {
	e := start(t)
	x := e.transactor("x", "c48", e.topic("c48", 1))
	first := x.ref
	wantCodes(t, x.produce(12, 0, "X"), kafkaerr.None, x.end(5, first, false), kafkaerr.None)
	if x.ref.ProducerEpoch != first.ProducerEpoch+1 {
		t.Fatal(x.ref)
	}
	second := x.ref
	wantCodes(t,
		x.end(5, first, false), kafkaerr.None, // asked again: the answer did not arrive
		x.produce(12, 0, "Y"), kafkaerr.None,
		x.end(5, first, true), kafkaerr.ProducerFenced,
		x.end(5, second, false), kafkaerr.None,
	)
	mustEqual(t, e.values("c48", kgo.ReadCommitted()))
	mustEqual(t, e.values("c48", kgo.ReadUncommitted()), "X", "Y")
}

func TestEachVersionHasItsCodeForWhatTheTransactionDoesNotHold(t *testing.T) {
	e := start(t)
	x := e.transactor("x", "t", e.topic("t", 1))
	wantCodes(t,
		x.produce(9, 0, "v"), kafkaerr.InvalidTxnState,
		x.produce(10, 0, "v"), kafkaerr.InvalidTxnState,
		x.produce(11, 0, "v"), kafkaerr.TransactionAbortable,
		x.add(4, true), kafkaerr.InvalidTxnState,
		x.add(5, true), kafkaerr.TransactionAbortable,
		x.commitOffset(3), kafkaerr.InvalidTxnState,
		x.commitOffset(4), kafkaerr.TransactionAbortable,
		x.end(4, x.ref, true), kafkaerr.InvalidTxnState,
		x.addOffsets(3), kafkaerr.None,
		x.commitOffset(3), kafkaerr.None,
		x.add(3, false), kafkaerr.None,
		x.add(5, true), kafkaerr.None,
		x.produce(9, 0, "v"), kafkaerr.None,
		x.produce(9, 0, "v"), kafkaerr.None, // a repeat
		x.end(4, x.ref, true), kafkaerr.None,
		x.end(1, x.ref, true), kafkaerr.None,
		x.produce(11, 1, "w"), kafkaerr.TransactionAbortable,
		x.produce(12, 1, "w"), kafkaerr.None,
		x.commitOffset(5), kafkaerr.None,
		x.end(5, x.ref, true), kafkaerr.None,
	)
	mustEqual(t, e.values("t", kgo.ReadCommitted()), "v", "w")
}

// KAFKA-19690: to Streams an INVALID_TXN_STATE would be the end.
func TestAProducerWhoseTransactionTimedOutIsToldThatItsEpochHasPassed(t *testing.T) {
	e := start(t)
	x := e.transactor("x", "t", e.topic("t", 1))
	wantCodes(t, x.produce(12, 0, "v"), kafkaerr.None)
	for _, open := range e.st.OpenTransactions() {
		if _, err := e.st.Commit(t.Context(), state.ExpireTransaction{OpenTransaction: open}); err != nil {
			t.Fatal(err)
		}
	}
	wantCodes(t,
		x.produce(9, 1, "w"), kafkaerr.InvalidProducerEpoch,
		x.produce(11, 1, "w"), kafkaerr.InvalidProducerEpoch,
		x.produce(12, 1, "w"), kafkaerr.InvalidProducerEpoch,
		x.end(1, x.ref, true), kafkaerr.InvalidProducerEpoch,
		x.end(4, x.ref, true), kafkaerr.ProducerFenced,
		x.end(5, x.ref, true), kafkaerr.ProducerFenced,
		x.add(1, false), kafkaerr.InvalidProducerEpoch,
		x.add(3, false), kafkaerr.ProducerFenced,
		x.addOffsets(1), kafkaerr.InvalidProducerEpoch,
		x.addOffsets(3), kafkaerr.ProducerFenced,
		x.commitOffset(5), kafkaerr.InvalidProducerEpoch,
		x.init(3), kafkaerr.InvalidProducerEpoch,
		x.init(4), kafkaerr.ProducerFenced,
		x.init(2), kafkaerr.None, // whatever the id has
		x.produce(12, 0, "w"), kafkaerr.None,
		x.end(5, x.ref, true), kafkaerr.None,
	)
	mustEqual(t, e.values("t", kgo.ReadCommitted()), "w")
}

func TestAnAdministratorAbortsAWholeTransactionAndFencesItsProducer(t *testing.T) {
	e := start(t)
	x := e.transactor("x", "t", e.topic("t", 1))
	wantCodes(t,
		x.abortByAdmin(x.ref.ProducerEpoch, false), kafkaerr.InvalidTxnState, // none is open
		x.produce(12, 0, "v"), kafkaerr.None,
		x.abortByAdmin(x.ref.ProducerEpoch, true), kafkaerr.InvalidRequest,
		x.abortByAdmin(x.ref.ProducerEpoch+1, false), kafkaerr.InvalidProducerEpoch,
		x.abortByAdmin(x.ref.ProducerEpoch, false), kafkaerr.None,
		x.produce(12, 1, "the rest"), kafkaerr.InvalidProducerEpoch,
		x.end(5, x.ref, true), kafkaerr.ProducerFenced,
	)
	mustEqual(t, e.values("t", kgo.ReadCommitted()))
	mustEqual(t, e.values("t", kgo.ReadUncommitted()), "v")
}

func TestTransactionTimeoutsAreBounded(t *testing.T) {
	e := start(t)
	r := e.raw()
	for _, c := range []struct {
		ms   int32
		code int16
	}{{0, kafkaerr.InvalidTransactionTimeout}, {-1, kafkaerr.InvalidTransactionTimeout}, {3_600_000, kafkaerr.None}, {3_600_001, kafkaerr.InvalidTransactionTimeout}} {
		req := kmsg.NewPtrInitProducerIDRequest()
		req.Version, req.TransactionalID, req.TransactionTimeoutMillis = 1, kmsg.StringPtr("x"), c.ms
		if got := r.ask(req).(*kmsg.InitProducerIDResponse).ErrorCode; got != c.code {
			t.Errorf("%d ms: code %d, want %d", c.ms, got, c.code)
		}
	}
}

func TestTransactionsAreListedByEachFilter(t *testing.T) {
	e := start(t)
	id := e.topic("t", 1)
	open := e.transactor("orders-1", "t", id)
	wantCodes(t, open.produce(12, 0, "v"), kafkaerr.None)
	empty := e.transactor("orders-2", "t", id)
	e.transactor("other", "t", id)
	pattern := func(p string) func(*kmsg.ListTransactionsRequest) {
		return func(r *kmsg.ListTransactionsRequest) { r.TransactionalIDPattern = &p }
	}
	tests := map[string]struct {
		change func(*kmsg.ListTransactionsRequest)
		want   []string
	}{
		"none":             {func(*kmsg.ListTransactionsRequest) {}, []string{"orders-1", "orders-2", "other"}},
		"state":            {func(r *kmsg.ListTransactionsRequest) { r.StateFilters = []string{"Ongoing"} }, []string{"orders-1"}},
		"unknown state":    {func(r *kmsg.ListTransactionsRequest) { r.StateFilters = []string{"Sleeping"} }, nil},
		"producer":         {func(r *kmsg.ListTransactionsRequest) { r.ProducerIDFilters = []int64{empty.ref.ProducerID} }, []string{"orders-2"}},
		"short duration":   {func(r *kmsg.ListTransactionsRequest) { r.DurationFilterMillis = 3_600_000 }, nil},
		"pattern":          {pattern("orders-.*"), []string{"orders-1", "orders-2"}},
		"no whole match":   {pattern("orders"), nil},
		"an empty pattern": {pattern(""), []string{"orders-1", "orders-2", "other"}},
	}
	for name, test := range tests {
		req := kmsg.NewPtrListTransactionsRequest()
		req.Version, req.DurationFilterMillis = 2, -1
		test.change(req)
		resp := open.ask(req).(*kmsg.ListTransactionsResponse)
		var got []string
		for _, s := range resp.TransactionStates {
			got = append(got, s.TransactionalID)
		}
		t.Run(name, func(t *testing.T) { mustEqual(t, got, test.want...) })
	}
	bad := kmsg.NewPtrListTransactionsRequest()
	for _, pattern := range []string{"(", "a)(b"} {
		bad.Version, bad.TransactionalIDPattern = 2, &pattern
		if c := open.ask(bad).(*kmsg.ListTransactionsResponse).ErrorCode; c != kafkaerr.InvalidRegularExpression {
			t.Errorf("%s: %s", pattern, kafkaerr.Name(c))
		}
	}
}
