package store

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"millrace/internal/vfs"
	"millrace/store/commitlog"
	"millrace/store/state"
	"millrace/store/wal"

	"github.com/google/uuid"
)

// recorder is a log in files that remembers every entry: the oracle.
type recorder struct {
	*wal.Log

	mu      sync.Mutex
	entries []recorded // LSN 1 on
}

type recorded struct {
	meta    []byte
	payload [][]byte
}

func (r *recorder) Append(after commitlog.LSN, e commitlog.Entry, done func(commitlog.Location, error)) error {
	k := recorded{meta: slices.Clone(e.Meta)}
	for _, p := range e.Payload {
		k.payload = append(k.payload, slices.Clone(p))
	}
	r.mu.Lock()
	r.entries = append(r.entries[:after], k)
	r.mu.Unlock()
	return r.Log.Append(after, e, done)
}

func openRecorded(t testing.TB, fs vfs.FS, o Options) (*Store, *recorder) {
	t.Helper()
	log, err := wal.Open(wal.Options{FS: fs, Dir: filepath.Join(o.Dir, logDir), FileBytes: o.LogFileBytes, FirstFileBytes: 64 << 10, ReserveBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{Log: log}
	s, err := openWith(context.Background(), o, r)
	if err != nil {
		t.Fatal(err)
	}
	return s, r
}

// check compares a store with the recorded history: its state is that of some
// prefix that holds at least the first acked entries, and all of its records are there.
func (r *recorder) check(t testing.TB, s *Store, acked commitlog.LSN) {
	t.Helper()
	n := s.pubLSN()
	r.mu.Lock()
	defer r.mu.Unlock()
	if n < acked || int(n) > len(r.entries) {
		t.Fatalf("recovered up to entry %d; %d were acknowledged, %d made", n, acked, len(r.entries))
	}
	want := state.New()
	data := map[state.TopicPartition][]state.AppliedBatch{}
	raws := map[state.TopicPartition][][]byte{}
	oracles := map[state.TopicPartition]*oraclePart{}
	for i, e := range r.entries[:n] {
		if err := want.Apply(e.meta); err != nil {
			t.Fatalf("entry %d: %v", i+1, err)
		}
		batches, err := state.Batches(e.meta, nil)
		if err != nil || len(batches) != len(e.payload) {
			t.Fatalf("entry %d: %d batches, %d payloads, %v", i+1, len(batches), len(e.payload), err)
		}
		for j, b := range batches {
			data[b.TopicPartition] = append(data[b.TopicPartition], b)
			raws[b.TopicPartition] = append(raws[b.TopicPartition], e.payload[j])
			o := oracles[b.TopicPartition]
			if o == nil {
				o = &oraclePart{}
				oracles[b.TopicPartition] = o
			}
			o.add(&b, commitlog.LSN(i+1))
		}
	}
	if want.Hash() != s.pub.state.Hash() {
		t.Fatalf("state at entry %d differs", n)
	}
	for _, topic := range want.Topics() {
		for p := range topic.Partitions {
			tp := state.TopicPartition{Topic: topic.ID, Partition: p}
			b, _ := want.Bounds(tp)
			if got, err := s.Bounds(tp); err != nil || got != b {
				t.Fatalf("%v: bounds %+v (%v), want %+v", tp, got, err, b)
			}
			var whole []byte
			for i := range data[tp] {
				if k := &data[tp][i]; k.BaseOffset+int64(k.Records) > b.LogStart {
					whole = append(whole, raws[tp][i]...)
				}
			}
			if got := fetchAll(t, s, tp); !bytes.Equal(got, whole) {
				t.Fatalf("%v: %d bytes fetched, want %d", tp, len(got), len(whole))
			}
			if o := oracles[tp]; o != nil {
				o.check(t, s, tp, rand.New(rand.NewPCG(uint64(n), uint64(p))))
			}
		}
	}
	checkIdle(t, s)
}

// fetchAll returns all bytes of a partition.
func fetchAll(t testing.TB, s *Store, tp state.TopicPartition) (all []byte) {
	t.Helper()
	b, err := s.Bounds(tp)
	if err != nil {
		t.Fatal(err)
	}
	for at := b.LogStart; at < b.End; {
		f, err := s.Fetch(tp, at, 10_000, true, ReadUncommitted)
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range f.Batches {
			all = append(all, run...)
			for len(run) > 0 {
				_, at, run = decode(t, run, at)
			}
		}
	}
	return all
}

// workload drives a store at random until it made ops submissions.
type workload struct {
	t      testing.TB
	s      *Store
	r      *rand.Rand
	topics []state.TopicID
	made   int

	transactors []*transactor
	wg          sync.WaitGroup
	room        chan struct{}
}

func newWorkload(t testing.TB, s *Store, r *rand.Rand) *workload {
	return &workload{t: t, s: s, r: r, room: make(chan struct{}, 16)}
}

// submit queues an intent; refusals and storage errors are fine, done comes exactly once.
func (w *workload) submit(in state.Intent, payload [][]byte) {
	w.room <- struct{}{}
	w.wg.Add(1)
	err := w.s.Submit(context.Background(), in, payload, func(any, error) {
		<-w.room
		w.wg.Done()
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *workload) step() {
	r := w.r
	w.made++
	switch k := r.IntN(100); {
	case k < 4 || len(w.topics) == 0:
		id := uuid.UUID{byte(w.made), byte(w.made >> 8), byte(r.IntN(256))}
		w.topics = append(w.topics, id)
		w.submit(state.CreateTopic{ID: id, Name: fmt.Sprint("t", w.made), Partitions: 1 + r.Int32N(3)}, nil)
	case k < 5:
		i := r.IntN(len(w.topics))
		w.submit(state.DeleteTopic{ID: w.topics[i]}, nil)
		w.topics = slices.Delete(w.topics, i, i+1)
	case k < 8:
		tp := w.partition()
		if b, err := w.s.Bounds(tp); err == nil {
			before := b.LogStart + r.Int64N(b.End-b.LogStart+1)
			w.submit(state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: tp, Before: before}}}, nil)
		}
	case k < 10:
		w.submit(state.PutDocument{Kind: "test", Key: fmt.Sprint(w.made), Data: []byte("x")}, nil)
	case k < 40:
		w.transact()
	case k < 42:
		w.submit(state.CommitOffsets{Group: "g", Offsets: []state.OffsetCommit{{TopicPartition: w.partition(), Offset: r.Int64N(100), LeaderEpoch: -1, ExpireAt: -1}}}, nil)
	default:
		var in state.Produce
		var payload [][]byte
		for range 1 + r.IntN(4) {
			size := r.IntN(300)
			if r.IntN(20) == 0 {
				size = r.IntN(20_000)
			}
			var recs []rec
			for i := range 1 + r.IntN(3) {
				recs = append(recs, rec{int64(w.made), string(bytes.Repeat([]byte{byte('a' + i)}, size))})
			}
			raw := buildBatch(recs...)
			b := batchOf(w.partition(), raw)
			b.MinTimestamp = int64(w.made)
			in.Batches = append(in.Batches, b)
			payload = append(payload, raw)
		}
		w.submit(in, payload)
	}
}

func (w *workload) partition() state.TopicPartition {
	return state.TopicPartition{Topic: w.topics[w.r.IntN(len(w.topics))], Partition: w.r.Int32N(2)}
}

// housekeep does what the background does, but now.
func (w *workload) housekeep() error {
	ctx := context.Background()
	switch w.r.IntN(4) {
	case 0:
		return w.s.Checkpoint(ctx)
	case 1, 2:
		return w.s.Seal(ctx)
	}
	return w.s.maintain(ctx)
}

func crashOptions(fs vfs.FS) Options {
	o := testOptions(fs)
	o.LogFileBytes = 256 << 10
	o.TailCacheBytes = 20_000
	o.SealBytes = 200 << 10
	return o
}

func TestEveryCrashLeavesAllAcknowledgedRecords(t *testing.T) {
	seeds, clonesPerSeed := 16, 20
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			crashRun(t, uint64(seed), clonesPerSeed)
		})
	}
}

func crashRun(t *testing.T, seed uint64, clones int) {
	type crash struct {
		fs    *vfs.Mem
		acked commitlog.LSN
		at    string
	}
	fs := vfs.NewMem()
	if err := fs.MkdirAll("/data"); err != nil {
		t.Fatal(err)
	}
	s, log := openRecorded(t, fs, crashOptions(fs))
	r := rand.New(rand.NewPCG(seed, 1))
	var mu sync.Mutex // guards crashes and hr
	hr := rand.New(rand.NewPCG(seed, 2))
	var crashes []crash
	fs.SetHook(func(e vfs.Event) error {
		if e.Op&(vfs.OpChange&^vfs.OpWrite) == 0 && (e.Op != vfs.OpWrite || e.Bytes < 4000) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if len(crashes) < clones && hr.IntN(20) == 0 {
			acked := s.pubLSN()
			crashes = append(crashes, crash{fs.CrashClone(hr), acked, fmt.Sprint(e)})
		}
		return nil
	})
	w := newWorkload(t, s, r)
	for w.made < 3000 {
		w.step()
		if w.r.IntN(60) == 0 {
			if err := w.housekeep(); err != nil {
				t.Fatal(err)
			}
		}
		mu.Lock()
		enough := len(crashes) == clones
		mu.Unlock()
		if enough {
			break
		}
	}
	w.wg.Wait()
	fs.SetHook(nil)
	log.check(t, s, s.pubLSN())
	for i, c := range crashes {
		where := fmt.Sprintf("seed %d, crash %d before %s", seed, i, c.at)
		again, last := reopenAndCheck(t, where, c.fs, log, c.acked, r)
		if i%5 == 0 {
			reopenAndCheck(t, where+", recovered and crashed again", again, log, last, r)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	reopenAndCheck(t, "after a clean end", fs, log, commitlog.LSN(len(log.entries)), r)
}

// reopenAndCheck also returns what another crash right after the recovery leaves,
// and the last recovered LSN.
func reopenAndCheck(t *testing.T, where string, fs *vfs.Mem, history *recorder, acked commitlog.LSN, r *rand.Rand) (*vfs.Mem, commitlog.LSN) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Log(where)
		}
	}()
	s, err := Open(context.Background(), crashOptions(fs))
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	history.check(t, s, acked)
	last := s.pubLSN()
	crashed := fs.CrashClone(r)
	// It goes on where the recovered log ends.
	for _, topic := range s.Topics().All() {
		tp := state.TopicPartition{Topic: topic.ID}
		b, _ := s.Bounds(tp)
		if base := produce(t, s, tp, rec{1, "after the crash"}); base != b.End {
			t.Fatalf("%s: %v: offset %d after %+v", where, tp, base, b)
		}
	}
	before := s.pub.state.Hash()
	if err := s.Close(); err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	s, err = Open(context.Background(), crashOptions(fs))
	if err != nil {
		t.Fatalf("%s: second start: %v", where, err)
	}
	if s.pub.state.Hash() != before {
		t.Fatalf("%s: the second start found another state", where)
	}
	if err := s.Close(); err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	return crashed, last
}
