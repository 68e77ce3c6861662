package kafka

import (
	"testing"

	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// What a request that names nothing, or names it wrongly, is told by Apache Kafka 4.1.
func TestWhatNamesNothingIsRefusedWithKafkasCode(t *testing.T) {
	a := start(t)
	a.create("t", 2)
	none, empty := "", ""
	at := func(version int16, r kmsg.Request) kmsg.Response { return a.raw().ask(versioned(r, version)) }
	for name, c := range map[string]struct {
		code func() int16
		want int16
	}{
		"OffsetDelete of the empty group": {func() int16 {
			return at(0, kmsg.NewPtrOffsetDeleteRequest()).(*kmsg.OffsetDeleteResponse).ErrorCode
		}, kafkaerr.InvalidGroupID},
		"DescribeTransactions of the empty id": {func() int16 {
			r := kmsg.NewPtrDescribeTransactionsRequest()
			r.TransactionalIDs = []string{""}
			return at(0, r).(*kmsg.DescribeTransactionsResponse).TransactionStates[0].ErrorCode
		}, kafkaerr.InvalidRequest},
		"ConsumerGroupDescribe of the empty group": {func() int16 {
			r := kmsg.NewPtrConsumerGroupDescribeRequest()
			r.Groups = []string{""}
			return at(1, r).(*kmsg.ConsumerGroupDescribeResponse).Groups[0].ErrorCode
		}, kafkaerr.InvalidGroupID},
		"ShareGroupDescribe of the empty group": {func() int16 {
			r := kmsg.NewPtrShareGroupDescribeRequest()
			r.GroupIDs = []string{""}
			return at(1, r).(*kmsg.ShareGroupDescribeResponse).Groups[0].ErrorCode
		}, kafkaerr.InvalidGroupID},
		"DeleteShareGroupOffsets of the empty group": {func() int16 {
			return at(0, kmsg.NewPtrDeleteShareGroupOffsetsRequest()).(*kmsg.DeleteShareGroupOffsetsResponse).ErrorCode
		}, kafkaerr.InvalidGroupID},
		"TxnOffsetCommit for the empty group": {func() int16 {
			r := kmsg.NewPtrTxnOffsetCommitRequest()
			r.TransactionalID, r.Generation = "x", -1
			r.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{}}}}
			return at(3, r).(*kmsg.TxnOffsetCommitResponse).Topics[0].Partitions[0].ErrorCode
		}, kafkaerr.InvalidGroupID},
		"ShareGroupHeartbeat with an empty rack": {func() int16 {
			r := kmsg.NewPtrShareGroupHeartbeatRequest()
			r.GroupID, r.MemberID, r.RackID, r.SubscribedTopicNames = "g", "m", &empty, []string{"t"}
			return at(1, r).(*kmsg.ShareGroupHeartbeatResponse).ErrorCode
		}, kafkaerr.InvalidRequest},
		"AlterUserScramCredentials that deletes the empty user's": {func() int16 {
			r := kmsg.NewPtrAlterUserSCRAMCredentialsRequest()
			r.Deletions = []kmsg.AlterUserSCRAMCredentialsRequestDeletion{{Mechanism: 1}}
			return at(0, r).(*kmsg.AlterUserSCRAMCredentialsResponse).Results[0].ErrorCode
		}, kafkaerr.UnacceptableCredential},
		"UpdateFeatures of the empty feature": {func() int16 {
			r := kmsg.NewPtrUpdateFeaturesRequest()
			r.FeatureUpdates = []kmsg.UpdateFeaturesRequestFeatureUpdate{{MaxVersionLevel: 1}}
			return at(1, r).(*kmsg.UpdateFeaturesResponse).ErrorCode
		}, kafkaerr.InvalidUpdateVersion},
		"CreateAcls for a principal without a type": {func() int16 {
			r := kmsg.NewPtrCreateACLsRequest()
			r.Creations = []kmsg.CreateACLsRequestCreation{{
				ResourceType: kmsg.ACLResourceTypeTopic, ResourceName: "t", ResourcePatternType: kmsg.ACLResourcePatternTypeLiteral,
				Principal: "alice", Host: "*", Operation: kmsg.ACLOperationRead, PermissionType: kmsg.ACLPermissionTypeAllow,
			}}
			return at(3, r).(*kmsg.CreateACLsResponse).Results[0].ErrorCode
		}, kafkaerr.InvalidRequest},
		"AlterConfigs of a topic without a name": {func() int16 { return a.alterConfigs("", &none) }, kafkaerr.InvalidRequest},
		"AlterConfigs of a bad topic name":       {func() int16 { return a.alterConfigs("bad name", &none) }, kafkaerr.InvalidTopic},
		"AlterConfigs to null":                   {func() int16 { return a.alterConfigs("t", nil) }, kafkaerr.InvalidRequest},
		"DescribeTopicPartitions from a cursor outside its list": {func() int16 {
			r := kmsg.NewPtrDescribeTopicPartitionsRequest()
			r.Topics, r.Cursor = []kmsg.DescribeTopicPartitionsRequestTopic{{Topic: "t"}}, &kmsg.DescribeTopicPartitionsRequestCursor{Topic: "a"}
			return at(0, r).(*kmsg.DescribeTopicPartitionsResponse).Topics[0].ErrorCode
		}, kafkaerr.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.code(); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

func (e *env) alterConfigs(topic string, value *string) int16 {
	r := kmsg.NewPtrAlterConfigsRequest()
	r.Resources = []kmsg.AlterConfigsRequestResource{{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: topic, Configs: []kmsg.AlterConfigsRequestResourceConfig{{Name: "retention.ms", Value: value}}}}
	return e.raw().ask(versioned(r, 2)).(*kmsg.AlterConfigsResponse).Resources[0].ErrorCode
}

// Without a limit Kafka gives one partition a page; a cursor behind the last partition of
// its topic describes the topic and goes on.
func TestPagesOfPartitionsHaveOneAtLeast(t *testing.T) {
	a := start(t)
	a.create("t", 2)
	page := func(limit int32, cursor *kmsg.DescribeTopicPartitionsRequestCursor) *kmsg.DescribeTopicPartitionsResponse {
		r := kmsg.NewPtrDescribeTopicPartitionsRequest()
		r.Topics, r.ResponsePartitionLimit, r.Cursor = []kmsg.DescribeTopicPartitionsRequestTopic{{Topic: "t"}}, limit, cursor
		return a.raw().ask(r).(*kmsg.DescribeTopicPartitionsResponse)
	}
	for _, limit := range []int32{0, -1} {
		got := page(limit, nil)
		if len(got.Topics) != 1 || len(got.Topics[0].Partitions) != 1 || got.NextCursor == nil || got.NextCursor.Partition != 1 {
			t.Errorf("limit %d: %+v", limit, got)
		}
	}
	if got := page(10, &kmsg.DescribeTopicPartitionsRequestCursor{Topic: "t", Partition: 9}); len(got.Topics) != 1 || got.Topics[0].ErrorCode != kafkaerr.None || len(got.Topics[0].Partitions) != 0 || got.NextCursor != nil {
		t.Errorf("behind the last: %+v", got)
	}
}

// The lock's time belongs to records that were acquired: a refused fetch has none.
func TestARefusedShareFetchTellsNoLockTimeout(t *testing.T) {
	a := start(t)
	group, member := "g", "m"
	r := kmsg.NewPtrShareFetchRequest()
	r.GroupID, r.MemberID, r.ShareSessionEpoch = &group, &member, 3
	got := a.raw().ask(versioned(r, 1)).(*kmsg.ShareFetchResponse)
	if got.ErrorCode != kafkaerr.ShareSessionNotFound || got.AcquisitionLockTimeoutMillis != 0 {
		t.Errorf("%+v", got)
	}
}
