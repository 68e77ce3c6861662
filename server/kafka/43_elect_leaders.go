package kafka

import (
	"context"

	"millrace/server/auth"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// electLeaders serves ElectLeaders 0–2: every partition has its only replica as leader, so
// no election is ever needed. Asked about all partitions, Kafka names those where
// something happened: none.
func (s *Server) electLeaders(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.ElectLeadersRequest)
	resp := req.ResponseKind().(*kmsg.ElectLeadersResponse)
	may := s.allowed(r, auth.Alter, clusterResource)
	switch {
	case !may:
		resp.ErrorCode = errClusterAuthorizationFailed
	case req.ElectionType != 0 && req.ElectionType != 1:
		resp.ErrorCode = errInvalidRequest
		return resp, nil
	}
	topics := s.o.Store.Topics()
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
				err = adminErrorf(errClusterAuthorizationFailed, "Cluster authorization failed.")
			case !known || p < 0 || p >= topic.Partitions:
				err = adminErrorf(errUnknownTopicOrPartition, "This server does not host this topic-partition.")
			default:
				err = adminErrorf(errElectionNotNeeded, "Leader election not needed for topic partition.")
			}
			rp.ErrorCode, rp.ErrorMessage = s.describeError(err)
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp, nil
}
