package wal

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"millrace/internal/vfs"
	"millrace/store/commitlog"
)

func TestTheLastFileWithADurableHeaderIsNotGivenUp(t *testing.T) {
	fs := vfs.NewMem()
	if err := fs.MkdirAll("/log"); err != nil {
		t.Fatal(err)
	}
	o := Options{FS: fs, Dir: "/log", FileBytes: 32 << 10, FirstFileBytes: 32 << 10}
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	// The first sync of the second file waits until the first one could be given up.
	reached, resume := make(chan struct{}), make(chan struct{})
	second := filepath.Join("/log", fileName(2, walSuffix))
	waited := false
	fs.SetHook(func(e vfs.Event) error {
		if e.Op == vfs.OpSyncData && e.Name == second && !waited {
			waited = true
			close(reached)
			<-resume
		}
		return nil
	})
	results := make(chan error, 10)
	last := commitlog.LSN(0)
	add := func() {
		t.Helper()
		e := commitlog.Entry{Meta: make([]byte, 20<<10)}
		if err := l.Append(last, e, func(_ commitlog.Location, err error) { results <- err }); err != nil {
			t.Fatal(err)
		}
		last++
	}
	add()
	if err := <-results; err != nil {
		t.Fatal(err)
	}
	add() // does not fit into the first file
	<-reached
	if err := l.Truncate(2); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		o.FS = fs.CrashClone(rand.New(rand.NewPCG(seed, 0)))
		again, err := Open(o)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if again.Last() < 1 {
			t.Fatalf("seed %d: the acknowledged entry is gone", seed)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
	close(resume)
	if err := <-results; err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestATornFileDoesNotComeBackUnderItsOldNumber(t *testing.T) {
	fs := vfs.NewMem()
	if err := fs.MkdirAll("/log"); err != nil {
		t.Fatal(err)
	}
	o := Options{FS: fs, Dir: "/log", FileBytes: 32 << 10, FirstFileBytes: 32 << 10}
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	results := make(chan error, 10)
	add := func(l *Log, after commitlog.LSN, fill byte, n int) {
		t.Helper()
		e := commitlog.Entry{Meta: bytes.Repeat([]byte{fill}, n)}
		if err := l.Append(after, e, func(_ commitlog.Location, err error) { results <- err }); err != nil {
			t.Fatal(err)
		}
	}
	add(l, 0, 'a', 8<<10)
	if err := <-results; err != nil {
		t.Fatal(err)
	}
	// Entry 2 in the first file and 3 in the second are written and not synced.
	resume, reached := make(chan struct{}), make(chan struct{}, 1)
	second := filepath.Join("/log", fileName(2, walSuffix))
	fs.SetHook(func(e vfs.Event) error {
		switch {
		case e.Op == vfs.OpSyncData:
			<-resume
		case e.Op == vfs.OpWrite && e.Name == second && e.Bytes > 8<<10:
			select {
			case reached <- struct{}{}:
			default:
			}
		}
		return nil
	})
	add(l, 1, 'b', 8<<10)
	add(l, 2, 'c', 20<<10)
	<-reached
	add(l, 3, 'd', 1<<10) // written after it, so the one before is complete
	met := 0
	for seed := range uint64(400) {
		o.FS = fs.CrashClone(rand.New(rand.NewPCG(seed, 0)))
		// The second crash comes when the torn file is in the pool and has no new number.
		var crashed *vfs.Mem
		free := filepath.Join("/log", fileName(2, freeSuffix))
		clone := o.FS.(*vfs.Mem)
		// A third file that was ready would be used first.
		_ = clone.Remove(filepath.Join("/log", fileName(3, walSuffix)))
		clone.SetHook(func(e vfs.Event) error {
			if e.Op == vfs.OpRename && e.Name == free && crashed == nil {
				crashed = clone.KillClone()
			}
			return nil
		})
		again, err := Open(o)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := again.spares.retry(); err != nil { // until the next file is ready
			t.Fatal(err)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		if crashed == nil {
			continue
		}
		met++
		o.FS = crashed
		if again, err = Open(o); err != nil {
			t.Fatalf("seed %d, second: %v", seed, err)
		}
		n := again.Last()
		for i := range commitlog.LSN(4) {
			add(again, n+i, 'x', 1<<10)
			if err := <-results; err != nil {
				t.Fatal(err)
			}
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		if again, err = Open(o); err != nil {
			t.Fatalf("seed %d, third: %v", seed, err)
		}
		err = again.Read(n+1, func(r commitlog.Replayed) error {
			if r.Meta[0] != 'x' {
				return errors.New("a torn entry came back")
			}
			return nil
		})
		if err != nil || again.Last() != n+4 {
			t.Fatalf("seed %d: last entry %d, want %d, %v", seed, again.Last(), n+4, err)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if met == 0 {
		t.Fatal("no crash image had a torn second file")
	}
	close(resume)
	for range 3 {
		if err := <-results; err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
