package shares

import (
	"context"
	"slices"
	"strings"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/server/kafka/share"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeShareGroupOffsets serves DescribeShareGroupOffsets 0–1 (1 has the lag). What has no
// start offset has -1, which is no error.
func (h *Handlers) DescribeShareGroupOffsets(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.DescribeShareGroupOffsetsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeShareGroupOffsetsResponse)
	topics := h.Store.Topics()
	for _, asked := range req.Groups {
		g := kmsg.NewDescribeShareGroupOffsetsResponseGroup()
		g.GroupID = asked.GroupID
		if !h.Allowed(r, auth.Describe, api.GroupResource(asked.GroupID)) {
			g.ErrorCode = kafkaerr.GroupAuthorizationFailed
			resp.Groups = append(resp.Groups, g)
			continue
		}
		offsets, ok := h.Shares.Offsets(asked.GroupID)
		if !ok {
			g.ErrorCode = kafkaerr.GroupIDNotFound
			g.ErrorMessage = api.Nullable("Group " + asked.GroupID + " not found.")
			resp.Groups = append(resp.Groups, g)
			continue
		}
		if asked.Topics == nil {
			g.Topics = h.allShareOffsets(r, offsets)
		}
		for _, t := range asked.Topics {
			rt := kmsg.NewDescribeShareGroupOffsetsResponseGroupTopic()
			rt.Topic = t.Topic
			topic, code := h.Resolve(r, topics, api.TopicRef{Name: t.Topic}, false, auth.Describe)
			if code == kafkaerr.UnknownTopicOrPartition {
				code = kafkaerr.None
			}
			rt.TopicID = topic.ID
			for _, p := range t.Partitions {
				rt.Partitions = append(rt.Partitions, h.shareOffset(state.TopicPartition{Topic: topic.ID, Partition: p}, offsets, code))
			}
			g.Topics = append(g.Topics, rt)
		}
		resp.Groups = append(resp.Groups, g)
	}
	return resp, nil
}

func (h *Handlers) shareOffset(tp state.TopicPartition, offsets map[state.TopicPartition]share.PartitionOffset, code int16) kmsg.DescribeShareGroupOffsetsResponseGroupTopicPartition {
	p := kmsg.NewDescribeShareGroupOffsetsResponseGroupTopicPartition()
	p.Partition, p.StartOffset, p.Lag, p.ErrorCode = tp.Partition, -1, -1, code
	if o, ok := offsets[tp]; ok && code == kafkaerr.None {
		p.StartOffset = o.Start
		if b, err := h.Store.Bounds(tp); err == nil {
			p.Lag = max(0, b.End-o.Start-o.Complete)
		}
	}
	return p
}

// allShareOffsets is every share partition that there is, in topic name and partition order.
func (h *Handlers) allShareOffsets(r *api.Request, offsets map[state.TopicPartition]share.PartitionOffset) []kmsg.DescribeShareGroupOffsetsResponseGroupTopic {
	tps := make([]state.TopicPartition, 0, len(offsets))
	for tp := range offsets {
		tps = append(tps, tp)
	}
	slices.SortFunc(tps, state.TopicPartition.Compare)
	topics := h.Store.Topics()
	var all []kmsg.DescribeShareGroupOffsetsResponseGroupTopic
	for _, tp := range tps {
		topic, ok := topics.ByID(tp.Topic)
		if !ok || !h.Allowed(r, auth.Describe, api.TopicResource(topic.Name)) {
			continue
		}
		if n := len(all); n == 0 || all[n-1].TopicID != tp.Topic {
			t := kmsg.NewDescribeShareGroupOffsetsResponseGroupTopic()
			t.Topic, t.TopicID = topic.Name, tp.Topic
			all = append(all, t)
		}
		t := &all[len(all)-1]
		t.Partitions = append(t.Partitions, h.shareOffset(tp, offsets, kafkaerr.None))
	}
	slices.SortFunc(all, func(a, b kmsg.DescribeShareGroupOffsetsResponseGroupTopic) int {
		return strings.Compare(a.Topic, b.Topic)
	})
	return all
}
