package vfs

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
)

// randomFile writes a file whose end is not aligned.
func randomFile(t *testing.T, fs FS, name string) (File, []byte) {
	t.Helper()
	content := make([]byte, 1<<20+777)
	for i := range content {
		content[i] = byte(rand.Uint32())
	}
	w, err := fs.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteAt(content, 0); err != nil {
		t.Fatal(err)
	}
	if err := w.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := fs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, content
}

func TestRangesAreReadAheadOrDeclined(t *testing.T) {
	t.Parallel()
	mem := NewMem()
	mem.Direct(true)
	for name, fs := range map[string]FS{"os": OS{}, "mem": mem} {
		t.Run(name, func(t *testing.T) {
			path := "/f"
			if name == "os" {
				path = filepath.Join(t.TempDir(), "f")
			}
			f, content := randomFile(t, fs, path)
			var r Reads
			defer r.Close()
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for range 100 {
						off, n := rand.IntN(len(content)-1), 1+rand.IntN(200_000)
						inside := off+n <= len(content)
						a := r.Start(f, int64(off), n)
						if a == nil && (name == "mem" || r.refused.Load()) {
							t.Error("declined")
						}
						if rand.IntN(4) > 0 {
							got, ok := a.Bytes()
							if ok && !(inside && bytes.Equal(got, content[off:off+n]) && cap(got) >= n+8) {
								t.Errorf("%d bytes at %d are others", n, off)
							}
							if !ok && a != nil && inside {
								t.Errorf("%d bytes at %d were not read", n, off)
							}
						}
						a.Release()
						a.Release()
					}
				})
			}
			wg.Wait()
			for _, c := range []struct{ off, n int }{{-1, 10}, {0, 0}, {0, maxReadBytes + 1}} {
				if r.Start(f, int64(c.off), c.n) != nil {
					t.Errorf("%d bytes at %d were begun", c.n, c.off)
				}
			}
		})
	}
}

func TestRangesThatNobodyTakesMakeRoomForOthers(t *testing.T) {
	t.Parallel()
	f, content := randomFile(t, OS{}, filepath.Join(t.TempDir(), "f"))
	var r Reads
	defer r.Close()
	if r.Start(f, 0, 4096) == nil {
		t.Skip("the file system refuses")
	}
	begun := 0
	for begun < 3*maxReads {
		if r.Start(f, 0, len(content)) != nil {
			begun++
		}
	}
}

func TestWhereTheFileSystemRefusesNothingComesOfReadingAhead(t *testing.T) {
	t.Parallel()
	fs := NewMem()
	f, _ := randomFile(t, fs, "/f")
	var r Reads
	defer r.Close()
	a := r.Start(f, 5000, 5000)
	if _, ok := a.Bytes(); ok {
		t.Error("it was read")
	}
	a.Release()
	// A file that knows nothing of it.
	if r.Start(struct{ File }{f}, 0, 4096) != nil {
		t.Error("it was begun")
	}
}

func TestAfterCloseNothingIsBegun(t *testing.T) {
	t.Parallel()
	f, content := randomFile(t, OS{}, filepath.Join(t.TempDir(), "f"))
	var r Reads
	for range 5 {
		r.Start(f, 0, len(content))
	}
	r.Close()
	if r.Start(f, 0, len(content)) != nil {
		t.Error("it was begun")
	}
	r.Close()
}
