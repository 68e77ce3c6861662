package state

import "encoding/binary"

// --- AddGroupToTransaction: now, transactional id, group ---

func (s *State) decideAddGroup(now Millis, in AddGroupToTransaction, buf []byte) ([]byte, any) {
	t, err := s.claim(in.TransactionRef)
	switch {
	case err != nil:
		return nil, TransactionResult{Err: err}
	case len(in.Group) > maxNameBytes:
		return nil, TransactionResult{Err: ErrTooMany}
	case t.status == TransactionOngoing && t.offsets[in.Group] != nil:
		return nil, TransactionResult{}
	}
	e := binary.AppendVarint(beginEntry(buf, EntryAddGroup), now)
	e = putString(e, t.id)
	return putString(e, in.Group), TransactionResult{}
}

func (s *State) applyAddGroup(r *reader) {
	now := r.varint()
	t := s.readTransaction(r)
	group := r.string(maxNameBytes, "group name")
	if r.err == nil {
		t.addGroup(group, now)
		s.hold(group, t)
	}
}

// --- CommitTransactionOffsets: now, transactional id, group, then offsets as in CommitOffsets ---

func (s *State) decideTransactionOffsets(now Millis, in CommitTransactionOffsets, buf []byte) ([]byte, any) {
	t, err := s.claim(in.TransactionRef)
	switch {
	case err != nil:
		return nil, CommitOffsetsResult{Err: err}
	case !in.AddGroup && (t.status != TransactionOngoing || t.offsets[in.Group] == nil):
		return nil, CommitOffsetsResult{Err: ErrNoTransaction}
	case len(in.Group) > maxNameBytes || s.groups[in.Group] == nil && len(s.groups) >= s.limits.MaxGroups:
		return nil, CommitOffsetsResult{Err: ErrTooMany}
	}
	res := CommitOffsetsResult{Errs: make([]error, len(in.Offsets))}
	e := binary.AppendVarint(beginEntry(buf, EntryTransactionOffsets), now)
	e = putString(e, t.id)
	e = putString(e, in.Group)
	empty := len(e)
	e = s.putOffsets(e, in.Offsets, res.Errs, s.offsetCount+s.pendingOffsets, func(tp TopicPartition) bool {
		_, known := t.offsets[in.Group][tp]
		return known
	})
	if len(e) == empty {
		return nil, res
	}
	return e, res
}

func (s *State) applyTransactionOffsets(r *reader) {
	now := r.varint()
	t := s.readTransaction(r)
	group := r.string(maxNameBytes, "group name")
	if r.err != nil {
		return
	}
	offsets := t.addGroup(group, now)
	s.hold(group, t)
	s.readOffsets(r, offsets, &s.pendingOffsets, 0) // they are committed when it ends
}
