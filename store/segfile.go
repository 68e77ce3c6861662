package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"millrace/store/segment"
)

// segmentCacheBytes bounds the memory of block indexes over all segments.
const segmentCacheBytes = 32 << 20

const segmentSuffix = ".seg"

// segmentFile is an open sealed segment. It is referenced by each version that
// contains it and, while the saved checkpoint names it, by the store.
type segmentFile struct {
	*segment.Reader
	id   uint64
	size int64

	s       *Store
	refs    atomic.Int32
	retired atomic.Bool // no checkpoint names it any more: unlinked with its last reference
	damaged atomic.Bool // a merge could not read it: left alone
	lost    error       // why its directory could not be read at the start; it holds unknown records then
}

func (f *segmentFile) ref() { f.refs.Add(1) }

func (f *segmentFile) unref() {
	if f.refs.Add(-1) > 0 {
		return
	}
	if err := f.Close(); err != nil {
		f.s.o.Logger.Warn("segment could not be closed", "segment", f.id, "error", err)
	}
	if !f.retired.Load() {
		return
	}
	// If this fails the file is a leftover that the next start removes.
	if err := f.s.o.FS.Remove(f.s.segmentPath(f.id)); err != nil {
		f.s.o.Logger.Warn("segment could not be removed", "segment", f.id, "error", err)
	}
	f.s.metrics.retired.Inc()
}

// relName is the file's name relative to the data directory, for errors.
func (f *segmentFile) relName() string { return filepath.Join(segmentsDir, f.Name()) }

func segmentName(id uint64) string { return fmt.Sprintf("%012d%s", id, segmentSuffix) }

func (s *Store) segmentPath(id uint64) string {
	return filepath.Join(s.o.Dir, segmentsDir, segmentName(id))
}

// openSegment returns the segment with no reference yet.
func (s *Store) openSegment(id uint64) (*segmentFile, error) {
	r, err := segment.Open(s.o.FS, s.segmentPath(id), s.cache)
	if err != nil {
		return nil, err
	}
	if r.ID != id {
		return nil, errors.Join(fmt.Errorf("%w: segment file %d says it is %d", ErrCorrupt, id, r.ID), r.Close())
	}
	return &segmentFile{Reader: r, id: id, size: r.Size(), s: s}, nil
}

// openSegments opens the checkpoint's segments, each with one reference (the
// checkpoint's), and removes files that no checkpoint names: what an
// interrupted sealing or merge left behind.
func (s *Store) openSegments(ids []uint64) ([]*segmentFile, error) {
	dir := filepath.Join(s.o.Dir, segmentsDir)
	if err := s.o.FS.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	known := make(map[string]bool, len(ids))
	for _, id := range ids {
		known[segmentName(id)] = true
		s.keeper.lastID = max(s.keeper.lastID, id)
	}
	entries, err := s.o.FS.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	for _, e := range entries {
		id, ok := parseSegmentName(e)
		if !ok || known[e.Name()] {
			continue
		}
		if s.log.Last() == 0 {
			// Nothing was ever stored, so nothing can have been sealed.
			return nil, fmt.Errorf("%w: %s: there are segments, but the log is missing", ErrCorrupt, filepath.Join(s.o.Dir, logDir))
		}
		s.o.Logger.Info("removing an unfinished segment", "file", e.Name())
		if err := s.o.FS.Remove(filepath.Join(dir, e.Name())); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
		s.keeper.lastID = max(s.keeper.lastID, id)
	}
	segs := make([]*segmentFile, 0, len(ids))
	for _, id := range ids {
		f, err := s.openSegment(id)
		switch {
		case errors.Is(err, segment.ErrCorrupt), errors.Is(err, ErrCorrupt), errors.Is(err, fs.ErrNotExist):
			// Others stay readable. Which records this one holds can only be told from
			// what is missing between the others (see cursor.open).
			s.o.Logger.Error("a segment is damaged; the records that only it holds cannot be read", "segment", id, "error", err)
			f = &segmentFile{Reader: segment.Damaged(segmentName(id)), id: id, s: s, lost: err}
			f.damaged.Store(true)
		case err != nil:
			for _, f := range segs {
				f.unref()
			}
			return nil, fmt.Errorf("store: segment %s: %w", segmentName(id), err)
		}
		f.ref()
		segs = append(segs, f)
	}
	return segs, nil
}

func parseSegmentName(e fs.DirEntry) (uint64, bool) {
	digits, ok := strings.CutSuffix(e.Name(), segmentSuffix)
	if !ok || e.IsDir() {
		return 0, false
	}
	id, err := strconv.ParseUint(digits, 10, 64)
	return id, err == nil && e.Name() == segmentName(id)
}
