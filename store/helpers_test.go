package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"millrace/internal/recordbatch"
	"millrace/internal/vfs"
	"millrace/store/commitlog"
	"millrace/store/state"

	"github.com/google/uuid"
)

// fakeClock is an injected clock that tests move.
type fakeClock struct{ ms atomic.Int64 }

func newFakeClock(ms int64) *fakeClock {
	c := &fakeClock{}
	c.ms.Store(ms)
	return c
}

func (c *fakeClock) now() time.Time { return time.UnixMilli(c.ms.Load()) }

func testOptions(fs vfs.FS) Options {
	return Options{
		Dir:            "/data",
		FS:             fs,
		Logger:         slog.New(slog.DiscardHandler),
		LogFileBytes:   1 << 20,
		TailCacheBytes: 1 << 20,
		RetentionEvery: time.Hour,
		CompactEvery:   time.Hour,
	}
}

// openMem opens a store over an in-memory log and file system.
func openMem(t testing.TB, change ...func(*Options)) (*Store, *commitlog.Mem) {
	t.Helper()
	fs := vfs.NewMem()
	if err := fs.MkdirAll("/data"); err != nil {
		t.Fatal(err)
	}
	log := commitlog.NewMem()
	s := openOver(t, fs, log, change...)
	t.Cleanup(func() { s.Close() })
	return s, log
}

func openOver(t testing.TB, fs vfs.FS, log commitlog.Log, change ...func(*Options)) *Store {
	t.Helper()
	o := testOptions(fs)
	for _, c := range change {
		c(&o)
	}
	s, err := openWith(context.Background(), o, log)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustCommit(t testing.TB, s *Store, in state.Intent) any {
	t.Helper()
	res, err := s.Commit(context.Background(), in)
	if err != nil {
		t.Fatalf("%T: %v", in, err)
	}
	return res
}

func createTopic(t testing.TB, s *Store, name string, partitions int32, configs map[string]string) state.TopicID {
	t.Helper()
	id := uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "%s-%d", name, s.pubLSN()))
	res := mustCommit(t, s, state.CreateTopic{ID: id, Name: name, Partitions: partitions, Configs: configs}).(state.TopicResult)
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	return id
}

// rec is one record of a test batch.
type rec struct {
	ts    int64
	value string
}

func buildBatch(recs ...rec) []byte {
	var b recordbatch.Builder
	for _, r := range recs {
		b.Append(r.ts, nil, []byte(r.value), nil)
	}
	return b.Build()
}

func batchOf(tp state.TopicPartition, raw []byte) state.Batch {
	b, _, err := recordbatch.Parse(raw)
	if err != nil {
		panic(err)
	}
	minTime := int64(-1) // nobody looks into compressed batches
	if b.Codec() == recordbatch.None {
		var rd recordbatch.Reader
		s, err := rd.Verify(&b)
		if err != nil {
			panic(err)
		}
		minTime = s.MinTimestamp
	}
	return state.Batch{
		TopicPartition: tp,
		Records:        b.LastOffsetDelta + 1,
		SizeBytes:      int32(len(raw)),
		MinTimestamp:   minTime,
		MaxTimestamp:   b.MaxTimestamp,
		ProducerID:     b.ProducerID,
		ProducerEpoch:  b.ProducerEpoch,
		FirstSequence:  b.BaseSequence,
	}
}

type answer struct {
	res state.ProduceResult
	err error
}

// submit sends one produce request and returns where its answer will come.
func submit(t testing.TB, s *Store, tps []state.TopicPartition, raws [][]byte) <-chan answer {
	t.Helper()
	in := state.Produce{}
	for i, raw := range raws {
		in.Batches = append(in.Batches, batchOf(tps[i], raw))
	}
	c := make(chan answer, 1)
	err := s.Submit(context.Background(), in, raws, func(res any, err error) {
		a := answer{err: err}
		if err == nil {
			a.res = res.(state.ProduceResult)
		}
		c <- a
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// produce appends one batch and returns its base offset.
func produce(t testing.TB, s *Store, tp state.TopicPartition, recs ...rec) int64 {
	t.Helper()
	a := <-submit(t, s, []state.TopicPartition{tp}, [][]byte{buildBatch(recs...)})
	if a.err != nil {
		t.Fatal(a.err)
	}
	if err := a.res.Batches[0].Err; err != nil {
		t.Fatal(err)
	}
	return a.res.Batches[0].BaseOffset
}

// values reads all records of a partition through Fetch, as "offset:value".
func values(t testing.TB, s *Store, tp state.TopicPartition) []string {
	t.Helper()
	b, err := s.Bounds(tp)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for at := b.LogStart; at < b.End; {
		r, err := s.Fetch(tp, at, 300, true, ReadUncommitted)
		if err != nil {
			t.Fatal(err)
		}
		if r.Bytes == 0 {
			t.Fatalf("empty fetch at %d of %+v", at, b)
		}
		for _, run := range r.Batches {
			for len(run) > 0 {
				var got []string
				got, at, run = decode(t, run, at)
				out = append(out, got...)
			}
		}
	}
	return out
}

// decode returns the records of the first batch of run from offset from on, the
// offset after it, and what follows.
func decode(t testing.TB, run []byte, from int64) (out []string, next int64, rest []byte) {
	t.Helper()
	b, rest, err := recordbatch.Parse(run)
	if err != nil {
		t.Fatal(err)
	}
	if !b.CheckCRC() {
		t.Fatalf("batch at %d: checksum", b.BaseOffset)
	}
	var rd recordbatch.Reader
	if err := rd.Reset(&b); err != nil {
		t.Fatal(err)
	}
	var r recordbatch.Record
	for rd.Next(&r) {
		if r.Offset >= from {
			out = append(out, fmt.Sprintf("%d:%s", r.Offset, r.Value))
		}
	}
	if err := rd.Err(); err != nil {
		t.Fatal(err)
	}
	return out, b.LastOffset() + 1, rest
}

// snapshotValues reads a partition's records through a snapshot.
func snapshotValues(t testing.TB, sn *Snapshot, tp state.TopicPartition) []string {
	t.Helper()
	b, err := sn.Bounds(tp)
	if err != nil {
		t.Fatal(err)
	}
	it, err := sn.Batches(tp, allOf(0, b.End))
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	var out []string
	for it.Next() {
		raw, err := it.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if got := int64(binary.BigEndian.Uint64(raw)); got != it.Info().BaseOffset {
			t.Fatalf("batch at %d says %d", it.Info().BaseOffset, got)
		}
		got, _, _ := decode(t, raw, b.LogStart)
		out = append(out, got...)
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
