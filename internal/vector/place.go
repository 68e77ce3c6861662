package vector

import "unsafe"

// Allocator gives memory for vectors that stay long. Safe for concurrent use.
type Allocator interface {
	// Alloc returns n bytes of any content, aligned to 64, with capacity n. It does not fail while
	// the machine has memory.
	Alloc(n int) []byte
	// Free takes back what Alloc returned, whole. Nothing may read it any more.
	Free(mem []byte)
}

// align is the alignment of each buffer in a placed vector, a line of the cache.
const align = 64

// Place copies v's buffers, its dictionary too, into one piece of memory from a. The copy
// stays valid until the caller gives mem back with a.Free. mem is nil, and nothing to be freed,
// where v has no buffers.
func Place(v *Vector, a Allocator) (placed Vector, mem []byte) {
	placed = *v
	if v.Dict != nil {
		d := *v.Dict
		placed.Dict = &d
	}
	size := 0
	eachBuffer(&placed, func(bytes int) { size += rounded(bytes) }, nil)
	if size == 0 {
		return placed, nil
	}
	mem = a.Alloc(size)
	rest := mem
	eachBuffer(&placed, nil, func(bytes int) []byte {
		part := rest[:bytes:bytes]
		rest = rest[rounded(bytes):]
		return part
	})
	return placed, mem
}

func rounded(n int) int { return (n + align - 1) &^ (align - 1) }

// Room is how many bytes a buffer of n values of T takes in a placed vector.
func Room[T any](n int) int {
	var one T
	return rounded(n * int(unsafe.Sizeof(one)))
}

// Carve cuts a buffer of n values of T, a type without pointers, off the front of memory from an Allocator, which must
// have Room for it. It holds anything.
func Carve[T any](mem *[]byte, n int) []T {
	m := *mem
	*mem = m[Room[T](n):]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(m))), n)
}

// eachBuffer visits the buffers: sizes only, or moved into what room returns.
func eachBuffer(v *Vector, size func(bytes int), room func(bytes int) []byte) {
	visit(&v.Valid, size, room)
	visit(&v.Int8, size, room)
	visit(&v.Int16, size, room)
	visit(&v.Int32, size, room)
	visit(&v.Int64, size, room)
	visit(&v.Uint64, size, room)
	visit(&v.Float64, size, room)
	visit(&v.Dec128, size, room)
	visit(&v.Dec256, size, room)
	visit(&v.Code8, size, room)
	visit(&v.Code16, size, room)
	visit(&v.Code32, size, room)
	visit(&v.Offsets, size, room)
	visit(&v.Bytes, size, room)
	if v.Dict != nil {
		visit(&v.Dict.Offsets, size, room)
		visit(&v.Dict.Bytes, size, room)
	}
}

// visit is for element types without pointers only: their memory may lie outside the heap.
func visit[T any](buf *[]T, size func(int), room func(int) []byte) {
	if len(*buf) == 0 {
		return // nil stays nil, empty stays empty
	}
	var one T
	bytes := len(*buf) * int(unsafe.Sizeof(one))
	if room == nil {
		size(bytes)
		return
	}
	to := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(room(bytes)))), len(*buf))
	copy(to, *buf)
	*buf = to
}

// Heap is the Allocator of ordinary memory.
type Heap struct{}

// Alloc implements Allocator.
func (Heap) Alloc(n int) []byte {
	mem := make([]byte, n+align-1)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(mem))) & (align - 1))
	return mem[skip : skip+n : skip+n]
}

// Free implements Allocator: the collector does it.
func (Heap) Free([]byte) {}
