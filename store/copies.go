package store

import "millrace/store/state"

// Copy names the compacted copy that a partition's records below End come from. Two
// snapshots with the same copy read the same records there, as far as their log starts let
// them. The zero value: there is none.
type Copy struct {
	ID  uint64 // greater in later copies
	End int64
}

// Compacted returns the partition's compacted copy in the snapshot.
func (sn *Snapshot) Compacted(tp state.TopicPartition) Copy {
	f, _, end := sn.version.compacted(tp)
	if f == nil {
		return Copy{}
	}
	return Copy{ID: f.id, End: end}
}

// Busy says whether records wait for the disk: background work should make way.
func (s *Store) Busy() bool { return s.budget.InUse() > 0 }
