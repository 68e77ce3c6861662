package wal

import (
	"errors"
	"fmt"
	"syscall"

	"millrace/store/commitlog"
)

// CorruptError says where bytes that were known to be synced are damaged. It is
// commitlog.ErrCorrupt.
type CorruptError struct {
	File   string // full name
	Offset int64  // of the damaged frame or header in File
	LSN    commitlog.LSN
	Synced commitlog.LSN // highest LSN known to have been synced; 0 when that played no part
	Reason string
}

func (e *CorruptError) Error() string {
	s := fmt.Sprintf("%v: %s at byte %d, entry %d: %s", commitlog.ErrCorrupt, e.File, e.Offset, e.LSN, e.Reason)
	if e.Synced != 0 {
		s += fmt.Sprintf(" (entries up to %d were synced)", e.Synced)
	}
	return s
}

func (e *CorruptError) Unwrap() error { return commitlog.ErrCorrupt }

// StorageError says which operation failed. It is commitlog.ErrStorage, also
// commitlog.ErrNoSpace when the disk was full and commitlog.ErrInDoubt when the
// entry may still be in the log until Resume succeeds.
type StorageError struct {
	Op      string // "write", "sync", "prepare" (a log file), "fence", "recover", "snapshot", "truncate"
	File    string // full name, may be empty
	InDoubt bool
	Err     error
}

func (e *StorageError) Error() string {
	s := commitlog.ErrStorage.Error() + ": " + e.Op
	if e.File != "" {
		s += " " + e.File
	}
	return s + ": " + e.Err.Error()
}

func (e *StorageError) Unwrap() []error {
	errs := []error{e.Err, commitlog.ErrStorage}
	if noSpace(e.Err) {
		errs = append(errs, commitlog.ErrNoSpace)
	}
	if e.InDoubt {
		errs = append(errs, commitlog.ErrInDoubt)
	}
	return errs
}

// noSpace says whether err is for want of space (or quota, or inodes).
func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// storageError wraps err unless it says everything already.
func storageError(op, file string, err error) error {
	if err == nil {
		return nil
	}
	if se := (*StorageError)(nil); errors.As(err, &se) {
		return err
	}
	return &StorageError{Op: op, File: file, Err: err}
}

// VersionError refuses a file written by a newer Millrace; nothing was touched.
type VersionError struct {
	File    string
	Version uint32
	Known   uint32
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s has format version %d; this program knows versions up to %d", e.File, e.Version, e.Known)
}
