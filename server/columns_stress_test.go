package server_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"millrace/internal/testkit"
	"millrace/server"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Sessions ask while records come, in transactions and outside, while blocks are sealed, topics compacted and records deleted,
// and while a cache with room for next to nothing throws columns out that others just use. What a statement says in two
// ways is the same, and nothing of an aborted transaction is ever seen.
func TestStatementsAgreeWithThemselvesWhateverHappensToTheirColumns(t *testing.T) {
	const sessions, rounds = 4, 12
	s := testkit.Server(t, func(o *server.Options) {
		o.Columns.CacheBytes, o.Columns.BlockRows = 32<<10, 256
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	plain := stressClient(t, s)
	for topic, policy := range map[string]string{"deleted": "delete", "compacted": "compact"} {
		req := kmsg.NewPtrCreateTopicsRequest()
		rt := kmsg.NewCreateTopicsRequestTopic()
		rt.Topic, rt.NumPartitions, rt.ReplicationFactor = topic, 2, 1
		rt.Configs = []kmsg.CreateTopicsRequestTopicConfig{{Name: "cleanup.policy", Value: &policy}}
		req.Topics = append(req.Topics, rt)
		if resp, err := req.RequestWith(ctx, plain); err != nil || resp.Topics[0].ErrorCode != 0 {
			t.Fatal(resp, err)
		}
	}
	record := func(r *rand.Rand, n int) *kgo.Record {
		topic := []string{"deleted", "compacted"}[r.IntN(2)]
		return &kgo.Record{
			Topic: topic, Key: fmt.Appendf(nil, "k%d", r.IntN(300)),
			Value: fmt.Appendf(nil, `{"n":%d,"s":"s%d","id":"%016x","f":%d.5}`, n, r.IntN(7), r.Uint64(), r.IntN(100)),
		}
	}
	// Both topics have their columns before anybody asks.
	for _, topic := range []string{"deleted", "compacted"} {
		first := record(rand.New(rand.NewPCG(0, 0)), 0)
		first.Topic = topic
		if err := plain.ProduceSync(ctx, first).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}

	done := make(chan struct{})
	ended := func() bool {
		select {
		case <-done:
			return true
		default:
			return ctx.Err() != nil
		}
	}
	var work, asking sync.WaitGroup
	work.Go(func() {
		for r := rand.New(rand.NewPCG(1, 1)); !ended(); {
			batch := make([]*kgo.Record, 1+r.IntN(100))
			for i := range batch {
				batch[i] = record(r, r.IntN(1000))
			}
			if err := plain.ProduceSync(ctx, batch...).FirstErr(); err != nil {
				t.Error(err)
				return
			}
		}
	})
	work.Go(func() {
		cl := stressClient(t, s, kgo.TransactionalID("stress"))
		for r := rand.New(rand.NewPCG(2, 2)); !ended(); {
			commit := kgo.TransactionEndTry(r.IntN(3) > 0)
			if err := cl.BeginTransaction(); err != nil {
				t.Error(err)
				return
			}
			for range 1 + r.IntN(50) {
				n := r.IntN(1000)
				if !commit {
					n = -1
				}
				cl.Produce(ctx, record(r, n), nil)
			}
			if err := cl.Flush(ctx); err != nil {
				t.Error(err)
				return
			}
			if err := cl.EndTransaction(ctx, commit); err != nil {
				t.Error(err)
				return
			}
		}
	})
	work.Go(func() {
		db := stressSession(t, s)
		for r := rand.New(rand.NewPCG(3, 3)); !ended(); {
			call := []string{"CALL millrace.seal('deleted')", "CALL millrace.seal('compacted')", "CALL millrace.compact('compacted')"}[r.IntN(3)]
			if _, err := db.ExecContext(ctx, call); err != nil {
				t.Error(call, err)
				return
			}
			if err := deleteSome(ctx, plain, db, int32(r.IntN(2))); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for i := range sessions {
		asking.Go(func() {
			db := stressSession(t, s)
			r := rand.New(rand.NewPCG(4, uint64(i)))
			for range rounds {
				for _, topic := range []string{"deleted", "compacted"} {
					if err := askTwice(ctx, db, r, topic); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	asking.Wait()
	close(done)
	work.Wait()
}

func stressClient(t *testing.T, s *server.Server, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append(opts, kgo.SeedBrokers(s.KafkaAddr()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

func stressSession(t *testing.T, s *server.Server) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", "app@tcp("+s.MySQLAddr()+")/kafka")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// deleteSome deletes the older half of a partition's records.
func deleteSome(ctx context.Context, cl *kgo.Client, db *sql.DB, partition int32) error {
	var first, last sql.NullInt64
	if err := db.QueryRowContext(ctx, "SELECT MIN(_offset), MAX(_offset) FROM deleted WHERE _partition = ?", partition).Scan(&first, &last); err != nil || !first.Valid {
		return err
	}
	req := kmsg.NewPtrDeleteRecordsRequest()
	rt := kmsg.NewDeleteRecordsRequestTopic()
	rt.Topic = "deleted"
	rp := kmsg.NewDeleteRecordsRequestTopicPartition()
	rp.Partition, rp.Offset = partition, (first.Int64+last.Int64)/2
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	_, err := req.RequestWith(ctx, cl)
	return err
}

// askTwice has statements say the same in two ways.
func askTwice(ctx context.Context, db *sql.DB, r *rand.Rand, topic string) error {
	where := []string{"TRUE", "n < 500", "s = 's3'", "id >= '8'", "s LIKE 's%' AND f > 50", "_partition = 1", "n IS NOT NULL"}[r.IntN(7)]
	same := []string{
		"SELECT COUNT(*), COUNT(id), SUM(n), MIN(id), MAX(s) FROM %[1]s WHERE %[2]s UNION ALL " +
			"SELECT SUM(c), SUM(i), SUM(x), MIN(lo), MAX(hi) FROM (SELECT s, COUNT(*) c, SUM(1) i, SUM(n) x, MIN(id) lo, MAX(s) hi FROM %[1]s WHERE %[2]s GROUP BY s) g",
		"SELECT COUNT(*), MIN(n), MAX(n), MIN(f), MAX(id) FROM %[1]s WHERE %[2]s UNION ALL " +
			"SELECT COUNT(*), MIN(n), MAX(n), MIN(f), MAX(id) FROM (SELECT n, f, id FROM %[1]s WHERE %[2]s ORDER BY id DESC) g",
		"SELECT COUNT(DISTINCT id), 1, 2, 3, 4 FROM %[1]s WHERE %[2]s UNION ALL " +
			"SELECT COUNT(*), 1, 2, 3, 4 FROM %[1]s WHERE %[2]s",
		"SELECT COUNT(*), 1, 2, 3, MAX(x.id) FROM %[1]s x JOIN %[1]s y ON x.id = y.id AND x._offset = y._offset UNION ALL " +
			"SELECT COUNT(*), 1, 2, 3, MAX(id) FROM %[1]s",
	}
	query := fmt.Sprintf(same[r.IntN(len(same))], topic, where)
	var answers [][5]sql.NullString
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	for rows.Next() {
		var a [5]sql.NullString
		if err := rows.Scan(&a[0], &a[1], &a[2], &a[3], &a[4]); err != nil {
			return err
		}
		answers = append(answers, a)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	if len(answers) != 2 || answers[0] != answers[1] && answers[0][0].String != "0" {
		return fmt.Errorf("%s: %v", query, answers)
	}
	// Rows and their number, and one of them again by its id.
	query = fmt.Sprintf("SELECT 1, n, id FROM %[1]s WHERE %[2]s UNION ALL SELECT 2, COUNT(*), 'all' FROM %[1]s WHERE %[2]s", topic, where)
	if rows, err = db.QueryContext(ctx, query); err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	count, some := int64(0), ""
	for rows.Next() {
		var which, n int64
		var id string
		if err := rows.Scan(&which, &n, &id); err != nil {
			return err
		}
		switch {
		case which == 1:
			if count++; n < 0 {
				return fmt.Errorf("%s: a row of an aborted transaction", query)
			}
			some = id
		case n != count:
			return fmt.Errorf("%s: %d rows, COUNT(*) is %d", query, count, n)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	var n int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+topic+" WHERE id = ?", some).Scan(&n); err != nil || n > 1 {
		return fmt.Errorf("%d rows of id %s: %w", n, some, err)
	}
	return nil
}
