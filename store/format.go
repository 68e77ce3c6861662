package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"millrace/internal/vfs"
)

// formatVersion is the version of the data directory's layout. A directory of a
// newer version is refused and nothing in it touched.
const formatVersion = 1

// The FORMAT file is one line: this prefix and the version.
const formatPrefix = "millrace data format "

// maxFormatBytes bounds what is read of the FORMAT file.
const maxFormatBytes = 128

// checkFormat reads dir's version, or writes it if dir is new.
func checkFormat(fsys vfs.FS, dir string) error {
	v, err := readFormat(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return writeFormat(fsys, dir)
	}
	if err != nil {
		return err
	}
	if v > formatVersion {
		return newerFormat(dir, v)
	}
	return nil
}

func newerFormat(dir string, v int) error {
	return fmt.Errorf("store: %s has data format %d, written by a newer Millrace; this one reads up to %d", dir, v, formatVersion)
}

func readFormat(fsys vfs.FS, dir string) (int, error) {
	name := filepath.Join(dir, formatName)
	f, err := fsys.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var b [maxFormatBytes]byte
	n, err := f.ReadAt(b[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	rest, ok := strings.CutPrefix(strings.TrimRight(string(b[:n]), "\n"), formatPrefix)
	v, convErr := strconv.Atoi(rest)
	if !ok || convErr != nil || v < 1 {
		return 0, fmt.Errorf("%w: %s is not a Millrace format file", ErrCorrupt, name)
	}
	return v, nil
}

// writeFormat is atomic: a crash leaves no half-written version behind.
func writeFormat(fsys vfs.FS, dir string) error {
	name := filepath.Join(dir, formatName)
	f, err := fsys.Create(name + ".tmp")
	if err != nil {
		return err
	}
	_, err = f.WriteAt(fmt.Appendf(nil, "%s%d\n", formatPrefix, formatVersion), 0)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := fsys.Rename(name+".tmp", name); err != nil {
		return err
	}
	return fsys.SyncDir(dir)
}
