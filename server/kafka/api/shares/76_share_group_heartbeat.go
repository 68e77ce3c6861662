package shares

import (
	"context"

	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/server/kafka/share"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ShareGroupHeartbeat serves ShareGroupHeartbeat 1: members join, stay and leave.
func (h *Handlers) ShareGroupHeartbeat(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.ShareGroupHeartbeatRequest)
	resp := req.ResponseKind().(*kmsg.ShareGroupHeartbeatResponse)
	if resp.ErrorCode = h.MaySubscribe(r, req.GroupID, req.SubscribedTopicNames); resp.ErrorCode != kafkaerr.None {
		return resp, nil
	}
	if req.RackID != nil && *req.RackID == "" {
		resp.ErrorCode, resp.ErrorMessage = kafkaerr.InvalidRequest, api.Nullable("The rack is empty.")
		return resp, nil
	}
	res, err := h.Shares.Heartbeat(share.HeartbeatRequest{
		Group: req.GroupID, MemberID: req.MemberID, Rack: api.Deref(req.RackID), Epoch: req.MemberEpoch,
		ClientID: r.ClientID, ClientHost: r.ClientHost(), Topics: req.SubscribedTopicNames,
	})
	if err != nil {
		resp.ErrorCode = h.Code(err)
		resp.ErrorMessage = api.Nullable(err.Error())
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
