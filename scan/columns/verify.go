package columns

import (
	"context"

	"millrace/internal/vfs"
	"millrace/store/segment/colfile"
)

// Verify reports the damaged files of columns below dir, as colfile.Verify does. No server may be using them.
func Verify(ctx context.Context, fs vfs.FS, dir string, report func(error)) error {
	return colfile.Verify(ctx, fs, dir, report)
}
