package wal

import (
	"io"

	"millrace/internal/vfs"
)

// ReadSnapshot is LoadSnapshot of a closed log in dir; it changes nothing.
func ReadSnapshot(fsys vfs.FS, dir string, read func(io.Reader) error) (bool, error) {
	l := &Log{o: Options{FS: fsys, Dir: dir}}
	return l.LoadSnapshot(read)
}
