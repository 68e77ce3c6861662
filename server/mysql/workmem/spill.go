package workmem

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"

	"millrace/internal/vfs"
	"millrace/scan/exec/spill"
	"millrace/server/mysql/sqlerr"

	"github.com/prometheus/client_golang/prometheus"
)

// Spill makes the files to which statements move rows that do not fit into memory. A file is
// removed from its directory as soon as it is open, so none outlives the process. They are never synced.
type Spill struct {
	fs    vfs.FS
	dir   string
	next  atomic.Int64
	bytes prometheus.Counter
}

var _ spill.Files = (*Spill)(nil)

// NewSpill removes what an earlier process may have left in the directory. It need not be there:
// the first file makes it, so that a server starts on a full disk.
func NewSpill(fsys vfs.FS, dir string, registry prometheus.Registerer) (*Spill, error) {
	s := &Spill{fs: fsys, dir: dir, bytes: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "millrace_sql_spilled_bytes_total", Help: "Bytes that statements wrote to temporary files because they did not fit into memory.",
	})}
	if registry != nil {
		registry.MustRegister(s.bytes)
	}
	entries, err := fsys.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("mysql: spill directory: %w", err)
	}
	for _, e := range entries {
		if err := fsys.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("mysql: spill directory: %w", err)
		}
	}
	return s, nil
}

// What temporary files leave free of the disk, for producers: one part in so many, and no more than so many bytes.
const (
	spillReserveShare = 20
	spillReserveMax   = 1 << 30
)

// spillCheckBytes is how much a file takes before the disk is looked at again.
const spillCheckBytes = 16 << 20

var errDiskFull = sqlerr.New(1021, "HY000", "Disk full: the rows that this statement keeps (to sort, group, join or make windows of) would leave producers too little; narrow it with WHERE or LIMIT")

// room is errDiskFull when the next spillCheckBytes would be of what is left for producers.
func (s *Spill) room() error {
	total, free, err := s.fs.Free(s.dir)
	if err != nil {
		return err
	}
	if free-spillCheckBytes < min(total/spillReserveShare, spillReserveMax) {
		return errDiskFull
	}
	return nil
}

// Create implements spill.Files.
func (s *Spill) Create() (spill.File, error) {
	if err := s.fs.MkdirAll(s.dir); err != nil {
		return nil, err
	}
	name := filepath.Join(s.dir, fmt.Sprintf("%08d.tmp", s.next.Add(1)))
	f, err := s.fs.Create(name)
	if err != nil {
		return nil, err
	}
	if err := s.fs.Remove(name); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &spillFile{File: f, s: s}, nil
}

type spillFile struct {
	vfs.File
	s    *Spill
	mu   sync.Mutex
	size int64
	upto int64 // there was room
}

// Write implements spill.File. errDiskFull where producers would be left too little of the disk.
func (f *spillFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size+int64(len(p)) > f.upto {
		if err := f.s.room(); err != nil {
			return 0, err
		}
		f.upto = f.size + max(int64(len(p)), spillCheckBytes)
	}
	n, err := f.WriteAt(p, f.size)
	f.size += int64(n)
	f.s.bytes.Add(float64(n))
	return n, err
}
