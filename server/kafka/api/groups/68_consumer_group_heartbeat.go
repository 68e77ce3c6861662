package groups

import (
	"context"
	"errors"
	"time"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/group"
	"millrace/server/kafka/kafkaerr"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ConsumerGroupHeartbeat serves ConsumerGroupHeartbeat 0–1: members of the consumer protocol join,
// stay, learn their assignment and leave. From 1 on they make their own id and may
// subscribe by a regular expression, which finds only topics that they may see.
func (h *Handlers) ConsumerGroupHeartbeat(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.ConsumerGroupHeartbeatRequest)
	resp := req.ResponseKind().(*kmsg.ConsumerGroupHeartbeatResponse)
	if resp.ErrorCode = h.MaySubscribe(r, req.Group, req.SubscribedTopicNames); resp.ErrorCode != kafkaerr.None {
		return resp, nil
	}
	beat := group.ConsumerHeartbeat{
		Group: req.Group, MemberID: req.MemberID, InstanceID: req.InstanceID, RackID: req.RackID,
		ClientID: r.ClientID, ClientHost: r.ClientHost(), Epoch: req.MemberEpoch,
		RebalanceTimeout: time.Duration(req.RebalanceTimeoutMillis) * time.Millisecond,
		Topics:           req.SubscribedTopicNames, Assignor: req.ServerAssignor,
		MakeMemberID: req.Version == 0,
		Visible:      func(topic string) bool { return h.Allowed(r, auth.Describe, api.TopicResource(topic)) },
	}
	if req.Version >= 1 {
		beat.Regex = req.SubscribedTopicRegex
	}
	if req.Topics != nil {
		beat.Owned = []state.TopicPartition{}
		for _, t := range req.Topics {
			for _, p := range t.Partitions {
				beat.Owned = append(beat.Owned, state.TopicPartition{Topic: t.TopicID, Partition: p})
			}
		}
	}
	res, err := api.Await(ctx, func(reply func(group.ConsumerHeartbeatResponse)) { h.Groups.ConsumerHeartbeat(beat, reply) })
	if err != nil {
		return nil, err
	}
	if res.Err != nil {
		resp.ErrorCode = h.consumerCode(res.Err)
		resp.ErrorMessage = api.Nullable(res.Err.Error())
		return resp, nil
	}
	resp.MemberID, resp.MemberEpoch = &res.MemberID, res.Epoch
	resp.HeartbeatIntervalMillis = int32(res.Interval.Milliseconds())
	if res.Assigned {
		a := kmsg.NewConsumerGroupHeartbeatResponseAssignment()
		a.Topics = []kmsg.ConsumerGroupHeartbeatResponseAssignmentTopic{}
		for i, tp := range res.Assignment {
			if i == 0 || tp.Topic != res.Assignment[i-1].Topic {
				t := kmsg.NewConsumerGroupHeartbeatResponseAssignmentTopic()
				t.TopicID = tp.Topic
				a.Topics = append(a.Topics, t)
			}
			last := &a.Topics[len(a.Topics)-1]
			last.Partitions = append(last.Partitions, tp.Partition)
		}
		resp.Assignment = &a
	}
	return resp, nil
}

// consumerCode is the code of an error in the APIs of the consumer protocol.
func (h *Handlers) consumerCode(err error) int16 {
	switch bad := (*group.InvalidRequestError)(nil); {
	case errors.As(err, &bad):
		return kafkaerr.InvalidRequest
	case errors.Is(err, group.ErrShareGroup):
		return kafkaerr.GroupIDNotFound // as Kafka answers for a group of another type
	}
	return h.Code(err)
}
