package vfs

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// SyncData is fdatasync.
func (f *osFile) SyncData() error {
	for {
		err := unix.Fdatasync(f.fd)
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EINTR) {
			return f.wrap("fdatasync", err)
		}
	}
}

func (f *osFile) allocate(size int64) error {
	for {
		err := unix.Fallocate(f.fd, 0, 0, size)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return nil // the zeroes that follow allocate as well
		default:
			return err
		}
	}
}

// willNeed implements fetcher. Where the system does not, the file is read when it is read.
func (f *osFile) willNeed(off, n int64) { _ = unix.Fadvise(f.fd, off, n, unix.FADV_WILLNEED) }

// setDirect is the flag O_DIRECT.
func (f *osFile) setDirect(on bool) error {
	flags, err := unix.FcntlInt(uintptr(f.fd), unix.F_GETFL, 0)
	if err == nil {
		if on {
			flags |= unix.O_DIRECT
		} else {
			flags &^= unix.O_DIRECT
		}
		_, err = unix.FcntlInt(uintptr(f.fd), unix.F_SETFL, flags)
	}
	if err != nil {
		return f.wrap("fcntl", err)
	}
	return nil
}

// Push writes a range out, without a barrier, and waits for it if told to: it only paces.
func (f *osFile) Push(off, n int64, wait bool) error {
	if n == 0 {
		return nil // to the kernel, 0 means everything behind off
	}
	flags := unix.SYNC_FILE_RANGE_WRITE
	if wait {
		flags |= unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	}
	err := unix.SyncFileRange(f.fd, off, n, flags)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ESPIPE) || errors.Is(err, unix.EINTR) || err == nil {
		return nil
	}
	return f.wrap("sync_file_range", err)
}

// maxVec is the kernel's IOV_MAX: more slices need another call.
const maxVec = 1024

// WriteVecAt is pwritev, repeated until everything is written.
func (f *osFile) WriteVecAt(bufs [][]byte, off int64) (n int64, err error) {
	total, err := checkVec(bufs, off)
	if err != nil {
		return 0, err
	}
	var rest [][]byte // a private copy once the kernel stopped inside bufs
	for n < total {
		vec := bufs
		if len(vec) > maxVec {
			vec = vec[:maxVec]
		}
		k, err := unix.Pwritev(f.fd, vec, off+n)
		if err != nil {
			if errors.Is(err, unix.EINTR) {
				continue
			}
			return n, f.wrap("pwritev", err)
		}
		if k == 0 && !allEmpty(vec) {
			return n, f.wrap("pwritev", io.ErrShortWrite)
		}
		n += int64(k)
		if n == total {
			break
		}
		i := 0
		for i < len(vec) && k >= len(vec[i]) {
			k -= len(vec[i])
			i++
		}
		bufs = bufs[i:]
		if k > 0 {
			rest = append([][]byte{bufs[0][k:]}, bufs[1:]...)
			bufs = rest
		}
	}
	return n, nil
}

func allEmpty(bufs [][]byte) bool {
	for _, b := range bufs {
		if len(b) > 0 {
			return false
		}
	}
	return true
}

// readDirect implements directReader.
func (f *osFile) readDirect(p []byte, off int64) (int, error) {
	d := f.openDirect()
	if d == nil {
		return 0, errors.ErrUnsupported
	}
	return d.ReadAt(p, off)
}
