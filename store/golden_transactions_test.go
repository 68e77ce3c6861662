package store

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"millrace/internal/recordbatch"
	"millrace/internal/vfs"
	"millrace/store/state"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// Data directories with transactions, each with what the version that wrote it read from it. They are never written
// anew; a newer format gets its own.
//
//   - transactions-1: segments of format 2, before there was compaction; state and checkpoint of version 2.
//   - transactions-2: segments of format 3, compacted copies among them; state and checkpoint of version 2.
var goldenTransactionDirs = []string{"testdata/transactions-1", "testdata/transactions-2"}

// goldenDump is the file with what was read. It is no part of the data directory.
const goldenDump = "DUMP"

var (
	goldenPlain   = uuid.UUID{0x60, 0x1d, 1}
	goldenCompact = uuid.UUID{0x60, 0x1d, 2}
)

func goldenTransactionOptions(fs vfs.FS) Options {
	o := goldenOptions(fs)
	o.Now = newFakeClock(1_700_000_000_000).now
	return o
}

// goldenKeyed is a batch of one record; a value of "-" is a tombstone.
func goldenKeyed(codec int, ts int64, key, value string) []byte {
	b := recordbatch.Builder{Codec: codec}
	v := []byte(value)
	if value == "-" {
		v = nil
	}
	b.Append(ts, []byte(key), v, []recordbatch.Header{{Key: "h", Value: []byte(key + value)}})
	return b.Build()
}

func goldenProduce(t *testing.T, s *Store, tp state.TopicPartition, raw []byte) {
	t.Helper()
	if a := <-submit(t, s, []state.TopicPartition{tp}, [][]byte{raw}); a.err != nil || a.res.Batches[0].Err != nil {
		t.Fatal(a.err, a.res)
	}
}

// writeTransactions makes a directory: decided and open transactions and tombstones, sealed and not, with a checkpoint in the middle.
func writeTransactions(t *testing.T, into string) {
	mem := vfs.NewMem()
	s, err := Open(context.Background(), goldenTransactionOptions(mem))
	if err != nil {
		t.Fatal(err)
	}
	mustCommit(t, s, state.CreateTopic{ID: goldenPlain, Name: "plain", Partitions: 2, Configs: map[string]string{"retention.ms": "-1"}})
	mustCommit(t, s, state.CreateTopic{ID: goldenCompact, Name: "compact", Partitions: 1, Configs: map[string]string{"cleanup.policy": "compact"}})
	plain := [2]state.TopicPartition{{Topic: goldenPlain}, {Topic: goldenPlain, Partition: 1}}
	compacted := state.TopicPartition{Topic: goldenCompact}
	mustCommit(t, s, state.PutDocument{Kind: "k", Key: "key", Data: []byte("data")})
	mustCommit(t, s, state.CommitOffsets{Group: "g", Offsets: []state.OffsetCommit{{TopicPartition: plain[0], Offset: 7, LeaderEpoch: -1, Metadata: "m", ExpireAt: -1}}})
	a, b, open := newTransactor(t, s, "a"), newTransactor(t, s, "b"), newTransactor(t, s, "open")
	b.bump = true
	n := int64(0)
	for round := range 4 {
		for i := range 6 {
			n++
			goldenProduce(t, s, compacted, goldenKeyed(i%5, 1000+n, fmt.Sprint("k", i%4), []string{fmt.Sprint("v", n), "-"}[i/5]))
			a.produce(plain[i%2], rec{2000 + n, fmt.Sprint("a", n)})
			b.produce(plain[i%2], rec{3000 + n, fmt.Sprint("b", n)})
			b.produce(compacted, rec{4000 + n, fmt.Sprint("aborted or not", n)})
			produce(t, s, plain[i%2], rec{5000 + n, fmt.Sprint("plain ", n)})
		}
		a.end(true)
		b.end(round == 2)
		switch round {
		case 0:
			seal(t, s)
		case 1:
			if err := s.Compact(context.Background(), goldenCompact); err != nil {
				t.Fatal(err)
			}
		case 2:
			open.produce(plain[1], rec{6000, "open, sealed"})
			mustCommit(t, s, state.CommitTransactionOffsets{
				TransactionRef: state.TransactionRef{TransactionalID: open.id, ProducerID: open.pid, ProducerEpoch: open.epo},
				Group:          "g", AddGroup: true, Offsets: []state.OffsetCommit{{TopicPartition: plain[1], Offset: 5, LeaderEpoch: -1, ExpireAt: -1}},
			})
			mustCommit(t, s, state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: plain[0], Before: 3}}})
			seal(t, s)
			if err := s.Checkpoint(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
	open.produce(plain[1], rec{6001, "open, in the log"})
	dump := dumpTransactions(t, s)
	image := mem.KillClone()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	saveGolden(t, image, into)
	if err := os.WriteFile(filepath.Join(into, goldenDump), []byte(dump), 0o644); err != nil {
		t.Fatal(err)
	}
}

// dumpTransactions is all that readers see: snapshots, consumers of committed records, groups, documents.
func dumpTransactions(t *testing.T, s *Store) string {
	var sb strings.Builder
	for _, topic := range []string{"plain", "compact"} {
		k, ok := s.Topics().ByName(topic)
		if !ok {
			t.Fatal(topic)
		}
		for p := range k.Partitions {
			tp := state.TopicPartition{Topic: k.ID, Partition: p}
			sn := s.Snapshot()
			b, err := sn.Bounds(tp)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&sb, "%s-%d start %d stable %d end %d %v\n", topic, p, b.LogStart, b.LastStable, b.End, slices.Sorted(maps.Keys(k.Configs)))
			it, err := sn.Batches(tp, allOf(0, b.End))
			if err != nil {
				t.Fatal(err)
			}
			for it.Next() {
				raw, err := it.Bytes()
				if err != nil {
					t.Fatal(err)
				}
				i := it.Info()
				batch, _, _ := recordbatch.Parse(raw)
				fmt.Fprintf(&sb, "  visible %d-%d lsn %d since %d appended %d producer %d/%d", i.BaseOffset, i.LastOffset, i.LSN, i.VisibleLSN, i.AppendTime, batch.ProducerID, batch.ProducerEpoch)
				var rd recordbatch.Reader
				if err := rd.Reset(&batch); err != nil {
					t.Fatal(err)
				}
				var r recordbatch.Record
				for rd.Next(&r) {
					hs, _ := r.Headers(nil)
					fmt.Fprintf(&sb, " [%d@%d %q=%q %s]", r.Offset, r.Timestamp, r.Key, r.Value, hs)
				}
				sb.WriteByte('\n')
			}
			if it.Err() != nil {
				t.Fatal(it.Err())
			}
			it.Close()
			sn.Release()
			for at := b.LogStart; at < b.LastStable; {
				f, err := s.Fetch(tp, at, 1<<20, true, ReadCommitted)
				if err != nil || f.Bytes == 0 {
					t.Fatal(err)
				}
				from := at
				for _, run := range f.Batches {
					for len(run) > 0 {
						_, at, run = decode(t, run, at)
					}
				}
				fmt.Fprintf(&sb, "  fetched %d-%d aborted %v\n", from, at, f.Aborted)
			}
		}
	}
	offsets, pending := s.CommittedOffsets("g")
	fmt.Fprintf(&sb, "group g: %v pending %v\n", offsets, pending)
	d, _ := s.Document("k", "key")
	fmt.Fprintf(&sb, "document: %q\n", d.Data)
	return sb.String()
}

func TestDirectoriesWithTransactionsAreReadAsTheyWereWritten(t *testing.T) {
	for _, dir := range goldenTransactionDirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			if _, err := os.Stat(dir); err != nil && os.Getenv(goldenEnv) != "" {
				writeTransactions(t, dir)
			}
			want, err := os.ReadFile(filepath.Join(dir, goldenDump))
			if err != nil {
				t.Fatal(err)
			}
			mem := loadGolden(t, dir)
			for range 2 { // the second time as this version left it
				if lines := verifyLines(t, mem); lines != nil {
					t.Fatal(lines)
				}
				s, err := Open(context.Background(), goldenTransactionOptions(mem))
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(string(want), dumpTransactions(t, s)); d != "" {
					t.Fatal(d)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			// What was open goes on: the producer's sequences are known, and its transaction is committed as a whole.
			s, err := Open(context.Background(), goldenTransactionOptions(mem))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			tp := state.TopicPartition{Topic: goldenPlain, Partition: 1}
			before, _ := s.Bounds(tp)
			open := &transactor{t: t, s: s, id: "open", pid: 2, seq: map[state.TopicPartition]int32{tp: 2}}
			open.produce(tp, rec{6002, "open, later"})
			open.end(true)
			if after, _ := s.Bounds(tp); before.LastStable == before.End || after.LastStable != after.End || after.End != before.End+2 {
				t.Fatalf("bounds %+v, then %+v", before, after)
			}
			if offsets, _ := s.CommittedOffsets("g"); offsets[tp].Offset != 5 {
				t.Fatal(offsets)
			}
			sn := s.Snapshot()
			defer sn.Release()
			if got := strings.Join(snapshotValues(t, sn, tp), " "); strings.Count(got, "open") != 3 {
				t.Fatal(got)
			}
			// And the older files compact and merge like new ones.
			if err := s.Compact(context.Background(), goldenCompact); err != nil {
				t.Fatal(err)
			}
			mergeEverything(t, s)
		})
	}
}
