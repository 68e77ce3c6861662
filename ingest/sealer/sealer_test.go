package sealer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"millrace/catalog"
	"millrace/internal/recordbatch"
	"millrace/internal/vector"
	"millrace/internal/vfs"
	"millrace/scan"
	"millrace/scan/columns"
	"millrace/store"
	"millrace/store/state"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/google/uuid"
	"go.uber.org/goleak"
)

// TestMain wants every goroutine that the tests started to have ended.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a store in memory with a Set and a worker whose passes the test makes.
type bench struct {
	t   *testing.T
	fs  *vfs.Mem
	st  *store.Store
	cat *catalog.Catalog
	set *columns.Set
	s   *Sealer
	now time.Time
}

const blockRows = 64

func open(t *testing.T, fs *vfs.Mem) *bench {
	t.Helper()
	b := &bench{t: t, fs: fs, now: time.Unix(1_700_000_000, 0)}
	quiet := slog.New(slog.DiscardHandler)
	if err := fs.MkdirAll("/data"); err != nil {
		t.Fatal(err)
	}
	var err error
	b.st, err = store.Open(context.Background(), store.Options{Dir: "/data", FS: fs, Logger: quiet, RetentionEvery: time.Hour, CompactEvery: time.Hour, LogFileBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	b.cat = catalog.New(b.st, catalog.Options{Logger: quiet})
	b.set = columns.New(columns.Options{Dir: "/data/columns", FS: fs, BlockRows: blockRows, CacheBytes: 1 << 20, Now: func() time.Time { return b.now }})
	b.s = New(Options{Store: b.st, Catalog: b.cat, Columns: b.set, Logger: quiet, Every: time.Hour, Cold: DefaultCold})
	return b
}

func (b *bench) close() {
	b.t.Helper()
	if err := errors.Join(b.s.Close(), b.set.Close(), b.cat.Close(), b.st.Close()); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) create(name string, partitions int32, configs map[string]string) state.TopicID {
	b.t.Helper()
	id := uuid.NewSHA1(uuid.Nil, []byte(name))
	res, err := b.st.Commit(context.Background(), state.CreateTopic{ID: id, Name: name, Partitions: partitions, Configs: configs})
	if err != nil || res.(state.TopicResult).Err != nil {
		b.t.Fatal(err, res)
	}
	return id
}

func (b *bench) produce(id state.TopicID, partition int32, n int) {
	b.t.Helper()
	var rb recordbatch.Builder
	for i := range n {
		rb.Append(1_700_000_000_000+int64(i), fmt.Appendf(nil, "k%d", i%10), fmt.Appendf(nil, `{"n":%d,"s":"v%d"}`, i, i%7), nil)
	}
	b.send(id, partition, n, rb.Build())
}

func (b *bench) value(id state.TopicID, value string) {
	b.t.Helper()
	var rb recordbatch.Builder
	rb.Append(1_700_000_000_000, nil, []byte(value), nil)
	b.send(id, 0, 1, rb.Build())
}

func (b *bench) send(id state.TopicID, partition int32, n int, raw []byte) {
	b.t.Helper()
	done := make(chan error, 1)
	err := b.st.Submit(context.Background(), state.Produce{Batches: []state.Batch{{
		TopicPartition: state.TopicPartition{Topic: id, Partition: partition}, Records: int32(n), SizeBytes: int32(len(raw)),
		MinTimestamp: 1_700_000_000_000, MaxTimestamp: 1_700_000_000_000 + int64(n) - 1, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
	}}}, [][]byte{raw}, func(res any, err error) {
		if r, ok := res.(state.ProduceResult); ok && err == nil {
			err = r.Batches[0].Err
		}
		done <- err
	})
	if err == nil {
		err = <-done
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// pass makes the worker look, so long after the last time.
func (b *bench) pass(after time.Duration) {
	b.now = b.now.Add(after)
	b.s.pass(context.Background(), b.now)
}

// files lists those of a topic.
func (b *bench) files(topic string) []string {
	b.t.Helper()
	dirs, err := b.fs.ReadDir("/data/columns")
	if err != nil {
		return nil
	}
	var out []string
	for _, d := range dirs {
		if !strings.HasPrefix(d.Name(), topic+".") {
			continue
		}
		all, err := b.fs.ReadDir("/data/columns/" + d.Name())
		if err != nil {
			b.t.Fatal(err)
		}
		for _, f := range all {
			out = append(out, "/data/columns/"+d.Name()+"/"+f.Name())
		}
	}
	return out
}

// cell is a value as arrays show it.
func cell(v *vector.Vector, i int) string {
	switch {
	case v.IsNull(i):
		return array.NullValueStr
	case v.Kind == vector.String:
		return string(v.Text(i))
	case v.Kind == vector.Float:
		return fmt.Sprint(v.Float64[i])
	}
	return fmt.Sprint(v.Int(i))
}

// rows by blocks and by the row path agree; it returns how many there are.
func (b *bench) rows(topic string) int {
	b.t.Helper()
	ctx := context.Background()
	sn := b.st.Snapshot()
	defer sn.Release()
	t, err := b.cat.Bind(ctx, sn, topic)
	if err != nil {
		b.t.Fatal(err)
	}
	cols := []scan.Column{{Kind: scan.Partition}, {Kind: scan.Offset}}
	if len(t.Expanded) > 0 {
		cols = append(cols, scan.Column{Kind: scan.Expanded})
	}
	var want, got []string
	r, err := scan.Open(scan.Request{Source: scan.FromSnapshot(sn), Table: t, Columns: cols})
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Close()
	for {
		rec, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			b.t.Fatal(err)
		}
		for i := range int(rec.NumRows()) {
			s := ""
			for c := range cols {
				s += rec.Column(c).ValueStr(i) + "|"
			}
			want = append(want, s)
		}
		rec.Release()
	}
	blocks, err := b.set.Source(sn).Blocks(ctx, t, cols, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, blk := range blocks {
		vecs, from, to, release, err := blk.Open(ctx, cols)
		if err != nil {
			b.t.Fatal(err)
		}
		for i := from; i < to; i++ {
			s := ""
			for _, v := range vecs {
				s += cell(v, i) + "|"
			}
			got = append(got, s)
		}
		release()
	}
	if !slices.Equal(got, want) {
		b.t.Fatalf("%d rows by blocks, %d by the reader", len(got), len(want))
	}
	return len(want)
}

func TestFullBlocksAreSealedAtOnceWhenTheyFillAFileAndElseAfterAWhile(t *testing.T) {
	b := open(t, vfs.NewMem())
	defer b.close()
	id := b.create("t", 2, nil)
	b.produce(id, 0, blockRows+10)
	b.pass(time.Second)
	b.pass(time.Second)
	if n := len(b.files("t")); n != 0 {
		t.Fatalf("%d files of one block at once", n)
	}
	b.pass(patience)
	if n := len(b.files("t")); n != 1 {
		t.Fatalf("%d files after a while", n)
	}
	b.produce(id, 0, 5*blockRows)
	b.produce(id, 1, 5*blockRows)
	b.pass(time.Second)
	if n := len(b.files("t")); n != 3 { // ten blocks make two files
		t.Fatalf("%d files", n)
	}
	if n := b.rows("t"); n != 11*blockRows+10 {
		t.Fatal(n)
	}
	b.pass(time.Second)
	b.pass(patience)
	if n := len(b.files("t")); n != 3 {
		t.Fatalf("%d files with nothing new", n)
	}
}

func TestSealingByHandLeavesNothingAndARestartReadsIt(t *testing.T) {
	fs := vfs.NewMem()
	b := open(t, fs)
	id := b.create("t", 3, nil)
	for p := range int32(3) {
		b.produce(id, p, 100)
	}
	if err := b.s.Seal(context.Background(), "t"); err != nil {
		t.Fatal(err)
	}
	if err := b.s.Seal(context.Background(), "none"); !errors.Is(err, state.ErrUnknownTopic) {
		t.Fatal(err)
	}
	b.produce(id, 1, 7)
	if n := b.rows("t"); n != 307 {
		t.Fatal(n)
	}
	b.close()
	b = open(t, fs)
	defer b.close()
	if n := b.rows("t"); n != 307 {
		t.Fatal(n)
	}
	if n, _ := b.set.Files(); n != 1 {
		t.Fatalf("%d files are open", n)
	}
}

func TestColdFilesAreCompressedOnce(t *testing.T) {
	fs := vfs.NewMem()
	b := open(t, fs)
	id := b.create("t", 2, nil)
	for p := range int32(2) {
		for i := range 2 * blockRows {
			var rb recordbatch.Builder
			rb.Append(1_700_000_000_000, nil, fmt.Appendf(nil, `{"s":"the row %d of partition %d, which is the one behind row %d and before row %d"}`, i, p, i-1, i+1), nil)
			b.send(id, p, 1, rb.Build())
		}
	}
	b.pass(time.Second)
	b.pass(patience)
	hot := b.files("t")
	if len(hot) != 1 {
		t.Fatal(hot)
	}
	size := func(path string) int64 {
		f, err := fs.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		n, err := f.Size()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	was := size(hot[0])
	b.pass(30 * time.Minute)
	if now := b.files("t"); !slices.Equal(now, hot) {
		t.Fatalf("%v after half an hour, %v before", now, hot)
	}
	b.pass(time.Hour)
	cold := b.files("t")
	if len(cold) != 1 || slices.Equal(cold, hot) || size(cold[0]) > was*2/3 {
		t.Fatalf("%v after an hour, %v before: %d bytes, were %d", cold, hot, size(cold[0]), was)
	}
	if n := b.rows("t"); n != 4*blockRows {
		t.Fatal(n)
	}
	b.pass(time.Hour)
	if now := b.files("t"); !slices.Equal(now, cold) {
		t.Fatalf("%v were written anew: %v", cold, now)
	}
	b.close()
	b = open(t, fs)
	defer b.close()
	if n := b.rows("t"); n != 4*blockRows {
		t.Fatal(n)
	}
	b.pass(time.Hour)
	if now := b.files("t"); !slices.Equal(now, cold) {
		t.Fatalf("%v after a restart, %v before", now, cold)
	}
}

func TestFilesOfDeadRecordsAndTopicsAreRemoved(t *testing.T) {
	fs := vfs.NewMem()
	b := open(t, fs)
	id := b.create("t", 1, nil)
	other := b.create("other", 1, nil)
	b.produce(id, 0, 8*blockRows)
	b.produce(other, 0, 8*blockRows)
	b.pass(time.Second)
	b.produce(id, 0, 8*blockRows)
	b.pass(time.Second)
	if len(b.files("t")) != 2 || len(b.files("other")) != 1 {
		t.Fatal(b.files("t"), b.files("other"))
	}
	commit := func(in state.Intent) {
		t.Helper()
		if _, err := b.st.Commit(context.Background(), in); err != nil {
			t.Fatal(err)
		}
	}
	commit(state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: state.TopicPartition{Topic: id}, Before: 8*blockRows + 5}}})
	b.pass(sweepEvery)
	if n := len(b.files("t")); n != 1 {
		t.Fatalf("%d files, of which one has nothing any more", n)
	}
	if n := b.rows("t"); n != 8*blockRows-5 {
		t.Fatal(n)
	}
	b.close()
	b = open(t, fs)
	defer b.close()
	commit(state.DeleteTopic{ID: other}) // before its files were opened
	b.pass(sweepEvery)
	if left := b.files("other"); len(left) != 0 {
		t.Fatal(left)
	}
}

func TestDamagedFilesAreSetAsideAndMadeAnew(t *testing.T) {
	for _, at := range []float64{0, 0.3, 0.6, 0.97, 0.999} {
		fs := vfs.NewMem()
		b := open(t, fs)
		id := b.create("t", 1, nil)
		b.produce(id, 0, 8*blockRows)
		b.pass(time.Second)
		b.close()
		name := b.files("t")[0]
		f, err := fs.OpenReadWrite(name)
		if err != nil {
			t.Fatal(err)
		}
		size, err := f.Size()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt(make([]byte, 16), int64(at*float64(size-16))); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		b = open(t, fs)
		for range 2 {
			if n := b.rows("t"); n != 8*blockRows {
				t.Fatal(n)
			}
		}
		b.pass(sweepEvery)
		b.pass(patience)
		if n := b.rows("t"); n != 8*blockRows {
			t.Fatal(n)
		}
		b.close()
	}
}

// Whatever call to the disk fails while columns are sealed, and whenever the machine goes down after it, all rows are there,
// and are sealed in the end.
func TestAFaultOrACrashWhileSealingLosesNoRows(t *testing.T) {
	broken := errors.New("broken")
	for n := 1; ; n++ {
		fs := vfs.NewMem()
		b := open(t, fs)
		id := b.create("t", 2, nil)
		b.produce(id, 0, 5*blockRows)
		b.produce(id, 1, 5*blockRows)
		calls := 0
		var crashed *vfs.Mem
		r := rand.New(rand.NewPCG(uint64(n), 1))
		fs.SetHook(func(e vfs.Event) error {
			if !strings.Contains(e.Name, "columns") {
				return nil
			}
			if calls++; calls != n {
				return nil
			}
			return broken
		})
		b.pass(time.Second)
		fs.SetHook(nil)
		crashed = fs.CrashClone(r)
		if got := b.rows("t"); got != 10*blockRows {
			t.Fatal(got)
		}
		b.pass(2 * retryAfter)
		b.pass(patience)
		if got := b.rows("t"); got != 10*blockRows || len(b.files("t")) == 0 {
			t.Fatal(got, b.files("t"))
		}
		b.close()
		c := open(t, crashed)
		for range 2 {
			if got := c.rows("t"); got != 10*blockRows {
				t.Fatal(got)
			}
			c.pass(sweepEvery)
		}
		c.close()
		if calls < n {
			if n < 5 {
				t.Fatalf("only %d calls", calls)
			}
			return
		}
	}
}

func TestSmallBlocksAreJoinedAndWidenedOnesMadeAnew(t *testing.T) {
	b := open(t, vfs.NewMem())
	defer b.close()
	id := b.create("t", 1, nil)
	for range 10 {
		b.produce(id, 0, 6)
		if err := b.s.Seal(context.Background(), "t"); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(b.files("t")); n != 10 {
		t.Fatal(n)
	}
	b.pass(renewEvery)
	b.pass(sweepEvery)
	if n := len(b.files("t")); n != 1 {
		t.Fatalf("%d files", n)
	}
	if n := b.rows("t"); n != 60 {
		t.Fatal(n)
	}
	before := b.files("t")
	b.pass(renewEvery)
	if after := b.files("t"); !slices.Equal(before, after) {
		t.Fatalf("%v became %v for nothing", before, after)
	}
	b.value(id, `{"n":1e30,"s":3}`)
	b.pass(renewEvery)
	b.pass(sweepEvery)
	if after := b.files("t"); len(after) != 1 || slices.Equal(before, after) {
		t.Fatalf("%v: a file with outdated types stays", after)
	}
	if n := b.rows("t"); n != 61 {
		t.Fatal(n)
	}
}

func TestFilesAreMadeAnewAtOnceWhenColumnsAreAltered(t *testing.T) {
	b := open(t, vfs.NewMem())
	defer b.close()
	id := b.create("t", 1, nil)
	other := b.create("other", 1, nil)
	for _, id := range []state.TopicID{id, other} {
		b.produce(id, 0, blockRows)
	}
	for _, name := range []string{"t", "other"} {
		if err := b.s.Seal(context.Background(), name); err != nil {
			t.Fatal(err)
		}
	}
	b.pass(renewEvery)
	before, untouched := b.files("t"), b.files("other")
	topic, _ := b.st.Topics().ByName("t")
	res, err := b.st.Commit(context.Background(), state.SetTopicConfigs{ID: id, ExpectVersion: topic.ConfigVersion, Configs: map[string]string{"millrace.columns": "n VARCHAR(9)"}})
	if err != nil || res.(state.TopicResult).Err != nil {
		t.Fatal(err, res)
	}
	b.pass(time.Second)
	b.pass(sweepEvery)
	if after := b.files("t"); len(after) != 1 || slices.Equal(before, after) {
		t.Errorf("%v stays as it was", after)
	}
	if after := b.files("other"); !slices.Equal(untouched, after) {
		t.Errorf("%v became %v, but another topic was altered", untouched, after)
	}
	if n := b.rows("t"); n != blockRows {
		t.Error(n)
	}
}

func TestFilesThatCouldNotBeMadeAnewAreSoon(t *testing.T) {
	fs := vfs.NewMem()
	b := open(t, fs)
	defer b.close()
	id := b.create("t", 1, nil)
	b.produce(id, 0, blockRows)
	if err := b.s.Seal(context.Background(), "t"); err != nil {
		t.Fatal(err)
	}
	b.pass(renewEvery)
	before := b.files("t")
	topic, _ := b.st.Topics().ByName("t")
	res, err := b.st.Commit(context.Background(), state.SetTopicConfigs{ID: id, ExpectVersion: topic.ConfigVersion, Configs: map[string]string{"millrace.columns": "n VARCHAR(9)"}})
	if err != nil || res.(state.TopicResult).Err != nil {
		t.Fatal(err, res)
	}
	broken := errors.New("broken")
	fs.SetHook(func(e vfs.Event) error {
		if strings.Contains(e.Name, "columns") {
			return broken
		}
		return nil
	})
	b.pass(time.Second)
	fs.SetHook(nil)
	b.pass(time.Second)
	if after := b.files("t"); !slices.Equal(before, after) {
		t.Fatalf("%v became %v though nothing could be written, and at once", before, after)
	}
	b.pass(retryAfter)
	b.pass(sweepEvery)
	if after := b.files("t"); len(after) != 1 || slices.Equal(before, after) {
		t.Errorf("%v stays as it was", after)
	}
	if n := b.rows("t"); n != blockRows {
		t.Error(n)
	}
}

func TestCompactionHasItsColumnsMadeAnew(t *testing.T) {
	b := open(t, vfs.NewMem())
	defer b.close()
	id := b.create("t", 1, map[string]string{"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"})
	b.produce(id, 0, 8*blockRows)
	b.pass(time.Second)
	if err := b.st.Compact(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	rows := b.rows("t")
	if rows >= 8*blockRows {
		t.Fatal(rows)
	}
	b.pass(sweepEvery)
	if n := len(b.files("t")); n != 0 {
		t.Fatalf("%d files of what was compacted", n)
	}
	if err := b.s.Seal(context.Background(), "t"); err != nil {
		t.Fatal(err)
	}
	if n := b.rows("t"); n != rows || len(b.files("t")) != 1 {
		t.Fatal(n, b.files("t"))
	}
}

func TestSealingByHandThatWaitsForAnotherEndsWithItsContext(t *testing.T) {
	b := open(t, vfs.NewMem())
	defer b.close()
	b.produce(b.create("t", 1, nil), 0, 1)
	if err := b.s.enter(context.Background()); err != nil { // another is at work
		t.Fatal(err)
	}
	defer b.s.leave()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := b.s.Seal(ctx, "t"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestTopicsWithoutColumnsOfTheirOwnAreSealedOnceSomebodyAsks(t *testing.T) {
	b := open(t, vfs.NewMem())
	defer b.close()
	id := b.create("plain", 1, nil)
	for range 2 * blockRows {
		b.value(id, "no JSON")
	}
	b.pass(0)
	b.pass(time.Minute)
	b.pass(time.Minute)
	if files := b.files("plain"); len(files) != 0 {
		t.Fatalf("sealed %v, which nobody asked for", files)
	}
	if n := b.rows("plain"); n != 2*blockRows {
		t.Fatalf("%d rows", n)
	}
	b.pass(time.Minute)
	b.pass(time.Minute)
	if files := b.files("plain"); len(files) == 0 {
		t.Fatal("not sealed although it was asked for")
	}
}
