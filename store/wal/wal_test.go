package wal_test

import (
	"syscall"
	"testing"
	"time"

	"millrace/internal/vfs"
	"millrace/store/commitlog"
	"millrace/store/commitlog/commitlogtest"
	"millrace/store/wal"
)

const testDir = "/data/wal"

// small are options under which a few entries fill a file.
func small(fs vfs.FS) wal.Options {
	return wal.Options{
		FS: fs, Dir: testDir, FileBytes: 64 << 10, FirstFileBytes: 32 << 10, ReserveBytes: 32 << 10,
		GatherBytes: 8 << 10, UnsyncedBytes: 32 << 10, SyncPointAfter: time.Millisecond,
	}
}

type walDisk struct {
	fs *vfs.Mem
	o  wal.Options
}

func (d *walDisk) Open(t *testing.T) commitlog.Log {
	t.Helper()
	l, err := wal.Open(d.o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
func (d *walDisk) Fail(commitlog.Log) { d.fs.FailAll(vfs.OpSyncData|vfs.OpWrite, syscall.EIO) }
func (d *walDisk) Heal(commitlog.Log) { d.fs.ClearFaults() }

func TestTheLogInSmallFilesConforms(t *testing.T) {
	commitlogtest.Run(t, func(*testing.T) commitlogtest.Disk {
		fs := vfs.NewMem()
		return &walDisk{fs, small(fs)}
	})
}

func TestTheLogInFilesOfDefaultSizeConforms(t *testing.T) {
	commitlogtest.Run(t, func(*testing.T) commitlogtest.Disk {
		fs := vfs.NewMem()
		return &walDisk{fs, wal.Options{FS: fs, Dir: testDir}}
	})
}
