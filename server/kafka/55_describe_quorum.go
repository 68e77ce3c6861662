package kafka

import (
	"context"

	"millrace/server/auth"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// metadataTopic is where Kafka keeps the cluster's metadata. Here it is the commit log.
const metadataTopic = "__cluster_metadata"

// describeQuorum serves DescribeQuorum 0–2: one voter, this node, which leads and has
// everything.
func (s *Server) describeQuorum(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.DescribeQuorumRequest)
	resp := req.ResponseKind().(*kmsg.DescribeQuorumResponse)
	if !s.allowed(r, auth.Describe, clusterResource) {
		resp.ErrorCode = errClusterAuthorizationFailed
		return resp, nil
	}
	end := int64(s.o.Store.Stats().LastLSN) + 1
	now := s.o.Now().UnixMilli()
	for _, t := range req.Topics {
		rt := kmsg.NewDescribeQuorumResponseTopic()
		rt.Topic = t.Topic
		for _, p := range t.Partitions {
			rp := kmsg.NewDescribeQuorumResponseTopicPartition()
			rp.Partition = p.Partition
			if t.Topic != metadataTopic || p.Partition != 0 {
				rp.ErrorCode = errUnknownTopicOrPartition
				rp.LeaderID, rp.LeaderEpoch, rp.HighWatermark = -1, -1, -1
				rt.Partitions = append(rt.Partitions, rp)
				continue
			}
			rp.LeaderID, rp.LeaderEpoch, rp.HighWatermark = s.o.NodeID, leaderEpoch, end
			voter := kmsg.NewDescribeQuorumResponseTopicPartitionReplicaState()
			voter.ReplicaID, voter.LogEndOffset, voter.LastFetchTimestamp, voter.LastCaughtUpTimestamp = s.o.NodeID, end, now, now
			rp.CurrentVoters = append(rp.CurrentVoters, voter)
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	if r.version >= 2 {
		node := kmsg.NewDescribeQuorumResponseNode()
		node.NodeID = s.o.NodeID
		l := kmsg.NewDescribeQuorumResponseNodeListener()
		host, port := r.advertised()
		l.Name, l.Host, l.Port = r.conn.l.Name, host, uint16(port)
		node.Listeners = append(node.Listeners, l)
		resp.Nodes = append(resp.Nodes, node)
	}
	return resp, nil
}
