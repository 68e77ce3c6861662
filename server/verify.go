package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"millrace/internal/vfs"
	"millrace/scan/columns"
	"millrace/store"
)

// Verify checks the data directory of a stopped server, files of columns included, and writes a line per finding to w; problems is
// their number. It changes nothing. err is for what kept it from looking.
func Verify(ctx context.Context, fs vfs.FS, dir string, w io.Writer) (problems int, err error) {
	problems, err = store.Verify(ctx, fs, dir, w)
	if err != nil {
		return problems, err
	}
	var written error
	err = columns.Verify(ctx, fs, filepath.Join(dir, columnsDir), func(damage error) {
		problems++
		_, werr := fmt.Fprintf(w, "%v (a file of columns, which is made of the records again: delete it)\n", damage)
		written = errors.Join(written, werr)
	})
	return problems, errors.Join(err, written)
}
