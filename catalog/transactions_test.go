package catalog

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"millrace/internal/recordbatch"
	"millrace/store/state"

	"github.com/google/go-cmp/cmp"
)

// transactor is a transactional producer.
type transactor struct {
	f   *fixture
	id  string
	pid int64
	ep  int16
	seq map[state.TopicPartition]int32
}

func (f *fixture) transactor(id string) *transactor {
	f.t.Helper()
	r := f.commit(state.InitTransaction{TransactionalID: id, TimeoutMillis: 60_000, ProducerID: -1, ProducerEpoch: -1}).(state.ProducerIDResult)
	if r.Err != nil {
		f.t.Fatal(r.Err)
	}
	return &transactor{f, id, r.ProducerID, r.ProducerEpoch, map[state.TopicPartition]int32{}}
}

func (x *transactor) produce(topic state.Topic, partition int32, value string) {
	x.f.t.Helper()
	var b recordbatch.Builder
	b.Append(1000, nil, []byte(value), nil)
	raw := b.Build()
	raw[22] |= 0x10
	tp := state.TopicPartition{Topic: topic.ID, Partition: partition}
	recordbatch.SetProducer(raw, x.pid, x.ep, x.seq[tp])
	done := make(chan error, 1)
	err := x.f.st.Submit(context.Background(), state.Produce{TransactionalID: x.id, AddPartitions: true, Batches: []state.Batch{{
		TopicPartition: tp, Records: 1, SizeBytes: int32(len(raw)), MinTimestamp: 1000, MaxTimestamp: 1000,
		ProducerID: x.pid, ProducerEpoch: x.ep, FirstSequence: x.seq[tp], Transactional: true,
	}}}, [][]byte{raw}, func(res any, err error) {
		if err == nil {
			err = res.(state.ProduceResult).Batches[0].Err
		}
		done <- err
	})
	if err == nil {
		err = <-done
	}
	if err != nil {
		x.f.t.Fatal(err)
	}
	x.seq[tp]++
}

func (x *transactor) end(commit bool) {
	x.f.t.Helper()
	r := x.f.commit(state.EndTransaction{
		TransactionRef: state.TransactionRef{TransactionalID: x.id, ProducerID: x.pid, ProducerEpoch: x.ep}, Commit: commit,
	}).(state.ProducerIDResult)
	if r.Err != nil {
		x.f.t.Fatal(r.Err)
	}
}

func namesOf(t *Table) []string {
	var out []string
	for _, c := range t.Expanded {
		out = append(out, c.Name+" "+c.Type.String())
	}
	return out
}

func TestAColumnThatCameWithATransactionCanBeNamedFromItsCommitOn(t *testing.T) {
	f := newFixture(t)
	topic := f.create("orders", 2, nil)
	x, y := f.transactor("x"), f.transactor("y")
	f.produce(topic, 0, `{"a":1}`)
	x.produce(topic, 0, `{"early":1}`)
	x.produce(topic, 1, `{"other":1}`)
	y.produce(topic, 0, `{"never":1}`)
	expect := func(want ...string) {
		t.Helper()
		if d := cmp.Diff(want, namesOf(f.bind("orders"))); d != "" {
			t.Fatal(d)
		}
	}
	expect("a BIGINT")
	f.produce(topic, 0, `{"b":1}`)
	y.end(false)
	expect("a BIGINT", "b BIGINT")
	if err := f.st.Seal(context.Background()); err != nil {
		t.Fatal(err)
	}
	x.end(true) // long after everything behind it was read
	expect("a BIGINT", "b BIGINT", "early BIGINT", "other BIGINT")
	f.produce(topic, 0, `{"c":1}`)
	expect("a BIGINT", "b BIGINT", "early BIGINT", "other BIGINT", "c BIGINT")
}

func TestTheSweeperSeesWhatACommitMadeVisible(t *testing.T) {
	f := newFixture(t)
	topic := f.create("orders", 1, nil)
	x := f.transactor("x")
	x.produce(topic, 0, `{"a":1}`)
	f.produce(topic, 0, `{"b":1}`)
	if err := f.c.sweep(context.Background()); err != nil {
		t.Fatal(err)
	}
	x.end(true)
	if err := f.c.sweep(context.Background()); err != nil {
		t.Fatal(err)
	}
	sn := f.st.Snapshot()
	defer sn.Release()
	known, err := f.c.Known(t.Context(), sn, "orders")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"b BIGINT", "a BIGINT"}, namesOf(known)); d != "" {
		t.Fatal(d)
	}
}

// Names and their order come from the order in which records became visible, whoever asked
// in between, and whatever was read from segments.
func TestColumnsDoNotDependOnWhoAskedWhileTransactionsWereOpen(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 7))
		often, once := newFixture(t), newFixture(t)
		var topics [2]state.Topic
		var all [2][]*transactor
		for i, f := range []*fixture{often, once} {
			topics[i] = f.create("t", 2, nil)
			for k := range 3 {
				all[i] = append(all[i], f.transactor(fmt.Sprint("x", k)))
			}
		}
		begun := make([]bool, 3)
		for step := range 60 {
			k, p, kind, commit := r.IntN(3), r.Int32N(2), r.IntN(10), r.IntN(3) > 0
			for i, f := range []*fixture{often, once} {
				switch {
				case kind < 2:
					f.produce(topics[i], p, fmt.Sprintf(`{"c%d":1}`, step))
				case kind < 7 || !begun[k]:
					all[i][k].produce(topics[i], p, fmt.Sprintf(`{"c%d":1}`, step))
				default:
					all[i][k].end(commit)
				}
			}
			begun[k] = kind >= 2 && (kind < 7 || !begun[k]) || kind < 2 && begun[k]
			if r.IntN(4) == 0 {
				often.bind("t")
			}
			if r.IntN(20) == 0 {
				if err := once.st.Seal(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
		}
		if d := cmp.Diff(namesOf(once.bind("t")), namesOf(often.bind("t"))); d != "" {
			t.Fatalf("seed %d (-asked once +asked often):\n%s", seed, d)
		}
	}
}
