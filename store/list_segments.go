package store

import (
	"millrace/store/commitlog"
	"millrace/store/segment"
	"millrace/store/state"
)

// SegmentInfo describes a file of sealed records.
type SegmentInfo struct {
	ID                uint64
	Compacted         bool          // copies of partitions; else a range of the log
	FirstLSN, LastLSN commitlog.LSN // the range
	Created           state.Millis
	Partitions        int
	Batches           int64
	DataBytes         int64 // of the batches
	SizeBytes         int64 // of the file
	Damaged           bool
}

// Segments lists what is readable now.
func (s *Store) Segments() []SegmentInfo {
	v := s.acquire()
	defer v.unref()
	out := make([]SegmentInfo, 0, len(v.segs))
	for _, f := range v.segs {
		parts := f.Partitions()
		i := SegmentInfo{
			ID: f.id, Compacted: f.Level == segment.Compacted,
			FirstLSN: commitlog.LSN(f.FirstLSN), LastLSN: commitlog.LSN(f.LastLSN), Created: f.Created,
			Partitions: len(parts), SizeBytes: f.size, Damaged: f.lost != nil || f.damaged.Load(),
		}
		for k := range parts {
			i.Batches += parts[k].Batches
			i.DataBytes += parts[k].DataBytes
		}
		out = append(out, i)
	}
	return out
}
