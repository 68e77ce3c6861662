package store

import "millrace/store/state"

// SizeBytes of a partition's record batches on disk (log and segments).
func (s *Store) SizeBytes(tp state.TopicPartition) int64 {
	sn := s.Snapshot()
	defer sn.Release()
	b, err := sn.Bounds(tp)
	if err != nil {
		return 0
	}
	it, err := sn.Batches(tp, allOf(b.LogStart, b.End))
	if err != nil {
		return 0
	}
	defer it.Close()
	var n int64
	for it.Next() {
		n += int64(it.Info().SizeBytes)
	}
	return n
}
