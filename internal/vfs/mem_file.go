package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"path/filepath"
	"syscall"
	"time"
	"unsafe"
)

const (
	// GranuleBytes is what a disk writes whole or not at all.
	GranuleBytes = 512
	pageBytes    = 4096
)

type page = [pageBytes]byte

// memPage is one page in its two lives. Pages that are not private are shared
// with durable, or with another Mem, and never written again.
type memPage struct {
	cur, durable *page // nil: zeroes
	private      bool  // cur belongs to this page alone
	dirty        uint8 // granules written and not synced
	lost         uint8 // granules of cur that a failed sync gave up
}

// memNode is a file's contents; guarded by Mem.mu.
type memNode struct {
	pages       []memPage
	size        int64
	durableSize int64
	alloc       int64 // bytes counted in Mem.used, while linked
	linked      bool
	mod         time.Time
}

func (n *memNode) info(name string) memInfo {
	return memInfo{name: filepath.Base(name), size: n.size, mod: n.mod}
}

func (n *memNode) describe() string {
	dirty := 0
	for i := range n.pages {
		dirty += bits.OnesCount8(n.pages[i].dirty | n.pages[i].lost)
	}
	return fmt.Sprintf(" size=%d durable=%d unsynced granules=%d", n.size, n.durableSize, dirty)
}

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }

// reserve accounts for [0,end); it returns how far the disk reaches.
func (m *Mem) reserve(n *memNode, end int64) (int64, error) {
	want := roundUp(end, pageBytes)
	if want <= n.alloc {
		return end, nil
	}
	if !n.linked {
		n.alloc = want
		return end, nil
	}
	free := max(0, m.limit-m.used) / pageBytes * pageBytes
	if want-n.alloc > free {
		m.used += free
		n.alloc += free
		return min(end, n.alloc), syscall.ENOSPC
	}
	m.used += want - n.alloc
	n.alloc = want
	return end, nil
}

func (n *memNode) page(i int64) *memPage {
	for int64(len(n.pages)) <= i {
		n.pages = append(n.pages, memPage{})
	}
	return &n.pages[i]
}

// write puts p at off, which lies in allocated space.
func (n *memNode) write(p []byte, off int64) {
	n.mod = time.Now()
	for len(p) > 0 {
		pg := n.page(off / pageBytes)
		in := off % pageBytes
		k := min(int64(len(p)), pageBytes-in)
		if !pg.private {
			c := new(page)
			if pg.cur != nil {
				*c = *pg.cur
			}
			pg.cur, pg.private = c, true
		}
		copy(pg.cur[in:], p[:k])
		for g := in / GranuleBytes; g*GranuleBytes < in+k; g++ {
			pg.dirty |= 1 << g
			pg.lost &^= 1 << g
		}
		p = p[k:]
		off += k
	}
	n.size = max(n.size, off)
}

func (n *memNode) zero(off, end int64) {
	var z page
	for off < end {
		k := min(end-off, pageBytes-off%pageBytes)
		i := off / pageBytes
		// Zeroes over a page that never held anything need no page.
		if i < int64(len(n.pages)) && (n.pages[i].cur != nil || n.pages[i].durable != nil) {
			size := n.size
			n.write(z[:k], off)
			n.size = size
		}
		off += k
	}
}

func (m *Mem) resize(n *memNode, size int64) {
	if size < n.size {
		n.zero(size, n.size)
		if alloc := roundUp(size, pageBytes); alloc < n.alloc {
			if n.linked {
				m.used -= n.alloc - alloc
			}
			n.alloc = alloc
		}
	}
	n.size = size
	n.mod = time.Now()
}

func merge(durable, cur *page, granules uint8) *page {
	out := new(page)
	if durable != nil {
		*out = *durable
	}
	for g := range pageBytes / GranuleBytes {
		if granules&(1<<g) == 0 {
			continue
		}
		lo, hi := g*GranuleBytes, (g+1)*GranuleBytes
		if cur != nil {
			copy(out[lo:hi], cur[lo:hi])
		} else {
			clear(out[lo:hi])
		}
	}
	return out
}

func (n *memNode) sync() {
	for i := range n.pages {
		pg := &n.pages[i]
		switch {
		case pg.dirty == 0:
		case pg.lost == 0:
			pg.durable, pg.private = pg.cur, false
		default:
			pg.durable = merge(pg.durable, pg.cur, pg.dirty)
		}
		pg.dirty = 0
	}
}

// lose is what a failed sync does: the kernel forgets that the pages are dirty.
func (n *memNode) lose() {
	for i := range n.pages {
		pg := &n.pages[i]
		pg.lost |= pg.dirty
		pg.dirty = 0
	}
}

type memFile struct {
	fs       *Mem
	node     *memNode
	name     string
	writable bool
	closed   bool // guarded by fs.mu
}

var _ VectorWriter = (*memFile)(nil)

// usable is called with fs.mu held.
func (f *memFile) usable(op string, write bool) error {
	if f.closed {
		return pathErr(op, f.name, fs.ErrClosed)
	}
	if write && !f.writable {
		return pathErr(op, f.name, syscall.EBADF)
	}
	return nil
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.fs.faults.check(Event{Op: OpRead, Name: f.name, Offset: off, Bytes: len(p)}); err != nil {
		return 0, pathErr("read", f.name, err)
	}
	if off < 0 {
		return 0, pathErr("read", f.name, syscall.EINVAL)
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.usable("read", false); err != nil {
		return 0, err
	}
	n := f.node
	total := int(max(0, min(int64(len(p)), n.size-off)))
	for done := 0; done < total; {
		at := off + int64(done)
		in := at % pageBytes
		k := min(total-done, int(pageBytes-in))
		dst := p[done : done+k]
		if i := at / pageBytes; i < int64(len(n.pages)) && n.pages[i].cur != nil {
			copy(dst, n.pages[i].cur[in:])
		} else {
			clear(dst)
		}
		done += k
	}
	if total < len(p) {
		return total, io.EOF
	}
	return total, nil
}

// readDirect implements directReader, where Direct is on.
func (f *memFile) readDirect(p []byte, off int64) (int, error) {
	if !f.fs.direct.Load() || off%directAlign != 0 || len(p)%directAlign != 0 ||
		uintptr(unsafe.Pointer(unsafe.SliceData(p)))%directAlign != 0 {
		return 0, pathErr("read", f.name, syscall.EINVAL)
	}
	return f.ReadAt(p, off)
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.WriteVecAt([][]byte{p}, off)
	return int(n), err
}

func (f *memFile) WriteVecAt(bufs [][]byte, off int64) (int64, error) {
	total, err := checkVec(bufs, off)
	if err != nil {
		return 0, err
	}
	fault := f.fs.faults.check(Event{Op: OpWrite, Name: f.name, Offset: off, Bytes: int(total)})
	limit := total
	if fault != nil {
		limit = 0
		if short := (*ShortWriteError)(nil); errors.As(fault, &short) {
			limit = min(total, int64(short.Bytes))
		}
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.usable("write", true); err != nil {
		return 0, err
	}
	end, err := f.fs.reserve(f.node, off+limit)
	if err != nil && fault == nil {
		fault = err
	}
	limit = max(0, min(limit, end-off))
	var n int64
	for _, b := range bufs {
		if n >= limit {
			break
		}
		b = b[:min(int64(len(b)), limit-n)]
		f.node.write(b, off+n)
		n += int64(len(b))
	}
	if fault != nil {
		return n, pathErr("write", f.name, fault)
	}
	return n, nil
}

func (f *memFile) Close() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.usable("close", false); err != nil {
		return err
	}
	f.closed = true
	return nil
}

func (f *memFile) Sync() error     { return f.sync(OpSync) }
func (f *memFile) SyncData() error { return f.sync(OpSyncData) }

func (f *memFile) sync(op Op) error {
	fault := f.fs.faults.check(Event{Op: op, Name: f.name})
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.usable("sync", false); err != nil {
		return err
	}
	if fault != nil {
		f.node.lose()
		return pathErr("sync", f.name, fault)
	}
	f.node.sync()
	if op == OpSync {
		f.node.durableSize = f.node.size
	}
	return nil
}

func (f *memFile) Truncate(size int64) error {
	if err := f.fs.faults.check(Event{Op: OpTruncate, Name: f.name, Offset: size}); err != nil {
		return pathErr("truncate", f.name, err)
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.usable("truncate", true); err != nil {
		return err
	}
	if size < 0 {
		return pathErr("truncate", f.name, syscall.EINVAL)
	}
	f.fs.resize(f.node, size)
	return nil
}

func (f *memFile) Size() (int64, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.usable("size", false); err != nil {
		return 0, err
	}
	return f.node.size, nil
}

func (f *memFile) Preallocate(size int64) error {
	if err := f.fs.faults.check(Event{Op: OpPreallocate, Name: f.name, Offset: size}); err != nil {
		return pathErr("preallocate", f.name, err)
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.usable("preallocate", true); err != nil {
		return err
	}
	if _, err := f.fs.reserve(f.node, size); err != nil {
		return pathErr("preallocate", f.name, err)
	}
	f.node.zero(0, size)
	f.node.size = max(f.node.size, size)
	f.node.mod = time.Now()
	return nil
}
