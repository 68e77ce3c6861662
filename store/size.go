package store

import "millrace/store/state"

// SizeBytes of a partition's record batches on disk (log and segments), from
// its log start on; 0 for an unknown partition. Inside a segment it is exact to
// a block.
func (s *Store) SizeBytes(tp state.TopicPartition) int64 {
	sn := s.Snapshot()
	defer sn.Release()
	b, err := sn.Bounds(tp)
	if err != nil {
		return 0
	}
	n, _ := sn.sizeFrom(tp, b.LogStart, b.End)
	return n
}

// sizeFrom is the bytes of the batches that hold offsets in [from, to), where to
// is the partition's end in the snapshot. Blocks that straddle from count as a whole.
func (sn *Snapshot) sizeFrom(tp state.TopicPartition, from, to int64) (int64, error) {
	var n int64
	copied, _, compacted := sn.version.compacted(tp)
	for i, f := range sn.version.segs {
		from := from
		if i >= sn.version.copies {
			from = max(from, compacted)
		} else if f != copied {
			continue
		}
		p := f.Find(tp)
		switch {
		case p == nil || p.EndOffset <= from:
		case p.FirstOffset >= from:
			n += p.DataBytes
		default:
			blocks, err := f.Blocks(p)
			if err != nil {
				return n, sn.s.segmentError(tp, f, p.FirstOffset, p.EndOffset-1, err)
			}
			for i := range blocks {
				if blocks[i].EndOffset > from {
					n += int64(blocks[i].DataBytes)
				}
			}
		}
	}
	sn.s.pub.RLock()
	defer sn.s.pub.RUnlock()
	for _, m := range sn.version.mems {
		p := m.parts[tp]
		if p == nil {
			continue
		}
		last := p.refs[len(p.refs)-1].end()
		if p.refs[0].base >= from && last <= to {
			n += p.bytes
			continue
		}
		for i := findRef(p.refs, from); i < len(p.refs) && p.refs[i].base < to; i++ {
			n += int64(p.refs[i].size())
		}
	}
	return n, nil
}
