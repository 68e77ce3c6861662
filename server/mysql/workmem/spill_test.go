package workmem

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"millrace/internal/vfs"

	"golang.org/x/sys/unix"
)

func TestSpillFilesLeaveNothingBehind(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spill")
	fsys := vfs.OS{}
	if err := fsys.MkdirAll(dir); err != nil {
		t.Fatal(err)
	}
	old, err := fsys.Create(filepath.Join(dir, "00000007.tmp"))
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := NewSpill(fsys, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Create()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"one ", "two"} {
		if _, err := f.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]byte, 5)
	if _, err := f.ReadAt(got, 2); err != nil || !bytes.Equal(got, []byte("e two")) {
		t.Errorf("%q, %v", got, err)
	}
	entries, err := fsys.ReadDir(dir)
	if err != nil || len(entries) != 0 {
		t.Errorf("%d files, %v", len(entries), err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// fullDisk has room for no file or directory.
type fullDisk struct{ vfs.FS }

func (fullDisk) MkdirAll(string) error { return unix.ENOSPC }

func TestAServerStartsOnAFullDiskAndOnlySpillingFails(t *testing.T) {
	s, err := NewSpill(fullDisk{vfs.NewMem()}, "/spill", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("%v, want no space left", err)
	}
}

// smallDisk says what is free of it.
type smallDisk struct {
	vfs.FS
	free int64
}

func (d *smallDisk) Free(string) (total, free int64, err error) { return 200 << 20, d.free, nil }

func TestSpillFilesLeaveProducersTheirPartOfTheDisk(t *testing.T) {
	disk := &smallDisk{vfs.NewMem(), 100 << 20}
	s, err := NewSpill(disk, "/spill", nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Create()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	part := make([]byte, spillCheckBytes/4)
	if _, err := f.Write(part); err != nil {
		t.Fatal(err)
	}
	disk.free = 20 << 20 // 10 are the producers'
	for range 4 {
		_, err = f.Write(part)
	}
	if !errors.Is(err, errDiskFull) {
		t.Error(err)
	}
}
