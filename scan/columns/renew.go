package columns

import (
	"context"
	"slices"

	"millrace/catalog"
	"millrace/scan"
	"millrace/store"
	"millrace/store/state"
)

const (
	// renewRun is how many small neighbours in files are joined into one block. More means fewer rewrites of
	// each row, and more files.
	renewRun = 8
	// renewMost bounds the blocks that are renewed at once: until they are sealed again, queries that find nothing of them in
	// memory expand them.
	renewMost = sealBlocks
)

// Renew prepares blocks of a topic that would be better sealed anew, and says in which partitions: small neighbours are joined, and
// blocks whose files lack columns that the table has today (their types were widened, or they were declared) leave their
// files. The caller goes on with Seal. Only partitions that queries or Seal have looked at are.
func (s *Set) Renew(ctx context.Context, sn *store.Snapshot, t *catalog.Table) (partitions []int32, err error) {
	if s.o.Dir == "" {
		return nil, nil
	}
	cols, _ := fileColumns(t)
	left := renewMost
	for n := range t.Topic.Partitions {
		s.mu.Lock()
		p := s.parts[state.TopicPartition{Topic: t.Topic.ID, Partition: n}]
		s.mu.Unlock()
		if p == nil || left <= 0 {
			continue
		}
		b, err := sn.Bounds(p.tp)
		if err != nil {
			return partitions, err
		}
		if err := p.enter(ctx); err != nil {
			return partitions, err
		}
		done, dead := p.renew(t, cols, b, left)
		p.leave()
		s.cache.drop(dead)
		if done > 0 {
			partitions = append(partitions, n)
			left -= done
		}
	}
	return partitions, nil
}

// renew is Renew of one partition, with its token. dead are blocks whose columns are of no use any more.
func (p *part) renew(t *catalog.Table, cols []scan.Column, bound state.Bounds, most int) (done int, dead []*block) {
	st := p.state.Load()
	small := func(b *block) bool {
		x := b.file.Load()
		return x != nil && b.maxRows < p.set.o.BlockRows/2 && b.skip(x) == 0
	}
	var list []*block
	for i := 0; i < len(st.list); {
		b := st.list[i]
		if done < most && b.from >= bound.LogStart && small(b) {
			run, joined := 1, b
			for i+run < len(st.list) {
				next := st.list[i+run]
				if !small(next) || next.copy != b.copy || !p.set.fits(joined.maxRows+next.maxRows, joined.bytes+next.bytes) {
					break
				}
				joined = join(joined, next)
				run++
			}
			if run >= renewRun {
				joined.full = true
				if old := st.list[i : i+run]; !joined.takeDonors(old) {
					dead = append(dead, old...)
				}
				list = append(list, joined)
				i += run
				done++
				continue
			}
		}
		if x := b.file.Load(); done < most && x != nil && b.skip(x) == 0 && b.from >= bound.LogStart && lacks(x, t, cols) {
			b.file.Store(nil)
			done++
		}
		list = append(list, b)
		i++
	}
	if done > 0 {
		next := *st
		next.list = list
		p.state.Store(&next)
	}
	return done, dead
}

// lacks says whether a block's file has not all that is known of cols.
func lacks(x *sealed, t *catalog.Table, cols []scan.Column) bool {
	f := &x.f.r.Info
	return slices.ContainsFunc(cols, func(c scan.Column) bool {
		key := keyOf(t, c)
		if key == "" || f.Column(key) >= 0 {
			return false
		}
		return !x.block().Complete || c.Kind != scan.Expanded || t.Expanded[c.Index].Declared || hasPath(f, t.Expanded[c.Index].Path)
	})
}
