package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// OS is the operating system's file system. The zero value is ready to use.
// Directories are made with mode 0700 and files with 0600: they hold
// everybody's records.
type OS struct{}

var _ FS = OS{}

const (
	osFileMode = 0o600
	osDirMode  = 0o700
)

// ErrLocked is what Lock returns (wrapped, with the name) when somebody else
// holds the lock.
var ErrLocked = errors.New("locked by another process")

// Create makes or truncates a file.
func (OS) Create(name string) (File, error) {
	return openOS(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}

// Open opens a file for reading.
func (OS) Open(name string) (File, error) { return openOS(name, os.O_RDONLY) }

// OpenReadWrite opens an existing file.
func (OS) OpenReadWrite(name string) (File, error) { return openOS(name, os.O_RDWR) }

// Remove removes a file or an empty directory.
func (OS) Remove(name string) error { return os.Remove(name) }

// Rename replaces newname.
func (OS) Rename(oldname, newname string) error { return os.Rename(oldname, newname) }

// MkdirAll makes dir and its parents and makes each new entry durable, so that a
// data directory does not vanish in a power loss together with what was synced
// inside it.
func (o OS) MkdirAll(dir string) error {
	dir = filepath.Clean(dir)
	if st, err := os.Stat(dir); err == nil {
		if !st.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: unix.ENOTDIR}
		}
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := o.MkdirAll(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, osDirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return o.SyncDir(parent)
}

// ReadDir lists dir in name order.
func (OS) ReadDir(dir string) ([]fs.DirEntry, error) { return os.ReadDir(dir) }

// Stat describes a file.
func (OS) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// SyncDir makes the creations, removals and renames in dir durable.
func (OS) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}

// Lock takes a flock on name, creating it. The kernel drops it when the process
// dies; the file itself stays, since removing it would race with another opener.
func (OS) Lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, osFileMode)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrLocked
		}
		return nil, &fs.PathError{Op: "lock", Path: name, Err: err}
	}
	return f, nil
}

// Free asks the file system that holds dir. avail is what an unprivileged
// process may still use.
func (OS) Free(dir string) (total, avail int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, &fs.PathError{Op: "statfs", Path: dir, Err: err}
	}
	bs := int64(st.Bsize)
	return int64(st.Blocks) * bs, int64(st.Bavail) * bs, nil
}

// zeroes is what Preallocate writes; never written to.
var zeroes [1<<20 + directAlign]byte

// fillStepBytes is how much Preallocate lets become dirty before it pushes it
// to the disk. Larger steps are a little faster, but a sync of another file that
// runs meanwhile waits for the whole step.
const fillStepBytes = 4 << 20

type osFile struct {
	f  *os.File
	fd int

	directOnce sync.Once
	direct     *os.File // for readDirect; nil where it cannot be
}

var (
	_ VectorWriter = (*osFile)(nil)
	_ Pacer        = (*osFile)(nil)
)

func openOS(name string, flag int) (File, error) {
	f, err := os.OpenFile(name, flag, osFileMode)
	if err != nil {
		return nil, err
	}
	return &osFile{f: f, fd: int(f.Fd())}, nil
}

func (f *osFile) ReadAt(p []byte, off int64) (int, error)  { return f.f.ReadAt(p, off) }
func (f *osFile) WriteAt(p []byte, off int64) (int, error) { return f.f.WriteAt(p, off) }
func (f *osFile) Sync() error                              { return f.f.Sync() }
func (f *osFile) Truncate(size int64) error                { return f.f.Truncate(size) }

// Close closes the file; no call may be running.
func (f *osFile) Close() error {
	err := f.f.Close()
	if f.direct != nil {
		err = errors.Join(err, f.direct.Close())
	}
	return err
}

func (f *osFile) Size() (int64, error) {
	st, err := f.f.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// Preallocate allocates the blocks first (one extent where the disk allows it,
// and ENOSPC before anything was written), then writes zeroes: blocks that are
// only allocated are marked unwritten, and the first sync over each of them
// would have to change metadata.
//
// The zeroes go past the page cache where the file system lets them: that costs a
// fraction of the CPU, pushes nothing out that somebody reads, and a sync of another file
// waits for one write at most.
func (f *osFile) Preallocate(size int64) error {
	if err := f.allocate(size); err != nil {
		return f.wrap("fallocate", err)
	}
	off, err := f.fillDirect(size &^ (directAlign - 1))
	if err != nil || off == size {
		return err
	}
	return f.fillCached(off, size)
}

// fillDirect zeroes [0, end) past the page cache and returns how far it came: not to the end
// where the file system refuses.
func (f *osFile) fillDirect(end int64) (off int64, err error) {
	d, ok := File(f).(director)
	if !ok || end == 0 || d.setDirect(true) != nil {
		return 0, nil
	}
	z := alignedPart(zeroes[:])
	for off < end && err == nil {
		var n int
		n, err = f.f.WriteAt(z[:min(int64(len(z)), end-off)], off)
		off += int64(n)
	}
	if errors.Is(err, unix.EINVAL) {
		err = nil
	}
	return off &^ (directAlign - 1), errors.Join(err, d.setDirect(false))
}

// fillCached zeroes [off, size) through the page cache.
func (f *osFile) fillCached(off, size int64) error {
	pushed, waited := off, off
	for off < size {
		n, err := f.f.WriteAt(zeroes[:min(int64(len(zeroes)), size-off)], off)
		off += int64(n)
		if err != nil {
			return err
		}
		if off-pushed < fillStepBytes && off < size {
			continue
		}
		// Push this step, and wait for the one before it only: the disk
		// is kept busy while the next one is written.
		if err := f.Push(pushed, off-pushed, false); err != nil {
			return err
		}
		if err := f.Push(waited, pushed-waited, true); err != nil {
			return err
		}
		waited, pushed = pushed, off
	}
	return nil
}

func (f *osFile) wrap(op string, err error) error {
	return &fs.PathError{Op: op, Path: f.f.Name(), Err: err}
}

// checkVec bounds what one WriteVecAt may be asked for, so that offsets cannot overflow.
func checkVec(bufs [][]byte, off int64) (total int64, err error) {
	if off < 0 {
		return 0, fmt.Errorf("vfs: negative offset %d", off)
	}
	for _, b := range bufs {
		total += int64(len(b))
	}
	return total, nil
}
