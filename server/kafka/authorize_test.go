package kafka

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"millrace/server/kafka/kafkaerr"

	"millrace/server/auth"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// who is a kind of client.
type who int

const (
	openAnonymous   who = iota // nobody logs in, no user exists
	closedAnonymous            // nobody logs in, users exist
	administrator
	nobody // logged in, granted nothing
	reader // READ on topic t and group g
	writer // WRITE on topic t
	everyone
)

func (w who) String() string {
	return [...]string{"anonymous, open", "anonymous, closed", "administrator", "nobody", "reader", "writer"}[w]
}

// as starts a server with topics t (granted), o (others'), a stable group g and a group
// of others, and connects to it as w.
func as(t *testing.T, w who) (*env, *raw) {
	t.Helper()
	e := start(t, func(o *Options) { o.AutoCreateTopics = true })
	for _, name := range []string{"t", "o"} {
		e.topic(name, 1)
	}
	r := e.raw()
	for _, g := range []string{"g", "og"} {
		for _, topic := range []string{"t", "o"} {
			commit := versioned(kmsg.NewPtrOffsetCommitRequest(), 8)
			commit.Group, commit.Generation = g, -1
			ct := kmsg.NewOffsetCommitRequestTopic()
			ct.Topic = topic
			ct.Partitions = []kmsg.OffsetCommitRequestTopicPartition{kmsg.NewOffsetCommitRequestTopicPartition()}
			commit.Topics = append(commit.Topics, ct)
			if c := r.ask(commit).(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode; c != 0 {
				t.Fatal(c)
			}
		}
	}
	if w == openAnonymous {
		return e, r
	}
	e.user("admin", "secret") // the first is the administrator
	grant := func(op auth.Operation, typ auth.ResourceType, name string) {
		if err := e.auth.Grant(w.String(), op, auth.Pattern{Type: typ, Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	switch w {
	case closedAnonymous:
		return e, r // the connection of before
	case administrator:
		return e, e.loggedIn("admin")
	case nobody:
		e.user(w.String(), "secret")
	case reader:
		e.user(w.String(), "secret")
		grant(auth.Read, auth.Topic, "t")
		grant(auth.Read, auth.Group, "g")
		grant(auth.Read, auth.Group, "share-g")
	case writer:
		e.user(w.String(), "secret")
		grant(auth.Write, auth.Topic, "t")
	}
	return e, e.loggedIn(w.String())
}

func (e *env) loggedIn(name string) *raw {
	e.t.Helper()
	r := e.raw()
	r.ask(handshake(1, mechanismPlain))
	if got := r.ask(authenticate("\x00" + name + "\x00secret")).(*kmsg.SASLAuthenticateResponse); got.ErrorCode != 0 {
		e.t.Fatalf("%s: %+v", name, got)
	}
	return r
}

// Short names of the codes that the matrix consists of.
const (
	pass       = kafkaerr.None
	noTopic    = kafkaerr.TopicAuthorizationFailed
	noGroup    = kafkaerr.GroupAuthorizationFailed
	noCluster  = kafkaerr.ClusterAuthorizationFailed
	noLogin    = kafkaerr.IllegalSASLState
	noMember   = kafkaerr.UnknownMemberID // let through, and then there is no such member
	noMemberID = kafkaerr.MemberIDRequired
	noTxn      = kafkaerr.TransactionalIDAuthorization
	noMapping  = kafkaerr.InvalidProducerIDMapping // let through, and there is no such transaction
	// Of share groups: let through, and there is none, or no session.
	noShareGroup    = kafkaerr.GroupIDNotFound
	noConsumerGroup = kafkaerr.GroupIDNotFound
	noSession       = kafkaerr.ShareSessionNotFound
)

// operationCase is one request about a topic and a group, and the code that decides it.
type operationCase struct {
	key  int16
	name string
	ask  func(r *raw, topic, group string) int16
	// want is the code for each kind of client when it asks about t and g.
	want [everyone]int16
	// others is the same about o and og, which nobody was granted; none: as want.
	others *[everyone]int16
	// blind: what exists and what does not look alike to those who may not see it.
	blind bool
	// last: nothing can be asked on that connection, or of that server, afterwards.
	last bool
}

func row(codes ...int16) [everyone]int16 { return [everyone]int16(codes) }

// only is the row in which what an open server allows, and the administrator, pass.
func only(code int16) *[everyone]int16 {
	r := row(pass, code, pass, code, code, code)
	return &r
}

// only2 is the same with another code for those that may.
func only2(may, code int16) *[everyone]int16 {
	r := row(may, code, may, code, code, code)
	return &r
}

func str(s string) *string { return &s }

func describeConfigs(typ kmsg.ConfigResourceType, name string) *kmsg.DescribeConfigsRequest {
	req := versioned(kmsg.NewPtrDescribeConfigsRequest(), 4)
	res := kmsg.NewDescribeConfigsRequestResource()
	res.ResourceType, res.ResourceName = typ, name
	req.Resources = append(req.Resources, res)
	return req
}

func incremental(typ kmsg.ConfigResourceType, name, config, value string) *kmsg.IncrementalAlterConfigsRequest {
	req := versioned(kmsg.NewPtrIncrementalAlterConfigsRequest(), 1)
	res := kmsg.NewIncrementalAlterConfigsRequestResource()
	res.ResourceType, res.ResourceName = typ, name
	c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	c.Name, c.Value = config, &value
	res.Configs = append(res.Configs, c)
	req.Resources = append(req.Resources, res)
	return req
}

var operationCases = []operationCase{
	{key: 0, name: "Produce", ask: func(r *raw, t, _ string) int16 {
		return onlyPart(r.t, r.ask(produceRequest(9, t, [16]byte{}, 0, batch(1, "x")))).ErrorCode
	}, want: row(pass, noTopic, pass, noTopic, noTopic, pass), others: only(noTopic), blind: true},
	{key: 1, name: "Fetch", ask: func(r *raw, t, _ string) int16 {
		return onlyFetched(r.t, r.ask(fetchRequest1(12, t, [16]byte{}, 0, 0))).ErrorCode
	}, want: row(pass, noTopic, pass, noTopic, pass, noTopic), others: only(noTopic), blind: true},
	{key: 2, name: "ListOffsets", ask: func(r *raw, t, _ string) int16 {
		req := versioned(kmsg.NewPtrListOffsetsRequest(), 7)
		lt := kmsg.NewListOffsetsRequestTopic()
		lt.Topic = t
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Timestamp, p.CurrentLeaderEpoch = -1, -1
		lt.Partitions = append(lt.Partitions, p)
		req.Topics = append(req.Topics, lt)
		return r.ask(req).(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0].ErrorCode
	}, want: row(pass, noTopic, pass, noTopic, pass, pass), others: only(noTopic), blind: true},
	{key: 3, name: "Metadata", ask: func(r *raw, t, _ string) int16 {
		req := versioned(kmsg.NewPtrMetadataRequest(), 12)
		mt := kmsg.NewMetadataRequestTopic()
		mt.Topic = &t
		req.Topics = append(req.Topics, mt)
		req.AllowAutoTopicCreation = true
		return r.ask(req).(*kmsg.MetadataResponse).Topics[0].ErrorCode
	}, want: row(pass, noTopic, pass, noTopic, pass, pass), others: only(noTopic), blind: true},
	{key: 8, name: "OffsetCommit, group", ask: func(r *raw, t, g string) int16 {
		req := versioned(kmsg.NewPtrOffsetCommitRequest(), 8)
		req.Group, req.Generation = g, -1
		ct := kmsg.NewOffsetCommitRequestTopic()
		ct.Topic = t
		ct.Partitions = []kmsg.OffsetCommitRequestTopicPartition{kmsg.NewOffsetCommitRequestTopicPartition()}
		req.Topics = append(req.Topics, ct)
		return r.ask(req).(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode
	}, want: row(pass, noGroup, pass, noGroup, pass, noGroup), others: only(noGroup)},
	{key: 8, name: "OffsetCommit, topic of others", ask: func(r *raw, _, g string) int16 {
		req := versioned(kmsg.NewPtrOffsetCommitRequest(), 8)
		req.Group, req.Generation = g, -1
		ct := kmsg.NewOffsetCommitRequestTopic()
		ct.Topic = "o"
		ct.Partitions = []kmsg.OffsetCommitRequestTopicPartition{kmsg.NewOffsetCommitRequestTopicPartition()}
		req.Topics = append(req.Topics, ct)
		return r.ask(req).(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode
	}, want: row(pass, noGroup, pass, noGroup, noTopic, noGroup), others: only(noGroup)},
	{key: 9, name: "OffsetFetch", ask: func(r *raw, _, g string) int16 {
		req := versioned(kmsg.NewPtrOffsetFetchRequest(), 8)
		fg := kmsg.NewOffsetFetchRequestGroup()
		fg.Group = g
		req.Groups = append(req.Groups, fg)
		return r.ask(req).(*kmsg.OffsetFetchResponse).Groups[0].ErrorCode
	}, want: row(pass, noGroup, pass, noGroup, pass, noGroup), others: only(noGroup)},
	{key: 10, name: "FindCoordinator", ask: func(r *raw, _, g string) int16 {
		req := versioned(kmsg.NewPtrFindCoordinatorRequest(), 4)
		req.CoordinatorKeys = []string{g}
		return r.ask(req).(*kmsg.FindCoordinatorResponse).Coordinators[0].ErrorCode
	}, want: row(pass, noGroup, pass, noGroup, pass, noGroup), others: only(noGroup)},
	{
		key: 11, name: "JoinGroup", ask: func(r *raw, _, g string) int16 {
			req := versioned(kmsg.NewPtrJoinGroupRequest(), 9)
			req.Group, req.SessionTimeoutMillis, req.RebalanceTimeoutMillis, req.ProtocolType = g, 30000, 30000, "consumer"
			p := kmsg.NewJoinGroupRequestProtocol()
			p.Name = "range"
			req.Protocols = append(req.Protocols, p)
			return r.ask(req).(*kmsg.JoinGroupResponse).ErrorCode // a member id is given first
		}, want: row(noMemberID, noGroup, noMemberID, noGroup, noMemberID, noGroup),
		others: &[everyone]int16{noMemberID, noGroup, noMemberID, noGroup, noGroup, noGroup},
	},
	{key: 12, name: "Heartbeat", ask: func(r *raw, _, g string) int16 {
		req := versioned(kmsg.NewPtrHeartbeatRequest(), 4)
		req.Group, req.MemberID = g, "m"
		return r.ask(req).(*kmsg.HeartbeatResponse).ErrorCode
	}, want: row(noMember, noGroup, noMember, noGroup, noMember, noGroup)},
	{key: 13, name: "LeaveGroup", ask: func(r *raw, _, g string) int16 {
		req := versioned(kmsg.NewPtrLeaveGroupRequest(), 5)
		req.Group = g
		m := kmsg.NewLeaveGroupRequestMember()
		m.MemberID = "m"
		req.Members = append(req.Members, m)
		resp := r.ask(req).(*kmsg.LeaveGroupResponse)
		if resp.ErrorCode != 0 {
			return resp.ErrorCode
		}
		return resp.Members[0].ErrorCode
	}, want: row(noMember, noGroup, noMember, noGroup, noMember, noGroup)},
	{key: 14, name: "SyncGroup", ask: func(r *raw, _, g string) int16 {
		req := versioned(kmsg.NewPtrSyncGroupRequest(), 5)
		req.Group, req.MemberID = g, "m"
		req.ProtocolType, req.Protocol = str("consumer"), str("range")
		return r.ask(req).(*kmsg.SyncGroupResponse).ErrorCode
	}, want: row(noMember, noGroup, noMember, noGroup, noMember, noGroup)},
	{key: 15, name: "DescribeGroups", ask: func(r *raw, _, g string) int16 {
		req := versioned(kmsg.NewPtrDescribeGroupsRequest(), 5)
		req.Groups = []string{g}
		return r.ask(req).(*kmsg.DescribeGroupsResponse).Groups[0].ErrorCode
	}, want: row(pass, noGroup, pass, noGroup, pass, noGroup), others: only(noGroup)},
	{key: 17, name: "SaslHandshake", last: true, ask: func(r *raw, _, _ string) int16 {
		return r.ask(handshake(1, mechanismPlain)).(*kmsg.SASLHandshakeResponse).ErrorCode
	}, want: row(noLogin, pass, noLogin, noLogin, noLogin, noLogin)},
	{key: 18, name: "ApiVersions", ask: func(r *raw, _, _ string) int16 {
		return r.ask(kmsg.NewPtrApiVersionsRequest()).(*kmsg.ApiVersionsResponse).ErrorCode
	}, want: row(pass, pass, pass, pass, pass, pass)},
	{key: 19, name: "CreateTopics", ask: func(r *raw, t, _ string) int16 {
		req := versioned(kmsg.NewPtrCreateTopicsRequest(), 6)
		ct := kmsg.NewCreateTopicsRequestTopic()
		ct.Topic, ct.NumPartitions, ct.ReplicationFactor = "new-"+t, 1, 1
		req.Topics = append(req.Topics, ct)
		return r.ask(req).(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode
	}, want: *only(noTopic)},
	{key: 20, name: "DeleteTopics", last: true, ask: func(r *raw, t, _ string) int16 {
		req := versioned(kmsg.NewPtrDeleteTopicsRequest(), 5)
		req.TopicNames = []string{t}
		return r.ask(req).(*kmsg.DeleteTopicsResponse).Topics[0].ErrorCode
	}, want: *only(noTopic), blind: true},
	{key: 21, name: "DeleteRecords", ask: func(r *raw, t, _ string) int16 {
		req := versioned(kmsg.NewPtrDeleteRecordsRequest(), 2)
		dt := kmsg.NewDeleteRecordsRequestTopic()
		dt.Topic = t
		p := kmsg.NewDeleteRecordsRequestTopicPartition()
		p.Offset = 0
		dt.Partitions = append(dt.Partitions, p)
		req.Topics = append(req.Topics, dt)
		return r.ask(req).(*kmsg.DeleteRecordsResponse).Topics[0].Partitions[0].ErrorCode
	}, want: *only(noTopic), blind: true},
	{key: 22, name: "InitProducerId", ask: func(r *raw, _, _ string) int16 {
		return r.ask(kmsg.NewPtrInitProducerIDRequest()).(*kmsg.InitProducerIDResponse).ErrorCode
	}, want: row(pass, noCluster, pass, noCluster, noCluster, pass)},
	{key: 23, name: "OffsetForLeaderEpoch", ask: func(r *raw, t, _ string) int16 {
		req := versioned(kmsg.NewPtrOffsetForLeaderEpochRequest(), 4)
		req.ReplicaID = -1
		ot := kmsg.NewOffsetForLeaderEpochRequestTopic()
		ot.Topic = t
		p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
		p.CurrentLeaderEpoch = -1
		ot.Partitions = append(ot.Partitions, p)
		req.Topics = append(req.Topics, ot)
		return r.ask(req).(*kmsg.OffsetForLeaderEpochResponse).Topics[0].Partitions[0].ErrorCode
	}, want: row(pass, noTopic, pass, noTopic, pass, pass), others: only(noTopic), blind: true},
	{key: 24, name: "AddPartitionsToTxn", ask: func(r *raw, t, _ string) int16 {
		req := versioned(kmsg.NewPtrAddPartitionsToTxnRequest(), 3)
		req.TransactionalID = "x"
		req.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: t, Partitions: []int32{0}}}
		return r.ask(req).(*kmsg.AddPartitionsToTxnResponse).Topics[0].Partitions[0].ErrorCode
	}, want: row(noMapping, noTxn, noMapping, noTxn, noTxn, noTxn), others: &[everyone]int16{noMapping, noTxn, noMapping, noTxn, noTxn, noTxn}},
	{key: 25, name: "AddOffsetsToTxn", ask: func(r *raw, _, g string) int16 {
		req := versioned(kmsg.NewPtrAddOffsetsToTxnRequest(), 4)
		req.TransactionalID, req.Group = "x", g
		return r.ask(req).(*kmsg.AddOffsetsToTxnResponse).ErrorCode
	}, want: row(noMapping, noTxn, noMapping, noTxn, noTxn, noTxn)},
	{key: 26, name: "EndTxn", ask: func(r *raw, _, _ string) int16 {
		req := versioned(kmsg.NewPtrEndTxnRequest(), 5)
		req.TransactionalID = "x"
		return r.ask(req).(*kmsg.EndTxnResponse).ErrorCode
	}, want: row(noMapping, noTxn, noMapping, noTxn, noTxn, noTxn)},
	{key: 27, name: "WriteTxnMarkers", ask: func(r *raw, t, _ string) int16 {
		req := versioned(kmsg.NewPtrWriteTxnMarkersRequest(), 1)
		req.Markers = []kmsg.WriteTxnMarkersRequestMarker{{ProducerID: 12345, Topics: []kmsg.WriteTxnMarkersRequestMarkerTopic{{Topic: t, Partitions: []int32{0}}}}}
		return r.ask(req).(*kmsg.WriteTxnMarkersResponse).Markers[0].Topics[0].Partitions[0].ErrorCode
	}, want: row(kafkaerr.InvalidTxnState, noCluster, kafkaerr.InvalidTxnState, noCluster, noCluster, noCluster), others: only(noCluster), blind: true},
	{key: 28, name: "TxnOffsetCommit", ask: func(r *raw, t, g string) int16 {
		req := versioned(kmsg.NewPtrTxnOffsetCommitRequest(), 4)
		req.TransactionalID, req.Group, req.Generation = "x", g, -1
		req.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: t, Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{}}}}
		return r.ask(req).(*kmsg.TxnOffsetCommitResponse).Topics[0].Partitions[0].ErrorCode
	}, want: row(noMapping, noTxn, noMapping, noTxn, noTxn, noTxn)},
	{key: 61, name: "DescribeProducers", ask: func(r *raw, t, _ string) int16 {
		req := kmsg.NewPtrDescribeProducersRequest()
		req.Topics = []kmsg.DescribeProducersRequestTopic{{Topic: t, Partitions: []int32{0}}}
		return r.ask(req).(*kmsg.DescribeProducersResponse).Topics[0].Partitions[0].ErrorCode
	}, want: row(pass, noTopic, pass, noTopic, pass, noTopic), others: only(noTopic), blind: true},
	{key: 65, name: "DescribeTransactions", ask: func(r *raw, _, _ string) int16 {
		req := kmsg.NewPtrDescribeTransactionsRequest()
		req.TransactionalIDs = []string{"x"}
		return r.ask(req).(*kmsg.DescribeTransactionsResponse).TransactionStates[0].ErrorCode
	}, want: row(kafkaerr.TransactionalIDNotFound, noTxn, kafkaerr.TransactionalIDNotFound, noTxn, noTxn, noTxn)},
	{key: 66, name: "ListTransactions", ask: func(r *raw, _, _ string) int16 { // leaves out what may not be seen
		return r.ask(versioned(kmsg.NewPtrListTransactionsRequest(), 1)).(*kmsg.ListTransactionsResponse).ErrorCode
	}, want: row(pass, pass, pass, pass, pass, pass)},
	{key: 29, name: "DescribeAcls", ask: func(r *raw, _, _ string) int16 {
		req := versioned(kmsg.NewPtrDescribeACLsRequest(), 3)
		req.ResourceType, req.ResourcePatternType = kmsg.ACLResourceTypeAny, kmsg.ACLResourcePatternTypeAny
		req.Operation, req.PermissionType = kmsg.ACLOperationAny, kmsg.ACLPermissionTypeAny
		return r.ask(req).(*kmsg.DescribeACLsResponse).ErrorCode
	}, want: *only(noCluster)},
	{key: 30, name: "CreateAcls", ask: func(r *raw, t, _ string) int16 {
		req := versioned(kmsg.NewPtrCreateACLsRequest(), 3)
		c := kmsg.NewCreateACLsRequestCreation()
		c.ResourceType, c.ResourceName, c.ResourcePatternType = kmsg.ACLResourceTypeTopic, t, kmsg.ACLResourcePatternTypeLiteral
		c.Principal, c.Host, c.Operation, c.PermissionType = "User:someone", "*", kmsg.ACLOperationRead, kmsg.ACLPermissionTypeAllow
		req.Creations = append(req.Creations, c)
		return r.ask(req).(*kmsg.CreateACLsResponse).Results[0].ErrorCode
	}, want: *only(noCluster)},
	{key: 31, name: "DeleteAcls", ask: func(r *raw, t, _ string) int16 {
		req := versioned(kmsg.NewPtrDeleteACLsRequest(), 3)
		f := kmsg.NewDeleteACLsRequestFilter()
		f.ResourceType, f.ResourceName, f.ResourcePatternType = kmsg.ACLResourceTypeTopic, &t, kmsg.ACLResourcePatternTypeLiteral
		f.Operation, f.PermissionType = kmsg.ACLOperationDelete, kmsg.ACLPermissionTypeDeny
		req.Filters = append(req.Filters, f)
		return r.ask(req).(*kmsg.DeleteACLsResponse).Results[0].ErrorCode
	}, want: *only(noCluster)},
	{key: 32, name: "DescribeConfigs, topic", ask: func(r *raw, t, _ string) int16 {
		return r.ask(describeConfigs(kmsg.ConfigResourceTypeTopic, t)).(*kmsg.DescribeConfigsResponse).Resources[0].ErrorCode
	}, want: *only(noTopic), blind: true},
	{key: 32, name: "DescribeConfigs, broker", ask: func(r *raw, _, _ string) int16 {
		return r.ask(describeConfigs(kmsg.ConfigResourceTypeBroker, "1")).(*kmsg.DescribeConfigsResponse).Resources[0].ErrorCode
	}, want: *only(noCluster)},
	{key: 32, name: "DescribeConfigs, group", ask: func(r *raw, _, g string) int16 {
		return r.ask(describeConfigs(32, g)).(*kmsg.DescribeConfigsResponse).Resources[0].ErrorCode
	}, want: *only(noGroup)},
	{key: 33, name: "AlterConfigs", ask: func(r *raw, t, _ string) int16 {
		req := versioned(kmsg.NewPtrAlterConfigsRequest(), 2)
		res := kmsg.NewAlterConfigsRequestResource()
		res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeTopic, t
		c := kmsg.NewAlterConfigsRequestResourceConfig()
		c.Name, c.Value = "retention.ms", str("1000000")
		res.Configs = append(res.Configs, c)
		req.Resources = append(req.Resources, res)
		return r.ask(req).(*kmsg.AlterConfigsResponse).Resources[0].ErrorCode
	}, want: *only(noTopic), blind: true},
	{key: 34, name: "AlterReplicaLogDirs", ask: func(r *raw, t, _ string) int16 {
		req := versioned(kmsg.NewPtrAlterReplicaLogDirsRequest(), 2)
		req.Dirs = []kmsg.AlterReplicaLogDirsRequestDir{{Dir: "/elsewhere", Topics: []kmsg.AlterReplicaLogDirsRequestDirTopic{{Topic: t, Partitions: []int32{0}}}}}
		if code := r.ask(req).(*kmsg.AlterReplicaLogDirsResponse).Topics[0].Partitions[0].ErrorCode; code != kafkaerr.LogDirNotFound {
			return code
		}
		return kafkaerr.None
	}, want: *only(noCluster)},
	{key: 35, name: "DescribeLogDirs", ask: func(r *raw, _, _ string) int16 {
		return r.ask(versioned(kmsg.NewPtrDescribeLogDirsRequest(), 4)).(*kmsg.DescribeLogDirsResponse).ErrorCode
	}, want: *only(noCluster)},
	{key: 36, name: "SaslAuthenticate", ask: func(r *raw, _, _ string) int16 {
		return r.ask(authenticate("\x00admin\x00secret")).(*kmsg.SASLAuthenticateResponse).ErrorCode
	}, want: row(noLogin, noLogin, noLogin, noLogin, noLogin, noLogin)},
	{key: 37, name: "CreatePartitions", ask: func(r *raw, t, _ string) int16 {
		req := versioned(kmsg.NewPtrCreatePartitionsRequest(), 3)
		pt := kmsg.NewCreatePartitionsRequestTopic()
		pt.Topic, pt.Count = t, 2
		req.Topics = append(req.Topics, pt)
		return r.ask(req).(*kmsg.CreatePartitionsResponse).Topics[0].ErrorCode
	}, want: *only(noTopic), blind: true},
	{key: 42, name: "DeleteGroups", last: true, ask: func(r *raw, _, g string) int16 {
		req := versioned(kmsg.NewPtrDeleteGroupsRequest(), 2)
		req.Groups = []string{g}
		return r.ask(req).(*kmsg.DeleteGroupsResponse).Groups[0].ErrorCode
	}, want: *only(noGroup)},
	{key: 43, name: "ElectLeaders", ask: func(r *raw, _, _ string) int16 {
		return r.ask(versioned(kmsg.NewPtrElectLeadersRequest(), 2)).(*kmsg.ElectLeadersResponse).ErrorCode
	}, want: *only(noCluster)},
	{key: 45, name: "AlterPartitionReassignments", ask: func(r *raw, _, _ string) int16 {
		return r.ask(versioned(kmsg.NewPtrAlterPartitionAssignmentsRequest(), 1)).(*kmsg.AlterPartitionAssignmentsResponse).ErrorCode
	}, want: *only(noCluster)},
	{key: 46, name: "ListPartitionReassignments", ask: func(r *raw, _, _ string) int16 {
		return r.ask(kmsg.NewPtrListPartitionReassignmentsRequest()).(*kmsg.ListPartitionReassignmentsResponse).ErrorCode
	}, want: *only(noCluster)},
	{key: 48, name: "DescribeClientQuotas", ask: func(r *raw, _, _ string) int16 {
		return r.ask(versioned(kmsg.NewPtrDescribeClientQuotasRequest(), 1)).(*kmsg.DescribeClientQuotasResponse).ErrorCode
	}, want: *only(noCluster)},
	{key: 49, name: "AlterClientQuotas", ask: func(r *raw, _, _ string) int16 {
		return r.ask(alterQuota("controller_mutation_rate", 5, "user", "x")).(*kmsg.AlterClientQuotasResponse).Entries[0].ErrorCode
	}, want: *only(noCluster)},
	{key: 50, name: "DescribeUserScramCredentials", ask: func(r *raw, _, _ string) int16 {
		return r.ask(kmsg.NewPtrDescribeUserSCRAMCredentialsRequest()).(*kmsg.DescribeUserSCRAMCredentialsResponse).ErrorCode
	}, want: *only(noCluster)},
	{key: 51, name: "AlterUserScramCredentials", ask: func(r *raw, _, _ string) int16 {
		req := kmsg.NewPtrAlterUserSCRAMCredentialsRequest()
		d := kmsg.NewAlterUserSCRAMCredentialsRequestDeletion()
		d.Name, d.Mechanism = "nobody-at-all", 1
		req.Deletions = append(req.Deletions, d)
		return r.ask(req).(*kmsg.AlterUserSCRAMCredentialsResponse).Results[0].ErrorCode
	}, want: row(kafkaerr.ResourceNotFound, noCluster, kafkaerr.ResourceNotFound, noCluster, noCluster, noCluster)},
	{key: 55, name: "DescribeQuorum", ask: func(r *raw, _, _ string) int16 {
		return r.ask(versioned(kmsg.NewPtrDescribeQuorumRequest(), 2)).(*kmsg.DescribeQuorumResponse).ErrorCode
	}, want: *only(noCluster)},
	{key: 57, name: "UpdateFeatures", ask: func(r *raw, _, _ string) int16 {
		return r.ask(versioned(kmsg.NewPtrUpdateFeaturesRequest(), 1)).(*kmsg.UpdateFeaturesResponse).ErrorCode
	}, want: *only(noCluster)},
	{key: 74, name: "ListConfigResources", ask: func(r *raw, _, _ string) int16 {
		return r.ask(versioned(kmsg.NewPtrListConfigResourcesRequest(), 1)).(*kmsg.ListConfigResourcesResponse).ErrorCode
	}, want: *only(noCluster)},
	{key: 44, name: "IncrementalAlterConfigs, topic", ask: func(r *raw, t, _ string) int16 {
		return r.ask(incremental(kmsg.ConfigResourceTypeTopic, t, "retention.ms", "1000000")).(*kmsg.IncrementalAlterConfigsResponse).Resources[0].ErrorCode
	}, want: *only(noTopic), blind: true},
	{key: 44, name: "IncrementalAlterConfigs, group", ask: func(r *raw, _, g string) int16 {
		return r.ask(incremental(32, g, "share.auto.offset.reset", "earliest")).(*kmsg.IncrementalAlterConfigsResponse).Resources[0].ErrorCode
	}, want: *only(noGroup)},
	{key: 44, name: "IncrementalAlterConfigs, broker", ask: func(r *raw, _, _ string) int16 {
		return r.ask(incremental(kmsg.ConfigResourceTypeBroker, "1", "num.partitions", "3")).(*kmsg.IncrementalAlterConfigsResponse).Resources[0].ErrorCode
	}, want: row(noCluster, noCluster, kafkaerr.InvalidRequest, noCluster, noCluster, noCluster)}, // an open server's are its operator's
	{key: 47, name: "OffsetDelete", ask: func(r *raw, t, g string) int16 {
		req := kmsg.NewPtrOffsetDeleteRequest()
		req.Group = g
		dt := kmsg.NewOffsetDeleteRequestTopic()
		dt.Topic = t
		dt.Partitions = []kmsg.OffsetDeleteRequestTopicPartition{kmsg.NewOffsetDeleteRequestTopicPartition()}
		req.Topics = append(req.Topics, dt)
		resp := r.ask(req).(*kmsg.OffsetDeleteResponse)
		if resp.ErrorCode != 0 {
			return resp.ErrorCode
		}
		return resp.Topics[0].Partitions[0].ErrorCode
	}, want: *only(noGroup)},
	{key: 60, name: "DescribeCluster", ask: func(r *raw, _, _ string) int16 {
		return r.ask(versioned(kmsg.NewPtrDescribeClusterRequest(), 1)).(*kmsg.DescribeClusterResponse).ErrorCode
	}, want: row(pass, pass, pass, pass, pass, pass)}, // as in Kafka: who asks is connected to it
	{key: 75, name: "DescribeTopicPartitions", ask: func(r *raw, t, _ string) int16 {
		req := kmsg.NewPtrDescribeTopicPartitionsRequest()
		dt := kmsg.NewDescribeTopicPartitionsRequestTopic()
		dt.Topic = t
		req.Topics = append(req.Topics, dt)
		req.ResponsePartitionLimit = 10
		return r.ask(req).(*kmsg.DescribeTopicPartitionsResponse).Topics[0].ErrorCode
	}, want: row(pass, noTopic, pass, noTopic, pass, pass), others: only(noTopic), blind: true},
	{key: 68, name: "ConsumerGroupHeartbeat", ask: func(r *raw, t, g string) int16 {
		req := versioned(kmsg.NewPtrConsumerGroupHeartbeatRequest(), 1)
		req.Group, req.MemberID, req.MemberEpoch, req.SubscribedTopicNames = "consumer-"+g, "m", 1, []string{t}
		return r.ask(req).(*kmsg.ConsumerGroupHeartbeatResponse).ErrorCode
	}, want: row(noConsumerGroup, noGroup, noConsumerGroup, noGroup, noGroup, noGroup)},
	{key: 69, name: "ConsumerGroupDescribe", ask: func(r *raw, _, g string) int16 {
		req := versioned(kmsg.NewPtrConsumerGroupDescribeRequest(), 1)
		req.Groups = []string{"consumer-" + g}
		return r.ask(req).(*kmsg.ConsumerGroupDescribeResponse).Groups[0].ErrorCode
	}, want: row(noConsumerGroup, noGroup, noConsumerGroup, noGroup, noGroup, noGroup)},
	{key: 76, name: "ShareGroupHeartbeat, group", ask: func(r *raw, t, g string) int16 {
		req := versioned(kmsg.NewPtrShareGroupHeartbeatRequest(), 1)
		req.GroupID, req.MemberID, req.MemberEpoch, req.SubscribedTopicNames = "share-"+g, "m", 1, []string{t}
		return r.ask(req).(*kmsg.ShareGroupHeartbeatResponse).ErrorCode
	}, want: row(noMember, noGroup, noMember, noGroup, noMember, noGroup), others: &[everyone]int16{noMember, noGroup, noMember, noGroup, noGroup, noGroup}},
	{key: 76, name: "ShareGroupHeartbeat, topic of others", ask: func(r *raw, _, g string) int16 {
		req := versioned(kmsg.NewPtrShareGroupHeartbeatRequest(), 1)
		req.GroupID, req.MemberID, req.MemberEpoch, req.SubscribedTopicNames = "share-"+g, "m", 1, []string{"o"}
		return r.ask(req).(*kmsg.ShareGroupHeartbeatResponse).ErrorCode
	}, want: row(noMember, noGroup, noMember, noGroup, noTopic, noGroup)},
	{key: 77, name: "ShareGroupDescribe", ask: func(r *raw, _, g string) int16 {
		req := versioned(kmsg.NewPtrShareGroupDescribeRequest(), 1)
		req.GroupIDs = []string{"share-" + g}
		return r.ask(req).(*kmsg.ShareGroupDescribeResponse).Groups[0].ErrorCode
	}, want: row(noShareGroup, noGroup, noShareGroup, noGroup, noShareGroup, noGroup), others: only2(noShareGroup, noGroup)},
	{key: 78, name: "ShareFetch", ask: func(r *raw, _, g string) int16 {
		req := versioned(kmsg.NewPtrShareFetchRequest(), 1)
		req.GroupID, req.MemberID, req.ShareSessionEpoch = str("share-"+g), str("m"), 1
		return r.ask(req).(*kmsg.ShareFetchResponse).ErrorCode
	}, want: row(noSession, noGroup, noSession, noGroup, noSession, noGroup), others: only2(noSession, noGroup)},
	{key: 79, name: "ShareAcknowledge", ask: func(r *raw, _, g string) int16 {
		req := versioned(kmsg.NewPtrShareAcknowledgeRequest(), 1)
		req.GroupID, req.MemberID, req.ShareSessionEpoch = str("share-"+g), str("m"), 1
		return r.ask(req).(*kmsg.ShareAcknowledgeResponse).ErrorCode
	}, want: row(noSession, noGroup, noSession, noGroup, noSession, noGroup), others: only2(noSession, noGroup)},
	{key: 90, name: "DescribeShareGroupOffsets", ask: func(r *raw, _, g string) int16 {
		req := versioned(kmsg.NewPtrDescribeShareGroupOffsetsRequest(), 0)
		req.Groups = []kmsg.DescribeShareGroupOffsetsRequestGroup{{GroupID: "share-" + g}}
		return r.ask(req).(*kmsg.DescribeShareGroupOffsetsResponse).Groups[0].ErrorCode
	}, want: row(noShareGroup, noGroup, noShareGroup, noGroup, noShareGroup, noGroup), others: only2(noShareGroup, noGroup)},
	{key: 91, name: "AlterShareGroupOffsets", last: true, ask: func(r *raw, t, g string) int16 {
		req := kmsg.NewPtrAlterShareGroupOffsetsRequest()
		req.GroupID = "share-" + g
		req.Topics = []kmsg.AlterShareGroupOffsetsRequestTopic{{Topic: t, Partitions: []kmsg.AlterShareGroupOffsetsRequestTopicPartition{{}}}}
		resp := r.ask(req).(*kmsg.AlterShareGroupOffsetsResponse)
		if resp.ErrorCode != 0 {
			return resp.ErrorCode
		}
		return resp.Topics[0].Partitions[0].ErrorCode
	}, want: row(pass, noGroup, pass, noGroup, pass, noGroup), others: only(noGroup)},
	{key: 92, name: "DeleteShareGroupOffsets", ask: func(r *raw, t, g string) int16 {
		req := kmsg.NewPtrDeleteShareGroupOffsetsRequest()
		req.GroupID = "share-" + g + "-unknown"
		req.Topics = []kmsg.DeleteShareGroupOffsetsRequestTopic{{Topic: t}}
		resp := r.ask(req).(*kmsg.DeleteShareGroupOffsetsResponse)
		return resp.ErrorCode
	}, want: row(noShareGroup, noGroup, noShareGroup, noGroup, noGroup, noGroup)},
}

// Metadata of all topics, ListGroups and OffsetFetch of all topics leave out what may not be seen.
func TestListsShowWhatMayBeSeen(t *testing.T) {
	for w := range everyone {
		_, r := as(t, w)
		var topics []string
		for _, mt := range r.ask(versioned(kmsg.NewPtrMetadataRequest(), 12)).(*kmsg.MetadataResponse).Topics {
			topics = append(topics, *mt.Topic)
		}
		var groups []string
		for _, g := range r.ask(versioned(kmsg.NewPtrListGroupsRequest(), 4)).(*kmsg.ListGroupsResponse).Groups {
			groups = append(groups, g.Group)
		}
		var offsets []string
		req := versioned(kmsg.NewPtrOffsetFetchRequest(), 8)
		fg := kmsg.NewOffsetFetchRequestGroup()
		fg.Group = "g"
		req.Groups = append(req.Groups, fg)
		for _, ft := range r.ask(req).(*kmsg.OffsetFetchResponse).Groups[0].Topics {
			offsets = append(offsets, ft.Topic)
		}
		slices.Sort(topics)
		slices.Sort(groups)
		slices.Sort(offsets)
		all := "[o t] [g og] [o t]"
		want := map[who]string{
			openAnonymous: all, closedAnonymous: "[] [] []", administrator: all,
			nobody: "[] [] []", reader: "[t] [g] [t]", writer: "[t] [] []",
		}[w]
		if got := fmt.Sprint(topics, " ", groups, " ", offsets); got != want {
			t.Errorf("%s: topics, groups, offsets of g: %s, want %s", w, got, want)
		}
	}
}

func TestEveryAPIAnswersWhoMayDoWhat(t *testing.T) {
	for w := range everyone {
		_, same := as(t, w)
		for _, c := range operationCases {
			r := same
			if c.last {
				_, r = as(t, w)
			}
			if got := c.ask(r, "t", "g"); got != c.want[w] {
				t.Errorf("%s, %s of what reader and writer were granted: %d, want %d", c.name, w, got, c.want[w])
			}
		}
	}
}

func TestAGrantReachesNothingElse(t *testing.T) {
	for _, w := range []who{nobody, reader, writer, closedAnonymous} {
		e, r := as(t, w)
		ends := e.ends()
		for _, c := range operationCases {
			if c.key == keySASLHandshake {
				continue // begins a login
			}
			want := c.want[w]
			if c.others != nil {
				want = c.others[w]
			}
			if got := c.ask(r, "o", "og"); c.others != nil && got != want {
				t.Errorf("%s, %s, of what others have: %d, want %d", c.name, w, got, want)
			}
			if c.blind {
				if got := c.ask(r, "there-is-none", "og"); got != want {
					t.Errorf("%s, %s: %d for a topic that is not there, %d for one that may not be seen", c.name, w, got, want)
				}
			}
		}
		if after := e.ends(); !maps.Equal(ends, after) {
			t.Errorf("%s changed %v to %v", w, ends, after)
		}
	}
}

// ends is the end offset of every topic's first partition.
func (e *env) ends() map[string]int64 {
	m := map[string]int64{}
	for _, t := range e.st.Topics().All() {
		m[t.Name] = e.end(t.ID, 0)
	}
	return m
}

func TestEveryAdvertisedAPIHasItsRowInTheMatrix(t *testing.T) {
	e := start(t)
	have := map[int16]bool{16: true} // ListGroups: TestListsShowWhatMayBeSeen
	for _, c := range operationCases {
		have[c.key] = true
	}
	for _, k := range e.raw().ask(kmsg.NewPtrApiVersionsRequest()).(*kmsg.ApiVersionsResponse).ApiKeys {
		if !have[k.ApiKey] {
			t.Errorf("%s is advertised and nothing says who may use it", strings.TrimSuffix(kmsg.NameForKey(k.ApiKey), "Request"))
		}
	}
}
