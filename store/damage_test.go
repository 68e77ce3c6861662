package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"millrace/internal/vfs"
	"millrace/store/commitlog"
	"millrace/store/state"

	"github.com/google/go-cmp/cmp"
)

// sealedStore has two topics with two partitions each; everything is sealed.
func sealedStore(t *testing.T) (*Store, *commitlog.Mem, []state.TopicPartition) {
	t.Helper()
	s, log := openMem(t)
	var tps []state.TopicPartition
	for _, name := range []string{"a", "b"} {
		id := createTopic(t, s, name, 2, nil)
		for p := range int32(2) {
			tps = append(tps, state.TopicPartition{Topic: id, Partition: p})
		}
	}
	for i := range 40 {
		for _, tp := range tps {
			produce(t, s, tp, rec{int64(i), fmt.Sprint("value ", i)}, rec{int64(i), "second"})
		}
	}
	seal(t, s)
	return s, log, tps
}

func flip(t testing.TB, fs vfs.FS, name string, at int64) {
	t.Helper()
	f, err := fs.OpenReadWrite(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1 << (at % 8)
	if _, err := f.WriteAt(b[:], at); err != nil {
		t.Fatal(err)
	}
}

// TestNoFlippedByteOfASegmentGoesUnnoticed flips each byte in turn: no read gives
// anything but what was written or an error that says where, and reads that the
// byte does not concern go on.
func TestNoFlippedByteOfASegmentGoesUnnoticed(t *testing.T) {
	s, log, tps := sealedStore(t)
	name := s.segmentPath(1)
	info, err := s.o.FS.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	want := map[state.TopicPartition][]byte{}
	for _, tp := range tps {
		want[tp] = fetchAll(t, s, tp)
	}
	step := int64(7)
	if testing.Short() {
		step = 61
	}
	for at := int64(0); at < info.Size(); at += step {
		flip(t, s.o.FS, name, at)
		again := openOver(t, s.o.FS, log.Reopen())
		failed := 0
		for _, tp := range tps {
			b, err := again.Bounds(tp)
			if err != nil {
				t.Fatal(err)
			}
			var got []byte
			for off := b.LogStart; off < b.End && err == nil; {
				var f FetchResult
				f, err = again.Fetch(tp, off, 1000, true, ReadUncommitted)
				for _, run := range f.Batches {
					got = append(got, run...)
					for len(run) > 0 {
						_, off, run = decode(t, run, off)
					}
				}
			}
			var re *ReadError
			switch {
			case err == nil && !bytes.Equal(got, want[tp]):
				t.Fatalf("byte %d: other bytes were read without an error", at)
			case err != nil && (!errors.As(err, &re) || !errors.Is(err, ErrCorrupt) || re.TopicPartition != tp || re.Name == "" || !strings.Contains(err.Error(), segmentName(1))):
				t.Fatalf("byte %d: %v", at, err)
			case err != nil:
				failed++
				if !bytes.Equal(got, want[tp][:len(got)]) || re.FirstOffset > re.LastOffset {
					t.Fatalf("byte %d: %v", at, err)
				}
			}
		}
		if failed == 0 && at > 64 {
			t.Fatalf("byte %d: flipped and not noticed", at)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		flip(t, s.o.FS, name, at)
	}
}

func TestADamagedBatchConcernsOnlyItsOffsets(t *testing.T) {
	s, _, tps := sealedStore(t)
	f := s.pub.version.segs[0]
	p := f.Find(tps[2])
	blocks, err := f.Blocks(p)
	if err != nil {
		t.Fatal(err)
	}
	batches, _, err := f.Batches(&blocks[0], nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	flip(t, s.o.FS, s.segmentPath(1), batches[20].At+70)
	for _, tp := range tps {
		if tp != tps[2] {
			fetchAll(t, s, tp)
		}
	}
	var re *ReadError
	_, err = s.Fetch(tps[2], 40, 1000, true, ReadUncommitted)
	if !errors.As(err, &re) || re.FirstOffset != 40 || re.LastOffset != 41 || re.Partition != tps[2].Partition || re.Name != "b" || re.FileOffset != batches[20].At {
		t.Fatal(err)
	}
	if r, err := s.Fetch(tps[2], 0, 1<<20, true, ReadUncommitted); err != nil || r.Bytes == 0 {
		t.Fatal("what lies before must be readable:", err)
	}
	if r, err := s.Fetch(tps[2], 42, 1<<20, true, ReadUncommitted); err != nil || r.Bytes == 0 {
		t.Fatal("what lies behind must be readable:", err)
	}
	sn := s.Snapshot()
	defer sn.Release()
	it, err := sn.Batches(tps[2], allOf(0, 80))
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	good, bad := 0, 0
	for it.Next() {
		if _, err := it.Bytes(); err == nil {
			good++
		} else if errors.As(err, &re) && re.FirstOffset == 40 {
			bad++
		} else {
			t.Fatal(err)
		}
	}
	if good != 39 || bad != 1 {
		t.Fatal(good, bad)
	}
}

func TestALostSegmentHidesNothingSilently(t *testing.T) {
	s, log, tps := sealedStore(t)
	for _, tp := range tps {
		produce(t, s, tp, rec{1, "later"})
	}
	seal(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.o.FS.Remove(s.segmentPath(1)); err != nil {
		t.Fatal(err)
	}
	again := openOver(t, s.o.FS, log.Reopen())
	defer again.Close()
	for _, tp := range tps {
		var re *ReadError
		if _, err := again.Fetch(tp, 0, 1000, true, ReadUncommitted); !errors.As(err, &re) || re.FirstOffset != 0 || re.LastOffset != 79 {
			t.Fatal(err)
		}
		if r, err := again.Fetch(tp, 80, 1000, true, ReadUncommitted); err != nil || r.Bytes == 0 {
			t.Fatal("the other segment must be readable:", err)
		}
		produce(t, again, tp, rec{1, "writes go on"})
	}
	seal(t, again)
	if err := again.maintain(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func verifyLines(t *testing.T, fs vfs.FS) []string {
	t.Helper()
	var out bytes.Buffer
	n, err := Verify(context.Background(), fs, "/data", &out)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if out.Len() == 0 {
		lines = nil
	}
	if len(lines) != n {
		t.Fatalf("%d problems, %d lines: %s", n, len(lines), out.String())
	}
	return lines
}

func TestVerifyNamesWhatIsDamagedAndChangesNothing(t *testing.T) {
	fs := vfs.NewMem()
	open := func() *Store {
		t.Helper()
		s, err := Open(context.Background(), testOptions(fs))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	tp := state.TopicPartition{Topic: createTopic(t, s, "orders", 1, nil)}
	for i := range 20 {
		produce(t, s, tp, rec{1, fmt.Sprint(i)})
	}
	if _, err := Verify(context.Background(), fs, "/data", &bytes.Buffer{}); err == nil {
		t.Fatal("an open directory was verified")
	}
	seal(t, s)
	for i := range 20 {
		produce(t, s, tp, rec{1, fmt.Sprint(i)})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if lines := verifyLines(t, fs); lines != nil {
		t.Fatal("a good directory:", lines)
	}
	before := fs.Count(vfs.OpChange)
	seg := filepath.Join("/data", segmentsDir, segmentName(1))
	flip(t, fs, seg, 64+30) // first batch
	lines := verifyLines(t, fs)
	if len(lines) != 1 || !strings.Contains(lines[0], `topic "orders" partition 0 offsets 0-0: segments/000000000001.seg at byte 64`) {
		t.Fatal(lines)
	}
	flip(t, fs, seg, 64+30)
	if changes := fs.Count(vfs.OpChange) - before; changes != 2 {
		t.Fatalf("%d changes besides the test's own 2", changes-2)
	}
	flip(t, fs, seg, 20) // header
	if lines := verifyLines(t, fs); len(lines) == 0 {
		t.Fatal("a damaged header was not found")
	}
	flip(t, fs, seg, 20)
	entries, err := fs.ReadDir("/data/log")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".wal") {
			flip(t, fs, filepath.Join("/data/log", e.Name()), 4096+60)
			break
		}
	}
	if lines := verifyLines(t, fs); len(lines) == 0 {
		t.Fatal("a damaged log frame was not found")
	}
	if _, err := Verify(context.Background(), fs, "/elsewhere", &bytes.Buffer{}); err == nil {
		t.Fatal("a directory that does not exist was verified")
	}
}

func TestADirectoryIsOpenedOnceAndOnlyInAKnownFormat(t *testing.T) {
	fs := vfs.NewMem()
	o := testOptions(fs)
	s, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), o); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Fatal(err)
	}
	id := s.ClusterID()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(context.Background(), o); err != nil || s.ClusterID() != id {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := fs.Create("/data/FORMAT")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("millrace data format 2\n"), 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	before := fs.Count(vfs.OpChange &^ vfs.OpMkdir)
	if _, err := Open(context.Background(), o); err == nil || !strings.Contains(err.Error(), "newer Millrace") {
		t.Fatal(err)
	}
	if n := fs.Count(vfs.OpChange&^vfs.OpMkdir) - before; n != 0 {
		t.Fatalf("a newer directory was touched %d times", n)
	}
}

func TestUnfinishedSegmentsAreRemovedAtTheStart(t *testing.T) {
	s, log, tps := sealedStore(t)
	left := s.segmentPath(99)
	f, err := s.o.FS.Create(left)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	again := openOver(t, s.o.FS, log.Reopen())
	defer again.Close()
	if d := cmp.Diff([]string{segmentName(1)}, segmentNames(t, again)); d != "" {
		t.Fatal(d)
	}
	fetchAll(t, again, tps[0])
}

func TestALostCheckpointStopsTheStartAndCostsNoSegment(t *testing.T) {
	fs := vfs.NewMem()
	if err := fs.MkdirAll("/data"); err != nil {
		t.Fatal(err)
	}
	s, err := Open(context.Background(), testOptions(fs))
	if err != nil {
		t.Fatal(err)
	}
	tp := state.TopicPartition{Topic: createTopic(t, s, "t", 1, nil)}
	for range 30 { // several log files, so that the first ones can be given up
		produce(t, s, tp, rec{1, strings.Repeat("x", 100<<10)})
	}
	seal(t, s)
	if s.log.First() == 1 {
		t.Fatal("the log was not truncated")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := fs.Remove("/data/log/snapshot"); err != nil {
		t.Fatal(err)
	}
	before := segmentNames(t, s)
	if _, err := Open(context.Background(), testOptions(fs)); !errors.Is(err, ErrCorrupt) {
		t.Fatal("opened without its checkpoint:", err)
	}
	if d := cmp.Diff(before, segmentNames(t, s)); d != "" || len(before) == 0 {
		t.Fatal("segments are gone:", d)
	}
}

// TestALostCheckpointCostsNoSegment: the checkpoint lists the segments. Without it
// and the log before it, the store must not take them for unfinished ones.
func TestALostCheckpointCostsNoSegment(t *testing.T) {
	fs := vfs.NewMem()
	o := testOptions(fs)
	o.LogFileBytes = 64 << 10
	open := func() (*Store, error) { return Open(context.Background(), o) }
	s, err := open()
	if err != nil {
		t.Fatal(err)
	}
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	for s.log.First() == 1 {
		for range 20 {
			produce(t, s, tp, rec{1, strings.Repeat("x", 100_000)})
		}
		seal(t, s)
		if err := s.maintain(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	names := segmentNames(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sound := fs
	for what, damage := range map[string]func() error{
		"removed": func() error { return fs.Remove("/data/log/snapshot") },
		"emptied": func() error {
			f, err := fs.Create("/data/log/snapshot")
			if err != nil {
				return err
			}
			return f.Close()
		},
		"removed with the log": func() error {
			files, err := fs.ReadDir("/data/log")
			for _, f := range files {
				err = errors.Join(err, fs.Remove(filepath.Join("/data/log", f.Name())))
			}
			return err
		},
	} {
		fs = sound.KillClone()
		o.FS = fs
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if lines := verifyLines(t, fs); len(lines) == 0 {
			t.Fatalf("%s: verify finds nothing", what)
		}
		if s, err := open(); err == nil {
			t.Fatalf("%s: opened at entry %d", what, s.pubLSN())
		} else if !errors.Is(err, commitlog.ErrCorrupt) && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%s: %v", what, err)
		}
		for _, n := range names {
			if _, err := fs.Stat(filepath.Join("/data", segmentsDir, n)); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
}

func TestVerifyFindsASegmentInAnothersPlace(t *testing.T) {
	fs := vfs.NewMem()
	s, err := Open(context.Background(), testOptions(fs))
	if err != nil {
		t.Fatal(err)
	}
	tp := state.TopicPartition{Topic: createTopic(t, s, "a", 1, nil)}
	for range 2 {
		produce(t, s, tp, rec{1, "v"})
		seal(t, s)
	}
	first, second := s.segmentPath(1), s.segmentPath(2)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := fs.Rename(first, second); err != nil {
		t.Fatal(err)
	}
	lines := verifyLines(t, fs)
	if len(lines) < 2 || !strings.Contains(strings.Join(lines, "\n"), segmentName(2)) {
		t.Fatal(lines)
	}
}
