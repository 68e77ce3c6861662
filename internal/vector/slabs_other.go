//go:build !linux

package vector

// Elsewhere slabs are the heap.

func mapMemory(int) ([]byte, bool) { return nil, false }

func adviseHuge([]byte) {}

func unmapMemory([]byte) {}
