package scan

import (
	"fmt"
	"math/bits"
	"sort"
)

// offsetSet is a set of offsets of one partition, one bit each, and runs of offsets besides. The zero value with a
// memory bound is empty.
type offsetSet struct {
	memory int64
	chunks map[int64]*offsetChunk // by offset / chunkOffsets
	faults intervals              // added by unreadable

	at   int64 // of last
	last *offsetChunk
}

type offsetChunk [64]uint64

const (
	chunkOffsets = 64 * 64
	chunkBytes   = chunkOffsets/8 + 64 // and what the map takes for it, about
)

// add is ErrMemory when the set would be larger than it may.
func (s *offsetSet) add(o int64) error {
	c := s.chunk(o / chunkOffsets)
	if c == nil {
		if int64(len(s.chunks)+1)*chunkBytes > s.memory {
			return fmt.Errorf("%w: too many records in one partition", ErrMemory)
		}
		if s.chunks == nil {
			s.chunks = make(map[int64]*offsetChunk)
		}
		c = new(offsetChunk)
		s.at, s.last = o/chunkOffsets, c
		s.chunks[s.at] = c
	}
	c[o%chunkOffsets/64] |= 1 << (o % 64)
	return nil
}

// unreadable adds the offsets [from, to), which are above those it was called with before.
func (s *offsetSet) unreadable(from, to int64) {
	if from < to {
		s.faults = append(s.faults, interval{from, to})
	}
}

func (s *offsetSet) chunk(at int64) *offsetChunk {
	if s.last == nil || s.at != at {
		s.at, s.last = at, s.chunks[at]
	}
	return s.last
}

func (s *offsetSet) has(o int64) bool {
	if c := s.chunk(o / chunkOffsets); c != nil && c[o%chunkOffsets/64]&(1<<(o%64)) != 0 {
		return true
	}
	return s.faulty(o, o)
}

// faulty says whether one of [first, last] is in one of the runs.
func (s *offsetSet) faulty(first, last int64) bool {
	i := sort.Search(len(s.faults), func(i int) bool { return s.faults[i].to > first })
	return i < len(s.faults) && s.faults[i].from <= last
}

// any says whether one of the offsets [first, last] is in the set.
func (s *offsetSet) any(first, last int64) bool {
	for o := first; o <= last; {
		c := s.chunk(o / chunkOffsets)
		if c == nil {
			o = (o/chunkOffsets + 1) * chunkOffsets
			continue
		}
		w := c[o%chunkOffsets/64] >> (o % 64)
		if w != 0 && o+int64(bits.TrailingZeros64(w)) <= last {
			return true
		}
		o = (o/64 + 1) * 64
	}
	return s.faulty(first, last)
}
