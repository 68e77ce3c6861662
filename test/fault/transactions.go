package main

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	pairTopic      = "pairs"
	pairPartitions = 8
	pairWriters    = 4
)

// fate of a transaction as its producer knows it.
type fate uint8

const (
	inDoubt   fate = iota // the answer to its commit did not come, or the producer died
	committed             // the commit was acknowledged
	aborted               // never committed
)

// pairs is what the producers of transactionsRun did.
type pairs struct {
	mu    sync.Mutex
	fates map[int64]fate
	next  int64
}

func (p *pairs) begin() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	return p.next
}

func (p *pairs) end(tx int64, f fate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fates[tx] = f
}

func (p *pairs) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.fates)
}

func (p *pairs) snapshot() map[int64]fate {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.fates)
}

// transactionsRun writes pairs of records, the two of a transaction in two partitions.
// Three of ten transactions are aborted, some producers die in the middle, the server is
// killed now and then. At no time may SQL or a consumer of committed records see one half
// of a pair, or a pair that was aborted; what was acknowledged must be there.
func transactionsRun(ctx context.Context, binary string, random *rand.Rand, count, kills int) error {
	dir, err := os.MkdirTemp("", "millrace-transactions")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := newProcess(binary, dir, filepath.Join(dir, "data"), "--seal-bytes", "4MiB")
	if err := p.start(); err != nil {
		return err
	}
	defer func() { p.kill() }()
	if err := createPairTopic(ctx, p); err != nil {
		return err
	}

	did := &pairs{fates: map[int64]fate{}}
	running, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	failures := make(chan error, pairWriters+1)
	for i := range pairWriters {
		seed := random.Uint64()
		wg.Go(func() { writePairs(running, p, fmt.Sprint("pairs-", i), rand.New(rand.NewPCG(seed, uint64(i))), did) })
	}
	wg.Go(func() {
		if err := watchPairs(running, p); err != nil {
			failures <- err
			stop()
		}
	})

	every := max(count/(kills+1), 1)
	for next := every; did.count() < count && running.Err() == nil; {
		time.Sleep(20 * time.Millisecond)
		if did.count() < next || kills == 0 {
			continue
		}
		next += every
		p.kill()
		if err := p.start(); err != nil {
			stop()
			wg.Wait()
			return err
		}
	}
	stop()
	wg.Wait()
	select {
	case err := <-failures:
		return err
	default:
	}
	if err := checkPairs(ctx, p, did.snapshot()); err != nil {
		return err
	}
	if err := p.stop(); err != nil {
		return err
	}
	if err := p.start(); err != nil {
		return err
	}
	return checkPairs(ctx, p, did.snapshot())
}

func createPairTopic(ctx context.Context, p *process) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(p.kafka))
	if err != nil {
		return err
	}
	defer cl.Close()
	req := kmsg.NewPtrCreateTopicsRequest()
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = pairTopic, pairPartitions, 1
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, cl)
	if err == nil && resp.Topics[0].ErrorCode != 0 {
		err = fmt.Errorf("create %s: error %d", pairTopic, resp.Topics[0].ErrorCode)
	}
	return err
}

// writePairs is one producer after the other with the same transactional id.
func writePairs(ctx context.Context, p *process, id string, random *rand.Rand, did *pairs) {
	for ctx.Err() == nil {
		cl, err := kgo.NewClient(kgo.SeedBrokers(p.kafka), kgo.TransactionalID(id), kgo.DefaultProduceTopic(pairTopic),
			kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0),
			kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }), kgo.RetryTimeout(10*time.Second))
		if err != nil {
			panic(err) // options that are no options
		}
		for ctx.Err() == nil && onePair(cl, random, did) {
		}
		cl.Close()
	}
}

// onePair is one transaction; false when its producer is of no more use.
func onePair(cl *kgo.Client, random *rand.Rand, did *pairs) bool {
	// Not the run's context: a transaction that was begun is brought to its end.
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := cl.BeginTransaction(); err != nil {
		return false
	}
	tx := did.begin()
	one := random.Int32N(pairPartitions)
	other := (one + 1 + random.Int32N(pairPartitions-1)) % pairPartitions
	value := []byte(`{"tx":` + strconv.FormatInt(tx, 10) + `}`)
	abort, die := random.IntN(10) < 3, random.IntN(100) == 0
	if err := cl.ProduceSync(ctx, &kgo.Record{Partition: one, Value: value}, &kgo.Record{Partition: other, Value: value}).FirstErr(); err != nil {
		did.end(tx, aborted) // nobody has asked for its commit
		return false
	}
	if die {
		did.end(tx, aborted)
		return false
	}
	if err := cl.EndTransaction(ctx, kgo.TransactionEndTry(!abort)); err != nil {
		if abort {
			did.end(tx, aborted)
		} else {
			did.end(tx, inDoubt)
		}
		return false
	}
	if abort {
		did.end(tx, aborted)
	} else {
		did.end(tx, committed)
	}
	return true
}

// watchPairs asks for half pairs over and over while others write.
func watchPairs(ctx context.Context, p *process) error {
	db, err := p.db()
	if err != nil {
		return err
	}
	defer db.Close()
	asked := 0
	last := int64(0)
	for ctx.Err() == nil {
		var n, txs, halves sql.NullInt64
		err := db.QueryRowContext(ctx, "SELECT SUM(n), COUNT(*), SUM(n <> 2) FROM (SELECT tx, COUNT(*) AS n FROM "+pairTopic+" GROUP BY tx) AS t").Scan(&n, &txs, &halves)
		if err != nil {
			time.Sleep(10 * time.Millisecond) // killed, or no column yet
			continue
		}
		asked++
		if halves.Int64 != 0 || n.Int64 != 2*txs.Int64 {
			return fmt.Errorf("SQL sees %d records of %d transactions, %d of them torn", n.Int64, txs.Int64, halves.Int64)
		}
		if txs.Int64 < last {
			return fmt.Errorf("SQL saw %d transactions, then %d", last, txs.Int64)
		}
		last = txs.Int64
	}
	verbosef("%d times no half pair among up to %d\n", asked, last)
	return nil
}

// checkPairs reads everything on both wires.
func checkPairs(ctx context.Context, p *process, fates map[int64]fate) error {
	if err := endOpen(ctx, p); err != nil {
		return err
	}
	read := map[int64]int{}
	ids, err := readCommitted(ctx, p)
	if err != nil {
		return err
	}
	for _, tx := range ids {
		read[tx]++
	}
	db, err := p.db()
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT tx FROM "+pairTopic)
	if err != nil {
		return err
	}
	defer rows.Close()
	bySQL := map[int64]int{}
	for rows.Next() {
		var tx int64
		if err := rows.Scan(&tx); err != nil {
			return err
		}
		bySQL[tx]++
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if !maps.Equal(read, bySQL) {
		return fmt.Errorf("%d transactions by Kafka, %d by SQL, or not the same", len(read), len(bySQL))
	}
	count := map[fate]int{}
	for tx, f := range fates {
		count[f]++
		switch n := read[tx]; {
		case n != 0 && n != 2:
			return fmt.Errorf("transaction %d is torn: %d records", tx, n)
		case f == committed && n == 0:
			return fmt.Errorf("committed transaction %d is lost", tx)
		case f == aborted && n != 0:
			return fmt.Errorf("aborted transaction %d is there", tx)
		}
	}
	for tx := range read {
		if _, known := fates[tx]; !known {
			return fmt.Errorf("transaction %d was never begun", tx)
		}
	}
	fmt.Printf("%d transactions: %d committed, %d aborted, %d in doubt; none torn on either wire\n",
		len(fates), count[committed], count[aborted], count[inDoubt])
	return nil
}

// endOpen takes the producers' places, which aborts what they left open.
func endOpen(ctx context.Context, p *process) error {
	for i := range pairWriters {
		cl, err := kgo.NewClient(kgo.SeedBrokers(p.kafka), kgo.TransactionalID(fmt.Sprint("pairs-", i)))
		if err != nil {
			return err
		}
		_, _, err = cl.ProducerID(ctx)
		cl.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// readCommitted reads the topic to its end as a consumer of committed records.
func readCommitted(ctx context.Context, p *process) (ids []int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(p.kafka), kgo.ConsumeTopics(pairTopic), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords())
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	at, ends := map[int32]int64{}, map[int32]int64{}
	for part := range int32(pairPartitions) {
		if ends[part], err = listOffset(ctx, cl, pairTopic, part, -1); err != nil {
			return nil, err
		}
	}
	done := func() bool {
		for part, end := range ends {
			if at[part] < end {
				return false
			}
		}
		return true
	}
	for !done() {
		fs := cl.PollFetches(ctx)
		if err := fs.Err0(); err != nil {
			return nil, fmt.Errorf("reading to %v, at %v: %w", ends, at, err)
		}
		fs.EachRecord(func(r *kgo.Record) {
			at[r.Partition] = max(at[r.Partition], r.Offset+1)
			var tx int64
			if r.Attrs.IsControl() {
				return
			}
			if _, e := fmt.Sscanf(string(r.Value), `{"tx":%d}`, &tx); e != nil && err == nil {
				err = fmt.Errorf("record %q", r.Value)
			}
			ids = append(ids, tx)
		})
	}
	return ids, err
}
