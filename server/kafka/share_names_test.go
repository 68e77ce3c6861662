package kafka

import (
	"sync"
	"testing"

	"millrace/server/kafka/kafkaerr"

	"millrace/server/kafka/group"
	"millrace/server/kafka/share"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func joinShareGroup(r *raw, name string) int16 {
	req := versioned(kmsg.NewPtrShareGroupHeartbeatRequest(), 1)
	req.GroupID, req.MemberID, req.SubscribedTopicNames = name, "m", []string{"t"}
	return r.ask(req).(*kmsg.ShareGroupHeartbeatResponse).ErrorCode
}

func commitOffset(r *raw, name string) int16 {
	req := versioned(kmsg.NewPtrOffsetCommitRequest(), 9)
	req.Group, req.Generation = name, -1
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic = "t"
	t.Partitions = []kmsg.OffsetCommitRequestTopicPartition{kmsg.NewOffsetCommitRequestTopicPartition()}
	req.Topics = append(req.Topics, t)
	return r.ask(req).(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode
}

func joinClassicGroup(r *raw, name string) int16 {
	req := versioned(kmsg.NewPtrJoinGroupRequest(), 9)
	req.Group, req.SessionTimeoutMillis, req.RebalanceTimeoutMillis, req.ProtocolType = name, 30000, 30000, "consumer"
	p := kmsg.NewJoinGroupRequestProtocol()
	p.Name = "range"
	req.Protocols = append(req.Protocols, p)
	return r.ask(req).(*kmsg.JoinGroupResponse).ErrorCode // a member id is given first
}

func TestAShareGroupIsNoConsumersAndTheOtherWayRound(t *testing.T) {
	e := start(t)
	e.topic("t", 1)
	r := e.raw()
	if c := joinShareGroup(r, "s"); c != kafkaerr.None {
		t.Fatal(c)
	}
	if c := joinClassicGroup(r, "s"); c != kafkaerr.InconsistentGroupProtocol {
		t.Errorf("JoinGroup of a share group: %d", c)
	}
	if c := commitOffset(r, "s"); c != kafkaerr.GroupIDNotFound {
		t.Errorf("OffsetCommit to a share group: %d", c)
	}
	consumer := versioned(kmsg.NewPtrConsumerGroupHeartbeatRequest(), 1)
	consumer.Group, consumer.MemberID, consumer.RebalanceTimeoutMillis, consumer.SubscribedTopicNames = "s", "m", 30000, []string{"t"}
	consumer.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	if c := r.ask(consumer).(*kmsg.ConsumerGroupHeartbeatResponse).ErrorCode; c != kafkaerr.GroupIDNotFound {
		t.Errorf("ConsumerGroupHeartbeat of a share group: %d", c)
	}
	fetch := versioned(kmsg.NewPtrOffsetFetchRequest(), 8)
	fetch.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "s", MemberEpoch: -1}}
	if g := r.ask(fetch).(*kmsg.OffsetFetchResponse).Groups[0]; g.ErrorCode != kafkaerr.None || len(g.Topics) != 0 {
		t.Errorf("OffsetFetch of a share group: %+v", g)
	}
	if c := joinClassicGroup(r, "c"); c != kafkaerr.MemberIDRequired {
		t.Fatal(c)
	}
	if c := joinShareGroup(r, "c"); c != kafkaerr.GroupIDNotFound {
		t.Errorf("ShareGroupHeartbeat of a consumer group: %d", c)
	}
	if c := commitOffset(r, "offsets"); c != kafkaerr.None {
		t.Fatal(c)
	}
	if c := joinShareGroup(r, "offsets"); c != kafkaerr.GroupIDNotFound {
		t.Errorf("ShareGroupHeartbeat of a group that has offsets: %d", c)
	}
	consumer.Group = "k"
	if c := r.ask(consumer).(*kmsg.ConsumerGroupHeartbeatResponse).ErrorCode; c != kafkaerr.None {
		t.Fatal(c)
	}
	if c := joinShareGroup(r, "k"); c != kafkaerr.GroupIDNotFound {
		t.Errorf("ShareGroupHeartbeat of a group of the new protocol: %d", c)
	}
	types := map[string]string{}
	for _, g := range r.ask(versioned(kmsg.NewPtrListGroupsRequest(), 5)).(*kmsg.ListGroupsResponse).Groups {
		types[g.Group] += g.GroupType
	}
	if types["s"] != "share" || types["offsets"] != "classic" {
		t.Errorf("%v", types)
	}
}

func TestOfTwoTypesMadeAtOnceOneGetsTheName(t *testing.T) {
	e := start(t)
	topic := e.topic("t", 1)
	groups, shares := e.srv.o.Admin.Groups, e.srv.o.Admin.Share
	for range 100 {
		var wg sync.WaitGroup
		var committed, joined error
		wg.Go(func() {
			done := make(chan error, 1)
			groups.Commit(group.CommitRequest{Group: "x", Generation: -1, Offsets: []state.OffsetCommit{
				{TopicPartition: state.TopicPartition{Topic: topic}, ExpireAt: -1},
			}}, func(_ []error, err error) { done <- err })
			committed = <-done
		})
		wg.Go(func() {
			_, joined = shares.Heartbeat(share.HeartbeatRequest{Group: "x", MemberID: "m", Topics: []string{"t"}})
		})
		wg.Wait()
		if (committed == nil) == (joined == nil) {
			t.Fatalf("commit: %v, heartbeat: %v", committed, joined)
		}
		done := make(chan error, 1)
		if joined == nil {
			if _, err := shares.Heartbeat(share.HeartbeatRequest{Group: "x", MemberID: "m", Epoch: -1}); err != nil {
				t.Fatal(err)
			}
			shares.Delete("x", func(err error) { done <- err })
		} else {
			groups.Delete("x", func(err error) { done <- err })
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}
