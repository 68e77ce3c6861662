package vfs

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Mem is a file system in memory that knows what a power loss would leave of it:
// file contents are synced or not per granule of 512 bytes, names per directory
// operation, and a file's size apart from its contents. CrashClone makes one of
// the possible outcomes. It also fails on demand (FailNth, SetHook, SetLimit).
//
// It is stricter than real file systems: SyncData does not make a new size
// durable, Sync of a file does not make its name durable, and a failed Sync
// leaves the written data readable but never writes it out again (as Linux
// does). Directories themselves survive every crash.
//
// Memory is used for pages that hold data only; preallocated zeroes cost nothing.
// Safe for concurrent use.
type Mem struct {
	faults faults
	direct atomic.Bool

	mu      sync.Mutex
	dirs    map[string]bool
	cur     map[string]*memNode // what the process sees
	durable map[string]*memNode // what a crash leaves for certain
	journal []dirOp             // not yet durable, in order
	locks   map[string]bool
	limit   int64 // bytes; allocation beyond is ENOSPC
	used    int64
}

var _ FS = (*Mem)(nil)

// Direct lets files be read past the page cache, which there is none of: like disks do, and new file systems of this kind do not.
func (m *Mem) Direct(on bool) { m.direct.Store(on) }

// dirOp is a creation (from == ""), a removal (to == "") or a rename.
type dirOp struct {
	node     *memNode
	from, to string
}

func (op dirOp) touches(dir string) bool {
	return op.from != "" && filepath.Dir(op.from) == dir || op.to != "" && filepath.Dir(op.to) == dir
}

func (op dirOp) apply(names map[string]*memNode) {
	if op.from != "" && names[op.from] == op.node {
		delete(names, op.from)
	}
	if op.to != "" {
		names[op.to] = op.node
	}
}

// NewMem returns an empty file system without a size limit. The directories
// "/" and "." exist.
func NewMem() *Mem {
	return &Mem{
		dirs:    map[string]bool{"/": true, ".": true},
		cur:     map[string]*memNode{},
		durable: map[string]*memNode{},
		locks:   map[string]bool{},
		limit:   math.MaxInt64,
	}
}

// SetLimit sets the size of the disk in bytes. Lower than what is used means full.
func (m *Mem) SetLimit(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limit = bytes
}

// Used is the number of allocated bytes.
func (m *Mem) Used() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

func pathErr(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// Create makes or truncates a file. Making it is a directory operation;
// truncating an existing one is not.
func (m *Mem) Create(name string) (File, error) {
	name = filepath.Clean(name)
	if err := m.faults.check(Event{Op: OpCreate, Name: name}); err != nil {
		return nil, pathErr("create", name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dirs[name] {
		return nil, pathErr("create", name, syscall.EISDIR)
	}
	if !m.dirs[filepath.Dir(name)] {
		return nil, pathErr("create", name, fs.ErrNotExist)
	}
	n := m.cur[name]
	if n == nil {
		n = &memNode{linked: true, mod: time.Now()}
		m.do(dirOp{node: n, to: name})
	} else {
		m.resize(n, 0)
	}
	return &memFile{fs: m, node: n, name: name, writable: true}, nil
}

func (m *Mem) do(op dirOp) {
	if op.to != "" {
		if old := m.cur[op.to]; old != nil && old != op.node {
			m.unlink(old)
		}
	}
	op.apply(m.cur)
	m.journal = append(m.journal, op)
}

func (m *Mem) unlink(n *memNode) {
	n.linked = false
	m.used -= n.alloc
}

// Open opens for reading.
func (m *Mem) Open(name string) (File, error) { return m.open(name, false) }

// OpenReadWrite opens an existing file.
func (m *Mem) OpenReadWrite(name string) (File, error) { return m.open(name, true) }

func (m *Mem) open(name string, writable bool) (File, error) {
	name = filepath.Clean(name)
	if err := m.faults.check(Event{Op: OpOpen, Name: name}); err != nil {
		return nil, pathErr("open", name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.cur[name]
	if n == nil {
		return nil, pathErr("open", name, fs.ErrNotExist)
	}
	return &memFile{fs: m, node: n, name: name, writable: writable}, nil
}

// Remove removes a file, or an empty directory.
func (m *Mem) Remove(name string) error {
	name = filepath.Clean(name)
	if err := m.faults.check(Event{Op: OpRemove, Name: name}); err != nil {
		return pathErr("remove", name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dirs[name] {
		for p := range m.cur {
			if filepath.Dir(p) == name {
				return pathErr("remove", name, syscall.ENOTEMPTY)
			}
		}
		for p := range m.dirs {
			if p != name && filepath.Dir(p) == name {
				return pathErr("remove", name, syscall.ENOTEMPTY)
			}
		}
		delete(m.dirs, name)
		return nil
	}
	n := m.cur[name]
	if n == nil {
		return pathErr("remove", name, fs.ErrNotExist)
	}
	m.do(dirOp{node: n, from: name})
	m.unlink(n)
	return nil
}

// Rename moves a file (not a directory), replacing newname, as one directory operation.
func (m *Mem) Rename(oldname, newname string) error {
	oldname, newname = filepath.Clean(oldname), filepath.Clean(newname)
	if err := m.faults.check(Event{Op: OpRename, Name: oldname}); err != nil {
		return pathErr("rename", oldname, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.cur[oldname]
	switch {
	case n == nil:
		return pathErr("rename", oldname, fs.ErrNotExist)
	case m.dirs[newname]:
		return pathErr("rename", newname, syscall.EISDIR)
	case !m.dirs[filepath.Dir(newname)]:
		return pathErr("rename", newname, fs.ErrNotExist)
	case oldname == newname:
		return nil
	}
	m.do(dirOp{node: n, from: oldname, to: newname})
	return nil
}

// MkdirAll makes dir and its parents.
func (m *Mem) MkdirAll(dir string) error {
	dir = filepath.Clean(dir)
	if err := m.faults.check(Event{Op: OpMkdir, Name: dir}); err != nil {
		return pathErr("mkdir", dir, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for p := dir; !m.dirs[p]; p = filepath.Dir(p) {
		if m.cur[p] != nil {
			return pathErr("mkdir", p, syscall.ENOTDIR)
		}
	}
	for p := dir; !m.dirs[p]; p = filepath.Dir(p) {
		m.dirs[p] = true
	}
	return nil
}

// ReadDir lists dir in name order.
func (m *Mem) ReadDir(dir string) ([]fs.DirEntry, error) {
	dir = filepath.Clean(dir)
	if err := m.faults.check(Event{Op: OpReadDir, Name: dir}); err != nil {
		return nil, pathErr("readdir", dir, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.dirs[dir] {
		return nil, pathErr("readdir", dir, fs.ErrNotExist)
	}
	var out []fs.DirEntry
	for p, n := range m.cur {
		if filepath.Dir(p) == dir {
			out = append(out, fs.FileInfoToDirEntry(n.info(p)))
		}
	}
	for p := range m.dirs {
		if p != dir && filepath.Dir(p) == dir {
			out = append(out, fs.FileInfoToDirEntry(memInfo{name: filepath.Base(p), dir: true}))
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name() < out[j].Name() })
	return out, nil
}

// Stat describes a file or directory.
func (m *Mem) Stat(name string) (fs.FileInfo, error) {
	name = filepath.Clean(name)
	if err := m.faults.check(Event{Op: OpStat, Name: name}); err != nil {
		return nil, pathErr("stat", name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dirs[name] {
		return memInfo{name: filepath.Base(name), dir: true}, nil
	}
	if n := m.cur[name]; n != nil {
		return n.info(name), nil
	}
	return nil, pathErr("stat", name, fs.ErrNotExist)
}

// SyncDir makes the directory operations in dir durable.
func (m *Mem) SyncDir(dir string) error {
	dir = filepath.Clean(dir)
	if err := m.faults.check(Event{Op: OpSyncDir, Name: dir}); err != nil {
		return pathErr("syncdir", dir, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.dirs[dir] {
		return pathErr("syncdir", dir, fs.ErrNotExist)
	}
	rest := m.journal[:0]
	for _, op := range m.journal {
		if op.touches(dir) {
			op.apply(m.durable)
		} else {
			rest = append(rest, op)
		}
	}
	clear(m.journal[len(rest):])
	m.journal = rest
	return nil
}

// Lock takes the exclusive lock of name within this Mem; a clone starts without locks.
func (m *Mem) Lock(name string) (io.Closer, error) {
	name = filepath.Clean(name)
	if err := m.faults.check(Event{Op: OpLock, Name: name}); err != nil {
		return nil, pathErr("lock", name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.dirs[filepath.Dir(name)] {
		return nil, pathErr("lock", name, fs.ErrNotExist)
	}
	if m.locks[name] {
		return nil, pathErr("lock", name, ErrLocked)
	}
	m.locks[name] = true
	return &memLock{fs: m, name: name}, nil
}

type memLock struct {
	fs   *Mem
	name string
	once sync.Once
}

func (l *memLock) Close() error {
	err := errors.New("vfs: lock closed twice")
	l.once.Do(func() {
		l.fs.mu.Lock()
		defer l.fs.mu.Unlock()
		delete(l.fs.locks, l.name)
		err = nil
	})
	return err
}

// Free reports the limit and what is left of it.
func (m *Mem) Free(string) (total, avail int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.limit, max(0, m.limit-m.used), nil
}

type memInfo struct {
	name string
	size int64
	mod  time.Time
	dir  bool
}

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) ModTime() time.Time { return i.mod }
func (i memInfo) IsDir() bool        { return i.dir }
func (i memInfo) Sys() any           { return nil }
func (i memInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | osDirMode
	}
	return osFileMode
}

// String lists the files with their sizes, for test failures.
func (m *Mem) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := make([]string, 0, len(m.cur))
	for p := range m.cur {
		names = append(names, p)
	}
	sort.Strings(names)
	var b strings.Builder
	for _, p := range names {
		n := m.cur[p]
		b.WriteString(p)
		b.WriteString(n.describe())
		b.WriteByte('\n')
	}
	return b.String()
}
