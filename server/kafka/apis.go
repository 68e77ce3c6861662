package kafka

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
func (s *Server) apis() []api {
	list := []api{
		{key: keyProduce, min: 0, max: 13, raw: s.produce, pipelined: true}, // see produceServedFrom
		{key: keyFetch, min: 4, max: 18, raw: s.fetch},
		{key: keyListOffsets, min: 1, max: 11, handle: s.listOffsets},
		{key: keyMetadata, min: 0, max: 13, handle: s.metadata},
		{key: keySASLHandshake, min: 0, max: 1, handle: s.saslHandshake, preAuth: true},
		{key: keyAPIVersions, min: 0, max: 4, handle: s.apiVersions, preAuth: true},
		{key: 19, min: 2, max: 7, handle: s.createTopics},
		{key: 20, min: 1, max: 6, handle: s.deleteTopics},
		{key: 21, min: 0, max: 2, handle: s.deleteRecords},
		{key: 22, min: 0, max: 5, handle: s.initProducerID},
		{key: 24, min: 0, max: 5, handle: s.addPartitionsToTxn},
		{key: 26, min: 0, max: 5, handle: s.endTxn},
		{key: 27, min: 1, max: 2, handle: s.writeTxnMarkers},
		{key: 61, min: 0, max: 0, handle: s.describeProducers},
		{key: 65, min: 0, max: 0, handle: s.describeTransactions},
		{key: 66, min: 0, max: 2, handle: s.listTransactions},
		{key: keyOffsetForLeaderEpoch, min: 2, max: 4, handle: s.offsetForLeaderEpoch},
		{key: 29, min: 1, max: 3, handle: s.describeACLs},
		{key: 30, min: 1, max: 3, handle: s.createACLs},
		{key: 31, min: 1, max: 3, handle: s.deleteACLs},
		{key: 32, min: 1, max: 4, handle: s.describeConfigs},
		{key: 33, min: 0, max: 2, handle: s.alterConfigs},
		{key: 34, min: 1, max: 2, handle: s.alterReplicaLogDirs},
		{key: 35, min: 1, max: 5, handle: s.describeLogDirs},
		{key: keySASLAuthenticate, min: 0, max: 2, handle: s.saslAuthenticate, preAuth: true},
		{key: 37, min: 0, max: 3, handle: s.createPartitions},
		{key: 43, min: 0, max: 2, handle: s.electLeaders},
		{key: 44, min: 0, max: 1, handle: s.incrementalAlterConfigs},
		{key: 45, min: 0, max: 1, handle: s.alterPartitionReassignments},
		{key: 46, min: 0, max: 0, handle: s.listPartitionReassignments},
		{key: 48, min: 0, max: 1, handle: s.describeClientQuotas},
		{key: 49, min: 0, max: 1, handle: s.alterClientQuotas},
		{key: 50, min: 0, max: 0, handle: s.describeUserSCRAMCredentials},
		{key: 51, min: 0, max: 0, handle: s.alterUserSCRAMCredentials},
		{key: 55, min: 0, max: 2, handle: s.describeQuorum},
		{key: 57, min: 0, max: 2, handle: s.updateFeatures},
		{key: keyDescribeCluster, min: 0, max: 2, handle: s.describeCluster},
		{key: 74, min: 0, max: 1, handle: s.listConfigResources},
		{key: 75, min: 0, max: 0, handle: s.describeTopicPartitions},
	}
	if s.o.Admin.Groups == nil {
		return list
	}
	if s.o.Admin.Groups.ServesConsumers() {
		list = append(
			list,
			api{key: 68, min: 0, max: 1, handle: s.consumerGroupHeartbeat},
			api{key: 69, min: 0, max: 1, handle: s.consumerGroupDescribe},
		)
	}
	if s.o.Admin.Share != nil {
		list = append(list, []api{
			{key: 76, min: 1, max: 1, handle: s.shareGroupHeartbeat},
			{key: 77, min: 1, max: 1, handle: s.shareGroupDescribe},
			{key: 78, min: 1, max: 2, handle: s.shareFetch, blocking: true},
			{key: 79, min: 1, max: 2, handle: s.shareAcknowledge},
			{key: 90, min: 0, max: 1, handle: s.describeShareGroupOffsets},
			{key: 91, min: 0, max: 0, handle: s.alterShareGroupOffsets},
			{key: 92, min: 0, max: 0, handle: s.deleteShareGroupOffsets},
		}...)
	}
	return append(list, []api{
		{key: 8, min: 2, max: 10, handle: s.offsetCommit},
		{key: 9, min: 1, max: 10, handle: s.offsetFetch},
		{key: 10, min: 0, max: 6, handle: s.findCoordinator},
		{key: 11, min: 0, max: 9, handle: s.joinGroup, blocking: true},
		{key: 12, min: 0, max: 4, handle: s.heartbeat},
		{key: 13, min: 0, max: 5, handle: s.leaveGroup},
		{key: 14, min: 0, max: 5, handle: s.syncGroup, blocking: true},
		{key: 15, min: 0, max: 6, handle: s.describeGroups},
		{key: 16, min: 0, max: 5, handle: s.listGroups},
		{key: 25, min: 0, max: 4, handle: s.addOffsetsToTxn},
		{key: 28, min: 0, max: 5, handle: s.txnOffsetCommit},
		{key: 42, min: 0, max: 3, handle: s.deleteGroups},
		{key: 47, min: 0, max: 0, handle: s.offsetDelete},
	}...)
}
