package cases_test

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// setups are what files of testdata name with do.
var setups = map[string]func(*script) error{
	"a transaction of three records that is committed": func(sc *script) error {
		return sc.transaction("three", kgo.TryCommit, `{"v":1}`, `{"v":2}`, `{"v":3}`)
	},
	"a transaction that stays open, and a record without one": func(sc *script) error {
		open, err := sc.producer("open")
		if err != nil {
			return err
		}
		sc.t.Cleanup(open.Close) // aborts it, long after the questions
		if err := open.BeginTransaction(); err != nil {
			return err
		}
		if err := sc.produce(open, `{"v":"o0"}`, `{"v":"o1"}`); err != nil {
			return err
		}
		return sc.produce(sc.cl, `{"v":"o2"}`)
	},
	"two transactions interleaved, an empty one and one that is aborted, and a record without one": func(sc *script) error {
		a, err := sc.producer("a")
		if err != nil {
			return err
		}
		defer a.Close()
		b, err := sc.producer("b")
		if err != nil {
			return err
		}
		defer b.Close()
		ctx := context.Background()
		return first(
			a.BeginTransaction, b.BeginTransaction,
			func() error { return sc.produce(a, `{"v":"A0"}`) },
			func() error { return sc.produce(b, `{"v":"B0"}`) },
			func() error { return sc.produce(a, `{"v":"A1"}`) },
			func() error { return sc.produce(b, `{"v":"B1"}`) },
			func() error { return a.EndTransaction(ctx, kgo.TryAbort) },
			func() error { return b.EndTransaction(ctx, kgo.TryCommit) },
			a.BeginTransaction,
			func() error { return a.EndTransaction(ctx, kgo.TryAbort) },
			a.BeginTransaction,
			func() error { return sc.produce(a, `{"v":"A2"}`) },
			func() error { return a.EndTransaction(ctx, kgo.TryAbort) },
			func() error { return sc.produce(sc.cl, `{"v":"P0"}`) },
		)
	},
	"two thousand numbers": func(sc *script) error {
		for i := range 2000 {
			sc.pending = append(sc.pending, &kgo.Record{Topic: sc.topic, Value: fmt.Appendf(nil, `{"i":%d}`, i)})
		}
		sc.flush()
		return nil
	},
	"an aborted transaction": func(sc *script) error { return sc.transaction("aborted", kgo.TryAbort, `{"v":"X"}`, `{"v":"Y"}`) },
}

func first(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (sc *script) producer(id string) (*kgo.Client, error) {
	return kgo.NewClient(kgo.SeedBrokers(sc.cl.OptValue(kgo.SeedBrokers).([]string)...), kgo.TransactionalID(id), kgo.RecordPartitioner(kgo.ManualPartitioner()))
}

func (sc *script) produce(cl *kgo.Client, values ...string) error {
	var rs []*kgo.Record
	for _, v := range values {
		rs = append(rs, &kgo.Record{Topic: sc.topic, Value: []byte(v)})
	}
	return cl.ProduceSync(context.Background(), rs...).FirstErr()
}

func (sc *script) transaction(id string, end kgo.TransactionEndTry, values ...string) error {
	cl, err := sc.producer(id)
	if err != nil {
		return err
	}
	defer cl.Close()
	return first(cl.BeginTransaction,
		func() error { return sc.produce(cl, values...) },
		func() error { return cl.EndTransaction(context.Background(), end) })
}
