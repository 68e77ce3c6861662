package columns

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"millrace/internal/vector"
	"millrace/store/segment/colfile"
	"millrace/store/state"
)

// Cool writes one file of a topic anew, compressed where that pays, if there is one that was written before the given time and is not
// compressed yet. It says how large the file was and is; 0 and 0 without one. Only files that are open are looked at. pace is as Seal's.
func (s *Set) Cool(ctx context.Context, t state.Topic, before time.Time, pace func(context.Context) error) (was, is int64, err error) {
	s.mu.Lock()
	tf := s.topics[t.ID]
	s.mu.Unlock()
	if tf == nil {
		return 0, 0, nil
	}
	f := tf.oldest(before)
	if f == nil || !f.acquire() {
		return 0, 0, nil
	}
	defer f.release()
	var blocks []int // that somebody would read
	for i := range f.r.Blocks {
		if s.part(t, f.r.Blocks[i].Partition).has(ctx, f, i) {
			blocks = append(blocks, i)
		}
	}
	if len(blocks) == 0 {
		return 0, 0, nil // DropDead removes it
	}
	if err := s.roomFor(f.r.Size); err != nil {
		return 0, 0, err
	}
	path, err := s.rewrite(ctx, tf, f, blocks, pace)
	if err != nil {
		if errors.Is(err, colfile.ErrCorrupt) {
			f.damaged(err)
		}
		return 0, 0, err
	}
	r, err := colfile.Open(s.o.FS, path)
	if err != nil {
		return 0, 0, errors.Join(err, s.o.FS.Remove(path)) // nobody would look for it
	}
	n := &file{set: s, r: r}
	n.refs.Store(1)
	tf.mu.Lock()
	tf.files = slices.Insert(tf.files, 0, n)
	tf.mu.Unlock()
	for at, i := range blocks {
		if err := s.part(t, f.r.Blocks[i].Partition).replace(ctx, sealed{f, i}, sealed{n, at}); err != nil {
			return 0, 0, err
		}
	}
	return f.r.Size, n.r.Size, s.retire(ctx, t, tf, f)
}

// oldest is the first file that was written before the given time and not tried to be compressed.
func (tf *topicFiles) oldest(before time.Time) *file {
	tf.mu.Lock()
	defer tf.mu.Unlock()
	var out *file
	for _, f := range tf.files {
		if !f.r.Zstd && !f.bad.Load() && f.r.Created < before.UnixMilli() && (out == nil || f.r.ID < out.r.ID) {
			out = f
		}
	}
	return out
}

// rewrite copies blocks of a file into a new one, which is compressed.
func (s *Set) rewrite(ctx context.Context, tf *topicFiles, f *file, blocks []int, pace func(context.Context) error) (path string, err error) {
	info := f.r.Info
	tf.mu.Lock()
	tf.lastID++
	info.ID = tf.lastID
	tf.mu.Unlock()
	info.Zstd = true
	path = filepath.Join(tf.dir, fmt.Sprintf("%012d%s", info.ID, colfile.Suffix))
	w, err := colfile.Create(s.o.FS, path, info)
	if err != nil {
		return "", err
	}
	w.Pace = func() error { return pace(ctx) }
	for _, i := range blocks {
		b := f.r.Blocks[i]
		// A column at a time: a block as a whole may be large.
		err = w.AddColumns(b, func(c int) (colfile.Content, error) {
			v, _, err := f.r.Read(i, c, nil, vector.Heap{})
			if err != nil {
				return colfile.Content{}, err
			}
			x := colfile.Content{Vec: &v, Stats: f.r.Blocks[i].Chunks[c].Stats, Tally: tallyToFile(tallyOf(&v))}
			x.Sums, err = f.r.AllSums(i, c, x.Tally)
			return x, err
		})
		if err != nil {
			return "", errors.Join(err, w.Abort())
		}
	}
	if err := w.Finish(); err != nil {
		return "", errors.Join(err, w.Abort())
	}
	return path, nil
}

// replace has the partition read a block from another file. If it would not read the old one by now, nothing is done.
func (p *part) replace(ctx context.Context, old, with sealed) error {
	if err := p.enter(ctx); err != nil {
		return err
	}
	defer p.leave()
	at := slices.Index(p.sealed, old)
	if at < 0 {
		return nil // or the files were not looked at yet
	}
	p.sealed = slices.Clone(p.sealed)
	p.sealed[at] = with
	for _, b := range p.state.Load().list {
		if x := b.file.Load(); x != nil && *x == old {
			b.file.Store(&with)
		}
	}
	return nil
}
