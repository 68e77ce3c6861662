package vfs

import "unsafe"

// director is a file whose writes can go past the page cache. While that is on,
// offsets, lengths and memory of writes must be multiples of directAlign. An error,
// mostly EINVAL, says that the file system refuses; some do so only at the first write.
type director interface {
	setDirect(on bool) error
}

// directReader is a file that can be read past the page cache; offset, length and memory
// must be multiples of directAlign. It may read less, or refuse, whenever it likes.
type directReader interface {
	readDirect(p []byte, off int64) (int, error)
}

// directAlign is at least the logical block of any disk.
const directAlign = 4096

// DirectSlack is how much more memory than what it reads ReadDirect is given.
const DirectSlack = 3 * directAlign

// ReadDirect reads n bytes at off past the page cache into buf, which has room for n and
// DirectSlack, and returns where in buf they begin. Large reads that are not repeated
// cost a fraction of the CPU so. False says that it cannot be done, or failed: ReadAt does it,
// or knows why not.
func ReadDirect(f File, buf []byte, off int64, n int) (at int, ok bool) {
	d, ok := f.(directReader)
	if !ok || off < 0 || n <= 0 {
		return 0, false
	}
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(buf))) & (directAlign - 1))
	lead := int(off & (directAlign - 1))
	length := (lead + n + directAlign - 1) &^ (directAlign - 1)
	if skip+length > len(buf) {
		return 0, false
	}
	got, _ := d.readDirect(buf[skip:skip+length], off-int64(lead))
	// The end of the file need not be aligned.
	if got < lead+n {
		return 0, false
	}
	return skip + lead, true
}

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
