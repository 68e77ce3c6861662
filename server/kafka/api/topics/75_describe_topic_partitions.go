package topics

import (
	"context"
	"slices"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// maxDescribedPartitions bounds one page, whatever the client asks for (Kafka's
// max.request.partition.size.limit).
const maxDescribedPartitions = 2000

// DescribeTopicPartitions serves DescribeTopicPartitions 0: partitions in pages, in
// topic name order.
func (h *Handlers) DescribeTopicPartitions(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.DescribeTopicPartitionsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeTopicPartitionsResponse)
	if req.Cursor != nil && req.Cursor.Partition < 0 {
		// The response has no error of its own; the topic asked for carries it.
		resp.Topics = append(resp.Topics, describedFault(req.Cursor.Topic, kafkaerr.InvalidRequest))
		return resp, nil
	}
	topics := h.Store.Topics()
	var names []string
	for _, t := range req.Topics {
		names = append(names, t.Topic)
	}
	if req.Cursor != nil && len(names) > 0 && !slices.Contains(names, req.Cursor.Topic) {
		// A page goes on in the list that the first one was asked with.
		for _, name := range names {
			resp.Topics = append(resp.Topics, describedFault(name, kafkaerr.InvalidRequest))
		}
		return resp, nil
	}
	if len(req.Topics) == 0 {
		for _, t := range topics.All() {
			if h.Allowed(r, auth.Describe, api.TopicResource(t.Name)) {
				names = append(names, t.Name)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	left := min(maxDescribedPartitions, max(req.ResponsePartitionLimit, 1))
	for _, name := range names {
		first := int32(0)
		if req.Cursor != nil {
			if name < req.Cursor.Topic {
				continue
			}
			if name == req.Cursor.Topic {
				first = req.Cursor.Partition
			}
		}
		topic, code := h.Resolve(r, topics, api.TopicRef{Name: name}, false, auth.Describe)
		if code != kafkaerr.None {
			resp.Topics = append(resp.Topics, describedFault(name, code))
			continue
		}
		if left == 0 {
			resp.NextCursor = describeCursor(name, first)
			break
		}
		first = min(first, topic.Partitions) // the topic may have been made anew, with fewer
		last := min(topic.Partitions, first+left)
		resp.Topics = append(resp.Topics, h.describedTopic(r, topic, first, last))
		left -= last - first
		if last < topic.Partitions {
			resp.NextCursor = describeCursor(name, last)
			break
		}
	}
	return resp, nil
}

func describeCursor(topic string, partition int32) *kmsg.DescribeTopicPartitionsResponseNextCursor {
	c := kmsg.NewDescribeTopicPartitionsResponseNextCursor()
	c.Topic, c.Partition = topic, partition
	return &c
}

func describedFault(topic string, code int16) kmsg.DescribeTopicPartitionsResponseTopic {
	t := kmsg.NewDescribeTopicPartitionsResponseTopic()
	t.Topic, t.ErrorCode, t.AuthorizedOperations = &topic, code, api.NotAskedOperations
	return t
}

// describedTopic has the partitions [first, last).
func (h *Handlers) describedTopic(r *api.Request, topic state.Topic, first, last int32) kmsg.DescribeTopicPartitionsResponseTopic {
	t := kmsg.NewDescribeTopicPartitionsResponseTopic()
	t.Topic, t.TopicID = &topic.Name, topic.ID
	t.IsInternal = api.InternalTopic(topic.Name)
	t.AuthorizedOperations = h.AuthorizedOperations(r, api.TopicResource(topic.Name))
	self := []int32{h.NodeID}
	for p := first; p < last; p++ {
		tp := kmsg.NewDescribeTopicPartitionsResponseTopicPartition()
		tp.Partition, tp.LeaderID, tp.LeaderEpoch = p, h.NodeID, api.LeaderEpoch
		tp.Replicas, tp.ISR = self, self
		tp.EligibleLeaderReplicas, tp.LastKnownELR = []int32{}, []int32{}
		t.Partitions = append(t.Partitions, tp)
	}
	return t
}
