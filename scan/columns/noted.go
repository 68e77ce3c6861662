package columns

import "slices"

// Noted is what count says of the offsets [from, to) of a partition, which are the block's as its snapshot sees it. of names the
// question: the answer to the last one is kept with the block, so that the same question is not counted again. The
// result is the caller's.
func (w *view) Noted(of string, count func(partition int32, from, to int64) ([]int64, error)) ([]int64, error) {
	b, c := w.b, w.s.set.cache
	whole := w.whole()
	if whole {
		c.mu.Lock()
		n := b.noted
		c.mu.Unlock()
		if n != nil && n.of == of {
			return slices.Clone(n.counts), nil
		}
	}
	counts, err := count(b.p.tp.Partition, max(b.from, w.bound.LogStart), min(b.end, w.bound.End))
	if err == nil && whole {
		c.mu.Lock()
		b.noted = &noted{of, slices.Clone(counts)}
		c.mu.Unlock()
	}
	return counts, err
}
