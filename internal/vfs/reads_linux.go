package vfs

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// descriptor is a file with a descriptor that reads past the page cache.
type descriptor interface {
	directDescriptor() (fd int, ok bool)
}

func (f *osFile) directDescriptor() (fd int, ok bool) {
	d := f.openDirect()
	if d == nil {
		return 0, false
	}
	return int(d.Fd()), true
}

// readQueue is a queue of the system's asynchronous reads (io_submit). io_uring would do as well and is forbidden in most containers.
type readQueue struct {
	mu      sync.Mutex
	settle  sync.Cond // some reads are done, or nobody waits in the system any more
	ctx     uintptr   // 0: none yet, or none to be had
	none    bool      // none to be had, or closed
	waiting bool      // somebody waits in the system, for all
	flying  [maxReads]*Ahead
	blocks  [maxReads]controlBlock
	free    []uint8 // of flying
}

// controlBlock is the system's struct iocb.
type controlBlock struct {
	data   uint64 // comes back with the event
	_      [2]uint32
	opcode uint16
	_      int16 // priority
	fd     uint32
	buf    uint64
	bytes  uint64
	offset int64
	_      uint64
	_      [2]uint32 // flags, and a descriptor for events
}

// event is the system's struct io_event.
type event struct {
	data   uint64
	_      uint64 // the control block
	result int64
	_      int64
}

const opRead = 0 // IOCB_CMD_PREAD

// submit has the system begin to read a; false when it does not.
func (q *readQueue) submit(f descriptor, a *Ahead) bool {
	fd, ok := f.directDescriptor()
	if !ok {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.none || !q.open() {
		return false
	}
	if len(q.free) == 0 && !q.waiting {
		q.collect(0) // what nobody waits for
	}
	if len(q.free) == 0 {
		return false
	}
	i := q.free[len(q.free)-1]
	q.blocks[i] = controlBlock{
		data: uint64(i), opcode: opRead, fd: uint32(fd), offset: a.offset,
		buf: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(a.buf)))), bytes: uint64(len(a.buf)),
	}
	block := &q.blocks[i]
	n, _, _ := unix.Syscall(unix.SYS_IO_SUBMIT, q.ctx, 1, uintptr(unsafe.Pointer(&block)))
	runtime.KeepAlive(f)
	if n != 1 {
		return false
	}
	q.flying[i] = a // so that the memory stays until the system is done with it
	q.free = q.free[:len(q.free)-1]
	return true
}

// open makes the queue if there is none; under mu.
func (q *readQueue) open() bool {
	if q.ctx != 0 {
		return true
	}
	if _, _, e := unix.Syscall(unix.SYS_IO_SETUP, maxReads, uintptr(unsafe.Pointer(&q.ctx)), 0); e != 0 {
		q.none = true
		return false
	}
	q.settle.L = &q.mu
	for i := range q.flying {
		q.free = append(q.free, uint8(i))
	}
	return true
}

// wait returns once a is done.
func (q *readQueue) wait(a *Ahead) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !a.done {
		if q.waiting {
			q.settle.Wait()
		} else {
			q.collect(1)
		}
	}
}

// collect waits for that many reads, and takes in all that are done. Under mu, which is free while it waits.
func (q *readQueue) collect(least uintptr) {
	var events [maxReads]event
	var timeout *unix.Timespec // for ever
	if least == 0 {
		timeout = &unix.Timespec{}
	}
	q.waiting = true
	q.mu.Unlock()
	n, _, e := unix.Syscall6(unix.SYS_IO_GETEVENTS, q.ctx, least, maxReads,
		uintptr(unsafe.Pointer(&events)), uintptr(unsafe.Pointer(timeout)), 0)
	q.mu.Lock()
	q.waiting = false
	switch e {
	case 0:
	case unix.EINTR:
		n = 0
	default:
		panic("vfs: io_getevents: " + e.Error()) // the queue and the memory are ours
	}
	for _, ev := range events[:n] {
		i := uint8(ev.data)
		a := q.flying[i]
		q.flying[i] = nil
		q.free = append(q.free, i)
		a.done, a.got = true, int(ev.result)
		if errors.Is(unix.Errno(-ev.result), unix.EINVAL) {
			a.r.refused.Store(true)
		}
	}
	q.settle.Broadcast()
}

// settled says whether the system is done with a.
func (q *readQueue) settled(a *Ahead) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if a.done {
		return true
	}
	for _, b := range q.flying {
		if a == b {
			return false
		}
	}
	return true // it never had it
}

func (q *readQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.none = true
	for q.ctx != 0 && (q.waiting || len(q.free) < maxReads) {
		if q.waiting {
			q.settle.Wait()
		} else {
			q.collect(1)
		}
	}
	if q.ctx != 0 {
		_, _, _ = unix.Syscall(unix.SYS_IO_DESTROY, q.ctx, 0, 0)
		q.ctx = 0
	}
}

// openDirect is a second descriptor, since O_DIRECT on the first would be every reader's; nil where there is none to be had.
func (f *osFile) openDirect() *os.File {
	f.directOnce.Do(func() {
		d, err := os.OpenFile(f.f.Name(), os.O_RDONLY|unix.O_DIRECT, 0)
		if err != nil {
			return // removed meanwhile, or the file system refuses
		}
		// Under the name there may be another file by now.
		mine, err := f.f.Stat()
		if err == nil {
			var st os.FileInfo
			if st, err = d.Stat(); err == nil && os.SameFile(mine, st) {
				f.direct = d
				return
			}
		}
		_ = d.Close()
	})
	return f.direct
}
