package kafka

import (
	"context"
	"errors"
	"time"

	"millrace/server/auth"
	"millrace/server/kafka/group"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// consumerGroupHeartbeat serves ConsumerGroupHeartbeat 0–1: members of the consumer protocol join,
// stay, learn their assignment and leave. From 1 on they make their own id and may
// subscribe by a regular expression, which finds only topics that they may see.
func (s *Server) consumerGroupHeartbeat(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.ConsumerGroupHeartbeatRequest)
	resp := req.ResponseKind().(*kmsg.ConsumerGroupHeartbeatResponse)
	if resp.ErrorCode = s.maySubscribe(r, req.Group, req.SubscribedTopicNames); resp.ErrorCode != errNone {
		return resp, nil
	}
	beat := group.ConsumerHeartbeat{
		Group: req.Group, MemberID: req.MemberID, InstanceID: req.InstanceID, RackID: req.RackID,
		ClientID: r.clientID, ClientHost: r.clientHost(), Epoch: req.MemberEpoch,
		RebalanceTimeout: time.Duration(req.RebalanceTimeoutMillis) * time.Millisecond,
		Topics:           req.SubscribedTopicNames, Assignor: req.ServerAssignor,
		MakeMemberID: req.Version == 0,
		Visible:      func(topic string) bool { return s.allowed(r, auth.Describe, topicResource(topic)) },
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
	res, err := await(ctx, func(reply func(group.ConsumerHeartbeatResponse)) { s.o.Admin.Groups.ConsumerHeartbeat(beat, reply) })
	if err != nil {
		return nil, err
	}
	if res.Err != nil {
		resp.ErrorCode = s.consumerCode(res.Err)
		resp.ErrorMessage = nullable(res.Err.Error())
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

// maySubscribe is the code for a member of a group that wants these topics: 0 when it may.
func (s *Server) maySubscribe(r *request, group string, topics []string) int16 {
	if !s.allowed(r, auth.Read, groupResource(group)) {
		return errGroupAuthorizationFailed
	}
	for _, t := range topics {
		if !s.allowed(r, auth.Describe, topicResource(t)) {
			return errTopicAuthorizationFailed
		}
	}
	return errNone
}

// consumerCode is the code of an error in the APIs of the consumer protocol.
func (s *Server) consumerCode(err error) int16 {
	switch bad := (*group.InvalidRequestError)(nil); {
	case errors.As(err, &bad):
		return errInvalidRequest
	case errors.Is(err, group.ErrShareGroup):
		return errGroupIDNotFound // as Kafka answers for a group of another type
	}
	return s.code(err)
}
