package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	commitTopic      = "commits"
	commitPartitions = 3
	commitID         = "commits"
	// takeOverMax is how long a transactional id may be busy after a crash.
	takeOverMax = 5 * time.Second
)

// commitsRun kills the server before its Nth sync, then before its Nth write, for N from 1 up, from the moment on at
// which a transaction over three partitions is to be committed (cases.md C49); later N hit what follows: sealing, the
// checkpoint and the stop. Whatever the moment: all of its records are there or none, on both wires; all of them if
// the commit was answered, also by the retry after the restart; and the transactional id is free again.
func commitsRun(ctx context.Context, binary string, limit int) error {
	died, whole, none := 0, 0, 0
	for _, calls := range []string{syncCalls, writeCalls} {
		survived := 0
		for n := 1; n <= limit && survived < 2; n++ {
			for _, retry := range []bool{true, false} {
				killed, visible, err := killInCommit(ctx, binary, calls, n, retry)
				if err != nil {
					return fmt.Errorf("killed before call %d of %s: %w", n, calls, err)
				}
				survived++
				if killed {
					died++
					survived = 0
				}
				if visible {
					whole++
				} else {
					none++
				}
			}
		}
	}
	if died == 0 || whole == 0 || none == 0 {
		return fmt.Errorf("%d times killed, %d transactions whole and %d not there: the kills missed the commit", died, whole, none)
	}
	fmt.Printf("commits: died at %d exact points; %d transactions whole, %d not there, none torn\n", died, whole, none)
	return nil
}

// attempt is what the producer of a transaction knows of it.
type attempt struct {
	pid   int64
	epoch int16
	ended bool // its commit was acknowledged
}

// killInCommit is one run. Afterwards the producer retries its commit, or, unless retry, somebody takes its place.
func killInCommit(ctx context.Context, binary, calls string, n int, retry bool) (killed, visible bool, err error) {
	dir, err := os.MkdirTemp("", "millrace-commits")
	if err != nil {
		return false, false, err
	}
	defer os.RemoveAll(dir)
	p := newProcess(binary, dir, filepath.Join(dir, "data"))
	defer func() {
		p.kill()
		if err != nil {
			err = fmt.Errorf("%w\nserver: %s", err, p.tail())
		}
	}()
	if err := p.start(); err != nil {
		return false, false, err
	}
	if err := createCommitTopic(ctx, p); err != nil {
		return false, false, err
	}
	var a attempt
	if err := a.produce(ctx, p); err != nil {
		return false, false, err
	}
	tracer, err := attach(p, calls, "signal=KILL", n, filepath.Join(dir, "trace"))
	if err != nil {
		return false, false, err
	}
	err = a.commit(p)
	if err == nil {
		err = p.seal(p.life, commitTopic)
	}
	if err == nil {
		err = p.stop()
	}
	if err != nil && !p.goneSoon() {
		return false, false, err
	}
	killed = err != nil
	_ = tracer.Wait() // it ends with the process, and as it did

	if err := p.start(); err != nil {
		return killed, false, err
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(p.kafka))
	if err != nil {
		return killed, false, err
	}
	defer cl.Close()
	if retry {
		code, err := a.end(ctx, cl)
		if err != nil {
			return killed, false, err
		}
		if code != nil {
			return killed, false, fmt.Errorf("the commit is refused when it is retried (it was answered before: %v): %w", a.ended, code)
		}
		a.ended = true
	}
	if err := takeOver(ctx, p); err != nil {
		return killed, false, err
	}
	seen, err := commitSeen(ctx, p, cl)
	verbosef("before call %d of %s: killed %v, %+v, retried %v, sees %v\n", n, calls, killed, a, retry, seen)
	switch {
	case err != nil:
		return killed, false, err
	case len(seen) != 0 && !slices.Equal(seen, []int32{0, 1, 2}):
		return killed, false, fmt.Errorf("the transaction is torn: records in partitions %v", seen)
	case a.ended && len(seen) == 0:
		return killed, false, errors.New("the committed transaction is lost")
	}
	return killed, len(seen) != 0, nil
}

func createCommitTopic(ctx context.Context, p *process) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(p.kafka))
	if err != nil {
		return err
	}
	defer cl.Close()
	req := kmsg.NewPtrCreateTopicsRequest()
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = commitTopic, commitPartitions, 1
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, cl)
	if err == nil {
		err = kerr.ErrorForCode(resp.Topics[0].ErrorCode)
	}
	return err
}

// produce writes the transaction's records and leaves it open.
func (a *attempt) produce(ctx context.Context, p *process) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(p.kafka), kgo.TransactionalID(commitID), kgo.DefaultProduceTopic(commitTopic),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0))
	if err != nil {
		return err
	}
	defer cl.Close()
	if err := cl.BeginTransaction(); err != nil {
		return err
	}
	var records []*kgo.Record
	for i := range int32(commitPartitions) {
		records = append(records, &kgo.Record{Partition: i, Value: []byte(`{"x":1}`)})
	}
	if err := cl.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return err
	}
	a.pid, a.epoch, err = cl.ProducerID(ctx)
	return err
}

// commit asks once; its error is that the server went.
func (a *attempt) commit(p *process) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(p.kafka), kgo.RequestRetries(0))
	if err != nil {
		return err
	}
	defer cl.Close()
	code, err := a.end(p.life, cl)
	if err = errors.Join(err, code); err != nil {
		return err
	}
	a.ended = true
	return nil
}

// end commits the transaction and returns the answer's error code.
func (a *attempt) end(ctx context.Context, cl *kgo.Client) (code, err error) {
	req := kmsg.NewPtrEndTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = commitID, a.pid, a.epoch, true
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return nil, err
	}
	return kerr.ErrorForCode(resp.ErrorCode), nil
}

// takeOver begins with the same transactional id.
func takeOver(ctx context.Context, p *process) error {
	ctx, cancel := context.WithTimeout(ctx, takeOverMax)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(p.kafka), kgo.TransactionalID(commitID))
	if err != nil {
		return err
	}
	defer cl.Close()
	if _, _, err := cl.ProducerID(ctx); err != nil {
		return fmt.Errorf("the transactional id is not free: %w", err)
	}
	return nil
}

// commitSeen returns the partitions with a committed record, the same on both wires, and wants nothing to be open.
func commitSeen(ctx context.Context, p *process, cl *kgo.Client) ([]int32, error) {
	db, err := p.db()
	if err != nil {
		return nil, err
	}
	defer db.Close()
	bySQL, err := partitionsOf(ctx, db)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	ends := map[int32]int64{}
	for i := range int32(commitPartitions) {
		stable, err := stableOffset(ctx, cl, i)
		if err != nil {
			return nil, err
		}
		if ends[i], err = listOffset(ctx, cl, commitTopic, i, -1); err != nil {
			return nil, err
		}
		if stable != ends[i] {
			return nil, fmt.Errorf("partition %d: the last stable offset is %d, the end %d", i, stable, ends[i])
		}
	}
	reader, err := kgo.NewClient(kgo.SeedBrokers(p.kafka), kgo.ConsumeTopics(commitTopic), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords())
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	at := map[int32]int64{}
	var byKafka []int32
	for i := int32(0); i < commitPartitions; {
		if at[i] >= ends[i] {
			i++
			continue
		}
		fs := reader.PollFetches(ctx)
		if err := fs.Err0(); err != nil {
			return nil, fmt.Errorf("reading to %v, at %v: %w", ends, at, err)
		}
		fs.EachRecord(func(r *kgo.Record) {
			at[r.Partition] = r.Offset + 1
			if !r.Attrs.IsControl() {
				byKafka = append(byKafka, r.Partition)
			}
		})
	}
	slices.Sort(byKafka)
	if !slices.Equal(byKafka, bySQL) {
		return nil, fmt.Errorf("records in partitions %v by Kafka, %v by SQL", byKafka, bySQL)
	}
	return bySQL, nil
}

func partitionsOf(ctx context.Context, db *sql.DB) (out []int32, err error) {
	rows, err := db.QueryContext(ctx, "SELECT _partition FROM "+commitTopic+" ORDER BY 1")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var i int32
		if err := rows.Scan(&i); err != nil {
			return nil, err
		}
		out = append(out, i)
	}
	return out, rows.Err()
}

// stableOffset is the end of a partition for who reads committed records only.
func stableOffset(ctx context.Context, cl *kgo.Client, partition int32) (int64, error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.IsolationLevel = 1
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = commitTopic
	part := kmsg.NewListOffsetsRequestTopicPartition()
	part.Partition, part.Timestamp = partition, -1
	t.Partitions = append(t.Partitions, part)
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return 0, err
	}
	got := resp.Topics[0].Partitions[0]
	return got.Offset, kerr.ErrorForCode(got.ErrorCode)
}
