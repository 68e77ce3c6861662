package vector

import (
	"math/bits"
	"slices"
	"sync"
	"unsafe"
)

const (
	// slabBytes is one mapping. Larger ones come back to the system later, smaller ones leave
	// more ends that nothing fits in.
	slabBytes = 64 << 20
	// pageBytes is the unit of allocation in a slab, and so the most that is lost per allocation.
	pageBytes = 16 << 10
	slabPages = slabBytes / pageBytes
	// minSlab is the least size that comes from a slab; below it the heap is as good.
	minSlab = pageBytes / 2
)

// Slabs is an Allocator outside the Go heap, in large mappings that the system is asked to back with
// huge pages: the collector neither counts nor scans it, and a scan misses the TLB less. Where the
// system gives no mappings it is the heap. The zero value is ready; safe for concurrent use.
type Slabs struct {
	mu struct {
		sync.Mutex
		slabs  []*slab // those with free pages may be anywhere
		single map[*byte][]byte
		mapped int64
		used   int64
	}
}

// slab is one mapping. A set bit of taken is a page in use.
type slab struct {
	mem   []byte // slabBytes, of
	raw   []byte // the mapping
	taken [slabPages / 64]uint64
	free  int
}

// Alloc implements Allocator.
func (s *Slabs) Alloc(n int) []byte {
	if n < minSlab {
		return Heap{}.Alloc(n)
	}
	pages := (n + pageBytes - 1) / pageBytes
	s.mu.Lock()
	defer s.mu.Unlock()
	if pages > slabPages {
		mem, ok := mapMemory(n)
		if !ok {
			return Heap{}.Alloc(n)
		}
		if s.mu.single == nil {
			s.mu.single = map[*byte][]byte{}
		}
		s.mu.single[&mem[0]] = mem
		s.mu.mapped += int64(len(mem))
		s.mu.used += int64(n)
		return mem[:n:n]
	}
	for _, sl := range s.mu.slabs {
		if sl.free >= pages {
			if at := sl.find(pages); at >= 0 {
				return s.take(sl, at, pages, n)
			}
		}
	}
	raw, ok := mapMemory(slabBytes + hugePage)
	if !ok {
		return Heap{}.Alloc(n)
	}
	skip := int(-uintptr(unsafe.Pointer(&raw[0])) & (hugePage - 1))
	sl := &slab{raw: raw, mem: raw[skip : skip+slabBytes], free: slabPages}
	adviseHuge(sl.mem)
	s.mu.mapped += slabBytes
	s.mu.slabs = append(s.mu.slabs, sl)
	return s.take(sl, 0, pages, n)
}

// hugePage is the size and alignment of huge pages.
const hugePage = 2 << 20

func (s *Slabs) take(sl *slab, at, pages, n int) []byte {
	SetBits(sl.taken[:], at, pages)
	sl.free -= pages
	s.mu.used += int64(pages) * pageBytes
	from := at * pageBytes
	return sl.mem[from : from+n : from+n]
}

// find gives the first run of free pages, or -1.
func (sl *slab) find(pages int) int {
	run, at := 0, 0
	for at < slabPages {
		w := sl.taken[at>>6] >> (at & 63)
		if w&1 != 0 {
			run = 0
			at += bits.TrailingZeros64(^w) // the high bits are zeros: within the word
			continue
		}
		k := min(bits.TrailingZeros64(w), 64-at&63)
		if run += k; run >= pages {
			return at + k - run
		}
		at += k
	}
	return -1
}

// Free implements Allocator.
func (s *Slabs) Free(mem []byte) {
	if len(mem) < minSlab {
		return
	}
	p := unsafe.SliceData(mem)
	s.mu.Lock()
	defer s.mu.Unlock()
	if whole, ok := s.mu.single[p]; ok {
		delete(s.mu.single, p)
		s.mu.mapped -= int64(len(whole))
		s.mu.used -= int64(len(mem))
		unmapMemory(whole)
		return
	}
	for i, sl := range s.mu.slabs {
		at := uintptr(unsafe.Pointer(p)) - uintptr(unsafe.Pointer(unsafe.SliceData(sl.mem)))
		if at >= slabBytes { // also what lies before it
			continue
		}
		pages := (len(mem) + pageBytes - 1) / pageBytes
		clearBits(sl.taken[:], int(at/pageBytes), pages)
		sl.free += pages
		s.mu.used -= int64(pages) * pageBytes
		if sl.free == slabPages && len(s.mu.slabs) > 1 {
			s.mu.slabs = slices.Delete(s.mu.slabs, i, i+1)
			s.mu.mapped -= slabBytes
			unmapMemory(sl.raw)
		}
		return
	}
	// From the heap.
}

// Bytes are how much memory is mapped, and how much of it is in use.
func (s *Slabs) Bytes() (mapped, used int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.mapped, s.mu.used
}

// Close gives all memory back; nothing may read it any more.
func (s *Slabs) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sl := range s.mu.slabs {
		unmapMemory(sl.raw)
	}
	for _, mem := range s.mu.single {
		unmapMemory(mem)
	}
	s.mu.slabs, s.mu.single, s.mu.mapped, s.mu.used = nil, nil, 0, 0
}

func clearBits(dst []uint64, to, n int) {
	for n > 0 {
		k := min(64-to&63, n)
		dst[to>>6] &^= ^uint64(0) >> (64 - k) << (to & 63)
		to, n = to+k, n-k
	}
}
