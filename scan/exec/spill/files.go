package spill

// Files makes anonymous temporary files, gone with Close and at the next start.
type Files interface {
	Create() (File, error)
}

// File is written once in order, then read any number of times.
type File interface {
	Write(p []byte) (int, error)
	ReadAt(p []byte, off int64) (int, error)
	Close() error
}
