package vector

import "syscall"

// mapMemory maps n bytes of zeros; false where the system does not.
func mapMemory(n int) ([]byte, bool) {
	mem, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	return mem, err == nil
}

// adviseHuge asks for huge pages; without them it is only slower.
func adviseHuge(mem []byte) { _ = syscall.Madvise(mem, syscall.MADV_HUGEPAGE) }

func unmapMemory(mem []byte) {
	if err := syscall.Munmap(mem); err != nil {
		panic("vector: " + err.Error()) // not a mapping of ours: memory was freed twice
	}
}
