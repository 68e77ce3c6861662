package columns

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"millrace/scan"
	"millrace/scan/exec"
	"millrace/store/state"

	"github.com/prometheus/client_golang/prometheus"
)

func counted(t *testing.T, c prometheus.Counter) float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(c)
	all, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return all[0].GetMetric()[0].GetCounter().GetValue()
}

// sealedTopic is a topic of two blocks in a file, of which nothing is in memory.
func sealedTopic(f *fixture, rows int) {
	f.t.Helper()
	tp := state.TopicPartition{Topic: f.create("t", 1, nil)}
	var recs []record
	for i := range 2 * rows {
		recs = append(recs, record{value: fmt.Sprintf(`{"n":%d,"id":"%016x"}`, i*i, uint64(i)*0x9e3779b97f4a7c15), time: 1_700_000_000_000})
	}
	f.produce(tp, nil, 0, recs...)
	s := f.snapshot("t")
	defer s.Release()
	p, err := f.set.Seal(context.Background(), s.Snapshot, s.table, []int32{0}, true, func(context.Context) error { return nil })
	if err != nil || p.Blocks != 2 {
		f.t.Fatalf("sealed %d blocks: %v", p.Blocks, err)
	}
	f.forget()
}

// forget drops the columns in memory.
func (f *fixture) forget() {
	for _, p := range f.set.parts {
		list := p.state.Load().list
		f.set.cache.drop(list)
		for _, b := range list {
			b.private = false
		}
	}
}

func TestColumnsThatWillBeKeptAreReadAheadPastThePageCache(t *testing.T) {
	for _, c := range []struct {
		name   string
		direct bool
		cache  int64
		ahead  bool
	}{
		{"kept", true, 1 << 20, true},
		{"refused", false, 1 << 20, true},
		{"no room", true, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, Options{BlockRows: 64, CacheBytes: c.cache})
			f.fs.Direct(c.direct)
			sealedTopic(f, 64)
			s := f.snapshot("t")
			defer s.Release()
			for range 4 {
				f.rowsAgree(s, rand.New(rand.NewPCG(1, 1)))
				f.forget()
			}
			if got := counted(t, f.set.m.ahead); got > 0 != c.ahead {
				t.Errorf("%v bytes were read ahead", got)
			}
			if counted(t, f.set.m.read) == 0 || counted(t, f.set.m.damaged) > 0 {
				t.Error("not from the file")
			}
		})
	}
}

func TestDamageIsFoundInWhatWasReadAhead(t *testing.T) {
	f := newFixture(t, Options{BlockRows: 64})
	f.fs.Direct(true)
	sealedTopic(f, 64)
	var files []*file
	for _, tf := range f.set.topics {
		files = append(files, tf.files...)
	}
	r := files[0].r
	chunk := r.Blocks[1].Chunks[len(r.Columns)-1]
	w, err := f.fs.OpenReadWrite(r.Path())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteAt([]byte("?"), chunk.At+chunk.Size/2); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s := f.snapshot("t")
	defer s.Release()
	f.opened = 1 // the next one is read ahead
	f.rowsAgree(s, rand.New(rand.NewPCG(1, 1)))
	if !files[0].bad.Load() {
		t.Error("the damage was not found")
	}
}

// A filter has several pieces here.
func TestFiltersAreAskedPieceByPieceUntilTheyAreKept(t *testing.T) {
	const rows = 8192
	f := newFixture(t, Options{BlockRows: rows})
	sealedTopic(f, rows)
	s := f.snapshot("t")
	defer s.Release()
	id := scan.Column{Kind: scan.Expanded, Index: 1}
	if name := id.Name(s.table); name != "id" {
		t.Fatal(name)
	}
	blocks, err := f.set.Source(s.Snapshot).Blocks(context.Background(), s.table, []scan.Column{id}, nil)
	if err != nil || len(blocks) != 2 {
		t.Fatal(len(blocks), err)
	}
	b := blocks[1].(*view)
	key := filterKey(b.key(id))
	for i := range 3 * pieceQuestions {
		x := exec.Const{T: TypeOf(s.table, id), Bytes: fmt.Appendf(nil, "%016x", uint64(rows+i)*0x9e3779b97f4a7c15)}
		b.WillAsk(id, x)
		if !b.MayContain(id, x) {
			t.Fatal("a value is denied")
		}
		if kept := b.b.columns[key]; kept == nil || kept.final != (i > pieceQuestions) {
			t.Fatalf("after %d questions: %+v", i+1, kept)
		}
	}
	denied := 0
	for i := range 100 {
		x := exec.Const{T: TypeOf(s.table, id), Bytes: fmt.Appendf(nil, "no-%d", i)}
		if !blocks[0].MayContain(id, x) {
			denied++
		}
	}
	if denied < 90 {
		t.Errorf("%d of 100 values that are not there were denied", denied)
	}
	// A piece that is damaged is found to be, when it is asked.
	x := b.b.file.Load()
	i := x.f.r.Column(b.key(id))
	chunk := x.f.r.Blocks[0].Chunks[i]
	if len(chunk.BloomPieces) < 2 {
		t.Fatalf("%d pieces", len(chunk.BloomPieces))
	}
	w, err := f.fs.OpenReadWrite(x.f.r.Path())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteAt([]byte("????"), chunk.BloomAt); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	failed, fine := 0, 0
	for i := range 20 {
		may, ok, err := x.f.r.BloomMayContain(0, x.f.r.Column(b.key(id)), fmt.Appendf(nil, "%016x", uint64(i)*0x9e3779b97f4a7c15))
		switch {
		case err != nil:
			failed++
		case may && ok:
			fine++
		default:
			t.Error("a value is denied")
		}
	}
	if failed == 0 || fine == 0 {
		t.Errorf("%d looked at the damaged piece, %d at others", failed, fine)
	}
}
