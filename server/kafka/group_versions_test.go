package kafka

import (
	"fmt"
	"testing"

	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestAMemberLivesInEveryVersion joins, syncs, beats, commits and leaves in each version of
// JoinGroup, with the versions of the other APIs that a client of its time speaks.
func TestAMemberLivesInEveryVersion(t *testing.T) {
	a := start(t)
	topic := a.create("t", 1)
	for version := int16(0); version <= 9; version++ {
		t.Run(fmt.Sprint("JoinGroup v", version), func(t *testing.T) {
			t.Parallel() // the delays of the first rebalances pass together
			c := a.raw()
			c.t = t
			name := fmt.Sprint("g", version)
			protocolType, protocol := "consumer", "range"

			join := kmsg.NewPtrJoinGroupRequest()
			join.Group, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis, join.ProtocolType = name, 10_000, 10_000, protocolType
			join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: protocol, Metadata: []byte{0, 0, 0, 0, 0, 0}}}
			if version >= 5 && version%2 == 1 {
				join.InstanceID = api.Nullable("static")
			}
			joined := c.ask(versioned(join, version)).(*kmsg.JoinGroupResponse)
			if version >= 4 && join.InstanceID == nil {
				if joined.ErrorCode != kafkaerr.MemberIDRequired || joined.MemberID == "" {
					t.Fatalf("got %+v", joined)
				}
				join.MemberID = joined.MemberID
				joined = c.ask(versioned(join, version)).(*kmsg.JoinGroupResponse)
			}
			if joined.ErrorCode != kafkaerr.None || joined.Generation != 1 || joined.LeaderID != joined.MemberID || len(joined.Members) != 1 || api.Deref(joined.Protocol) != protocol {
				t.Fatalf("got %+v", joined)
			}

			sync := kmsg.NewPtrSyncGroupRequest()
			sync.Group, sync.Generation, sync.MemberID, sync.InstanceID = name, 1, joined.MemberID, join.InstanceID
			sync.ProtocolType, sync.Protocol = &protocolType, &protocol
			sync.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: joined.MemberID, MemberAssignment: []byte("mine")}}
			synced := c.ask(versioned(sync, min(version, 5))).(*kmsg.SyncGroupResponse)
			if synced.ErrorCode != kafkaerr.None || string(synced.MemberAssignment) != "mine" {
				t.Fatalf("got %+v", synced)
			}

			beat := kmsg.NewPtrHeartbeatRequest()
			beat.Group, beat.Generation, beat.MemberID, beat.InstanceID = name, 1, joined.MemberID, join.InstanceID
			if got := c.ask(versioned(beat, min(version, 4))).(*kmsg.HeartbeatResponse); got.ErrorCode != kafkaerr.None {
				t.Errorf("heartbeat: %+v", got)
			}

			commit := kmsg.NewPtrOffsetCommitRequest()
			commit.Group, commit.Generation, commit.MemberID, commit.InstanceID, commit.RetentionTimeMillis = name, 1, joined.MemberID, join.InstanceID, -1
			commit.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "t", TopicID: topic.ID, Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Offset: 7, LeaderEpoch: -1}}}}
			if got := c.ask(versioned(commit, min(version+2, 10))).(*kmsg.OffsetCommitResponse); got.Topics[0].Partitions[0].ErrorCode != kafkaerr.None {
				t.Errorf("commit: %+v", got)
			}
			commit.Generation = 0
			want := kafkaerr.IllegalGeneration
			if got := c.ask(versioned(commit, min(version+2, 10))).(*kmsg.OffsetCommitResponse); got.Topics[0].Partitions[0].ErrorCode != want {
				t.Errorf("commit of another generation: %+v", got)
			}

			leave := kmsg.NewPtrLeaveGroupRequest()
			leave.Group, leave.MemberID = name, joined.MemberID
			leave.Members = []kmsg.LeaveGroupRequestMember{{MemberID: joined.MemberID, InstanceID: join.InstanceID}}
			for i, want := range []int16{kafkaerr.None, kafkaerr.UnknownMemberID} {
				got := c.ask(versioned(leave, min(version, 5))).(*kmsg.LeaveGroupResponse)
				code := got.ErrorCode
				if leave.Version >= 3 {
					code = got.Members[0].ErrorCode
				}
				if code != want {
					t.Errorf("leave %d: %+v", i, got)
				}
			}
		})
	}
}
