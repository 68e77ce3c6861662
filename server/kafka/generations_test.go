package kafka

import (
	"slices"
	"testing"

	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// groupMember speaks for one member of a classic group, on a connection of its own.
type groupMember struct {
	*raw
	group      string
	id         string
	generation int32
	leader     bool
	others     []string // of the leader: all members
}

// announce gets a member id.
func (e *env) announce(group string) *groupMember {
	m := &groupMember{raw: e.raw(), group: group}
	resp := m.ask(m.joinRequest()).(*kmsg.JoinGroupResponse)
	if resp.ErrorCode != kafkaerr.MemberIDRequired || resp.MemberID == "" {
		e.t.Fatalf("got %+v", resp)
	}
	m.id = resp.MemberID
	return m
}

func (m *groupMember) joinRequest() *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Version = 5
	req.Group, req.MemberID, req.ProtocolType = m.group, m.id, "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 30_000, 30_000
	meta := kmsg.NewConsumerMemberMetadata()
	meta.Topics = []string{"orders"}
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: meta.AppendTo(nil)}}
	return req
}

// rejoin has all members join and returns the leader; they are one generation.
func rejoin(t *testing.T, members []*groupMember) *groupMember {
	t.Helper()
	for {
		asked := make([]int32, len(members))
		for i, m := range members {
			asked[i] = m.send(m.joinRequest())
		}
		var leader *groupMember
		for i, m := range members {
			resp := m.recv(m.joinRequest(), asked[i]).(*kmsg.JoinGroupResponse)
			if resp.ErrorCode != kafkaerr.None {
				t.Fatalf("got %+v", resp)
			}
			m.generation, m.leader, m.others = resp.Generation, resp.LeaderID == m.id, nil
			if m.leader {
				leader = m
				for _, o := range resp.Members {
					m.others = append(m.others, o.MemberID)
				}
			}
		}
		// The first ones may have been a generation of their own.
		if leader != nil && len(leader.others) == len(members) && !slices.ContainsFunc(members, func(m *groupMember) bool { return m.generation != leader.generation }) {
			return leader
		}
	}
}

func (m *groupMember) syncRequest(generation int32, partitions map[string][]int32) *kmsg.SyncGroupRequest {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Version = 3
	req.Group, req.MemberID, req.Generation = m.group, m.id, generation
	for id, p := range partitions {
		a := kmsg.NewConsumerMemberAssignment()
		a.Topics = []kmsg.ConsumerMemberAssignmentTopic{{Topic: "orders", Partitions: p}}
		req.GroupAssignment = append(req.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: id, MemberAssignment: a.AppendTo(nil)})
	}
	return req
}

func (m *groupMember) sync(generation int32) int16 {
	return m.ask(m.syncRequest(generation, nil)).(*kmsg.SyncGroupResponse).ErrorCode
}

func (m *groupMember) beat(generation int32) int16 {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Version = 3
	req.Group, req.MemberID, req.Generation = m.group, m.id, generation
	return m.ask(req).(*kmsg.HeartbeatResponse).ErrorCode
}

func (m *groupMember) commit(generation int32, offset int64) int16 {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Version = 7
	req.Group, req.MemberID, req.Generation = m.group, m.id, generation
	req.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "orders", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Offset: offset, LeaderEpoch: -1}}}}
	return m.ask(req).(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode
}

// settle has everybody sync: the others first, each with an assignment of its own that must not count, then the leader.
// All partitions are owned once, and everybody owns some.
func settle(t *testing.T, members []*groupMember, leader *groupMember, partitions int32) {
	t.Helper()
	wants := map[string][]int32{}
	for p := range partitions {
		id := leader.others[int(p)%len(leader.others)]
		wants[id] = append(wants[id], p)
	}
	all := make([]int32, partitions)
	for p := range all {
		all[p] = int32(p)
	}
	asked := map[*groupMember]int32{}
	for _, m := range members {
		if m != leader {
			asked[m] = m.send(m.syncRequest(m.generation, map[string][]int32{m.id: all}))
		}
	}
	asked[leader] = leader.send(leader.syncRequest(leader.generation, wants))
	var owned []int32
	for m, correlation := range asked {
		resp := m.recv(m.syncRequest(0, nil), correlation).(*kmsg.SyncGroupResponse)
		a := kmsg.NewConsumerMemberAssignment()
		if err := a.ReadFrom(resp.MemberAssignment); err != nil || resp.ErrorCode != kafkaerr.None || len(a.Topics) != 1 || len(a.Topics[0].Partitions) == 0 {
			t.Fatalf("%+v, %+v, %v", resp, a, err)
		}
		owned = append(owned, a.Topics[0].Partitions...)
	}
	slices.Sort(owned)
	if !slices.Equal(owned, all) {
		t.Errorf("owned are %v of %d partitions", owned, partitions)
	}
}

// TestGenerationsOverTheWire is cases.md C58.
func TestGenerationsOverTheWire(t *testing.T) {
	e := start(t)
	const partitions = 6
	e.topic("orders", partitions)
	var members []*groupMember
	for range 3 {
		members = append(members, e.announce("g"))
	}
	leader := rejoin(t, members)
	old := leader.generation
	settle(t, members, leader, partitions)
	want := func(what string, got, want int16) {
		t.Helper()
		if got != want {
			t.Errorf("%s: error %d, want %d", what, got, want)
		}
	}
	want("commit", members[1].commit(old, 5), kafkaerr.None)

	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Version = 3
	leave.Group = "g"
	leave.Members = []kmsg.LeaveGroupRequestMember{{MemberID: members[2].id}}
	if resp := members[2].ask(leave).(*kmsg.LeaveGroupResponse); resp.ErrorCode != kafkaerr.None || resp.Members[0].ErrorCode != kafkaerr.None {
		t.Fatalf("got %+v", resp)
	}
	gone, members := members[2], members[:2]
	want("heartbeat while members join", members[0].beat(old), kafkaerr.RebalanceInProgress)
	want("sync while members join", members[1].sync(old), kafkaerr.RebalanceInProgress)
	// What a member did it may still say, as in Kafka: consumers commit as they give up their partitions.
	want("commit while members join", members[1].commit(old, 6), kafkaerr.None)

	leader = rejoin(t, members)
	if leader.generation != old+1 {
		t.Errorf("generation %d after %d", leader.generation, old)
	}
	want("commit of the old generation before the assignment", members[1].commit(old, 7), kafkaerr.RebalanceInProgress)
	want("commit of the new generation before the assignment", members[1].commit(old+1, 7), kafkaerr.RebalanceInProgress)
	settle(t, members, leader, partitions)
	want("commit of the old generation", members[1].commit(old, 8), kafkaerr.IllegalGeneration)
	want("sync of the old generation", members[1].sync(old), kafkaerr.IllegalGeneration)
	want("heartbeat of the old generation", members[1].beat(old), kafkaerr.IllegalGeneration)
	want("commit of who left", gone.commit(old+1, 8), kafkaerr.UnknownMemberID)
	want("heartbeat", members[1].beat(old+1), kafkaerr.None)
	want("heartbeat of the other", members[0].beat(old+1), kafkaerr.None)

	fetch := kmsg.NewPtrOffsetFetchRequest()
	fetch.Version = 7
	fetch.Group = "g"
	fetch.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "orders", Partitions: []int32{0}}}
	resp := members[0].ask(fetch).(*kmsg.OffsetFetchResponse)
	if got := resp.Topics[0].Partitions[0]; got.ErrorCode != kafkaerr.None || got.Offset != 6 {
		t.Errorf("got %+v", got)
	}
}
