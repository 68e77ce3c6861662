package main

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// question is one request; its version, at least from, is set by who asks.
type question struct {
	name string
	req  kmsg.Request
	from int16
}

// batch is three records without keys at times 1000, 2000 and 3000.
func batch() []byte {
	var records []byte
	for i, v := range []string{"a", "b", "c"} {
		r := kmsg.Record{TimestampDelta64: int64(i) * 1000, OffsetDelta: int32(i), Value: []byte(v)}
		body := r.AppendTo(nil)[1:] // behind the length, which is still zero
		records = append(binary.AppendVarint(records, int64(len(body))), body...)
	}
	b := kmsg.RecordBatch{PartitionLeaderEpoch: -1, Magic: 2, LastOffsetDelta: 2, FirstTimestamp: 1000, MaxTimestamp: 3000,
		ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, NumRecords: 3, Records: records}
	b.Length = int32(49 + len(records))
	raw := b.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

func ptr(s string) *string { return &s }

// asked is what every broker is asked: what is there, what is not, and what is refused.
func asked(key int16) []question {
	const none = "no-such-topic"
	id := [16]byte{15: 1}
	switch key {
	case 2:
		ask := func(t string, at int64, iso int8) kmsg.Request {
			r := kmsg.NewPtrListOffsetsRequest()
			r.IsolationLevel = iso
			r.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: t, Partitions: []kmsg.ListOffsetsRequestTopicPartition{{Timestamp: at, CurrentLeaderEpoch: -1}}}}
			return r
		}
		return []question{{name: "latest", req: ask(topic, -1, 0)}, {name: "latest stable", req: ask(topic, -1, 1)}, {name: "earliest", req: ask(topic, -2, 0)},
			{name: "by time", req: ask(topic, 1500, 0)}, {name: "beyond", req: ask(topic, 9000, 0)}, {name: "unknown", req: ask(none, -1, 0)}}
	case 3:
		one := kmsg.NewPtrMetadataRequest()
		one.Topics = []kmsg.MetadataRequestTopic{{Topic: ptr(topic)}}
		unknown := kmsg.NewPtrMetadataRequest()
		unknown.Topics = []kmsg.MetadataRequestTopic{{Topic: ptr("bad name")}}
		empty := kmsg.NewPtrMetadataRequest()
		empty.Topics = []kmsg.MetadataRequestTopic{}
		return []question{{name: "one", req: one}, {name: "bad name", req: unknown}, {name: "none", req: empty, from: 1}}
	case 8:
		r := kmsg.NewPtrOffsetCommitRequest()
		r.Group, r.Generation, r.MemberID = "g", 5, "stranger"
		r.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: topic, TopicID: id, Partitions: []kmsg.OffsetCommitRequestTopicPartition{{}}}}
		return []question{{name: "stranger", req: r}}
	case 9:
		r := kmsg.NewPtrOffsetFetchRequest()
		r.Group = "g"
		r.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: topic, Partitions: []int32{0}}}
		r.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "g", MemberEpoch: -1, Topics: []kmsg.OffsetFetchRequestGroupTopic{{Topic: topic, TopicID: id, Partitions: []int32{0}}}}}
		return []question{{name: "unknown group", req: r}}
	case 10:
		r := kmsg.NewPtrFindCoordinatorRequest()
		r.CoordinatorKey, r.CoordinatorKeys = "g", []string{"g"}
		bad := kmsg.NewPtrFindCoordinatorRequest()
		bad.CoordinatorKey, bad.CoordinatorKeys, bad.CoordinatorType = "g", []string{"g"}, 9
		return []question{{name: "unknown type", req: bad}}
	case 11:
		r := kmsg.NewPtrJoinGroupRequest()
		r.Group, r.SessionTimeoutMillis, r.RebalanceTimeoutMillis, r.MemberID, r.ProtocolType = "g", 10_000, 10_000, "stranger", "consumer"
		r.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
		short := kmsg.NewPtrJoinGroupRequest()
		short.Group, short.SessionTimeoutMillis, short.ProtocolType, short.Protocols = "g", 1, "consumer", r.Protocols
		return []question{{name: "stranger", req: r}, {name: "short session", req: short}}
	case 12:
		r := kmsg.NewPtrHeartbeatRequest()
		r.Group, r.MemberID = "g", "stranger"
		return []question{{name: "stranger", req: r}}
	case 13:
		r := kmsg.NewPtrLeaveGroupRequest()
		r.Group, r.MemberID = "g", "stranger"
		r.Members = []kmsg.LeaveGroupRequestMember{{MemberID: "stranger"}}
		return []question{{name: "stranger", req: r}}
	case 14:
		r := kmsg.NewPtrSyncGroupRequest()
		r.Group, r.MemberID = "g", "stranger"
		return []question{{name: "stranger", req: r}}
	case 15:
		r := kmsg.NewPtrDescribeGroupsRequest()
		r.Groups = []string{"g"}
		return []question{{name: "unknown", req: r}}
	case 16:
		r := kmsg.NewPtrListGroupsRequest()
		return []question{{name: "all", req: r}}
	case 17:
		r := kmsg.NewPtrSASLHandshakeRequest()
		r.Mechanism = "PLAIN"
		return nil // what follows depends on the listener
	case 19:
		ask := func(name string, n int32, rf int16, configs ...string) kmsg.Request {
			r := kmsg.NewPtrCreateTopicsRequest()
			r.TimeoutMillis, r.ValidateOnly = 10_000, true
			t := kmsg.NewCreateTopicsRequestTopic()
			t.Topic, t.NumPartitions, t.ReplicationFactor = name, n, rf
			for i := 0; i+1 < len(configs); i += 2 {
				t.Configs = append(t.Configs, kmsg.CreateTopicsRequestTopicConfig{Name: configs[i], Value: ptr(configs[i+1])})
			}
			r.Topics = append(r.Topics, t)
			return r
		}
		return []question{{name: "exists", req: ask(topic, 1, 1)}, {name: "bad name", req: ask("bad name", 1, 1)}, {name: "no partitions", req: ask("x", 0, 1)},
			{name: "no replicas", req: ask("x", 1, 0)}, {name: "bad config", req: ask("x", 1, 1, "retention.ms", "abc")}, {name: "unknown config", req: ask("x", 1, 1, "no.such", "1")}}
	case 20:
		r := kmsg.NewPtrDeleteTopicsRequest()
		r.TimeoutMillis, r.TopicNames, r.Topics = 5000, []string{none}, []kmsg.DeleteTopicsRequestTopic{{Topic: ptr(none)}}
		return []question{{name: "unknown", req: r}}
	case 21:
		ask := func(t string, to int64) kmsg.Request {
			r := kmsg.NewPtrDeleteRecordsRequest()
			r.TimeoutMillis = 5000
			r.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: t, Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Offset: to}}}}
			return r
		}
		return []question{{name: "unknown", req: ask(none, 0)}, {name: "beyond the end", req: ask(topic, 99)}, {name: "nothing", req: ask(topic, 0)}}
	case 22:
		plainID := kmsg.NewPtrInitProducerIDRequest()
		plainID.ProducerID, plainID.ProducerEpoch = -1, -1
		long := kmsg.NewPtrInitProducerIDRequest()
		long.TransactionalID, long.TransactionTimeoutMillis, long.ProducerID, long.ProducerEpoch = ptr("x"), 1<<31-1, -1, -1
		empty := kmsg.NewPtrInitProducerIDRequest()
		empty.TransactionalID, empty.TransactionTimeoutMillis, empty.ProducerID, empty.ProducerEpoch = ptr(""), 1000, -1, -1
		return []question{{name: "new", req: plainID}, {name: "too long", req: long}, {name: "empty id", req: empty}}
	case 23:
		r := kmsg.NewPtrOffsetForLeaderEpochRequest()
		r.ReplicaID = -1
		r.Topics = []kmsg.OffsetForLeaderEpochRequestTopic{{Topic: none, Partitions: []kmsg.OffsetForLeaderEpochRequestTopicPartition{{CurrentLeaderEpoch: -1}}}}
		ok := kmsg.NewPtrOffsetForLeaderEpochRequest()
		ok.ReplicaID = -1
		ok.Topics = []kmsg.OffsetForLeaderEpochRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetForLeaderEpochRequestTopicPartition{{CurrentLeaderEpoch: -1}}}}
		return []question{{name: "unknown", req: r}, {name: "first epoch", req: ok}}
	case 24:
		r := kmsg.NewPtrAddPartitionsToTxnRequest()
		r.TransactionalID, r.ProducerID = "nobody", 5
		r.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: topic, Partitions: []int32{0}}}
		r.Transactions = []kmsg.AddPartitionsToTxnRequestTransaction{{TransactionalID: "nobody", ProducerID: 5, Topics: []kmsg.AddPartitionsToTxnRequestTransactionTopic{{Topic: topic, Partitions: []int32{0}}}}}
		u := kmsg.NewPtrAddPartitionsToTxnRequest()
		u.TransactionalID, u.ProducerID = "nobody", 5
		u.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: none, Partitions: []int32{0}}, {Topic: topic, Partitions: []int32{0}}}
		u.Transactions = []kmsg.AddPartitionsToTxnRequestTransaction{{TransactionalID: "nobody", ProducerID: 5, Topics: []kmsg.AddPartitionsToTxnRequestTransactionTopic{
			{Topic: none, Partitions: []int32{0}}, {Topic: topic, Partitions: []int32{0}}}}}
		return []question{{name: "unknown id", req: r}, {name: "unknown topic", req: u}}
	case 25:
		r := kmsg.NewPtrAddOffsetsToTxnRequest()
		r.TransactionalID, r.ProducerID, r.Group = "nobody", 5, "g"
		return []question{{name: "unknown id", req: r}}
	case 26:
		r := kmsg.NewPtrEndTxnRequest()
		r.TransactionalID, r.ProducerID, r.Commit = "nobody", 5, true
		return []question{{name: "unknown id", req: r}}
	case 28:
		r := kmsg.NewPtrTxnOffsetCommitRequest()
		r.TransactionalID, r.ProducerID, r.Group, r.Generation = "nobody", 5, "g", -1
		r.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: none, Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{}}}}
		return []question{{name: "unknown topic", req: r}}
	case 32:
		ask := func(kind kmsg.ConfigResourceType, name string) kmsg.Request {
			r := kmsg.NewPtrDescribeConfigsRequest()
			r.Resources = []kmsg.DescribeConfigsRequestResource{{ResourceType: kind, ResourceName: name, ConfigNames: []string{"cleanup.policy", "retention.ms", "max.message.bytes"}}}
			return r
		}
		return []question{{name: "topic", req: ask(2, topic)}, {name: "unknown topic", req: ask(2, none)}, {name: "bad type", req: ask(99, "x")}}
	case 33:
		r := kmsg.NewPtrAlterConfigsRequest()
		r.ValidateOnly = true
		r.Resources = []kmsg.AlterConfigsRequestResource{{ResourceType: 2, ResourceName: none, Configs: []kmsg.AlterConfigsRequestResourceConfig{{Name: "retention.ms", Value: ptr("1000")}}}}
		return []question{{name: "unknown", req: r}}
	case 44:
		ask := func(name, value string, op kmsg.IncrementalAlterConfigOp) kmsg.Request {
			r := kmsg.NewPtrIncrementalAlterConfigsRequest()
			r.ValidateOnly = true
			r.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{ResourceType: 2, ResourceName: topic, Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: name, Op: op, Value: ptr(value)}}}}
			return r
		}
		return []question{{name: "fine", req: ask("retention.ms", "1000", 0)}, {name: "no number", req: ask("retention.ms", "x", 0)}, {name: "unknown", req: ask("no.such", "x", 0)}, {name: "append to a number", req: ask("retention.ms", "1", 2)}}
	case 37:
		ask := func(t string, n int32) kmsg.Request {
			r := kmsg.NewPtrCreatePartitionsRequest()
			r.TimeoutMillis, r.ValidateOnly = 5000, true
			r.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: t, Count: n}}
			return r
		}
		return []question{{name: "unknown", req: ask(none, 5)}, {name: "fewer", req: ask(topic, 1)}, {name: "the same", req: ask(topic, 2)}, {name: "more", req: ask(topic, 3)}}
	case 42:
		r := kmsg.NewPtrDeleteGroupsRequest()
		r.Groups = []string{"g"}
		return []question{{name: "unknown", req: r}}
	case 43:
		r := kmsg.NewPtrElectLeadersRequest()
		r.TimeoutMillis = 5000
		r.Topics = []kmsg.ElectLeadersRequestTopic{{Topic: topic, Partitions: []int32{0}}, {Topic: none, Partitions: []int32{0}}}
		return []question{{name: "preferred", req: r}}
	case 45:
		r := kmsg.NewPtrAlterPartitionAssignmentsRequest()
		r.TimeoutMillis = 5000
		r.Topics = []kmsg.AlterPartitionAssignmentsRequestTopic{{Topic: none, Partitions: []kmsg.AlterPartitionAssignmentsRequestTopicPartition{{Replicas: []int32{1}}}}}
		return []question{{name: "unknown", req: r}}
	case 46:
		r := kmsg.NewPtrListPartitionReassignmentsRequest()
		r.TimeoutMillis = 5000
		return []question{{name: "all", req: r}}
	case 47:
		r := kmsg.NewPtrOffsetDeleteRequest()
		r.Group = "g"
		r.Topics = []kmsg.OffsetDeleteRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{}}}}
		return []question{{name: "unknown group", req: r}}
	case 48:
		return []question{{name: "all", req: kmsg.NewPtrDescribeClientQuotasRequest()}}
	case 50:
		return []question{{name: "all", req: kmsg.NewPtrDescribeUserSCRAMCredentialsRequest()}}
	case 60:
		return []question{{name: "cluster", req: kmsg.NewPtrDescribeClusterRequest()}}
	case 61:
		r := kmsg.NewPtrDescribeProducersRequest()
		r.Topics = []kmsg.DescribeProducersRequestTopic{{Topic: topic, Partitions: []int32{0}}, {Topic: none, Partitions: []int32{0}}}
		return []question{{name: "none and unknown", req: r}}
	case 65:
		r := kmsg.NewPtrDescribeTransactionsRequest()
		r.TransactionalIDs = []string{"nobody"}
		return []question{{name: "unknown", req: r}}
	case 66:
		r := kmsg.NewPtrListTransactionsRequest()
		r.StateFilters, r.DurationFilterMillis = []string{"Ongoing", "Nonsense"}, -1
		return []question{{name: "ongoing", req: r}}
	case 69:
		r := kmsg.NewPtrConsumerGroupDescribeRequest()
		r.Groups = []string{"g"}
		return []question{{name: "unknown", req: r}}
	case 74:
		r := kmsg.NewPtrListConfigResourcesRequest()
		r.ResourceTypes = []int8{4}
		return []question{{name: "brokers", req: r}}
	case 75:
		r := kmsg.NewPtrDescribeTopicPartitionsRequest()
		r.ResponsePartitionLimit = 10
		r.Topics = []kmsg.DescribeTopicPartitionsRequestTopic{{Topic: topic}, {Topic: none}}
		return []question{{name: "one and unknown", req: r}}
	}
	return nil
}
