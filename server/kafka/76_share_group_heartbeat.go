package kafka

import (
	"context"

	"millrace/server/kafka/share"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// shareGroupHeartbeat serves ShareGroupHeartbeat 1: members join, stay and leave.
func (s *Server) shareGroupHeartbeat(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.ShareGroupHeartbeatRequest)
	resp := req.ResponseKind().(*kmsg.ShareGroupHeartbeatResponse)
	if resp.ErrorCode = s.maySubscribe(r, req.GroupID, req.SubscribedTopicNames); resp.ErrorCode != errNone {
		return resp, nil
	}
	if req.RackID != nil && *req.RackID == "" {
		resp.ErrorCode, resp.ErrorMessage = errInvalidRequest, nullable("The rack is empty.")
		return resp, nil
	}
	res, err := s.o.Admin.Share.Heartbeat(share.HeartbeatRequest{
		Group: req.GroupID, MemberID: req.MemberID, Rack: deref(req.RackID), Epoch: req.MemberEpoch,
		ClientID: r.clientID, ClientHost: r.clientHost(), Topics: req.SubscribedTopicNames,
	})
	if err != nil {
		resp.ErrorCode = s.shareCode(err)
		resp.ErrorMessage = nullable(err.Error())
		return resp, nil
	}
	resp.MemberID = &req.MemberID
	resp.MemberEpoch = res.Epoch
	if res.Epoch >= 0 { // who leaves beats no more
		resp.HeartbeatIntervalMillis = int32(res.Interval.Milliseconds())
	}
	if res.Assigned {
		a := kmsg.NewShareGroupHeartbeatResponseAssignment()
		for _, t := range res.Assignment {
			tp := kmsg.NewShareGroupHeartbeatResponseAssignmentTopicPartition()
			tp.TopicID, tp.Partitions = t.Topic, t.Partitions
			a.TopicPartitions = append(a.TopicPartitions, tp)
		}
		resp.Assignment = &a
	}
	return resp, nil
}
