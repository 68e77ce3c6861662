package vfs_test

import (
	"path/filepath"
	"testing"

	"millrace/internal/vfs"
)

func BenchmarkPreallocate(b *testing.B) {
	const size = 128 << 20
	name := filepath.Join(b.TempDir(), "a")
	b.SetBytes(size)
	for range b.N {
		f, err := vfs.OS{}.Create(name)
		if err != nil {
			b.Fatal(err)
		}
		if err := f.Preallocate(size); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
