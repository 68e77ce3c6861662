package pushdown_test

import (
	"context"
	"strings"
	"testing"

	"millrace/internal/recordbatch"
	"millrace/store/state"
)

// transactor is a transactional producer. Its bench may be restarted.
type transactor struct {
	b     *bench
	id    string
	pid   int64
	epoch int16
	seq   map[state.TopicPartition]int32
}

func (b *bench) transactor(id string) *transactor {
	b.t.Helper()
	res, err := b.store.Commit(context.Background(), state.InitTransaction{TransactionalID: id, TimeoutMillis: 60_000, ProducerID: -1, ProducerEpoch: -1})
	if err != nil {
		b.t.Fatal(err)
	}
	r := res.(state.ProducerIDResult)
	if r.Err != nil {
		b.t.Fatal(r.Err)
	}
	return &transactor{b, id, r.ProducerID, r.ProducerEpoch, map[state.TopicPartition]int32{}}
}

func (x *transactor) values(id state.TopicID, partition int32, values ...string) {
	x.b.t.Helper()
	var rb recordbatch.Builder
	for _, v := range values {
		rb.Append(1_700_000_000_000, nil, []byte(v), nil)
	}
	x.produce(state.TopicPartition{Topic: id, Partition: partition}, rb.Build(), len(values))
}

func (x *transactor) keyed(tp state.TopicPartition, key, value string) {
	x.b.t.Helper()
	var rb recordbatch.Builder
	rb.Append(1_700_000_000_000, []byte(key), []byte(value), nil)
	x.produce(tp, rb.Build(), 1)
}

// produce sends a batch of the transaction, with its records' time.
func (x *transactor) produce(tp state.TopicPartition, raw []byte, records int) {
	x.b.t.Helper()
	raw[22] |= 0x10
	recordbatch.SetProducer(raw, x.pid, x.epoch, x.seq[tp])
	in := state.Produce{TransactionalID: x.id, AddPartitions: true, Batches: []state.Batch{{
		TopicPartition: tp, Records: int32(records), SizeBytes: int32(len(raw)),
		MinTimestamp: 1_700_000_000_000, MaxTimestamp: 1_700_000_000_000,
		ProducerID: x.pid, ProducerEpoch: x.epoch, FirstSequence: x.seq[tp], Transactional: true,
	}}}
	x.seq[tp] += int32(records)
	done := make(chan error, 1)
	err := x.b.store.Submit(context.Background(), in, [][]byte{raw}, func(result any, err error) {
		if r, ok := result.(state.ProduceResult); ok && err == nil {
			err = r.Batches[0].Err
		}
		done <- err
	})
	if err == nil {
		err = <-done
	}
	if err != nil {
		x.b.t.Fatal(err)
	}
}

func (x *transactor) end(commit bool) {
	x.b.t.Helper()
	res, err := x.b.store.Commit(context.Background(), state.EndTransaction{
		TransactionRef: state.TransactionRef{TransactionalID: x.id, ProducerID: x.pid, ProducerEpoch: x.epoch}, Commit: commit,
	})
	if err != nil {
		x.b.t.Fatal(err)
	}
	if r := res.(state.ProducerIDResult); r.Err != nil {
		x.b.t.Fatal(r.Err)
	}
}

func TestCommittedRecordsAboveTheLastStableOffsetAreVisible(t *testing.T) { // C46
	b := newBench(t)
	id := b.topic("c46", 1, nil)
	x := b.transactor("t1")
	x.values(id, 0, `{"v":0}`, `{"v":1}`)
	b.values(id, 0, `{"v":2}`)
	b.want("SELECT COUNT(*) FROM c46", "1")
	b.want("SELECT _offset,v FROM c46 ORDER BY _offset", "2,2")
	b.want("SELECT MIN(_offset),MAX(_offset),COUNT(v) FROM c46", "2,2,1")
	b.want("SELECT _offset FROM c46 LIMIT 1", "2")
	b.want("SELECT COUNT(*) FROM c46 a JOIN c46 b ON a.v=b.v", "1")
	x.end(true)
	b.want("SELECT COUNT(*) FROM c46", "3")
	b.want("SELECT MIN(_offset),MAX(_offset) FROM c46", "0,2")
	b.want("SELECT (SELECT COUNT(*) FROM c46),(SELECT COUNT(v) FROM c46)", "3,3")
}

func TestMarkersAndAbortedRecordsAreNoRows(t *testing.T) { // C47
	b := newBench(t)
	id := b.topic("c47", 2, nil)
	x, y := b.transactor("x"), b.transactor("y")
	for range 2 {
		x.values(id, 0, `{"p":"a","gone":1}`)
		y.values(id, 0, `{"p":"b"}`)
		y.values(id, 1, `{"p":"c"}`)
	}
	x.end(false) // at 4
	y.end(true)  // at 5, and 2 of partition 1
	x.values(id, 0, `{"p":"a","gone":1}`)
	x.end(false)
	b.values(id, 0, `{"p":"p"}`) // 8
	b.want("SELECT _partition,_offset,p FROM c47 ORDER BY 1,2", "0,1,b", "0,3,b", "0,8,p", "1,0,c", "1,1,c")
	b.want("SELECT _partition,COUNT(*),MIN(_offset),MAX(_offset) FROM c47 GROUP BY _partition", "0,3,1,8", "1,2,0,1")
	b.want("SELECT COUNT(*) FROM c47 WHERE _offset>=2 AND _partition=0", "2")
	b.want("SELECT _partition,_offset FROM c47 ORDER BY _partition, _offset LIMIT 3", "0,1", "0,3", "0,8")
	b.want("SELECT _offset FROM c47 WHERE _partition=0 ORDER BY _offset DESC LIMIT 2", "8", "3")
	b.want("SELECT COUNT(*) FROM c47 WHERE _partition=1 AND _offset=2", "0")
	if _, err := b.query(true, "SELECT gone FROM c47"); err == nil {
		t.Error("a column that only aborted records have can be named")
	}
	if s := b.explain("SELECT COUNT(*) FROM c47"); strings.Contains(s, "counts from partition bounds") {
		t.Errorf("markers would be counted:\n%s", s)
	}
}
