package state

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math"
	"slices"
)

// group is what survives a restart of one consumer group.
type group struct {
	data       []byte // PutGroup's; nil if only offsets were committed
	active     bool   // it has members: its offsets do not expire
	emptySince Millis // when it lost its members; with !active and data != nil
	offsets    map[TopicPartition]committed
}

type committed struct {
	CommittedOffset
	expireAt Millis
}

func (g *group) clone() *group {
	c := *g // data is never modified in place
	c.offsets = maps.Clone(g.offsets)
	return &c
}

// expired says whether an offset of a group may go. As in Kafka, a group with
// members keeps its offsets whatever their age.
func (g *group) expired(o committed, now, retention Millis) bool {
	switch {
	case g.active:
		return false
	case o.expireAt >= 0:
		return o.expireAt <= now
	}
	return max(g.emptySince, o.CommitTime) <= now-retention
}

// Group returns what PutGroup stored (nil when only offsets were committed),
// whether the group had members then, and whether it exists. data is read-only.
func (s *State) Group(name string) (data []byte, active, ok bool) {
	g := s.groups[name]
	if g == nil {
		return nil, false, false
	}
	return g.data, g.active, true
}

// GroupOffsets returns the committed offsets of a group in a new map; false if
// there is no such group.
func (s *State) GroupOffsets(name string) (map[TopicPartition]CommittedOffset, bool) {
	g := s.groups[name]
	if g == nil {
		return nil, false
	}
	m := make(map[TopicPartition]CommittedOffset, len(g.offsets))
	for tp, o := range g.offsets {
		m[tp] = o.CommittedOffset
	}
	return m, true
}

// Groups calls fn with every group, in name order; data as in Group.
func (s *State) Groups(fn func(name string, data []byte)) {
	for _, name := range slices.Sorted(maps.Keys(s.groups)) {
		fn(name, s.groups[name].data)
	}
}

func (s *State) groupOrNew(name string) *group {
	g := s.groups[name]
	if g == nil {
		g = &group{offsets: map[TopicPartition]committed{}}
		s.groups[name] = g
	}
	return g
}

func (s *State) dropOffset(g *group, tp TopicPartition) {
	if _, ok := g.offsets[tp]; ok {
		delete(g.offsets, tp)
		s.offsetCount--
	}
}

func (s *State) dropGroup(name string) {
	if g := s.groups[name]; g != nil {
		s.offsetCount -= len(g.offsets)
		delete(s.groups, name)
	}
}

// --- CommitOffsets: group, now, then until the end: topic id, partition, offset,
// leader epoch, expire time (zigzag), metadata ---

func (s *State) decideCommitOffsets(now Millis, in CommitOffsets, buf []byte) ([]byte, any) {
	res := CommitOffsetsResult{Errs: make([]error, len(in.Offsets))}
	if len(in.Group) > maxNameBytes || s.groups[in.Group] == nil && len(s.groups) >= s.limits.MaxGroups {
		return nil, refuseAll(res, ErrTooMany)
	}
	e := beginEntry(buf, EntryCommitOffsets)
	e = putString(e, in.Group)
	e = binary.AppendVarint(e, now)
	empty := len(e)
	e = s.putOffsets(e, in.Offsets, res.Errs, s.offsetCount, func(tp TopicPartition) bool { return s.hasOffset(in.Group, tp) })
	if len(e) == empty {
		return nil, res
	}
	return e, res
}

// putOffsets appends the offsets that can be taken, and says in errs why others cannot. Those that are not
// known need room, of which count is used.
func (s *State) putOffsets(e []byte, offsets []OffsetCommit, errs []error, count int, known func(TopicPartition) bool) []byte {
	for i := range offsets {
		o := &offsets[i]
		if s.partition(o.TopicPartition) == nil {
			errs[i] = ErrUnknownTopic
			continue
		}
		if !known(o.TopicPartition) {
			if count >= s.limits.MaxOffsets {
				errs[i] = ErrTooMany
				continue
			}
			count++
		}
		if len(o.Metadata) > maxDataBytes {
			errs[i] = ErrTooMany
			continue
		}
		e = putOffset(e, o)
	}
	return e
}

func (s *State) hasOffset(name string, tp TopicPartition) bool {
	g := s.groups[name]
	if g == nil {
		return false
	}
	_, ok := g.offsets[tp]
	return ok
}

func refuseAll(res CommitOffsetsResult, err error) CommitOffsetsResult {
	for i := range res.Errs {
		res.Errs[i] = err
	}
	return res
}

func (s *State) applyCommitOffsets(r *reader) {
	name := r.string(maxNameBytes, "group name")
	now := r.varint()
	if r.err != nil {
		return
	}
	g := s.groupOrNew(name)
	s.readOffsets(r, g.offsets, &s.offsetCount, now)
}

// readOffsets takes over all offsets up to the end, and counts those that are new.
func (s *State) readOffsets(r *reader, into map[TopicPartition]committed, count *int, now Millis) {
	for len(r.b) > 0 {
		tp, o := readOffset(r)
		if r.err != nil {
			return
		}
		if s.partition(tp) == nil {
			r.fail("offset of an unknown partition")
			return
		}
		if _, ok := into[tp]; !ok {
			*count++
		}
		o.CommitTime = now
		into[tp] = o
	}
}

func putOffset(e []byte, o *OffsetCommit) []byte {
	e = putTopicPartition(e, o.TopicPartition)
	e = binary.AppendVarint(e, o.Offset)
	e = binary.AppendVarint(e, int64(o.LeaderEpoch))
	e = binary.AppendVarint(e, o.ExpireAt)
	return putString(e, o.Metadata)
}

func readOffset(r *reader) (tp TopicPartition, o committed) {
	tp.Topic = r.topicID()
	tp.Partition = r.int32("partition")
	o.Offset = r.varint()
	epoch := r.varint()
	if epoch < math.MinInt32 || epoch > math.MaxInt32 {
		r.fail("leader epoch")
	}
	o.LeaderEpoch = int32(epoch)
	o.expireAt = r.varint()
	o.Metadata = r.string(maxDataBytes, "offset metadata")
	return tp, o
}

// --- DeleteOffsets: group, then until the end: topic id, partition ---

func (s *State) decideDeleteOffsets(in DeleteOffsets, buf []byte) ([]byte, any) {
	res := CommitOffsetsResult{Errs: make([]error, len(in.Partitions))}
	pending := s.PendingOffsets(in.Group)
	if s.groups[in.Group] == nil && pending == nil {
		return nil, refuseAll(res, ErrUnknownGroup)
	}
	e := beginEntry(buf, EntryDeleteOffsets)
	e = putString(e, in.Group)
	empty := len(e)
	for i, tp := range in.Partitions {
		if s.partition(tp) == nil {
			res.Errs[i] = ErrUnknownTopic
			continue
		}
		if _, open := pending[tp]; open || s.hasOffset(in.Group, tp) { // no offset there: done already
			e = putTopicPartition(e, tp)
		}
	}
	if len(e) == empty {
		return nil, res
	}
	return e, res
}

func (s *State) applyDeleteOffsets(r *reader) {
	name := r.string(maxNameBytes, "group name")
	g, pending := s.groups[name], s.PendingOffsets(name)
	if g == nil && pending == nil {
		r.fail("unknown group")
		return
	}
	gone := map[TopicPartition]struct{}{}
	for len(r.b) > 0 {
		tp := r.topicPartition()
		if r.err != nil {
			return
		}
		if g != nil {
			s.dropOffset(g, tp)
		}
		if _, open := pending[tp]; open {
			gone[tp] = struct{}{}
		}
	}
	s.forgetPending(name, gone)
}

// --- PutGroup: group, empty (0/1), now, data ---

func (s *State) decidePutGroup(now Millis, in PutGroup, buf []byte) ([]byte, any) {
	g := s.groups[in.Group]
	switch {
	case len(in.Group) > maxNameBytes, len(in.Data) > maxDataBytes,
		g == nil && len(s.groups) >= s.limits.MaxGroups:
		return nil, GroupResult{Err: ErrTooMany}
	case g != nil && g.data != nil && g.active == !in.Empty && bytes.Equal(g.data, in.Data):
		return nil, GroupResult{}
	}
	e := beginEntry(buf, EntryPutGroup)
	e = putString(e, in.Group)
	empty := byte(0)
	if in.Empty {
		empty = 1
	}
	e = append(e, empty)
	e = binary.AppendVarint(e, now)
	return putBytes(e, in.Data), GroupResult{}
}

func (s *State) applyPutGroup(r *reader) {
	name := r.string(maxNameBytes, "group name")
	empty := r.byte()
	now := r.varint()
	data := r.bytes(maxDataBytes, "group data")
	if empty > 1 {
		r.fail("group flag")
	}
	if r.err != nil {
		return
	}
	g := s.groupOrNew(name)
	wasEmpty := g.data != nil && !g.active
	g.active = empty == 0
	g.data = append([]byte{}, data...)
	switch {
	case g.active:
		g.emptySince = 0
	case !wasEmpty:
		g.emptySince = now
	}
}

// --- DeleteGroup: group ---

func (s *State) decideDeleteGroup(in DeleteGroup, buf []byte) ([]byte, any) {
	g := s.groups[in.Group]
	if g == nil && s.PendingOffsets(in.Group) == nil {
		return nil, GroupResult{Err: ErrUnknownGroup}
	}
	if g != nil && g.active {
		return nil, GroupResult{Err: ErrGroupNotEmpty}
	}
	return putString(beginEntry(buf, EntryDeleteGroup), in.Group), GroupResult{}
}

func (s *State) applyDeleteGroup(r *reader) {
	name := r.string(maxNameBytes, "group name")
	if r.err != nil {
		return
	}
	pending := s.PendingOffsets(name)
	if s.groups[name] == nil && pending == nil {
		r.fail("unknown group")
		return
	}
	s.dropGroup(name)
	s.forgetPending(name, pending)
}

// --- ExpireOffsets: now, retention ---

func (s *State) decideExpireOffsets(now Millis, in ExpireOffsets, buf []byte) ([]byte, any) {
	if !s.anyExpired(now, in.RetentionMillis) {
		return nil, nil
	}
	e := beginEntry(buf, EntryExpireOffsets)
	e = binary.AppendVarint(e, now)
	return binary.AppendVarint(e, in.RetentionMillis), nil
}

func (s *State) anyExpired(now, retention Millis) bool {
	for _, g := range s.groups {
		if !g.active && len(g.offsets) == 0 {
			return true
		}
		for _, o := range g.offsets {
			if g.expired(o, now, retention) {
				return true
			}
		}
	}
	return false
}

// applyExpireOffsets also removes groups without members and offsets, as Kafka does.
func (s *State) applyExpireOffsets(r *reader) {
	now, retention := r.varint(), r.varint()
	if r.err != nil {
		return
	}
	for name, g := range s.groups {
		for tp, o := range g.offsets {
			if g.expired(o, now, retention) {
				s.dropOffset(g, tp)
			}
		}
		if !g.active && len(g.offsets) == 0 {
			s.dropGroup(name)
		}
	}
}
