//go:build unix && !linux

package vfs

// SyncData is a full sync where fdatasync is missing or does not reach the medium.
func (f *osFile) SyncData() error { return f.f.Sync() }

// allocate leaves it to the zeroes that follow.
func (f *osFile) allocate(int64) error { return nil }

// Push does nothing.
func (f *osFile) Push(int64, int64, bool) error { return nil }

// WriteVecAt writes slice by slice.
func (f *osFile) WriteVecAt(bufs [][]byte, off int64) (n int64, err error) {
	if _, err := checkVec(bufs, off); err != nil {
		return 0, err
	}
	for _, b := range bufs {
		k, err := f.f.WriteAt(b, off+n)
		n += int64(k)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
