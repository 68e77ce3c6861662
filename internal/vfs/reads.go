package vfs

import (
	"sync"
	"sync/atomic"
)

const (
	// maxReads is how many ranges are on their way at once at most, and maxReadBytes how large one is: what is more is not
	// taken. A disk is busy with a few; more wait in line, and what they take of memory is counted by nobody.
	maxReads     = 64
	maxReadBytes = 8 << 20
	// classes of memory: each is twice as large as the one before.
	leastReadClass = 64 << 10
	readClasses    = 9
)

// Reads reads ranges of files before they are asked for and past the page cache, several at once, without a goroutine: the system
// goes on by itself while whoever began computes. The zero value is ready where the system can do that; elsewhere, and
// where a file system refuses, nothing is ever begun. Safe for concurrent use.
type Reads struct {
	refused atomic.Bool // the file system does not read past the page cache
	queue   readQueue
	memory  [readClasses]sync.Pool // of *[]byte
}

// Ahead is a range that is read ahead. Used by one goroutine at a time.
type Ahead struct {
	r       *Reads
	mem     *[]byte      // what is from the pool; nil once it is back, or given up
	buf     []byte       // aligned, a multiple of directAlign; the range begins at lead
	lead, n int          // bytes
	file    directReader // reads it when it is asked for; nil: the system has it
	offset  int64        // of buf in the file

	// Guarded by the queue's mutex until done.
	done bool
	got  int // bytes; below 0: failed
}

// Start begins to read n bytes at off of f; nil: it does not, and ReadAt or WillNeed is the way. Who has the result calls Release.
func (r *Reads) Start(f File, off int64, n int) *Ahead {
	if n < 1 || n > maxReadBytes || off < 0 || r.refused.Load() {
		return nil
	}
	a := &Ahead{r: r, lead: int(off & (directAlign - 1)), n: n}
	a.offset = off - int64(a.lead)
	length := (a.lead + n + directAlign - 1) &^ (directAlign - 1)
	class := 0
	for leastReadClass<<class < length+2*directAlign {
		class++
	}
	var ok bool
	if a.mem, ok = r.memory[class].Get().(*[]byte); !ok {
		mem := make([]byte, leastReadClass<<class)
		a.mem = &mem
	}
	a.buf = alignedPart(*a.mem)[:length]
	switch f := f.(type) {
	case descriptor:
		if !r.queue.submit(f, a) {
			a.Release()
			return nil
		}
	case directReader:
		a.file = f
	default:
		a.Release()
		return nil
	}
	return a
}

// Bytes waits for the range and returns it, with room for 8 bytes more in its capacity, until Release. False: it could not be
// read so; ReadAt does it, or knows why not. A nil Ahead has none.
func (a *Ahead) Bytes() ([]byte, bool) {
	if a == nil {
		return nil, false
	}
	if a.file != nil && !a.done {
		a.got, _ = a.file.readDirect(a.buf, a.offset)
		a.done = true
	}
	if a.file == nil {
		a.r.queue.wait(a)
	}
	if a.got < a.lead+a.n {
		return nil, false
	}
	return a.buf[a.lead : a.lead+a.n], true
}

// Release gives the memory back. While the system still writes to it, it is the queue's.
func (a *Ahead) Release() {
	if a == nil || a.mem == nil || a.file == nil && !a.r.queue.settled(a) {
		return
	}
	class := 0
	for leastReadClass<<class < len(*a.mem) {
		class++
	}
	a.r.memory[class].Put(a.mem)
	a.mem, a.buf = nil, nil
}

// Close waits for what is on its way. Nothing may be begun any more.
func (r *Reads) Close() { r.queue.close() }
