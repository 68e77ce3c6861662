package mysql

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"

	"millrace/internal/vfs"
	"millrace/scan/exec"

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

var _ exec.Spiller = (*Spill)(nil)

// NewSpill makes the directory, and removes what an earlier process may have left in it.
func NewSpill(fsys vfs.FS, dir string, registry prometheus.Registerer) (*Spill, error) {
	s := &Spill{fs: fsys, dir: dir, bytes: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "millrace_sql_spilled_bytes_total", Help: "Bytes that statements wrote to temporary files because they did not fit into memory.",
	})}
	if registry != nil {
		registry.MustRegister(s.bytes)
	}
	if err := fsys.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("mysql: spill directory: %w", err)
	}
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("mysql: spill directory: %w", err)
	}
	for _, e := range entries {
		if err := fsys.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("mysql: spill directory: %w", err)
		}
	}
	return s, nil
}

// Create implements exec.Spiller.
func (s *Spill) Create() (exec.SpillFile, error) {
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
}

// Write implements exec.SpillFile.
func (f *spillFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.WriteAt(p, f.size)
	f.size += int64(n)
	f.s.bytes.Add(float64(n))
	return n, err
}
