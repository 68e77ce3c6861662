package state

import (
	"fmt"
)

// An entry is what the commit log keeps of one change:
//
//	+---------+------+------------------------+
//	| version | kind | body, by kind          |
//	| 1 byte  | 1 b  | varints, see each kind |
//	+---------+------+------------------------+
//
// The log carries the checksum. Entries hold outcomes (assigned offsets, new
// versions, cut-off times), never wishes, so applying one needs no decision, no
// limit and no clock. Every later version of Millrace reads all older versions.
const entryVersion = 1

// EntryKind says what an entry does.
type EntryKind uint8

// The kinds are part of the format: numbers are never reused.
const (
	EntryProduce          EntryKind = 1
	EntryCreateTopic      EntryKind = 2
	EntryDeleteTopic      EntryKind = 3
	EntryCreatePartitions EntryKind = 4
	EntrySetTopicConfigs  EntryKind = 5
	EntryAdvanceLogStart  EntryKind = 6
	EntryProducerID       EntryKind = 7
	EntryExpireProducers  EntryKind = 8
	EntryCommitOffsets    EntryKind = 9
	EntryDeleteOffsets    EntryKind = 10
	EntryPutGroup         EntryKind = 11
	EntryDeleteGroup      EntryKind = 12
	EntryExpireOffsets    EntryKind = 13
	EntryPutDocument      EntryKind = 14
	EntryInitTransaction  EntryKind = 15
	EntryAddPartitions    EntryKind = 16
	EntryAddGroup         EntryKind = 17

	EntryTransactionOffsets     EntryKind = 18
	EntryEndTransaction         EntryKind = 19
	EntryExpireTransactionalIDs EntryKind = 20
)

const entryHeaderBytes = 2

func beginEntry(buf []byte, kind EntryKind) []byte {
	return append(buf[:0], entryVersion, byte(kind))
}

// KindOf returns what entry does.
func KindOf(entry []byte) (EntryKind, error) {
	if len(entry) < entryHeaderBytes {
		return 0, fmt.Errorf("%w: entry of %d bytes", ErrCorrupt, len(entry))
	}
	if entry[0] != entryVersion {
		return 0, fmt.Errorf("%w: entry version %d", ErrCorrupt, entry[0])
	}
	return EntryKind(entry[1]), nil
}

// Apply carries out an entry that Decide made. An error (ErrCorrupt) means a
// corrupt or unknown entry, or one that was decided against another state: the
// state is then unusable. Apply keeps no reference to entry.
func (s *State) Apply(entry []byte) error {
	kind, err := KindOf(entry)
	if err != nil {
		return err
	}
	r := reader{b: entry[entryHeaderBytes:]}
	switch kind {
	case EntryProduce:
		s.applyProduce(&r)
	case EntryCreateTopic:
		s.applyCreateTopic(&r)
	case EntryDeleteTopic:
		s.applyDeleteTopic(&r)
	case EntryCreatePartitions:
		s.applyCreatePartitions(&r)
	case EntrySetTopicConfigs:
		s.applySetTopicConfigs(&r)
	case EntryAdvanceLogStart:
		s.applyAdvanceLogStart(&r)
	case EntryProducerID:
		s.applyProducerID(&r)
	case EntryExpireProducers:
		s.applyExpireProducers(&r)
	case EntryCommitOffsets:
		s.applyCommitOffsets(&r)
	case EntryDeleteOffsets:
		s.applyDeleteOffsets(&r)
	case EntryPutGroup:
		s.applyPutGroup(&r)
	case EntryDeleteGroup:
		s.applyDeleteGroup(&r)
	case EntryExpireOffsets:
		s.applyExpireOffsets(&r)
	case EntryPutDocument:
		s.applyPutDocument(&r)
	case EntryInitTransaction:
		s.applyInitTransaction(&r)
	case EntryAddPartitions:
		s.applyAddPartitions(&r)
	case EntryAddGroup:
		s.applyAddGroup(&r)
	case EntryTransactionOffsets:
		s.applyTransactionOffsets(&r)
	case EntryEndTransaction:
		s.applyEndTransaction(&r)
	case EntryExpireTransactionalIDs:
		s.applyExpireTransactionalIDs(&r)
	default:
		return fmt.Errorf("%w: entry kind %d", ErrCorrupt, kind)
	}
	return r.end()
}
