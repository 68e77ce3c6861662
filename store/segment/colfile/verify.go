package colfile

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"millrace/internal/vector"
	"millrace/internal/vfs"
)

// Verify reads every column of every file in the directories of dir, and reports each damaged one. It changes nothing.
// Files of a newer version, and what is no file of columns, are passed over. err is for what kept it from looking; there
// need be no dir.
func Verify(ctx context.Context, fsys vfs.FS, dir string, report func(error)) error {
	topics, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, topic := range topics {
		sub := filepath.Join(dir, topic.Name())
		if !topic.IsDir() {
			continue
		}
		files, err := fsys.ReadDir(sub)
		if err != nil {
			return err
		}
		for _, f := range files {
			if !strings.HasSuffix(f.Name(), Suffix) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := verifyFile(fsys, filepath.Join(sub, f.Name())); err != nil && !errors.Is(err, ErrVersion) {
				report(err)
			}
		}
	}
	return nil
}

// verifyFile is the first damage of a file.
func verifyFile(fsys vfs.FS, path string) error {
	r, err := Open(fsys, path)
	if err != nil {
		return err
	}
	defer r.Close()
	for b := range r.Blocks {
		for c := range r.Columns {
			if _, _, err := r.Read(b, c, nil, vector.Heap{}); err != nil {
				return err
			}
			if _, err := r.Bloom(b, c); err != nil {
				return err
			}
			y, err := r.Tally(b, c)
			if err != nil {
				return err
			}
			for of := range r.Columns {
				if _, err := r.Sums(b, c, of, y); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
