// Package vfs is every disk touch of the product, fakeable in tests.
package vfs

import (
	"io"
	"io/fs"
)

// FS is the file system. Names are full paths.
type FS interface {
	Create(name string) (File, error)        // read-write, truncates
	Open(name string) (File, error)          // read-only
	OpenReadWrite(name string) (File, error) // must exist
	Remove(name string) error
	Rename(oldname, newname string) error
	MkdirAll(dir string) error
	ReadDir(dir string) ([]fs.DirEntry, error)
	Stat(name string) (fs.FileInfo, error)
	SyncDir(dir string) error
	// Lock takes an exclusive lock on name, held until Close; an error when another process has it.
	Lock(name string) (io.Closer, error)
	// Free returns the total and available bytes of the file system that holds dir.
	Free(dir string) (total, avail int64, err error)
}

// File is an open file. ReadAt and WriteAt may be called concurrently.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Sync makes written data and the size durable; SyncData the data only
	// (fdatasync), enough where the size and blocks were made durable before.
	Sync() error
	SyncData() error
	Truncate(size int64) error
	Size() (int64, error)
	// Preallocate makes [0,size) allocated and zero-filled. ENOSPC as errors.Is(syscall.ENOSPC).
	Preallocate(size int64) error
}
