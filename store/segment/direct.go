package segment

import "millrace/internal/vfs"

// ReadDirect reads n bytes from byte at on past the page cache, as vfs.ReadDirect does.
func (r *Reader) ReadDirect(buf []byte, at int64, n int) (where int, ok bool) {
	return vfs.ReadDirect(r.f, buf, at, n)
}
