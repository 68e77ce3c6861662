package topics

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ElectLeaders serves ElectLeaders 0–2: every partition has its only replica as leader, so
// no election is ever needed. Asked about all partitions, Kafka names those where
// something happened: none.
func (h *Handlers) ElectLeaders(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.ElectLeadersRequest)
	resp := req.ResponseKind().(*kmsg.ElectLeadersResponse)
	may := h.Allowed(r, auth.Alter, api.ClusterResource)
	switch {
	case !may:
		resp.ErrorCode = kafkaerr.ClusterAuthorizationFailed
	case req.ElectionType != 0 && req.ElectionType != 1:
		resp.ErrorCode = kafkaerr.InvalidRequest
		return resp, nil
	}
	topics := h.Store.Topics()
	for _, t := range req.Topics {
		rt := kmsg.NewElectLeadersResponseTopic()
		rt.Topic = t.Topic
		topic, known := topics.ByName(t.Topic)
		for _, p := range t.Partitions {
			rp := kmsg.NewElectLeadersResponseTopicPartition()
			rp.Partition = p
			var err error
			switch {
			case !may:
				err = kafkaerr.Faultf(kafkaerr.ClusterAuthorizationFailed, "Cluster authorization failed.")
			case !known || p < 0 || p >= topic.Partitions:
				err = kafkaerr.Faultf(kafkaerr.UnknownTopicOrPartition, "This server does not host this topic-partition.")
			default:
				err = kafkaerr.Faultf(kafkaerr.ElectionNotNeeded, "Leader election not needed for topic partition.")
			}
			rp.ErrorCode, rp.ErrorMessage = h.Fault(err)
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp, nil
}
