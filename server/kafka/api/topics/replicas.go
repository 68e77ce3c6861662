package topics

import "millrace/server/kafka/kafkaerr"

// checkReplicas says whether an explicit replica assignment of one partition is
// possible: this node is the only one there is.
func (h *Handlers) checkReplicas(partition int32, replicas []int32) *kafkaerr.Fault {
	if len(replicas) == 0 {
		return kafkaerr.Faultf(kafkaerr.InvalidReplicaAssignment, "The manual partition assignment includes an empty replica list for partition %d.", partition)
	}
	seen := map[int32]bool{}
	for _, id := range replicas {
		switch {
		case seen[id]:
			return kafkaerr.Faultf(kafkaerr.InvalidReplicaAssignment, "The manual partition assignment includes the broker %d more than once for partition %d.", id, partition)
		case id != h.NodeID:
			return kafkaerr.Faultf(kafkaerr.InvalidReplicaAssignment, "The manual partition assignment includes broker %d, but no such broker is registered.", id)
		}
		seen[id] = true
	}
	return nil
}
