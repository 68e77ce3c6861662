package cluster

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// metadataTopic is where Kafka keeps the cluster's metadata. Here it is the commit log.
const metadataTopic = "__cluster_metadata"

// DescribeQuorum serves DescribeQuorum 0–2: one voter, this node, which leads and has
// everything.
func (h *Handlers) DescribeQuorum(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.DescribeQuorumRequest)
	resp := req.ResponseKind().(*kmsg.DescribeQuorumResponse)
	if !h.Allowed(r, auth.Describe, api.ClusterResource) {
		resp.ErrorCode = kafkaerr.ClusterAuthorizationFailed
		return resp, nil
	}
	end := int64(h.Store.Stats().LastLSN) + 1
	now := h.Now().UnixMilli()
	for _, t := range req.Topics {
		rt := kmsg.NewDescribeQuorumResponseTopic()
		rt.Topic = t.Topic
		for _, p := range t.Partitions {
			rp := kmsg.NewDescribeQuorumResponseTopicPartition()
			rp.Partition = p.Partition
			if t.Topic != metadataTopic || p.Partition != 0 {
				rp.ErrorCode = kafkaerr.UnknownTopicOrPartition
				rp.LeaderID, rp.LeaderEpoch, rp.HighWatermark = -1, -1, -1
				rt.Partitions = append(rt.Partitions, rp)
				continue
			}
			rp.LeaderID, rp.LeaderEpoch, rp.HighWatermark = h.NodeID, api.LeaderEpoch, end
			voter := kmsg.NewDescribeQuorumResponseTopicPartitionReplicaState()
			voter.ReplicaID, voter.LogEndOffset, voter.LastFetchTimestamp, voter.LastCaughtUpTimestamp = h.NodeID, end, now, now
			rp.CurrentVoters = append(rp.CurrentVoters, voter)
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	if r.Version >= 2 {
		node := kmsg.NewDescribeQuorumResponseNode()
		node.NodeID = h.NodeID
		l := kmsg.NewDescribeQuorumResponseNodeListener()
		host, port := r.Advertised()
		l.Name, l.Host, l.Port = r.Listener, host, uint16(port)
		node.Listeners = append(node.Listeners, l)
		resp.Nodes = append(resp.Nodes, node)
	}
	return resp, nil
}
