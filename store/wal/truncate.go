package wal

import "millrace/store/commitlog"

// Truncate recycles the files that hold nothing from before on; see commitlog.Log.
//
// One file after the other, the oldest first, each durably: a crash in
// between must leave the log without its beginning, never with a hole.
func (l *Log) Truncate(before commitlog.LSN) error {
	l.truncateMu.Lock()
	defer l.truncateMu.Unlock()
	for {
		if l.leaving == nil {
			f, err := l.dropFirst(before)
			if err != nil || f == nil {
				return err
			}
			l.leaving = f
		}
		// What failed the last time comes first. The pool hands the file out again
		// once its last reader is gone.
		f := l.leaving
		if err := l.spares.recycle(pooled{name: f.name, size: f.size, in: f}); err != nil {
			return storageError("truncate", f.name, err)
		}
		l.leaving = nil
		if err := f.release(); err != nil {
			return storageError("truncate", f.name, err)
		}
	}
}

// dropFirst takes the first file out of the list if it is not needed any more.
func (l *Log) dropFirst(before commitlog.LSN) (*logFile, error) {
	l.filesMu.Lock()
	defer l.filesMu.Unlock()
	if l.closed {
		return nil, commitlog.ErrClosed
	}
	// What the next file begins behind must be durable too: the first file may
	// still hold entries on their way. And so must the next file's header, which goes
	// out with its first frames: otherwise a crash leaves no log at all.
	if len(l.files) < 2 || l.files[1].prev >= before || l.files[1].prev > l.Last() || l.files[1].used.Load() == fileDataStart {
		return nil, nil
	}
	f := l.files[0]
	l.files = l.files[1:]
	l.metrics.fileCount.Set(float64(len(l.files)))
	return f, nil
}
