package columns

import (
	"context"
	"slices"

	"millrace/store"
	"millrace/store/state"
)

// DropDead removes a topic's files in which the snapshot wants nothing any more: below the log start, or of compacted copies
// that others have taken the place of, or covered by newer files. What older snapshots want of them is made anew. It looks only at
// topics whose files are open.
func (s *Set) DropDead(ctx context.Context, sn *store.Snapshot, t state.Topic) (files int, err error) {
	s.mu.Lock()
	tf := s.topics[t.ID]
	s.mu.Unlock()
	if tf == nil {
		return 0, nil
	}
	tf.mu.Lock()
	all := slices.Clone(tf.files)
	tf.mu.Unlock()
	var dead []*file
	for _, f := range all {
		wanted := false
		for i := range f.r.Blocks {
			b := &f.r.Blocks[i]
			tp := state.TopicPartition{Topic: t.ID, Partition: b.Partition}
			bound, err := sn.Bounds(tp)
			if err != nil {
				return 0, err
			}
			copied := sn.Compacted(tp)
			want := uint64(0)
			if b.From < copied.End {
				want = copied.ID
			}
			if b.End > bound.LogStart && b.Copy == want && s.part(t, b.Partition).has(ctx, f, i) {
				wanted = true
				break
			}
		}
		if !wanted || f.bad.Load() {
			dead = append(dead, f)
		}
	}
	for _, f := range dead {
		if err := s.retire(ctx, t, tf, f); err != nil {
			return files, err
		}
		files++
	}
	return files, nil
}

// has says whether the partition would read that block; true when nobody knows yet.
func (p *part) has(ctx context.Context, f *file, i int) bool {
	if p.enter(ctx) != nil {
		return true
	}
	defer p.leave()
	return !p.loaded || slices.Contains(p.sealed, sealed{f, i})
}

// retire takes a file out of use and removes it.
func (s *Set) retire(ctx context.Context, t state.Topic, tf *topicFiles, f *file) error {
	var parts []int32
	for i := range f.r.Blocks {
		if p := f.r.Blocks[i].Partition; !slices.Contains(parts, p) {
			parts = append(parts, p)
		}
	}
	for _, n := range parts {
		p := s.part(t, n)
		if err := p.enter(ctx); err != nil {
			return err
		}
		p.sealed = slices.DeleteFunc(slices.Clone(p.sealed), func(x sealed) bool { return x.f == f })
		for _, b := range p.state.Load().list {
			if x := b.file.Load(); x != nil && x.f == f {
				b.file.CompareAndSwap(x, nil)
			}
		}
		p.leave()
	}
	tf.mu.Lock()
	at := slices.Index(tf.files, f)
	if at >= 0 {
		tf.files = slices.Delete(tf.files, at, at+1)
	}
	tf.mu.Unlock()
	if at >= 0 {
		f.dead.Store(true)
		f.release()
	}
	return nil
}

// Files are how many there are open, and their bytes.
func (s *Set) Files() (files int, bytes int64) {
	s.mu.Lock()
	all := make([]*topicFiles, 0, len(s.topics))
	for _, tf := range s.topics {
		all = append(all, tf)
	}
	s.mu.Unlock()
	for _, tf := range all {
		tf.mu.Lock()
		files += len(tf.files)
		for _, f := range tf.files {
			bytes += f.r.Size
		}
		tf.mu.Unlock()
	}
	return files, bytes
}
