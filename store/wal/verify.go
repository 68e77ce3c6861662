package wal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"millrace/internal/vfs"
	"millrace/store/commitlog"
)

// Report is what Verify found besides problems.
type Report struct {
	Files       int
	Entries     int
	First, Last commitlog.LSN // Last < First: none
	Snapshot    bool
}

// Verify compares every checksum of a closed log, those of record batches
// included, and calls problem for each that does not match, with a
// *CorruptError (or a *VersionError). It changes nothing; err is for what kept it from looking.
// A torn tail is no problem: the next start will discard it.
func Verify(ctx context.Context, fsys vfs.FS, dir string, problem func(error)) (rep Report, err error) {
	r := &recovery{o: Options{FS: fsys, Dir: dir}, readOnly: true}
	r.o.setDefaults()
	defer r.closeFiles()
	// What one of these reports is a problem if it is about bytes.
	finding := func(err error) error {
		if v := (*VersionError)(nil); errors.Is(err, commitlog.ErrCorrupt) || errors.As(err, &v) {
			problem(err)
			return nil
		}
		return storageError("verify", dir, err)
	}
	if err := r.list(); err != nil {
		return rep, finding(err)
	}
	if err := r.headers(); err != nil {
		return rep, finding(err)
	}
	if rep.Snapshot, err = verifySnapshot(fsys, dir); err != nil {
		if err := finding(err); err != nil {
			return rep, err
		}
	}
	if err := r.snapshotClaim(); err != nil {
		return rep, finding(err)
	}
	chain := r.chain()
	if len(chain) == 0 {
		if r.proof.synced > 0 {
			problem(&CorruptError{File: dir, LSN: r.proof.synced, Synced: r.proof.synced, Reason: "the log files are missing"})
		}
		return rep, nil
	}
	if err := r.walk(); err != nil {
		return rep, finding(err)
	}
	if err := r.judge(); err != nil {
		if err := finding(err); err != nil {
			return rep, err
		}
	}
	rep.First, rep.Last = chain[0].head.prev+1, r.last
	for i, f := range r.run {
		rep.Files++
		upto := max(r.last, r.proof.synced)
		if i+1 < len(r.run) {
			upto = min(upto, r.run[i+1].head.prev)
		}
		// Judge has told of a run that ends before what is proved; files
		// that were not walked are followed here for the first time.
		told := i == len(r.run)-1
		n, err := r.verifyFile(ctx, f, upto, told, problem)
		rep.Entries += n
		if err != nil {
			return rep, err
		}
	}
	return rep, nil
}

// verifyFile reads one file up to entry upto.
func (r *recovery) verifyFile(ctx context.Context, f *found, upto commitlog.LSN, told bool, problem func(error)) (entries int, err error) {
	sc := &scanner{f: f.f, size: f.size, seed: frameSeed(r.logID, f.id)}
	off := int64(fileDataStart)
	for lsn := f.head.prev; lsn < upto; {
		if err := ctx.Err(); err != nil {
			return entries, err
		}
		corrupt := func(lsn commitlog.LSN, reason string) {
			problem(&CorruptError{File: f.name, Offset: off, LSN: lsn, Synced: upto, Reason: reason})
		}
		fr, ok, err := sc.frame(off)
		if err != nil {
			return entries, storageError("verify", f.name, err)
		}
		if ok {
			ok = fr.typ == frameEntry && fr.lsn == lsn+1 || fr.typ != frameEntry && fr.typ != frameEnd && fr.lsn == lsn
		}
		if !ok {
			if !told {
				corrupt(lsn+1, fmt.Sprintf("no good frame; entries %d to %d cannot be read", lsn+1, upto))
			}
			return entries, nil
		}
		if fr.typ == frameEntry {
			lsn++
			entries++
			ok, err := sc.checkBody(off, &fr)
			if err != nil {
				return entries, storageError("verify", f.name, err)
			}
			if !ok {
				corrupt(lsn, "frame body does not match its checksum")
			} else {
				ok, err := sc.checkBatches(off, &fr)
				if err != nil {
					return entries, storageError("verify", f.name, err)
				}
				if !ok {
					corrupt(lsn, "a record batch does not match its checksum")
				}
			}
		}
		off += fr.bytes()
	}
	return entries, nil
}

// verifySnapshot reads the snapshot to its end.
func verifySnapshot(fsys vfs.FS, dir string) (bool, error) {
	name := filepath.Join(dir, snapshotName)
	f, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close() // read only
	r := &snapshotReader{f: f, name: name}
	if _, _, err := r.begin(); err != nil {
		return true, err
	}
	_, err = io.Copy(io.Discard, r)
	return true, err
}
