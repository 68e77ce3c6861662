package vfs

import "unsafe"

// director is a file whose writes can go past the page cache. While that is on,
// offsets, lengths and memory of writes must be multiples of directAlign. An error,
// mostly EINVAL, says that the file system refuses; some do so only at the first write.
type director interface {
	setDirect(on bool) error
}

// directAlign is at least the logical block of any disk.
const directAlign = 4096

// alignedPart is the part of b between the multiples of directAlign.
func alignedPart(b []byte) []byte {
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (directAlign - 1))
	n := (len(b) - skip) &^ (directAlign - 1)
	return b[skip : skip+n : skip+n]
}

// Pacer is a File that can be told to begin writing a range to the disk, so that a later
// sync, or that of another file, does not find everything still to do. OS files are Pacers.
type Pacer interface {
	// Push begins with [off, off+n), and with wait returns once it is on its way out.
	// It makes nothing durable.
	Push(off, n int64, wait bool) error
}

// Push paces f if f can.
func Push(f File, off, n int64, wait bool) error {
	if p, ok := f.(Pacer); ok {
		return p.Push(off, n, wait)
	}
	return nil
}
