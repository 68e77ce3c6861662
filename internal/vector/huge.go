package vector

import "unsafe"

// hugeLeast is the size from which on memory is asked to lie in huge pages: a smaller table's pages are in the
// processor's table of pages most of the time anyway.
const hugeLeast = 2 * hugePage

// MakeHuge is make for the tables that are read and written all over, such as those of hashes: where each look goes to another page, finding
// the page costs as much as reading it. The memory is the collector's as any other; of large slices the system is asked
// to back it with huge pages.
func MakeHuge[T any](n int) []T {
	out := make([]T, n)
	var one T
	size := uintptr(n) * unsafe.Sizeof(one)
	if size < hugeLeast {
		return out
	}
	mem := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(out))), size)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(mem))) & (hugePage - 1)
	adviseHuge(mem[skip : skip+(size-skip)&^(hugePage-1)])
	return out
}
