package kafka

import (
	"fmt"
	"reflect"
	"testing"

	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// errorCodes collects every ErrorCode of a response, wherever it is.
func errorCodes(v reflect.Value, codes []int16) []int16 {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return errorCodes(v.Elem(), codes)
		}
	case reflect.Slice:
		for i := range v.Len() {
			codes = errorCodes(v.Index(i), codes)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name == "ErrorCode" {
				codes = append(codes, int16(v.Field(i).Int()))
				continue
			}
			codes = errorCodes(v.Field(i), codes)
		}
	default:
	}
	return codes
}

// failing are requests that must fail, by key.
func failing(key int16) (kmsg.Request, []int16) {
	name, value := "no-such-topic", "1"
	switch key {
	case 8:
		r := kmsg.NewPtrOffsetCommitRequest()
		r.Group, r.Generation, r.MemberID = "g", 5, "stranger"
		r.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: name, TopicID: [16]byte{1}, Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Partition: 0}}}}
		return r, []int16{kafkaerr.UnknownTopicOrPartition, kafkaerr.UnknownTopicID}
	case 9:
		r := kmsg.NewPtrOffsetFetchRequest()
		r.Group = "g"
		r.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: name, Partitions: []int32{0}}}
		r.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "g", MemberEpoch: -1, Topics: []kmsg.OffsetFetchRequestGroupTopic{{Topic: name, TopicID: [16]byte{1}, Partitions: []int32{0}}}}}
		return r, []int16{kafkaerr.None, kafkaerr.UnknownTopicID}
	case 10:
		r := kmsg.NewPtrFindCoordinatorRequest()
		r.CoordinatorKey, r.CoordinatorKeys, r.CoordinatorType = "g", []string{"g"}, 2
		return r, []int16{kafkaerr.InvalidRequest, kafkaerr.None}
	case 11:
		r := kmsg.NewPtrJoinGroupRequest()
		r.Group, r.SessionTimeoutMillis, r.MemberID, r.ProtocolType = "g", 10000, "stranger", "consumer"
		return r, []int16{kafkaerr.UnknownMemberID}
	case 12:
		r := kmsg.NewPtrHeartbeatRequest()
		r.Group = "g"
		return r, []int16{kafkaerr.UnknownMemberID}
	case 13:
		r := kmsg.NewPtrLeaveGroupRequest()
		r.Group, r.MemberID = "g", "stranger"
		r.Members = []kmsg.LeaveGroupRequestMember{{MemberID: "stranger"}}
		return r, []int16{kafkaerr.UnknownMemberID}
	case 14:
		r := kmsg.NewPtrSyncGroupRequest()
		r.Group, r.MemberID = "g", "stranger"
		return r, []int16{kafkaerr.UnknownMemberID, kafkaerr.InconsistentGroupProtocol}
	case 15:
		r := kmsg.NewPtrDescribeGroupsRequest()
		r.Groups, r.IncludeAuthorizedOperations = []string{"g"}, true
		return r, []int16{kafkaerr.None, kafkaerr.GroupIDNotFound}
	case 16:
		r := kmsg.NewPtrListGroupsRequest()
		r.TypesFilter = []string{"share"}
		return r, []int16{kafkaerr.None}
	case 42:
		r := kmsg.NewPtrDeleteGroupsRequest()
		r.Groups = []string{"g"}
		return r, []int16{kafkaerr.GroupIDNotFound}
	case 47:
		r := kmsg.NewPtrOffsetDeleteRequest()
		r.Group = "g"
		return r, []int16{kafkaerr.GroupIDNotFound}
	case 19:
		r := kmsg.NewPtrCreateTopicsRequest()
		r.Topics = []kmsg.CreateTopicsRequestTopic{{Topic: "bad topic", NumPartitions: 1, ReplicationFactor: 1}}
		return r, []int16{kafkaerr.InvalidTopic}
	case 20:
		r := kmsg.NewPtrDeleteTopicsRequest()
		r.TopicNames, r.Topics = []string{name}, []kmsg.DeleteTopicsRequestTopic{{Topic: &name}}
		return r, []int16{kafkaerr.UnknownTopicOrPartition}
	case 21:
		r := kmsg.NewPtrDeleteRecordsRequest()
		r.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: name, Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: 0}}}}
		return r, []int16{kafkaerr.UnknownTopicOrPartition}
	case 24:
		r := kmsg.NewPtrAddPartitionsToTxnRequest()
		r.TransactionalID = "x"
		r.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: name, Partitions: []int32{0}}}
		r.Transactions = []kmsg.AddPartitionsToTxnRequestTransaction{{TransactionalID: "x", Topics: []kmsg.AddPartitionsToTxnRequestTransactionTopic{{Topic: name, Partitions: []int32{0}}}}}
		return r, []int16{kafkaerr.UnknownTopicOrPartition}
	case 25:
		r := kmsg.NewPtrAddOffsetsToTxnRequest()
		r.TransactionalID, r.Group = "x", "g"
		return r, []int16{kafkaerr.InvalidProducerIDMapping}
	case 26:
		r := kmsg.NewPtrEndTxnRequest()
		r.TransactionalID = "x"
		return r, []int16{kafkaerr.InvalidProducerIDMapping}
	case 27:
		r := kmsg.NewPtrWriteTxnMarkersRequest()
		r.Markers = []kmsg.WriteTxnMarkersRequestMarker{{ProducerID: 1, Topics: []kmsg.WriteTxnMarkersRequestMarkerTopic{{Topic: name, Partitions: []int32{0}}}}}
		return r, []int16{kafkaerr.UnknownTopicOrPartition}
	case 28:
		r := kmsg.NewPtrTxnOffsetCommitRequest()
		r.TransactionalID, r.Group, r.Generation = "x", "g", -1
		r.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: name, Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{Partition: 0}}}}
		return r, []int16{kafkaerr.UnknownTopicOrPartition}
	case 61:
		r := kmsg.NewPtrDescribeProducersRequest()
		r.Topics = []kmsg.DescribeProducersRequestTopic{{Topic: name, Partitions: []int32{0}}}
		return r, []int16{kafkaerr.UnknownTopicOrPartition}
	case 65:
		r := kmsg.NewPtrDescribeTransactionsRequest()
		r.TransactionalIDs = []string{"x"}
		return r, []int16{kafkaerr.TransactionalIDNotFound}
	case 66:
		r := kmsg.NewPtrListTransactionsRequest()
		r.StateFilters, r.TransactionalIDPattern = []string{"Ongoing"}, kmsg.StringPtr("(")
		return r, []int16{kafkaerr.InvalidRegularExpression, kafkaerr.None}
	case 32:
		r := kmsg.NewPtrDescribeConfigsRequest()
		r.Resources = []kmsg.DescribeConfigsRequestResource{{ResourceType: 2, ResourceName: name}}
		return r, []int16{kafkaerr.UnknownTopicOrPartition}
	case 33:
		r := kmsg.NewPtrAlterConfigsRequest()
		r.Resources = []kmsg.AlterConfigsRequestResource{{ResourceType: 2, ResourceName: name, Configs: []kmsg.AlterConfigsRequestResourceConfig{{Name: "retention.ms", Value: &value}}}}
		return r, []int16{kafkaerr.UnknownTopicOrPartition}
	case 44:
		r := kmsg.NewPtrIncrementalAlterConfigsRequest()
		r.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{ResourceType: 4, ResourceName: "1", Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: "retention.ms", Value: &value}}}}
		return r, []int16{kafkaerr.ClusterAuthorizationFailed}
	case 34:
		r := kmsg.NewPtrAlterReplicaLogDirsRequest()
		r.Dirs = []kmsg.AlterReplicaLogDirsRequestDir{{Dir: "/data", Topics: []kmsg.AlterReplicaLogDirsRequestDirTopic{{Topic: name, Partitions: []int32{0}}}}}
		return r, []int16{kafkaerr.UnknownTopicOrPartition}
	case 35:
		r := kmsg.NewPtrDescribeLogDirsRequest()
		r.Topics = []kmsg.DescribeLogDirsRequestTopic{{Topic: name, Partitions: []int32{0}}}
		return r, []int16{kafkaerr.None}
	case 37:
		r := kmsg.NewPtrCreatePartitionsRequest()
		r.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: name, Count: 3}}
		return r, []int16{kafkaerr.UnknownTopicOrPartition}
	case 29:
		r := kmsg.NewPtrDescribeACLsRequest()
		r.ResourceType = 99
		r.ResourcePatternType, r.Operation, r.PermissionType = kmsg.ACLResourcePatternTypeAny, kmsg.ACLOperationAny, kmsg.ACLPermissionTypeAny
		return r, []int16{kafkaerr.InvalidRequest}
	case 30:
		r := kmsg.NewPtrCreateACLsRequest()
		r.Creations = []kmsg.CreateACLsRequestCreation{{ResourceType: kmsg.ACLResourceTypeTopic, ResourcePatternType: kmsg.ACLResourcePatternTypeLiteral, ResourceName: name, Principal: "Group:x", Host: "*", Operation: kmsg.ACLOperationRead, PermissionType: kmsg.ACLPermissionTypeAllow}}
		return r, []int16{kafkaerr.InvalidPrincipalType}
	case 31:
		r := kmsg.NewPtrDeleteACLsRequest()
		r.Filters = []kmsg.DeleteACLsRequestFilter{{ResourceType: 99, ResourcePatternType: kmsg.ACLResourcePatternTypeAny, Operation: kmsg.ACLOperationAny, PermissionType: kmsg.ACLPermissionTypeAny}}
		return r, []int16{kafkaerr.InvalidRequest}
	case 43:
		r := kmsg.NewPtrElectLeadersRequest()
		r.Topics = []kmsg.ElectLeadersRequestTopic{{Topic: name, Partitions: []int32{0}}}
		return r, []int16{kafkaerr.UnknownTopicOrPartition}
	case 45:
		r := kmsg.NewPtrAlterPartitionAssignmentsRequest()
		r.Topics = []kmsg.AlterPartitionAssignmentsRequestTopic{{Topic: name, Partitions: []kmsg.AlterPartitionAssignmentsRequestTopicPartition{{Replicas: []int32{1}}}}}
		return r, []int16{kafkaerr.UnknownTopicOrPartition}
	case 46:
		r := kmsg.NewPtrListPartitionReassignmentsRequest()
		r.Topics = []kmsg.ListPartitionReassignmentsRequestTopic{{Topic: name, Partitions: []int32{0}}}
		return r, []int16{kafkaerr.None}
	case 48:
		r := kmsg.NewPtrDescribeClientQuotasRequest()
		r.Components = []kmsg.DescribeClientQuotasRequestComponent{{EntityType: "user"}}
		return r, []int16{kafkaerr.InvalidRequest}
	case 49:
		r := kmsg.NewPtrAlterClientQuotasRequest()
		r.Entries = []kmsg.AlterClientQuotasRequestEntry{{Entity: []kmsg.AlterClientQuotasRequestEntryEntity{{Type: "user"}}, Ops: []kmsg.AlterClientQuotasRequestEntryOp{{Key: "nonsense"}}}}
		return r, []int16{kafkaerr.InvalidRequest}
	case 50:
		r := kmsg.NewPtrDescribeUserSCRAMCredentialsRequest()
		r.Users = []kmsg.DescribeUserSCRAMCredentialsRequestUser{{Name: "stranger"}}
		return r, []int16{kafkaerr.ResourceNotFound}
	case 51:
		r := kmsg.NewPtrAlterUserSCRAMCredentialsRequest()
		r.Deletions = []kmsg.AlterUserSCRAMCredentialsRequestDeletion{{Name: "stranger", Mechanism: 1}}
		return r, []int16{kafkaerr.ResourceNotFound}
	case 55:
		r := kmsg.NewPtrDescribeQuorumRequest()
		r.Topics = []kmsg.DescribeQuorumRequestTopic{{Topic: name, Partitions: []kmsg.DescribeQuorumRequestTopicPartition{{}}}}
		return r, []int16{kafkaerr.UnknownTopicOrPartition}
	case 57:
		r := kmsg.NewPtrUpdateFeaturesRequest()
		r.FeatureUpdates = []kmsg.UpdateFeaturesRequestFeatureUpdate{{Feature: "nonsense", MaxVersionLevel: 1, UpgradeType: 1}}
		return r, []int16{kafkaerr.InvalidUpdateVersion}
	case 74:
		r := kmsg.NewPtrListConfigResourcesRequest()
		r.ResourceTypes = []int8{99}
		return r, []int16{kafkaerr.UnsupportedVersion, kafkaerr.None}
	case 68:
		r := kmsg.NewPtrConsumerGroupHeartbeatRequest()
		r.Group, r.MemberID, r.MemberEpoch, r.SubscribedTopicNames = "g", "stranger", 5, []string{name}
		return r, []int16{kafkaerr.GroupIDNotFound}
	case 69:
		r := kmsg.NewPtrConsumerGroupDescribeRequest()
		r.Groups = []string{"g"}
		return r, []int16{kafkaerr.GroupIDNotFound}
	case 75:
		r := kmsg.NewPtrDescribeTopicPartitionsRequest()
		r.Topics = []kmsg.DescribeTopicPartitionsRequestTopic{{Topic: name}}
		return r, []int16{kafkaerr.UnknownTopicOrPartition}
	case 76:
		r := kmsg.NewPtrShareGroupHeartbeatRequest()
		r.GroupID, r.MemberID, r.MemberEpoch, r.SubscribedTopicNames = "g", "stranger", 5, []string{name}
		return r, []int16{kafkaerr.UnknownMemberID}
	case 77:
		r := kmsg.NewPtrShareGroupDescribeRequest()
		r.GroupIDs = []string{"g"}
		return r, []int16{kafkaerr.GroupIDNotFound}
	case 78:
		r := kmsg.NewPtrShareFetchRequest()
		r.GroupID, r.MemberID, r.ShareSessionEpoch = str("g"), str("stranger"), 5
		return r, []int16{kafkaerr.ShareSessionNotFound}
	case 79:
		r := kmsg.NewPtrShareAcknowledgeRequest()
		r.GroupID, r.MemberID, r.ShareSessionEpoch = str("g"), str("stranger"), 5
		return r, []int16{kafkaerr.ShareSessionNotFound}
	case 90:
		r := kmsg.NewPtrDescribeShareGroupOffsetsRequest()
		r.Groups = []kmsg.DescribeShareGroupOffsetsRequestGroup{{GroupID: "g"}}
		return r, []int16{kafkaerr.GroupIDNotFound}
	case 91:
		r := kmsg.NewPtrAlterShareGroupOffsetsRequest()
		r.GroupID = "other"
		r.Topics = []kmsg.AlterShareGroupOffsetsRequestTopic{{Topic: name, Partitions: []kmsg.AlterShareGroupOffsetsRequestTopicPartition{{}}}}
		return r, []int16{kafkaerr.UnknownTopicOrPartition}
	case 92:
		r := kmsg.NewPtrDeleteShareGroupOffsetsRequest()
		r.GroupID = "g"
		r.Topics = []kmsg.DeleteShareGroupOffsetsRequestTopic{{Topic: name}}
		return r, []int16{kafkaerr.GroupIDNotFound}
	}
	return nil, nil
}

// adminAPIs are the group and administration APIs: all but those that protocol_test.go
// and sasl_test.go ask in every version.
func adminAPIs(s *Server) (list []endpoint) {
	for _, a := range s.apis() {
		switch a.key {
		case keyProduce, keyFetch, keyListOffsets, keyMetadata, keySASLHandshake, keyAPIVersions, 22,
			keyOffsetForLeaderEpoch, 36, keyDescribeCluster:
		default:
			list = append(list, a)
		}
	}
	return list
}

// TestErrorsAreAnsweredInTheVersionAsked is cases.md C57 for the group and admin APIs.
func TestErrorsAreAnsweredInTheVersionAsked(t *testing.T) {
	a := start(t)
	c := a.raw()
	for _, api := range adminAPIs(a.srv) {
		for version := api.min; version <= api.max; version++ {
			req, want := failing(api.key)
			if req == nil {
				t.Fatalf("no failing request for API %d", api.key)
			}
			t.Run(fmt.Sprintf("%s v%d", kmsg.NameForKey(api.key), version), func(t *testing.T) {
				c.t = t
				resp := c.ask(versioned(req, version))
				codes := errorCodes(reflect.ValueOf(resp), nil)
				if len(codes) == 0 && api.key == 33 {
					t.Fatal("no error code")
				}
				for _, code := range codes {
					ok := code == kafkaerr.None && len(codes) > 1 // of a level above
					for _, w := range want {
						ok = ok || code == w
					}
					if !ok {
						t.Errorf("error codes %v, want one of %v", codes, want)
					}
				}
			})
		}
	}
	c.t = t
}

func TestStrangersAreDeniedEveryGroupAndAdminRequest(t *testing.T) {
	a := start(t)
	a.create("no-such-topic", 1)
	if err := a.auth.AddUser("admin", "a-long-password"); err != nil {
		t.Fatal(err)
	}
	c := a.raw()
	denied := map[int16]bool{
		kafkaerr.TopicAuthorizationFailed: true, kafkaerr.GroupAuthorizationFailed: true,
		kafkaerr.ClusterAuthorizationFailed: true, kafkaerr.UnknownTopicID: true, kafkaerr.TransactionalIDAuthorization: true,
	}
	for _, api := range adminAPIs(a.srv) {
		if api.key == 16 || api.key == 10 || api.key == 66 { // lists what is visible; type 2 is refused before
			continue
		}
		for version := api.min; version <= api.max; version++ {
			req, _ := failing(api.key)
			if req == nil {
				t.Fatalf("no failing request for API %d", api.key)
			}
			if api.key == 35 && version < 3 {
				continue // has no place for the error
			}
			resp := c.ask(versioned(req, version))
			found := false
			for _, code := range errorCodes(reflect.ValueOf(resp), nil) {
				found = found || denied[code]
			}
			if !found {
				t.Errorf("%s v%d: %+v", kmsg.NameForKey(api.key), version, resp)
			}
		}
	}
}
