package kafka

import (
	"millrace/server/kafka/api/access"
	"millrace/server/kafka/api/configs"
	"millrace/server/kafka/api/quotas"
	"millrace/server/kafka/api/shares"
	"millrace/server/kafka/api/topics"
)

// Keys that are spoken of elsewhere.
const (
	keyProduce              = 0
	keyFetch                = 1
	keyListOffsets          = 2
	keyMetadata             = 3
	keySASLHandshake        = 17
	keyAPIVersions          = 18
	keyOffsetForLeaderEpoch = 23
	keySASLAuthenticate     = 36
	keyDescribeCluster      = 60
)

// apis is every API of this server. The ranges are those of Kafka 4.1, since older
// librdkafka switches features on by single exact versions; ours end where we do.
func (s *Server) apis() []endpoint {
	var (
		configs      = &configs.Handlers{Node: s.node, GroupConfig: s.groupConfig, CheckColumns: s.o.Admin.CheckColumns, Broker: s.brokerConfigs}
		topics       = &topics.Handlers{Node: s.node, Configs: configs, Quotas: s.quotas, AutoCreateTopics: s.o.AutoCreateTopics, DefaultPartitions: s.o.DefaultPartitions}
		access       = &access.Handlers{Node: s.node}
		quotas       = &quotas.Handlers{Node: s.node, Quotas: s.quotas}
		cluster      = s.cluster
		transactions = s.transactions
		groups       = s.groups
		shares       = &shares.Handlers{Node: s.node, Shares: s.o.Admin.Share, Memory: s.fetches}
	)
	list := []endpoint{
		{key: keyProduce, min: 0, max: 13, raw: (*conn).produce, pipelined: true}, // see produce.ServedFrom
		{key: keyFetch, min: 4, max: 18, raw: (*conn).fetch},
		{key: keyListOffsets, min: 1, max: 11, handle: topics.ListOffsets},
		{key: keyMetadata, min: 0, max: 13, handle: topics.Metadata},
		{key: keySASLHandshake, min: 0, max: 1, own: (*conn).saslHandshake, preAuth: true},
		{key: keyAPIVersions, min: 0, max: 4, own: (*conn).apiVersions, preAuth: true},
		{key: 19, min: 2, max: 7, handle: topics.CreateTopics},
		{key: 20, min: 1, max: 6, handle: topics.DeleteTopics},
		{key: 21, min: 0, max: 2, handle: topics.DeleteRecords},
		{key: 22, min: 0, max: 5, handle: transactions.InitProducerID},
		{key: 24, min: 0, max: 5, handle: transactions.AddPartitionsToTxn},
		{key: 26, min: 0, max: 5, handle: transactions.EndTxn},
		{key: 27, min: 1, max: 2, handle: transactions.WriteTxnMarkers},
		{key: 61, min: 0, max: 0, handle: transactions.DescribeProducers},
		{key: 65, min: 0, max: 0, handle: transactions.DescribeTransactions},
		{key: 66, min: 0, max: 2, handle: transactions.ListTransactions},
		{key: keyOffsetForLeaderEpoch, min: 2, max: 4, handle: topics.OffsetForLeaderEpoch},
		{key: 29, min: 1, max: 3, handle: access.DescribeACLs},
		{key: 30, min: 1, max: 3, handle: access.CreateACLs},
		{key: 31, min: 1, max: 3, handle: access.DeleteACLs},
		{key: 32, min: 1, max: 4, handle: configs.DescribeConfigs},
		{key: 33, min: 0, max: 2, handle: configs.AlterConfigs},
		{key: 34, min: 1, max: 2, handle: cluster.AlterReplicaLogDirs},
		{key: 35, min: 1, max: 5, handle: cluster.DescribeLogDirs},
		{key: keySASLAuthenticate, min: 0, max: 2, own: (*conn).saslAuthenticate, preAuth: true},
		{key: 37, min: 0, max: 3, handle: topics.CreatePartitions},
		{key: 43, min: 0, max: 2, handle: topics.ElectLeaders},
		{key: 44, min: 0, max: 1, handle: configs.IncrementalAlterConfigs},
		{key: 45, min: 0, max: 1, handle: topics.AlterPartitionReassignments},
		{key: 46, min: 0, max: 0, handle: topics.ListPartitionReassignments},
		{key: 48, min: 0, max: 1, handle: quotas.DescribeClientQuotas},
		{key: 49, min: 0, max: 1, handle: quotas.AlterClientQuotas},
		{key: 50, min: 0, max: 0, handle: access.DescribeUserSCRAMCredentials},
		{key: 51, min: 0, max: 0, handle: access.AlterUserSCRAMCredentials},
		{key: 55, min: 0, max: 2, handle: cluster.DescribeQuorum},
		{key: 57, min: 0, max: 2, handle: cluster.UpdateFeatures},
		{key: keyDescribeCluster, min: 0, max: 2, handle: cluster.DescribeCluster},
		{key: 74, min: 0, max: 1, handle: configs.ListConfigResources},
		{key: 75, min: 0, max: 0, handle: topics.DescribeTopicPartitions},
	}
	if s.o.Admin.Groups == nil {
		return list
	}
	if s.o.Admin.Groups.ServesConsumers() {
		list = append(
			list,
			endpoint{key: 68, min: 0, max: 1, handle: groups.ConsumerGroupHeartbeat},
			endpoint{key: 69, min: 0, max: 1, handle: groups.ConsumerGroupDescribe},
		)
	}
	if s.o.Admin.Share != nil {
		list = append(list, []endpoint{
			{key: 76, min: 1, max: 1, handle: shares.ShareGroupHeartbeat},
			{key: 77, min: 1, max: 1, handle: shares.ShareGroupDescribe},
			{key: 78, min: 1, max: 2, handle: shares.ShareFetch, blocking: true},
			{key: 79, min: 1, max: 2, handle: shares.ShareAcknowledge},
			{key: 90, min: 0, max: 1, handle: shares.DescribeShareGroupOffsets},
			{key: 91, min: 0, max: 0, handle: shares.AlterShareGroupOffsets},
			{key: 92, min: 0, max: 0, handle: shares.DeleteShareGroupOffsets},
		}...)
	}
	return append(list, []endpoint{
		{key: 8, min: 2, max: 10, handle: groups.OffsetCommit},
		{key: 9, min: 1, max: 10, handle: groups.OffsetFetch},
		{key: 10, min: 0, max: 6, handle: groups.FindCoordinator},
		{key: 11, min: 0, max: 9, handle: groups.JoinGroup, blocking: true},
		{key: 12, min: 0, max: 4, handle: groups.Heartbeat},
		{key: 13, min: 0, max: 5, handle: groups.LeaveGroup},
		{key: 14, min: 0, max: 5, handle: groups.SyncGroup, blocking: true},
		{key: 15, min: 0, max: 6, handle: groups.DescribeGroups},
		{key: 16, min: 0, max: 5, handle: groups.ListGroups},
		{key: 25, min: 0, max: 4, handle: transactions.AddOffsetsToTxn},
		{key: 28, min: 0, max: 5, handle: groups.TxnOffsetCommit},
		{key: 42, min: 0, max: 3, handle: groups.DeleteGroups},
		{key: 47, min: 0, max: 0, handle: groups.OffsetDelete},
	}...)
}
