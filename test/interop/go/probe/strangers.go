package main

import "github.com/twmb/franz-go/pkg/kmsg"

// strangers is what groups and transactions are asked by those who are not in them.
func strangers(key int16, facts facts) []question {
	const none = "no-such-topic"
	topicID := facts.topicID
	nowhere := [16]byte{15: 9}
	switch key {
	case 8:
		ask := func(group, member string, generation int32, t string, partition int32, offset int64, metadata string) kmsg.Request {
			r := kmsg.NewPtrOffsetCommitRequest()
			r.Group, r.Generation, r.MemberID, r.RetentionTimeMillis = group, generation, member, -1
			r.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: t, TopicID: topicID, Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Partition: partition, Offset: offset, LeaderEpoch: -1, Metadata: &metadata}}}}
			if t == none {
				r.Topics[0].TopicID = nowhere
			}
			return r
		}
		return []question{{name: "simple", req: ask("simple", "", -1, topic, 0, 1, "m")}, {name: "unknown topic", req: ask("simple", "", -1, none, 0, 1, "")}, {name: "no such partition", req: ask("simple", "", -1, topic, 7, 1, "")},
			{name: "long metadata", req: ask("simple", "", -1, topic, 0, 1, string(make([]byte, 5000)))}, {name: "empty group", req: ask("", "", -1, topic, 0, 1, "")}, {name: "generation without a member", req: ask("simple2", "", 3, topic, 0, 1, "")},
			{name: "negative offset", req: ask("simple", "", -1, topic, 1, -5, "")}}
	case 9:
		ask := func(group string, member *string, epoch int32, topics ...kmsg.OffsetFetchRequestGroupTopic) kmsg.Request {
			r := kmsg.NewPtrOffsetFetchRequest()
			r.Group = group
			r.Groups = []kmsg.OffsetFetchRequestGroup{{Group: group, MemberID: member, MemberEpoch: epoch, Topics: topics}}
			for _, t := range topics {
				r.Topics = append(r.Topics, kmsg.OffsetFetchRequestTopic{Topic: t.Topic, Partitions: t.Partitions})
			}
			return r
		}
		t := kmsg.OffsetFetchRequestGroupTopic{Topic: topic, TopicID: topicID, Partitions: []int32{0, 7}}
		u := kmsg.OffsetFetchRequestGroupTopic{Topic: none, TopicID: nowhere, Partitions: []int32{0}}
		return []question{{name: "simple", req: ask("simple", nil, -1, t, u)}, {name: "all", req: ask("simple", nil, -1), from: 2}, {name: "stranger", req: ask("simple", ptr("stranger"), 3, t), from: 9}, {name: "empty group", req: ask("", nil, -1, t)}}
	case 11:
		ask := func(group, kind string, session, rebalance int32, instance *string, protocols ...string) kmsg.Request {
			r := kmsg.NewPtrJoinGroupRequest()
			r.Group, r.ProtocolType, r.SessionTimeoutMillis, r.RebalanceTimeoutMillis, r.InstanceID = group, kind, session, rebalance, instance
			for _, p := range protocols {
				r.Protocols = append(r.Protocols, kmsg.JoinGroupRequestProtocol{Name: p})
			}
			return r
		}
		return []question{{name: "empty group", req: ask("", "consumer", 10_000, 10_000, nil, "range")}, {name: "long session", req: ask("nobody", "consumer", 1<<30, 10_000, nil, "range")},
			{name: "no protocols", req: ask("nobody", "consumer", 10_000, 10_000, nil)}, {name: "no protocol type", req: ask("nobody", "", 10_000, 10_000, nil, "range")},
			{name: "empty instance", req: ask("empty-instance", "consumer", 10_000, 10_000, ptr(""), "range"), from: 5}, {name: "bad instance", req: ask("bad-instance", "consumer", 10_000, 10_000, ptr("bad name!"), "range"), from: 5}}
	case 12:
		r := kmsg.NewPtrHeartbeatRequest()
		r.MemberID = "stranger"
		return []question{{name: "empty group", req: r}}
	case 13:
		r := kmsg.NewPtrLeaveGroupRequest()
		r.MemberID = "stranger"
		r.Members = []kmsg.LeaveGroupRequestMember{{MemberID: "stranger"}}
		static := kmsg.NewPtrLeaveGroupRequest()
		static.Group = "g"
		static.Members = []kmsg.LeaveGroupRequestMember{{InstanceID: ptr("nobody")}}
		nobody := kmsg.NewPtrLeaveGroupRequest()
		nobody.Group = "g"
		return []question{{name: "empty group", req: r}, {name: "unknown instance", req: static, from: 3}, {name: "nobody", req: nobody, from: 3}}
	case 14:
		r := kmsg.NewPtrSyncGroupRequest()
		r.MemberID, r.ProtocolType, r.Protocol = "stranger", ptr("consumer"), ptr("range")
		t := kmsg.NewPtrSyncGroupRequest()
		t.Group, t.MemberID = "nobody", "stranger"
		return []question{{name: "empty group", req: r}, {name: "no protocol", req: t}}
	case 15:
		r := kmsg.NewPtrDescribeGroupsRequest()
		r.Groups = []string{"", "nobody", "nobody"}
		return []question{{name: "empty and twice", req: r}}
	case 16:
		r := kmsg.NewPtrListGroupsRequest()
		r.StatesFilter, r.TypesFilter = []string{"Nonsense"}, []string{"nonsense"}
		return []question{{name: "nonsense", req: r, from: 4}}
	case 42:
		r := kmsg.NewPtrDeleteGroupsRequest()
		r.Groups = []string{"", "nobody"}
		return []question{{name: "empty", req: r}}
	case 47:
		r := kmsg.NewPtrOffsetDeleteRequest()
		r.Group = "simple"
		r.Topics = []kmsg.OffsetDeleteRequestTopic{{Topic: none, Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{}}}, {Topic: topic, Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 7}}}}
		e := kmsg.NewPtrOffsetDeleteRequest()
		return []question{{name: "what is not", req: r}, {name: "empty group", req: e}}
	case 68:
		type beat = kmsg.ConsumerGroupHeartbeatRequest
		ask := func(change func(*beat)) kmsg.Request {
			r := kmsg.NewPtrConsumerGroupHeartbeatRequest()
			r.Group, r.MemberID, r.RebalanceTimeoutMillis = "nobody", "AAAAAAAAAAAAAAAAAAAAAQ", 10_000
			r.SubscribedTopicNames, r.Topics = []string{topic}, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
			change(r)
			return r
		}
		return []question{
			{name: "empty group", req: ask(func(r *beat) { r.Group = "" })},
			{name: "empty member", req: ask(func(r *beat) { r.MemberID = "" }), from: 1},
			{name: "empty member with an epoch", req: ask(func(r *beat) { r.MemberID, r.MemberEpoch = "", 3 })},
			{name: "empty instance", req: ask(func(r *beat) { r.InstanceID = ptr("") })}, {name: "empty rack", req: ask(func(r *beat) { r.RackID = ptr("") })},
			{name: "epoch below all", req: ask(func(r *beat) { r.MemberEpoch = -5 })}, {name: "static leave without an instance", req: ask(func(r *beat) { r.MemberEpoch = -2 })},
			{name: "no timeout", req: ask(func(r *beat) { r.RebalanceTimeoutMillis = -1 })}, {name: "no partitions", req: ask(func(r *beat) { r.Topics = nil })},
			{name: "owns at once", req: ask(func(r *beat) {
				r.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{{TopicID: nowhere, Partitions: []int32{0}}}
			})},
			{name: "no subscription", req: ask(func(r *beat) { r.SubscribedTopicNames = nil })}, {name: "empty subscription", req: ask(func(r *beat) { r.Group, r.SubscribedTopicNames = "subscribed-to-nothing", []string{} })},
			{name: "unknown assignor", req: ask(func(r *beat) { r.ServerAssignor = ptr("magic") })}, {name: "bad pattern", req: ask(func(r *beat) { r.SubscribedTopicNames, r.SubscribedTopicRegex = nil, ptr("(") }), from: 1},
			{name: "epoch of nobody", req: ask(func(r *beat) { r.MemberEpoch = 3 })}, {name: "leave of nobody", req: ask(func(r *beat) { r.MemberEpoch = -1 })},
			{name: "static leave of nobody", req: ask(func(r *beat) { r.MemberEpoch, r.InstanceID = -2, ptr("i") })},
		}
	case 69:
		r := kmsg.NewPtrConsumerGroupDescribeRequest()
		r.Groups = []string{"", "nobody", "simple"}
		return []question{{name: "empty, nobody and classic", req: r}}
	case 76:
		type beat = kmsg.ShareGroupHeartbeatRequest
		ask := func(change func(*beat)) kmsg.Request {
			r := kmsg.NewPtrShareGroupHeartbeatRequest()
			r.GroupID, r.MemberID, r.SubscribedTopicNames = "nobody", "AAAAAAAAAAAAAAAAAAAAAQ", []string{topic}
			change(r)
			return r
		}
		return []question{{name: "empty group", req: ask(func(r *beat) { r.GroupID = "" })}, {name: "empty member", req: ask(func(r *beat) { r.MemberID = "" })}, {name: "empty rack", req: ask(func(r *beat) { r.RackID = ptr("") })},
			{name: "epoch below all", req: ask(func(r *beat) { r.MemberEpoch = -5 })}, {name: "no subscription", req: ask(func(r *beat) { r.SubscribedTopicNames = nil })},
			{name: "epoch of nobody", req: ask(func(r *beat) { r.MemberEpoch = 3 })}, {name: "leave of nobody", req: ask(func(r *beat) { r.MemberEpoch = -1 })}, {name: "static leave", req: ask(func(r *beat) { r.MemberEpoch = -2 })}}
	case 77:
		r := kmsg.NewPtrShareGroupDescribeRequest()
		r.GroupIDs = []string{"", "nobody", "simple"}
		return []question{{name: "empty, nobody and classic", req: r}}
	case 78:
		type fetch = kmsg.ShareFetchRequest
		ask := func(change func(*fetch)) kmsg.Request {
			r := kmsg.NewPtrShareFetchRequest()
			r.GroupID, r.MemberID, r.MaxWaitMillis, r.MinBytes, r.MaxBytes, r.MaxRecords, r.BatchSize = ptr("sg"), ptr("AAAAAAAAAAAAAAAAAAAAAQ"), 0, 1, 1<<20, 10, 10
			r.Topics = []kmsg.ShareFetchRequestTopic{{TopicID: nowhere, Partitions: []kmsg.ShareFetchRequestTopicPartition{{PartitionMaxBytes: 1 << 20}}}}
			change(r)
			return r
		}
		acks := []kmsg.ShareFetchRequestTopicPartitionAcknowledgementBatch{{LastOffset: 0, AcknowledgeTypes: []int8{1}}}
		return []question{{name: "unknown session", req: ask(func(r *fetch) { r.ShareSessionEpoch = 3 })}, {name: "epoch below all", req: ask(func(r *fetch) { r.ShareSessionEpoch = -5 })},
			{name: "close what is not", req: ask(func(r *fetch) { r.ShareSessionEpoch, r.Topics = -1, nil })}, {name: "acknowledge at first", req: ask(func(r *fetch) { r.Topics[0].Partitions[0].AcknowledgementBatches = acks })},
			{name: "null group", req: ask(func(r *fetch) { r.GroupID = nil })}, {name: "bad member", req: ask(func(r *fetch) { r.MemberID = ptr("not base64 url!") })}}
	case 79:
		ask := func(epoch int32) kmsg.Request {
			r := kmsg.NewPtrShareAcknowledgeRequest()
			r.GroupID, r.MemberID, r.ShareSessionEpoch = ptr("sg"), ptr("AAAAAAAAAAAAAAAAAAAAAQ"), epoch
			r.Topics = []kmsg.ShareAcknowledgeRequestTopic{{TopicID: nowhere, Partitions: []kmsg.ShareAcknowledgeRequestTopicPartition{{AcknowledgementBatches: []kmsg.ShareAcknowledgeRequestTopicPartitionAcknowledgementBatch{{AcknowledgeTypes: []int8{1}}}}}}}
			return r
		}
		return []question{{name: "at first", req: ask(0)}, {name: "unknown session", req: ask(3)}, {name: "last of what is not", req: ask(-1)}}
	case 90:
		ask := func(group string, topics ...kmsg.DescribeShareGroupOffsetsRequestGroupTopic) kmsg.Request {
			r := kmsg.NewPtrDescribeShareGroupOffsetsRequest()
			r.Groups = []kmsg.DescribeShareGroupOffsetsRequestGroup{{GroupID: group, Topics: topics}}
			return r
		}
		at := kmsg.DescribeShareGroupOffsetsRequestGroupTopic{Topic: topic, Partitions: []int32{0}}
		unknown := kmsg.DescribeShareGroupOffsetsRequestGroupTopic{Topic: none, Partitions: []int32{0}}
		return []question{{name: "nobody", req: ask("nobody", at)}, {name: "all of nobody", req: ask("nobody")}, {name: "empty group", req: ask("", at)}, {name: "unknown topic of nobody", req: ask("nobody", unknown)}, {name: "classic", req: ask("simple", at)}}
	case 91:
		r := kmsg.NewPtrAlterShareGroupOffsetsRequest()
		r.GroupID = "simple"
		r.Topics = []kmsg.AlterShareGroupOffsetsRequestTopic{{Topic: topic, Partitions: []kmsg.AlterShareGroupOffsetsRequestTopicPartition{{}}}}
		e := kmsg.NewPtrAlterShareGroupOffsetsRequest()
		e.Topics = r.Topics
		return []question{{name: "classic", req: r}, {name: "empty group", req: e}}
	case 92:
		ask := func(group, t string) kmsg.Request {
			r := kmsg.NewPtrDeleteShareGroupOffsetsRequest()
			r.GroupID, r.Topics = group, []kmsg.DeleteShareGroupOffsetsRequestTopic{{Topic: t}}
			return r
		}
		return []question{{name: "nobody", req: ask("nobody", topic)}, {name: "classic", req: ask("simple", topic)}, {name: "empty group", req: ask("", topic)}}
	}
	return nil
}
