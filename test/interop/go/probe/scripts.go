package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// script asks what depends on former answers: the lives of groups and transactions.
type script struct {
	addr   string
	b      *broker
	out    *bufio.Writer
	ranges map[int16][2]int16
	known  facts
	name   string
}

// ask sends req in version, or in the nearest that the broker has, prints its answer as
// the step's, and returns nil when there was none.
func (s *script) ask(step string, version int16, req kmsg.Request) kmsg.Response {
	r, ok := s.ranges[req.Key()]
	if !ok {
		return nil
	}
	version = min(max(version, r[0]), r[1], req.MaxVersion())
	req.SetVersion(version)
	line := fmt.Sprintf("%d %s v%d %s/%s ", req.Key(), kmsg.NameForKey(req.Key()), version, s.name, step)
	var resp kmsg.Response
	var text []byte
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var err error
		if resp, err = s.b.ask(req); err != nil {
			fmt.Fprintf(s.out, "%shangs up\n", line)
			s.b = dial(s.addr)
			return nil
		}
		if text, err = json.Marshal(plain("", reflect.ValueOf(resp))); err != nil {
			fail(err)
		}
		// CONCURRENT_TRANSACTIONS: Kafka ends transactions after the answer that they end.
		if !bytes.Contains(text, []byte(`"ErrorCode":51`)) || time.Now().After(deadline) {
			break
		}
	}
	fmt.Fprintf(s.out, "%s%s\n", line, text)
	return resp
}

// each runs one in every version of key that the broker has, up to most.
func (s *script) each(name string, key kmsg.Key, least, most int16, one func(version int16)) {
	r, ok := s.ranges[int16(key)]
	if !ok {
		return
	}
	for v := max(r[0], least); v <= min(r[1], most); v++ {
		s.name = fmt.Sprintf("%s-%d", name, v)
		one(v)
	}
}

func (s *script) classicGroups() {
	s.each("classic", kmsg.JoinGroup, 0, 9, func(v int16) {
		group := s.name
		join := func(step, member string, instance *string, kind, protocol string) *kmsg.JoinGroupResponse {
			r := kmsg.NewPtrJoinGroupRequest()
			r.Group, r.MemberID, r.InstanceID, r.ProtocolType, r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = group, member, instance, kind, 10_000, 10_000
			meta := kmsg.ConsumerMemberMetadata{Topics: []string{topic}}
			r.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: protocol, Metadata: meta.AppendTo(nil)}}
			resp, _ := s.ask(step, v, r).(*kmsg.JoinGroupResponse)
			if resp == nil {
				resp = kmsg.NewPtrJoinGroupResponse()
			}
			return resp
		}
		sync := func(step, member string, generation int32, kind, protocol *string) {
			r := kmsg.NewPtrSyncGroupRequest()
			r.Group, r.MemberID, r.Generation, r.ProtocolType, r.Protocol = group, member, generation, kind, protocol
			r.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: member, MemberAssignment: []byte{1, 2, 3}}}
			s.ask(step, v, r)
		}
		beat := func(step, member string, generation int32) {
			r := kmsg.NewPtrHeartbeatRequest()
			r.Group, r.MemberID, r.Generation = group, member, generation
			s.ask(step, v, r)
		}
		commit := func(step, member string, generation int32) {
			r := kmsg.NewPtrOffsetCommitRequest()
			r.Group, r.MemberID, r.Generation, r.RetentionTimeMillis = group, member, generation, -1
			r.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: topic, TopicID: s.known.topicID, Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Offset: 1, LeaderEpoch: -1}}}}
			s.ask(step, v, r)
		}
		leave := func(step, member string) {
			r := kmsg.NewPtrLeaveGroupRequest()
			r.Group, r.MemberID = group, member
			r.Members = []kmsg.LeaveGroupRequestMember{{MemberID: member}}
			s.ask(step, v, r)
		}
		describe := func(step string) {
			r := kmsg.NewPtrDescribeGroupsRequest()
			r.Groups = []string{group}
			s.ask(step, v, r)
		}
		a := join("join", "", nil, "consumer", "range")
		if a.ErrorCode == 79 { // come back with the id
			beat("beat-pending", a.MemberID, 0)
			sync("sync-pending", a.MemberID, 0, ptr("consumer"), ptr("range"))
			a = join("join-again", a.MemberID, nil, "consumer", "range")
		}
		describe("describe-syncing")
		beat("beat-before-sync", a.MemberID, a.Generation)
		commit("commit-before-sync", a.MemberID, a.Generation)
		sync("sync-other-generation", a.MemberID, a.Generation+5, ptr("consumer"), ptr("range"))
		sync("sync-stranger", "stranger", a.Generation, ptr("consumer"), ptr("range"))
		sync("sync-other-type", a.MemberID, a.Generation, ptr("connect"), ptr("range"))
		sync("sync-other-protocol", a.MemberID, a.Generation, ptr("consumer"), ptr("sticky"))
		sync("sync", a.MemberID, a.Generation, ptr("consumer"), ptr("range"))
		sync("sync-twice", a.MemberID, a.Generation, ptr("consumer"), ptr("range"))
		describe("describe")
		beat("beat", a.MemberID, a.Generation)
		beat("beat-other-generation", a.MemberID, a.Generation+5)
		beat("beat-stranger", "stranger", a.Generation)
		join("join-other-type", "", nil, "connect", "range")
		join("join-other-protocol", "", nil, "consumer", "other")
		join("join-stranger", "stranger", nil, "consumer", "range")
		commit("commit", a.MemberID, a.Generation)
		commit("commit-other-generation", a.MemberID, a.Generation+5)
		commit("commit-stranger", "stranger", a.Generation)
		commit("commit-simple", "", -1)
		del := kmsg.NewPtrDeleteGroupsRequest()
		del.Groups = []string{group}
		s.ask("delete-with-members", 2, del)
		forget := kmsg.NewPtrOffsetDeleteRequest()
		forget.Group = group
		forget.Topics = []kmsg.OffsetDeleteRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{}}}}
		s.ask("forget-subscribed", 0, forget)
		new := kmsg.NewPtrConsumerGroupHeartbeatRequest()
		new.Group, new.MemberID, new.MemberEpoch = group, a.MemberID, 5
		s.ask("consumer-beat-of-a-classic-member", 1, new)
		leave("leave-stranger", "stranger")
		leave("leave", a.MemberID)
		leave("leave-twice", a.MemberID)
		describe("describe-empty")
		commit("commit-after-all", a.MemberID, a.Generation)
		join("join-other-type-when-empty", "", nil, "connect", "range")
		s.ask("forget", 0, forget)
		if v < 5 {
			return
		}
		group += "-static"
		i := join("static-join", "", ptr("one"), "consumer", "range")
		sync("static-sync", i.MemberID, i.Generation, ptr("consumer"), ptr("range"))
		i2 := join("static-comes-back", "", ptr("one"), "consumer", "range")
		join("static-fenced-join", i.MemberID, ptr("one"), "consumer", "range")
		out := kmsg.NewPtrLeaveGroupRequest()
		out.Group, out.Members = group, []kmsg.LeaveGroupRequestMember{{MemberID: i.MemberID, InstanceID: ptr("one")}, {InstanceID: ptr("nobody")}}
		s.ask("static-fenced-leave", v, out)
		fenced := kmsg.NewPtrHeartbeatRequest()
		fenced.Group, fenced.MemberID, fenced.InstanceID, fenced.Generation = group, i.MemberID, ptr("one"), i2.Generation
		s.ask("static-fenced-beat", v, fenced)
		describe("static-describe")
		out.Members = []kmsg.LeaveGroupRequestMember{{InstanceID: ptr("one")}}
		s.ask("static-leave", v, out)
	})
}

func (s *script) consumerGroups() {
	s.each("consumer", kmsg.ConsumerGroupHeartbeat, 0, 1, func(v int16) {
		group := s.name
		var owned []kmsg.ConsumerGroupHeartbeatRequestTopic
		beat := func(step, member string, epoch int32, full bool, instance *string) *kmsg.ConsumerGroupHeartbeatResponse {
			r := kmsg.NewPtrConsumerGroupHeartbeatRequest()
			r.Group, r.MemberID, r.MemberEpoch, r.InstanceID, r.RebalanceTimeoutMillis = group, member, epoch, instance, -1
			if full {
				r.RebalanceTimeoutMillis, r.SubscribedTopicNames, r.Topics = 10_000, []string{topic}, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
			} else {
				r.Topics = owned
			}
			resp, _ := s.ask(step, v, r).(*kmsg.ConsumerGroupHeartbeatResponse)
			if resp == nil {
				resp = kmsg.NewPtrConsumerGroupHeartbeatResponse()
			}
			return resp
		}
		describe := func(step string) {
			r := kmsg.NewPtrConsumerGroupDescribeRequest()
			r.Groups = []string{group}
			s.ask(step, v, r)
		}
		commit := func(step, member string, epoch int32) {
			r := kmsg.NewPtrOffsetCommitRequest()
			r.Group, r.MemberID, r.Generation, r.RetentionTimeMillis = group, member, epoch, -1
			r.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: topic, TopicID: s.known.topicID, Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Offset: 1, LeaderEpoch: -1}}}}
			s.ask(step, 9, r)
			r.Version = 8
			s.ask(step+"-old", 8, r)
		}
		fetch := func(step, member string, epoch int32) {
			r := kmsg.NewPtrOffsetFetchRequest()
			r.Groups = []kmsg.OffsetFetchRequestGroup{{Group: group, MemberID: &member, MemberEpoch: epoch, Topics: []kmsg.OffsetFetchRequestGroupTopic{{Topic: topic, TopicID: s.known.topicID, Partitions: []int32{0}}}}}
			s.ask(step, 9, r)
		}
		const one, two = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"
		a := beat("join", one, 0, true, nil)
		describe("describe-one")
		beat("epoch-of-the-future", one, a.MemberEpoch+9, false, nil)
		beat("stranger", two, 3, false, nil)
		owned = []kmsg.ConsumerGroupHeartbeatRequestTopic{{TopicID: s.known.topicID, Partitions: []int32{0, 1}}}
		beat("owns", one, a.MemberEpoch, false, nil)
		owned = nil
		beat("beat", one, a.MemberEpoch, false, nil)
		commit("commit", one, a.MemberEpoch)
		commit("commit-epoch-of-the-future", one, a.MemberEpoch+9)
		commit("commit-stranger", two, a.MemberEpoch)
		commit("commit-simple", "", -1)
		fetch("fetch", one, a.MemberEpoch)
		fetch("fetch-epoch-of-the-future", one, a.MemberEpoch+9)
		fetch("fetch-stranger", two, a.MemberEpoch)
		join := kmsg.NewPtrJoinGroupRequest()
		join.Group, join.ProtocolType, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = group, "connect", 10_000, 10_000
		join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "x"}}
		s.ask("connect-joins", 3, join)
		old := kmsg.NewPtrDescribeGroupsRequest()
		old.Groups = []string{group}
		s.ask("describe-as-classic", 6, old)
		s.ask("describe-as-classic-old", 5, old)
		list := kmsg.NewPtrListGroupsRequest()
		list.TypesFilter = []string{"consumer"}
		s.ask("list", 5, list)
		share := kmsg.NewPtrShareGroupHeartbeatRequest()
		share.GroupID, share.MemberID, share.SubscribedTopicNames = group, two, []string{topic}
		s.ask("share-joins", 1, share)
		classic := kmsg.NewPtrHeartbeatRequest()
		classic.Group, classic.MemberID, classic.Generation = group, one, a.MemberEpoch
		s.ask("classic-beat", 4, classic)
		sync := kmsg.NewPtrSyncGroupRequest()
		sync.Group, sync.MemberID, sync.Generation = group, one, a.MemberEpoch
		s.ask("classic-sync", 4, sync)
		out := kmsg.NewPtrLeaveGroupRequest()
		out.Group, out.Members = group, []kmsg.LeaveGroupRequestMember{{MemberID: "stranger"}}
		s.ask("classic-leave-stranger", 4, out)
		b := beat("second-joins", two, 0, true, nil)
		a = beat("first-gives-up", one, a.MemberEpoch, false, nil)
		_, _ = a, b
		beat("second-leaves", two, -1, false, nil)
		beat("second-leaves-twice", two, -1, false, nil)
		del := kmsg.NewPtrDeleteGroupsRequest()
		del.Groups = []string{group}
		s.ask("delete-with-members", 2, del)
		beat("first-leaves", one, -1, false, nil)
		describe("describe-empty")
		st := beat("static-joins", one, 0, true, ptr("i"))
		beat("static-twice", two, 0, true, ptr("i"))
		beat("static-other-member", two, st.MemberEpoch, false, ptr("i"))
		beat("static-leaves", one, -2, false, ptr("i"))
		beat("static-beats-after-leaving", one, st.MemberEpoch, false, ptr("i"))
		beat("static-returns", two, 0, true, ptr("i"))
		beat("former-self", one, st.MemberEpoch, false, ptr("i"))
		describe("describe-static")
		beat("static-leaves-for-good", two, -1, false, ptr("i"))
		s.ask("delete", 2, del)
		describe("describe-deleted")
	})
}

func (s *script) shareGroups() {
	s.name = "share"
	const one, two = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"
	beat := func(step, member string, epoch int32, topics ...string) {
		r := kmsg.NewPtrShareGroupHeartbeatRequest()
		r.GroupID, r.MemberID, r.MemberEpoch, r.SubscribedTopicNames = "share", member, epoch, topics
		s.ask(step, 1, r)
	}
	describe := func(step string) {
		r := kmsg.NewPtrShareGroupDescribeRequest()
		r.GroupIDs = []string{"share"}
		s.ask(step, 1, r)
	}
	beat("join", one, 0, topic)
	beat("epoch-of-the-future", one, 99)
	beat("stranger", two, 3)
	beat("unknown-topic", one, 1, "no-such-topic")
	beat("back", one, 2, topic)
	ask := func(step, member string, epoch int32, id [16]byte, partition int32, acks ...kmsg.ShareFetchRequestTopicPartitionAcknowledgementBatch) {
		r := kmsg.NewPtrShareFetchRequest()
		r.GroupID, r.MemberID, r.ShareSessionEpoch, r.MaxWaitMillis, r.MinBytes, r.MaxBytes, r.MaxRecords, r.BatchSize = ptr("share"), ptr(member), epoch, 0, 0, 1<<20, 10, 10
		r.Topics = []kmsg.ShareFetchRequestTopic{{TopicID: id, Partitions: []kmsg.ShareFetchRequestTopicPartition{{Partition: partition, PartitionMaxBytes: 1 << 20, AcknowledgementBatches: acks}}}}
		s.ask(step, 1, r)
	}
	ack := func(step, member string, epoch int32, id [16]byte, partition int32, first, last int64, types ...int8) {
		r := kmsg.NewPtrShareAcknowledgeRequest()
		r.GroupID, r.MemberID, r.ShareSessionEpoch = ptr("share"), ptr(member), epoch
		r.Topics = []kmsg.ShareAcknowledgeRequestTopic{{TopicID: id, Partitions: []kmsg.ShareAcknowledgeRequestTopicPartition{{Partition: partition,
			AcknowledgementBatches: []kmsg.ShareAcknowledgeRequestTopicPartitionAcknowledgementBatch{{FirstOffset: first, LastOffset: last, AcknowledgeTypes: types}}}}}}
		s.ask(step, 1, r)
	}
	id, nowhere := s.known.topicID, [16]byte{15: 9}
	ask("fetch-skips-an-epoch", one, 2, id, 0)
	ask("fetch-opens", one, 0, id, 0)
	ask("fetch-same-epoch-twice", one, 0, id, 0)
	ask("fetch-unknown-topic", one, 1, nowhere, 0)
	ask("fetch-no-such-partition", one, 2, id, 7)
	ack("acknowledge-what-is-not-acquired", one, 3, id, 0, 500, 501, 1)
	ack("acknowledge-unknown-topic", one, 4, nowhere, 0, 0, 0, 1)
	ack("acknowledge-no-such-partition", one, 5, id, 7, 0, 0, 1)
	ack("acknowledge-backwards", one, 6, id, 0, 5, 1, 1)
	ack("acknowledge-unknown-type", one, 7, id, 0, 0, 0, 9)
	ack("acknowledge-too-many-types", one, 8, id, 0, 0, 1, 1, 1, 1)
	ack("acknowledge-no-type", one, 9, id, 0, 0, 0)
	ack("acknowledge-wrong-epoch", one, 99, id, 0, 0, 0, 1)
	ack("acknowledge-stranger", two, 3, id, 0, 0, 0, 1)
	describe("describe")
	off := kmsg.NewPtrDescribeShareGroupOffsetsRequest()
	off.Groups = []kmsg.DescribeShareGroupOffsetsRequestGroup{{GroupID: "share", Topics: []kmsg.DescribeShareGroupOffsetsRequestGroupTopic{{Topic: topic, Partitions: []int32{7}}, {Topic: "no-such-topic", Partitions: []int32{0}}}}}
	s.ask("offsets", 0, off)
	alter := kmsg.NewPtrAlterShareGroupOffsetsRequest()
	alter.GroupID = "share"
	alter.Topics = []kmsg.AlterShareGroupOffsetsRequestTopic{{Topic: topic, Partitions: []kmsg.AlterShareGroupOffsetsRequestTopicPartition{{}}}}
	s.ask("alter-with-members", 0, alter)
	gone := kmsg.NewPtrDeleteShareGroupOffsetsRequest()
	gone.GroupID, gone.Topics = "share", []kmsg.DeleteShareGroupOffsetsRequestTopic{{Topic: topic}}
	s.ask("forget-with-members", 0, gone)
	del := kmsg.NewPtrDeleteGroupsRequest()
	del.Groups = []string{"share"}
	s.ask("delete-with-members", 2, del)
	beat("leave", one, -1)
	describe("describe-empty")
	alter.Topics = append(alter.Topics, kmsg.AlterShareGroupOffsetsRequestTopic{Topic: "no-such-topic", Partitions: []kmsg.AlterShareGroupOffsetsRequestTopicPartition{{}}})
	s.ask("alter", 0, alter)
	gone.Topics = append(gone.Topics, kmsg.DeleteShareGroupOffsetsRequestTopic{Topic: "no-such-topic"})
	s.ask("forget", 0, gone)
	s.ask("delete", 2, del)
	describe("describe-deleted")
}

func (s *script) transactions() {
	s.each("transaction", kmsg.EndTxn, 0, 5, func(v int16) {
		id := s.name
		init := func(step string) (int64, int16) {
			r := kmsg.NewPtrInitProducerIDRequest()
			r.TransactionalID, r.TransactionTimeoutMillis, r.ProducerID, r.ProducerEpoch = &id, 60_000, -1, -1
			resp, _ := s.ask(step, 5, r).(*kmsg.InitProducerIDResponse)
			if resp == nil {
				return -1, -1
			}
			return resp.ProducerID, resp.ProducerEpoch
		}
		add := func(step string, producer int64, epoch int16, partitions ...int32) {
			r := kmsg.NewPtrAddPartitionsToTxnRequest()
			r.TransactionalID, r.ProducerID, r.ProducerEpoch = id, producer, epoch
			r.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: topic, Partitions: partitions}}
			s.ask(step, min(v, 3), r)
		}
		offsets := func(step string, producer int64, epoch int16, group string) {
			r := kmsg.NewPtrAddOffsetsToTxnRequest()
			r.TransactionalID, r.ProducerID, r.ProducerEpoch, r.Group = id, producer, epoch, group
			s.ask(step, v, r)
		}
		commit := func(step string, producer int64, epoch int16, group, member string, generation int32, instance *string) {
			r := kmsg.NewPtrTxnOffsetCommitRequest()
			r.TransactionalID, r.ProducerID, r.ProducerEpoch, r.Group, r.MemberID, r.Generation, r.InstanceID = id, producer, epoch, group, member, generation, instance
			r.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: topic, Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{Offset: 1, LeaderEpoch: -1}, {Partition: 7, Offset: 1, LeaderEpoch: -1}}}}
			s.ask(step, v, r)
		}
		end := func(step string, producer int64, epoch int16, how bool) {
			r := kmsg.NewPtrEndTxnRequest()
			r.TransactionalID, r.ProducerID, r.ProducerEpoch, r.Commit = id, producer, epoch, how
			s.ask(step, v, r)
		}
		describe := func(step string) {
			r := kmsg.NewPtrDescribeTransactionsRequest()
			r.TransactionalIDs = []string{id}
			s.ask(step, 0, r)
		}
		pid, epoch := init("init")
		describe("describe-empty")
		end("commit-nothing", pid, epoch, true)
		pid, epoch = init("init-again")
		end("abort-nothing", pid, epoch, false)
		pid, epoch = init("init-once-more")
		add("add-stranger", pid+1000, epoch, 0)
		add("add-epoch-of-the-past", pid, epoch-1, 0)
		add("add-epoch-of-the-future", pid, epoch+1, 0)
		add("add-no-such-partition", pid, epoch, 0, 7)
		add("add", pid, epoch, 0)
		describe("describe-ongoing")
		offsets("offsets-stranger", pid+1000, epoch, "tg")
		offsets("offsets-epoch-of-the-past", pid, epoch-1, "tg")
		offsets("offsets-epoch-of-the-future", pid, epoch+1, "tg")
		offsets("offsets-empty-group", pid, epoch, "")
		offsets("offsets", pid, epoch, "tg")
		commit("commit-offsets-epoch-of-the-past", pid, epoch-1, "tg", "", -1, nil)
		commit("commit-offsets-unknown-member", pid, epoch, "tg", "stranger", 3, nil)
		commit("commit-offsets-generation-only", pid, epoch, "tg", "", 3, nil)
		commit("commit-offsets-instance-only", pid, epoch, "tg", "", -1, ptr("i"))
		commit("commit-offsets-empty-group", pid, epoch, "", "", -1, nil)
		commit("commit-offsets", pid, epoch, "tg", "", -1, nil)
		end("end-stranger", pid+1000, epoch, true)
		end("end-epoch-of-the-past", pid, epoch-1, true)
		end("end-epoch-of-the-future", pid, epoch+1, true)
		list := kmsg.NewPtrListTransactionsRequest()
		list.DurationFilterMillis, list.ProducerIDFilters, list.StateFilters = -1, []int64{pid}, []string{"Ongoing"}
		s.ask("list-ongoing", 1, list)
		end("commit", pid, epoch, true)
		end("commit-twice", pid, epoch, true)
		end("abort-after-commit", pid, epoch, false)
		pid, epoch = init("init-after-commit")
		add("add-again", pid, epoch, 0)
		end("abort", pid, epoch, false)
		end("abort-twice", pid, epoch, false)
		end("commit-after-abort", pid, epoch, true)
		pid, epoch = init("init-after-abort")
		add("add-once-more", pid, epoch, 1)
		old := epoch
		pid, epoch = init("init-aborts")
		add("add-fenced", pid, old, 1)
		offsets("offsets-fenced", pid, old, "tg")
		commit("commit-offsets-fenced", pid, old, "tg", "", -1, nil)
		end("end-fenced", pid, old, true)
	})
}
