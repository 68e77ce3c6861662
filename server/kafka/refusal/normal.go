package refusal

import (
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// IsNormal says whether clients meet the code in the course of ordinary work, and do by
// themselves what has to be done. autoCreate: see Hint.
func IsNormal(key, code int16, autoCreate bool) bool {
	switch code {
	case kafkaerr.None, kafkaerr.RebalanceInProgress, kafkaerr.MemberIDRequired, kafkaerr.FetchSessionIDNotFound, kafkaerr.InvalidFetchSessionEpoch, kafkaerr.FetchSessionTopicIDError,
		kafkaerr.DuplicateSequenceNumber, kafkaerr.ElectionNotNeeded, kafkaerr.NoReassignmentInProgress, kafkaerr.UnstableOffsetCommit,
		kafkaerr.FencedLeaderEpoch, kafkaerr.UnknownLeaderEpoch, kafkaerr.ConcurrentTransactions, kafkaerr.ShareSessionNotFound, kafkaerr.InvalidShareSessionEpoch:
		return true
	case kafkaerr.UnsupportedVersion:
		return key == int16(kmsg.ApiVersions)
	case kafkaerr.UnknownTopicOrPartition:
		return key == int16(kmsg.Metadata) && autoCreate // a client that looks before it creates
	case kafkaerr.GroupIDNotFound:
		return key == int16(kmsg.DescribeGroups) || key == int16(kmsg.ConsumerGroupDescribe) || key == int16(kmsg.ShareGroupDescribe) // how a group's absence is told
	}
	return false
}
