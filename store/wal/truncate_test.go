package wal

import (
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
