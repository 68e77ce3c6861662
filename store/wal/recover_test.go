package wal_test

import (
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"millrace/internal/vfs"
	"millrace/store/commitlog"
	"millrace/store/commitlog/commitlogtest"
	"millrace/store/wal"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
)

const firstFile = testDir + "/0000000001.wal"

// quiet are options under which no sync point comes by itself.
func quiet(fs vfs.FS) wal.Options {
	o := small(fs)
	o.SyncPointAfter = time.Hour
	return o
}

func mustOpen(t *testing.T, o wal.Options) *wal.Log {
	t.Helper()
	l, err := wal.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustClose(t *testing.T, l commitlog.Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestADamagedEntryIsTornUntilALaterFrameProvesItSynced(t *testing.T) {
	for _, c := range []struct {
		name    string
		entries int
		close   bool // a clean close proves everything
		damage  commitlog.LSN
		last    commitlog.LSN // of the recovered log; 0: corrupt
	}{
		{"the last entry, unproved", 5, false, 5, 4},
		{"the last but one, proved by the last", 5, false, 4, 0},
		{"the first, proved", 5, false, 1, 0},
		{"the last entry, proved by the sync point", 5, true, 5, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs := vfs.NewMem()
			l := mustOpen(t, quiet(fs))
			r := rand.New(rand.NewPCG(1, 1))
			var at commitlog.Location
			for range c.entries {
				loc := appendNext(t, l, commitlog.Entry{Meta: []byte("meta"), Payload: [][]byte{commitlogtest.Batch(r, 300)}})
				if l.Last() == c.damage {
					at = loc
				}
			}
			image := fs.KillClone()
			if c.close {
				mustClose(t, l)
				image = fs.KillClone()
			} else {
				defer mustClose(t, l)
			}
			update(t, image, firstFile, int64(at.Offset)-4, func(b []byte) { clear(b) }, 4) // its meta
			l2, err := wal.Open(quiet(image))
			if c.last == 0 {
				if ce := (*wal.CorruptError)(nil); !errors.As(err, &ce) || !errors.Is(err, commitlog.ErrCorrupt) {
					t.Fatalf("got %v", err)
				} else if ce.File != firstFile || ce.LSN != c.damage || ce.Offset != int64(at.Offset)-4-48 {
					t.Fatalf("%+v", ce)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if l2.Last() != c.last {
				t.Fatalf("Last %d", l2.Last())
			}
			appendNext(t, l2, commitlog.Entry{Meta: []byte("another")})
			mustClose(t, l2)
			l2 = mustOpen(t, quiet(image))
			if l2.Last() != c.last+1 {
				t.Fatalf("Last %d: the torn entry came back", l2.Last())
			}
			mustClose(t, l2)
		})
	}
}

func TestADamagedPayloadInTheUnprovedTailIsTorn(t *testing.T) {
	fs := vfs.NewMem()
	l := mustOpen(t, quiet(fs))
	r := rand.New(rand.NewPCG(1, 1))
	appendNext(t, l, commitlog.Entry{Payload: [][]byte{commitlogtest.Batch(r, 900)}})
	loc := appendNext(t, l, commitlog.Entry{Payload: [][]byte{commitlogtest.Batch(r, 900), commitlogtest.Batch(r, 900)}})
	image := fs.KillClone()
	mustClose(t, l)
	update(t, image, firstFile, int64(loc.Offset)+1500, func(b []byte) { b[0]++ }, 1)
	l = mustOpen(t, quiet(image))
	if l.Last() != 1 {
		t.Fatalf("Last %d", l.Last())
	}
	mustClose(t, l)
}

func TestAnIdleLogRecordsHowFarItIsSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewMem()
		o := small(fs)
		o.SyncPointAfter = 0 // the default
		l := mustOpen(t, o)
		loc := appendNext(t, l, commitlog.Entry{Meta: []byte("meta")})
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		syncs := fs.Count(vfs.OpSyncData)
		time.Sleep(time.Minute)
		synctest.Wait()
		if fs.Count(vfs.OpSyncData) != syncs {
			t.Error("an idle log keeps syncing")
		}
		image := fs.CrashClone(rand.New(rand.NewPCG(1, 1)))
		mustClose(t, l)
		update(t, image, firstFile, int64(loc.Offset)-4, func(b []byte) { clear(b) }, 4)
		if _, err := wal.Open(o2(o, image)); !errors.Is(err, commitlog.ErrCorrupt) {
			t.Errorf("damage to the last entry: %v", err)
		}
	})
}

func o2(o wal.Options, fs vfs.FS) wal.Options {
	o.FS = fs
	return o
}

// A kernel that failed to write pages back keeps serving them. Who restarts on
// top of that must not trust what it reads.
func TestEntriesFoundAfterAFailedSyncAreDurableBeforeTheyAreServed(t *testing.T) {
	for seed := range uint64(30) {
		fs := vfs.NewMem()
		l := mustOpen(t, quiet(fs))
		appendNext(t, l, commitlog.Entry{Meta: []byte("good")})
		fs.FailAll(vfs.OpSyncData|vfs.OpSync|vfs.OpSyncDir, syscall.EIO)
		_, err := commitlogtest.AppendWait(l, 1, commitlog.Entry{Meta: []byte("doubtful")})
		if !errors.Is(err, commitlog.ErrStorage) || !errors.Is(err, commitlog.ErrInDoubt) {
			t.Fatal(err)
		}
		died := fs.KillClone() // without having resumed
		fs.ClearFaults()
		mustClose(t, l)

		l = mustOpen(t, quiet(died))
		last := l.Last()
		for range 5 {
			after := died.CrashClone(rand.New(rand.NewPCG(seed, 1)))
			l2 := mustOpen(t, quiet(after))
			if l2.Last() != last {
				t.Fatalf("seed %d: %d entries were served, %d are left after a power loss", seed, last, l2.Last())
			}
			mustClose(t, l2)
		}
		mustClose(t, l)
	}
}

func TestAFailedSyncIsNotTriedAgainOnTheSameFile(t *testing.T) {
	fs := vfs.NewMem()
	l := mustOpen(t, quiet(fs))
	appendNext(t, l, commitlog.Entry{Meta: []byte("good")})
	fs.FailNth(vfs.OpSyncData, 1, syscall.EIO)
	_, err := commitlogtest.AppendWait(l, 1, commitlog.Entry{Meta: []byte("bad")})
	if !errors.Is(err, commitlog.ErrStorage) || errors.Is(err, commitlog.ErrInDoubt) {
		t.Fatal(err)
	}
	fs.SetHook(func(e vfs.Event) error {
		if e.Name == firstFile && e.Op&(vfs.OpWrite|vfs.OpSync|vfs.OpSyncData) != 0 {
			t.Errorf("%+v after a failure", e)
		}
		return nil
	})
	if err := l.Resume(); err != nil {
		t.Fatal(err)
	}
	loc := appendNext(t, l, commitlog.Entry{Meta: []byte("other")})
	if loc.File == 1 {
		t.Fatal("the log went on in the file that failed")
	}
	var metas []string
	if err := l.Read(1, func(r commitlog.Replayed) error { metas = append(metas, string(r.Meta)); return nil }); err != nil {
		t.Fatal(err)
	}
	if strings.Join(metas, " ") != "good other" {
		t.Fatal(metas)
	}
	mustClose(t, l)
}

func TestAFullDiskLetsReservedEntriesAndSnapshotsThroughAndTheLogGoesOnWhenSpaceReturns(t *testing.T) {
	fs := vfs.NewMem()
	o := small(fs)
	l := mustOpen(t, o)
	r := rand.New(rand.NewPCG(1, 1))
	big := func() commitlog.Entry { return commitlog.Entry{Payload: [][]byte{commitlogtest.Batch(r, 9000)}} }
	appendNext(t, l, big())
	if err := l.SaveSnapshot(func(w io.Writer) error { _, err := w.Write([]byte("first")); return err }); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { _, err := fs.Stat(testDir + "/reserve"); return err == nil })
	fs.SetLimit(fs.Used() + 10_000)
	var err error
	for err == nil {
		_, err = commitlogtest.AppendWait(l, l.Last(), big())
	}
	if !errors.Is(err, commitlog.ErrNoSpace) || !errors.Is(err, commitlog.ErrStorage) || errors.Is(err, commitlog.ErrInDoubt) {
		t.Fatal(err)
	}
	full := l.Last()
	if err := l.Append(full, commitlog.Entry{Reserved: true}, nil); !errors.Is(err, commitlog.ErrStorage) {
		t.Fatal("an append before Resume:", err)
	}
	if err := l.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(full, big(), nil); !errors.Is(err, commitlog.ErrNoSpace) {
		t.Fatal("an ordinary entry on a full disk:", err)
	}
	if err := l.Resume(); !errors.Is(err, commitlog.ErrNoSpace) {
		t.Fatal("there is still no room:", err)
	}
	for range 5 {
		if _, err := commitlogtest.AppendWait(l, l.Last(), commitlog.Entry{Meta: []byte("DeleteTopic"), Reserved: true}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Append(l.Last(), big(), nil); !errors.Is(err, commitlog.ErrNoSpace) {
		t.Fatal(err)
	}
	// A restart on the full disk changes nothing about that.
	mustClose(t, l)
	l = mustOpen(t, o)
	if l.Last() != full+5 {
		t.Fatal(l.Last())
	}
	if _, err := commitlogtest.AppendWait(l, l.Last(), commitlog.Entry{Meta: []byte("x"), Reserved: true}); err != nil {
		t.Fatal(err)
	}
	fs.SetLimit(1 << 40)
	if err := l.Resume(); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := commitlogtest.AppendWait(l, l.Last(), big()); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, func() bool { _, err := fs.Stat(testDir + "/reserve"); return err == nil })

	// A snapshot may use up the reserve.
	fs.SetLimit(fs.Used())
	snapshot := strings.Repeat("s", 20_000)
	if err := l.SaveSnapshot(func(w io.Writer) error { _, err := io.WriteString(w, snapshot); return err }); err != nil {
		t.Fatal(err)
	}
	if err := l.SaveSnapshot(func(w io.Writer) error { _, err := io.WriteString(w, snapshot); return err }); !errors.Is(err, commitlog.ErrNoSpace) {
		t.Fatal(err)
	}
	if ok, err := l.LoadSnapshot(func(r io.Reader) error {
		b, err := io.ReadAll(r)
		if string(b) != snapshot {
			t.Errorf("%d bytes", len(b))
		}
		return err
	}); !ok || err != nil {
		t.Fatal(ok, err)
	}
	mustClose(t, l)
}

// waitFor waits for background work; the test's own time limit ends it.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for !done() {
		time.Sleep(time.Millisecond)
	}
}

func TestAFullDiskIsTriedAgainWithoutBeingAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewMem()
		l := mustOpen(t, small(fs))
		r := rand.New(rand.NewPCG(1, 1))
		big := func() commitlog.Entry { return commitlog.Entry{Payload: [][]byte{commitlogtest.Batch(r, 9000)}} }
		appendNext(t, l, big())
		synctest.Wait()
		fs.SetLimit(0)
		var err error
		for err == nil {
			_, err = commitlogtest.AppendWait(l, l.Last(), big())
		}
		if err := l.Resume(); err != nil {
			t.Fatal(err)
		}
		if err := l.Append(l.Last(), big(), nil); !errors.Is(err, commitlog.ErrNoSpace) {
			t.Fatal(err)
		}
		fs.SetLimit(1 << 40)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if _, err := commitlogtest.AppendWait(l, l.Last(), big()); err != nil {
			t.Fatal(err)
		}
		mustClose(t, l)
	})
}

func TestAnEntryLargerThanAFileGetsAFileOfItsOwn(t *testing.T) {
	fs := vfs.NewMem()
	l := mustOpen(t, small(fs))
	r := rand.New(rand.NewPCG(1, 1))
	for range 3 {
		appendNext(t, l, commitlog.Entry{Payload: [][]byte{commitlogtest.Batch(r, 100)}})
		loc := appendNext(t, l, commitlog.Entry{Payload: [][]byte{commitlogtest.Batch(r, 1<<20)}})
		b := make([]byte, 61+1<<20)
		if err := l.ReadAt(b, loc); err != nil {
			t.Fatal(err)
		}
		if err := wal.CheckBatches(b); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, l)
	l = mustOpen(t, small(fs))
	if l.Last() != 6 {
		t.Fatal(l.Last())
	}
	if err := l.Append(6, commitlog.Entry{Payload: slices.Repeat([][]byte{make([]byte, 1<<20)}, 1025)}, nil); !errors.Is(err, commitlog.ErrTooLarge) {
		t.Fatal(err)
	}
	mustClose(t, l)
}

func TestTruncatedFilesAreRecycledAndThePoolIsBounded(t *testing.T) {
	fs := vfs.NewMem()
	o := small(fs)
	o.PoolFiles = 2
	reg := prometheus.NewRegistry()
	o.Registry = reg
	l := mustOpen(t, o)
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		appendNext(t, l, commitlog.Entry{Payload: [][]byte{commitlogtest.Batch(r, 9000)}})
		if l.Last()%20 == 0 {
			if err := l.Truncate(l.Last() - 5); err != nil {
				t.Fatal(err)
			}
		}
	}
	mustClose(t, l)
	names, err := fs.ReadDir(testDir)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) > 8 {
		t.Fatalf("%d files:\n%s", len(names), fs)
	}
	// A second log with the same registry goes on with the same counters.
	l = mustOpen(t, o)
	appendNext(t, l, commitlog.Entry{})
	mustClose(t, l)
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		values[f.GetName()] = f.GetMetric()[0].GetCounter().GetValue()
	}
	if values["millrace_wal_entries_total"] != 301 || values["millrace_wal_recycled_files_total"] < 10 {
		t.Fatal(values)
	}
}

func TestAFileOfANewerFormatIsRefusedAndLeftAlone(t *testing.T) {
	fs := vfs.NewMem()
	l := mustOpen(t, small(fs))
	appendNext(t, l, commitlog.Entry{Meta: []byte("x")})
	mustClose(t, l)
	for _, at := range []int64{0, 2048} {
		update(t, fs, firstFile, at, func(b []byte) { b[8] = 2; wal.SumHeader(b) }, 64)
	}
	before := fs.Count(vfs.OpChange &^ vfs.OpMkdir)
	_, err := wal.Open(small(fs))
	if ve := (*wal.VersionError)(nil); !errors.As(err, &ve) || ve.Version != 2 {
		t.Fatal(err)
	}
	if fs.Count(vfs.OpChange&^vfs.OpMkdir) != before {
		t.Fatal("something was changed")
	}
}

func TestALogThatLostItsFilesIsNotTakenForANewOne(t *testing.T) {
	fs := vfs.NewMem()
	l := mustOpen(t, small(fs))
	appendNext(t, l, commitlog.Entry{Meta: []byte("x")})
	if err := l.SaveSnapshot(func(w io.Writer) error { _, err := w.Write(binary.BigEndian.AppendUint64(nil, 1)); return err }); err != nil {
		t.Fatal(err)
	}
	mustClose(t, l)
	if err := fs.Remove(firstFile); err != nil {
		t.Fatal(err)
	}
	if _, err := wal.Open(small(fs)); !errors.Is(err, commitlog.ErrCorrupt) {
		t.Fatal(err)
	}
}

func TestNothingIsLeftRunningAfterClose(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	fs := vfs.NewMem()
	for range 3 {
		l := mustOpen(t, small(fs))
		appendNext(t, l, commitlog.Entry{Meta: []byte("x")})
		mustClose(t, l)
	}
	fs.FailAll(vfs.OpSyncData, syscall.EIO)
	if _, err := wal.Open(small(fs)); !errors.Is(err, commitlog.ErrStorage) {
		t.Fatal(err)
	}
}

func TestTheLogOnTheRealDiskConforms(t *testing.T) {
	commitlogtest.Run(t, func(t *testing.T) commitlogtest.Disk { return &osDisk{dir: t.TempDir()} })
}

// osDisk fails writes by a file system that wraps the real one.
type osDisk struct {
	dir string
	bad failing
}

type failing struct {
	vfs.OS
	on bool
}

func (d *osDisk) Open(t *testing.T) commitlog.Log {
	return mustOpen(t, wal.Options{FS: &d.bad, Dir: d.dir, FileBytes: 64 << 10, FirstFileBytes: 32 << 10, ReserveBytes: 32 << 10})
}

func (d *osDisk) Fail(commitlog.Log) { d.bad.on = true }
func (d *osDisk) Heal(commitlog.Log) { d.bad.on = false }

type failingFile struct {
	vfs.File
	fs *failing
}

func (f *failing) OpenReadWrite(name string) (vfs.File, error) {
	file, err := f.OS.OpenReadWrite(name)
	return &failingFile{file, f}, err
}

func (f *failingFile) SyncData() error {
	if f.fs.on {
		return syscall.EIO
	}
	return f.File.SyncData()
}

func TestFilesThatAFenceMadeVoidStayVoidWhenTheyCannotBeRemoved(t *testing.T) {
	fs := vfs.NewMem()
	l := mustOpen(t, quiet(fs))
	r := rand.New(rand.NewPCG(1, 1))
	big := func(meta string) commitlog.Entry {
		return commitlog.Entry{Meta: []byte(meta), Payload: [][]byte{commitlogtest.Batch(r, 12_000)}}
	}
	appendNext(t, l, big("1"))
	// The sync of entry 2, in the first file, fails once entry 3 is in the second.
	const secondFile = testDir + "/0000000002.wal"
	written := make(chan struct{})
	var write, sync sync.Once
	fs.SetHook(func(e vfs.Event) error {
		var err error
		switch {
		case e.Op == vfs.OpWrite && e.Name == secondFile:
			write.Do(func() { close(written) })
		case e.Op == vfs.OpSyncData:
			sync.Do(func() { <-written; err = syscall.EIO })
		case e.Op == vfs.OpRemove:
			err = syscall.EIO
		}
		return err
	})
	c := commitlogtest.NewCollector()
	for lsn := commitlog.LSN(2); lsn <= 4; lsn++ {
		if err := l.Append(lsn-1, big("bad"), c.Done(lsn)); err != nil {
			t.Fatal(err)
		}
	}
	for _, res := range c.Wait(3) {
		if !errors.Is(res.Err, commitlog.ErrStorage) {
			t.Fatal(res)
		}
	}
	if err := l.Resume(); err != nil {
		t.Fatal(err)
	}
	for lsn := 2; lsn <= 30; lsn++ {
		appendNext(t, l, big("good"))
	}
	if _, err := fs.Stat(secondFile); err != nil {
		t.Fatal("the second file could be removed after all")
	}
	mustClose(t, l)
	fs.SetHook(nil)
	l = mustOpen(t, quiet(fs))
	if l.Last() != 30 {
		t.Fatal(l.Last())
	}
	if err := l.Read(2, func(r commitlog.Replayed) error {
		if string(r.Meta) != "good" {
			t.Errorf("entry %d is %q", r.LSN, r.Meta)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	mustClose(t, l)
	if rep, found := problems(t, fs); len(found) != 0 || rep.Entries != 30 {
		t.Fatalf("%+v %v", rep, found)
	}
}

func TestNumbersOfPooledFilesAreNotGivenOutAgain(t *testing.T) {
	fs := vfs.NewMem()
	l := mustOpen(t, quiet(fs))
	appendNext(t, l, commitlog.Entry{Meta: []byte("x")})
	waitFor(t, func() bool { _, err := fs.Stat(testDir + "/0000000002.wal"); return err == nil })
	mustClose(t, l)
	// As a crash leaves it that tore the file with the highest number.
	if err := fs.Rename(testDir+"/0000000002.wal", testDir+"/0000000009.free"); err != nil {
		t.Fatal(err)
	}
	l = mustOpen(t, quiet(fs))
	waitFor(t, func() bool { _, err := fs.Stat(testDir + "/0000000010.wal"); return err == nil })
	mustClose(t, l)
}

func TestAStartWhoseSyncFailedLeavesNothingThatAPowerLossCanBreak(t *testing.T) {
	for seed := range uint64(20) {
		fs := vfs.NewMem()
		l := mustOpen(t, quiet(fs))
		r := rand.New(rand.NewPCG(seed, 1))
		for range 1 + r.IntN(4) {
			appendNext(t, l, commitlog.Entry{Payload: [][]byte{commitlogtest.Batch(r, 400+r.IntN(400))}})
		}
		mustClose(t, l) // everything is proved
		fs.FailNth(vfs.OpSyncData, 1, syscall.EIO)
		if _, err := wal.Open(quiet(fs)); !errors.Is(err, commitlog.ErrStorage) {
			t.Fatal(err)
		}
		l = mustOpen(t, quiet(fs))
		for range 3 {
			appendNext(t, l, commitlog.Entry{Payload: [][]byte{commitlogtest.Batch(r, 1000)}})
		}
		for range 10 {
			l2, err := wal.Open(quiet(fs.CrashClone(r)))
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if l2.Last() != l.Last() {
				t.Fatalf("seed %d: %d of %d entries", seed, l2.Last(), l.Last())
			}
			mustClose(t, l2)
		}
		mustClose(t, l)
	}
}
