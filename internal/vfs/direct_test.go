package vfs

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

func TestReadDirectReadsAnyRangeOrDeclines(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "f")
	content := make([]byte, 1<<20+777) // its end is not aligned
	for i := range content {
		content[i] = byte(rand.Uint32())
	}
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := OS{}.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, c := range []struct{ off, n int }{
		{0, 1}, {0, len(content)}, {4095, 2}, {4096, 4096}, {777, 1 << 19}, {len(content) - 1, 1}, {len(content) - 5000, 5000},
	} {
		for _, skew := range []int{0, 1, 4095} {
			buf := make([]byte, skew+c.n+DirectSlack)[skew:]
			at, ok := ReadDirect(f, buf, int64(c.off), c.n)
			if !ok {
				t.Skip("the file system refuses")
			}
			if !bytes.Equal(buf[at:at+c.n], content[c.off:c.off+c.n]) {
				t.Errorf("%d bytes at %d, memory off by %d: other bytes", c.n, c.off, skew)
			}
		}
	}
	for _, c := range []struct{ off, n int }{{len(content), 1}, {len(content) - 1, 2}, {-1, 1}, {0, 0}} {
		if _, ok := ReadDirect(f, make([]byte, c.n+DirectSlack), int64(c.off), c.n); ok {
			t.Errorf("%d bytes at %d were read", c.n, c.off)
		}
	}
}

func TestReadDirectDoesNotReadAnotherFileOfTheName(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, bytes.Repeat([]byte("a"), 8192), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := OS{}.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.WriteFile(name+".new", bytes.Repeat([]byte("b"), 8192), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		t.Fatal(err)
	}
	if _, ok := ReadDirect(f, make([]byte, 4096+DirectSlack), 0, 4096); ok {
		t.Error("the new file was read")
	}
}
