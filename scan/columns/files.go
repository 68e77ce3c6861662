package columns

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"millrace/store"
	"millrace/store/segment/colfile"
	"millrace/store/state"
)

// damagedSuffix is put behind the name of a file that cannot be read; nobody looks at it again.
const damagedSuffix = ".damaged"

// file is an open file of columns.
type file struct {
	set  *Set
	r    *colfile.Reader
	refs atomic.Int32 // uses, and one while the topic lists it
	dead atomic.Bool  // removed with the last use
	bad  atomic.Bool  // found damaged: read no more
}

// acquire takes a use of the file; false when it is gone.
func (f *file) acquire() bool {
	if f.bad.Load() {
		return false
	}
	for {
		n := f.refs.Load()
		if n == 0 {
			return false
		}
		if f.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (f *file) release() {
	if f.refs.Add(-1) > 0 {
		return
	}
	if err := f.r.Close(); err != nil {
		f.set.o.Logger.Warn("file of columns could not be closed", "file", f.r.Path(), "error", err)
	}
	if f.dead.Load() {
		// If it stays, the next start finds that its blocks are not wanted, and removes it.
		if err := f.set.o.FS.Remove(f.r.Path()); err != nil {
			f.set.o.Logger.Warn("file of columns could not be removed", "file", f.r.Path(), "error", err)
		}
	}
}

// damaged notes that the file cannot be read: what it has is expanded from the raw batches again.
func (f *file) damaged(err error) {
	if f.bad.Swap(true) {
		return
	}
	f.set.m.damaged.Inc()
	f.set.o.Logger.Error("file of columns cannot be read; its columns are made anew", "file", f.r.Path(), "error", err)
}

// sealed is a block of a file.
type sealed struct {
	f *file
	i int
}

func (x *sealed) block() *colfile.Block { return &x.f.r.Blocks[x.i] }

// topicFiles are the files of one topic.
type topicFiles struct {
	dir string

	mu     sync.Mutex // held over reading footers; comes after part.inside
	loaded bool
	files  []*file
	lastID uint64
}

// topicDir is where a topic's files lie. The name is for people; topics with equal (or equally cut) names differ in
// their ids.
func (s *Set) topicDir(t state.Topic) string {
	name := t.Name
	if len(name) > 200 {
		name = name[:200]
	}
	return filepath.Join(s.o.Dir, name+"."+t.ID.String())
}

// filesOf returns a topic's files, which are opened now if they were not before; nil when the Set keeps none.
func (s *Set) filesOf(t state.Topic) *topicFiles {
	if s.o.Dir == "" {
		return nil
	}
	s.mu.Lock()
	tf := s.topics[t.ID]
	if tf == nil {
		tf = &topicFiles{dir: s.topicDir(t)}
		s.topics[t.ID] = tf
	}
	s.mu.Unlock()
	tf.mu.Lock()
	defer tf.mu.Unlock()
	if !tf.loaded {
		tf.loaded = true
		s.load(t, tf)
	}
	return tf
}

// load opens the files in a topic's directory. Under its mutex.
func (s *Set) load(t state.Topic, tf *topicFiles) {
	entries, err := s.o.FS.ReadDir(tf.dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.o.Logger.Error("files of columns cannot be listed; columns are made anew", "topic", t.Name, "error", err)
		}
		return
	}
	for _, e := range entries {
		name := e.Name()
		path := filepath.Join(tf.dir, name)
		base, ours := strings.CutSuffix(name, colfile.Suffix)
		id, err := strconv.ParseUint(base, 10, 62)
		switch {
		case strings.HasSuffix(name, colfile.TempSuffix):
			if err := s.o.FS.Remove(path); err != nil {
				s.o.Logger.Warn("leftover could not be removed", "file", path, "error", err)
			}
			continue
		case !ours || err != nil:
			continue
		}
		tf.lastID = max(tf.lastID, id)
		r, err := colfile.Open(s.o.FS, path)
		if err == nil && (r.Topic != t.ID || r.ID != id) {
			err = errors.Join(fmt.Errorf("%w: it says it is file %d of topic %s", colfile.ErrCorrupt, r.ID, r.Topic), r.Close())
		}
		switch {
		case err == nil:
			f := &file{set: s, r: r}
			f.refs.Store(1)
			tf.files = append(tf.files, f)
		case errors.Is(err, colfile.ErrCorrupt):
			s.m.damaged.Inc()
			s.o.Logger.Error("file of columns is damaged and set aside; its columns are made anew", "file", path, "error", err)
			if err := s.o.FS.Rename(path, path+damagedSuffix); err != nil {
				s.o.Logger.Warn("it could not be renamed", "file", path, "error", err)
			}
		default:
			s.o.Logger.Error("file of columns cannot be opened; its columns are made anew", "file", path, "error", err)
		}
	}
	// The newest file of several with the same offsets holds.
	slices.SortFunc(tf.files, func(a, b *file) int { return int(min(1, max(-1, int64(b.r.ID)-int64(a.r.ID)))) })
}

// sealedOf lists the blocks of one partition in files, in order of offsets and without overlaps.
func (tf *topicFiles) sealedOf(partition int32) []sealed {
	tf.mu.Lock()
	defer tf.mu.Unlock()
	var out []sealed
	for _, f := range tf.files {
		for i := range f.r.Blocks {
			if b := &f.r.Blocks[i]; b.Partition == partition && !f.bad.Load() {
				out = insertSealed(out, sealed{f, i})
			}
		}
	}
	return out
}

// insertSealed puts a block into its place, unless it overlaps with one there.
func insertSealed(list []sealed, x sealed) []sealed {
	b := x.block()
	at, _ := slices.BinarySearchFunc(list, b.From, func(s sealed, from int64) int {
		return int(min(1, max(-1, s.block().From-from)))
	})
	if at < len(list) && list[at].block().From < b.End || at > 0 && list[at-1].block().End > b.From {
		return list
	}
	return slices.Insert(list, at, x)
}

// replaceSealed puts blocks into list in place of those that they overlap with.
func replaceSealed(list []sealed, with []sealed) []sealed {
	out := slices.DeleteFunc(slices.Clone(list), func(old sealed) bool {
		return slices.ContainsFunc(with, func(x sealed) bool {
			return old.block().From < x.block().End && x.block().From < old.block().End
		})
	})
	for _, x := range with {
		out = insertSealed(out, x)
	}
	return out
}

// fill appends what covers [at, to) to list as far as files reach: their blocks, and between them blocks cut from the raw
// batches. It returns the end of the last one.
func (p *part) fill(v *seen, at, to int64, cut func(from, to int64) error, add func(*block)) (int64, error) {
	for _, x := range p.sealed {
		s := x.block()
		from := max(s.From, at)
		switch {
		case s.End <= at:
			continue
		case s.From >= to:
			return at, nil
		case s.End > to || s.From < at && !s.Dense || !x.holds(v) || x.f.bad.Load():
			continue
		}
		if at < from {
			if err := cut(at, from); err != nil {
				return at, err
			}
		}
		add(p.fromSealed(x, from))
		at = s.End
	}
	return at, nil
}

// holds says whether the block has what the snapshot sees of its offsets.
func (x *sealed) holds(v *seen) bool {
	s := x.block()
	want := uint64(0)
	if s.From < v.copy.End {
		want = v.copy.ID
	}
	return s.Copy == want && s.End <= v.bound.LastStable && s.Committed <= uint64(v.sn.LSN())
}

// fromSealed makes the block of a file's from offset from on.
func (p *part) fromSealed(x sealed, from int64) *block {
	s := x.block()
	b := newBlock(p, from, s.End)
	b.maxRows = s.Rows - b.skip(&x)
	b.rows = b.maxRows
	b.bytes, b.dense, b.full = s.RawBytes, s.Dense, true
	b.copy, b.committed = s.Copy, lsnOf(s.Committed)
	b.minTime, b.maxTime, b.timed = s.MinTime, s.MaxTime, s.Timed
	b.file.Store(&x)
	return b
}

// forgetFiles closes the files of topics that are gone, and removes them.
func (s *Set) forgetFiles(tf *topicFiles) {
	tf.mu.Lock()
	defer tf.mu.Unlock()
	for _, f := range tf.files {
		f.dead.Store(true)
		f.release()
	}
	tf.files = nil
}

// Sweep forgets the topics that are not among topics, and removes their files, also those of earlier runs.
func (s *Set) Sweep(topics func() *store.TopicSet) {
	s.dropIdle()
	if s.o.Dir == "" {
		s.Forget(topics())
		return
	}
	entries, err := s.o.FS.ReadDir(s.o.Dir)
	live := topics() // after the directories that there are, all of which have had a topic
	s.Forget(live)
	if err != nil {
		return // there is nothing yet
	}
	for _, e := range entries {
		id, ok := topicOfDir(e.Name())
		if !ok {
			continue
		}
		if _, ok := live.ByID(id); ok {
			continue
		}
		dir := filepath.Join(s.o.Dir, e.Name())
		inside, err := s.o.FS.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, f := range inside {
			err = errors.Join(err, s.o.FS.Remove(filepath.Join(dir, f.Name())))
		}
		if err := errors.Join(err, s.o.FS.Remove(dir)); err != nil {
			s.o.Logger.Warn("columns of a deleted topic could not be removed", "dir", dir, "error", err)
		}
	}
}
