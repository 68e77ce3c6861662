package store

import (
	"path/filepath"

	"millrace/store/commitlog"
	"millrace/store/wal"
)

// openLog opens the commit log of the data directory.
func openLog(o Options) (commitlog.Log, error) {
	l, err := wal.Open(wal.Options{
		FS:        o.FS,
		Dir:       filepath.Join(o.Dir, logDir),
		Logger:    o.Logger,
		Registry:  o.Registry,
		FileBytes: o.LogFileBytes,
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}
