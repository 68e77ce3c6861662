package vfs

// VectorWriter is a File that writes several slices, one after the other, in
// one go. Both OS and Mem files are VectorWriters.
type VectorWriter interface {
	// WriteVecAt writes the concatenation of bufs at off. Like io.WriterAt it
	// returns fewer bytes than asked for only together with an error.
	WriteVecAt(bufs [][]byte, off int64) (n int64, err error)
}

// WriteVecAt writes the concatenation of bufs at off, in one call where f can.
func WriteVecAt(f File, bufs [][]byte, off int64) (n int64, err error) {
	if v, ok := f.(VectorWriter); ok {
		return v.WriteVecAt(bufs, off)
	}
	for _, b := range bufs {
		k, err := f.WriteAt(b, off+n)
		n += int64(k)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
