package vfs_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"millrace/internal/vfs"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, fs vfs.FS, name, content string) vfs.File {
	t.Helper()
	f, err := fs.Create(name)
	must(t, err)
	_, err = f.WriteAt([]byte(content), 0)
	must(t, err)
	return f
}

func read(t *testing.T, fs vfs.FS, name string) string {
	t.Helper()
	f, err := fs.Open(name)
	must(t, err)
	size, err := f.Size()
	must(t, err)
	b := make([]byte, size)
	n, err := f.ReadAt(b, 0)
	if n < len(b) {
		t.Fatal(err)
	}
	must(t, f.Close())
	return string(b)
}

// TestBothFileSystemsBehaveAlike runs the same steps on the real and the memory one.
func TestBothFileSystemsBehaveAlike(t *testing.T) {
	for name, newFS := range map[string]func(t *testing.T) (vfs.FS, string){
		"OS": func(t *testing.T) (vfs.FS, string) { return vfs.OS{}, t.TempDir() },
		"Mem": func(t *testing.T) (vfs.FS, string) {
			m := vfs.NewMem()
			must(t, m.MkdirAll("/tmp/x"))
			return m, "/tmp/x"
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, step := range conformance {
				t.Run(step.name, func(t *testing.T) {
					fs, dir := newFS(t)
					step.run(t, fs, dir)
				})
			}
		})
	}
}

var conformance = []struct {
	name string
	run  func(t *testing.T, f vfs.FS, dir string)
}{
	{"what is written is read", func(t *testing.T, f vfs.FS, dir string) {
		name := filepath.Join(dir, "a")
		file := create(t, f, name, "hello world")
		_, err := file.WriteAt([]byte("W"), 6)
		must(t, err)
		_, err = file.WriteAt([]byte("far"), 10_000)
		must(t, err)
		b := make([]byte, 10)
		n, err := file.ReadAt(b, 9_998)
		if n != 5 || !errors.Is(err, io.EOF) || string(b[:n]) != "\x00\x00far" {
			t.Fatal(n, err, b)
		}
		if n, err := file.ReadAt(b, 20_000); n != 0 || !errors.Is(err, io.EOF) {
			t.Fatal(n, err)
		}
		must(t, file.Sync())
		must(t, file.SyncData())
		must(t, file.Close())
		if got := read(t, f, name); got[:11] != "hello World" || len(got) != 10_003 {
			t.Fatal(got[:11], len(got))
		}
	}},
	{"vectors are written one after the other", func(t *testing.T, f vfs.FS, dir string) {
		file := create(t, f, filepath.Join(dir, "a"), "0123456789")
		var bufs [][]byte
		var want []byte
		r := rand.New(rand.NewPCG(1, 1))
		for range 2500 {
			b := bytes.Repeat([]byte{byte('a' + r.IntN(26))}, r.IntN(9))
			bufs = append(bufs, b)
			want = append(want, b...)
		}
		n, err := vfs.WriteVecAt(file, bufs, 3)
		must(t, err)
		if n != int64(len(want)) {
			t.Fatal(n)
		}
		n, err = vfs.WriteVecAt(file, [][]byte{nil, {}}, 5)
		if n != 0 || err != nil {
			t.Fatal(n, err)
		}
		must(t, file.Close())
		if got := read(t, f, filepath.Join(dir, "a")); got != "012"+string(want) {
			t.Fatal("other bytes")
		}
	}},
	{"a file opened for reading is not written", func(t *testing.T, f vfs.FS, dir string) {
		name := filepath.Join(dir, "a")
		must(t, create(t, f, name, "x").Close())
		file, err := f.Open(name)
		must(t, err)
		if _, err := file.WriteAt([]byte("y"), 0); err == nil {
			t.Fatal("it was")
		}
		if _, err := vfs.WriteVecAt(file, [][]byte{[]byte("y")}, 0); err == nil {
			t.Fatal("it was")
		}
		must(t, file.Close())
		if _, err := file.ReadAt(make([]byte, 1), 0); !errors.Is(err, fs.ErrClosed) {
			t.Fatal(err)
		}
	}},
	{"what is missing is not opened", func(t *testing.T, f vfs.FS, dir string) {
		name := filepath.Join(dir, "missing")
		_, err := f.Open(name)
		_, err2 := f.OpenReadWrite(name)
		_, err3 := f.Stat(name)
		_, err4 := f.Create(filepath.Join(name, "below"))
		_, err5 := f.ReadDir(name)
		for _, err := range []error{err, err2, err3, err4, err5, f.Remove(name), f.Rename(name, name+"2"), f.SyncDir(name)} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
	}},
	{"create truncates", func(t *testing.T, f vfs.FS, dir string) {
		name := filepath.Join(dir, "a")
		must(t, create(t, f, name, "long content").Close())
		must(t, create(t, f, name, "s").Close())
		if got := read(t, f, name); got != "s" {
			t.Fatal(got)
		}
	}},
	{"truncate cuts and extends with zeroes", func(t *testing.T, f vfs.FS, dir string) {
		name := filepath.Join(dir, "a")
		file := create(t, f, name, "0123456789")
		must(t, file.Truncate(4))
		must(t, file.Truncate(6))
		must(t, file.Close())
		if got := read(t, f, name); got != "0123\x00\x00" {
			t.Fatalf("%q", got)
		}
	}},
	{"preallocate fills with zeroes", func(t *testing.T, f vfs.FS, dir string) {
		name := filepath.Join(dir, "a")
		file := create(t, f, name, "0123456789")
		must(t, file.Preallocate(3<<20+5))
		must(t, file.Sync())
		must(t, file.Close())
		got := read(t, f, name)
		if len(got) != 3<<20+5 || len(bytes.Trim([]byte(got), "\x00")) != 0 {
			t.Fatal(len(got))
		}
	}},
	{"rename replaces and open files stay readable", func(t *testing.T, f vfs.FS, dir string) {
		a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
		must(t, create(t, f, a, "new").Close())
		old := create(t, f, b, "old")
		must(t, f.Rename(a, b))
		must(t, f.SyncDir(dir))
		if got := read(t, f, b); got != "new" {
			t.Fatal(got)
		}
		if _, err := f.Stat(a); !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		buf := make([]byte, 3)
		_, err := old.ReadAt(buf, 0)
		must(t, err)
		if string(buf) != "old" {
			t.Fatal(string(buf))
		}
		must(t, old.Close())
	}},
	{"directories list their entries in order", func(t *testing.T, f vfs.FS, dir string) {
		must(t, f.MkdirAll(filepath.Join(dir, "sub", "deep")))
		must(t, f.MkdirAll(filepath.Join(dir, "sub", "deep")))
		must(t, create(t, f, filepath.Join(dir, "b"), "12").Close())
		must(t, create(t, f, filepath.Join(dir, "a"), "1").Close())
		entries, err := f.ReadDir(dir)
		must(t, err)
		got := ""
		for _, e := range entries {
			info, err := e.Info()
			must(t, err)
			got += e.Name()
			if e.IsDir() {
				got += "/"
			} else {
				got += string(rune('0' + info.Size()))
			}
		}
		if got != "a1b2sub/" {
			t.Fatal(got)
		}
		if err := f.Remove(filepath.Join(dir, "sub")); err == nil {
			t.Fatal("a directory with entries was removed")
		}
		must(t, f.Remove(filepath.Join(dir, "sub", "deep")))
		must(t, f.Remove(filepath.Join(dir, "a")))
		if err := f.MkdirAll(filepath.Join(dir, "b", "c")); err == nil {
			t.Fatal("a directory below a file")
		}
	}},
	{"a lock has one holder", func(t *testing.T, f vfs.FS, dir string) {
		name := filepath.Join(dir, "LOCK")
		l, err := f.Lock(name)
		must(t, err)
		if _, err := f.Lock(name); !errors.Is(err, vfs.ErrLocked) {
			t.Fatal(err)
		}
		must(t, l.Close())
		l, err = f.Lock(name)
		must(t, err)
		must(t, l.Close())
	}},
	{"free space is known", func(t *testing.T, f vfs.FS, dir string) {
		total, avail, err := f.Free(dir)
		must(t, err)
		if total <= 0 || avail <= 0 || avail > total {
			t.Fatal(total, avail)
		}
	}},
	{"reads and writes run beside each other", func(t *testing.T, f vfs.FS, dir string) {
		file := create(t, f, filepath.Join(dir, "a"), "")
		must(t, file.Preallocate(64<<10))
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				b := bytes.Repeat([]byte{byte(i + 1)}, 1000)
				off := int64(i * 10_000)
				for range 50 {
					if _, err := file.WriteAt(b, off); err != nil {
						t.Error(err)
					}
					got := make([]byte, 1000)
					if _, err := file.ReadAt(got, off); err != nil || !bytes.Equal(got, b) {
						t.Error("other bytes", err)
					}
					if err := file.SyncData(); err != nil {
						t.Error(err)
					}
				}
			}()
		}
		wg.Wait()
		must(t, file.Close())
	}},
}

func TestAStreamWritesWhatItWasGivenWhateverThePieces(t *testing.T) {
	for _, total := range []int{0, 1, 4095, 4096, 1<<20 - 1, 1 << 20, 1<<20 + 1, 3<<20 + 777} {
		for _, piece := range []int{1000, 1 << 20, 5 << 20} {
			for name, fs := range map[string]vfs.FS{"os": vfs.OS{}, "mem": vfs.NewMem()} {
				dir := "/d"
				if name == "os" {
					dir = t.TempDir()
				} else if err := fs.MkdirAll(dir); err != nil {
					t.Fatal(err)
				}
				f, err := fs.Create(dir + "/f")
				if err != nil {
					t.Fatal(err)
				}
				want := make([]byte, total)
				for i := range want {
					want[i] = byte(i * 7 >> 3)
				}
				s := vfs.NewStream(f)
				for rest := want; len(rest) > 0; {
					n := min(piece, len(rest))
					if err := s.Write(rest[:n]); err != nil {
						t.Fatal(err)
					}
					rest = rest[n:]
				}
				if s.Len() != int64(total) {
					t.Fatalf("%s: length %d of %d", name, s.Len(), total)
				}
				if err := errors.Join(s.Flush(), f.Sync()); err != nil {
					t.Fatal(err)
				}
				got := make([]byte, total+1)
				if n, _ := f.ReadAt(got, 0); n != total || !bytes.Equal(got[:n], want) {
					t.Fatalf("%s: %d bytes in pieces of %d came back as %d", name, total, piece, n)
				}
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
