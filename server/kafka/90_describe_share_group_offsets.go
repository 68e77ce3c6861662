package kafka

import (
	"context"
	"slices"
	"strings"

	"millrace/server/auth"
	"millrace/server/kafka/share"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// describeShareGroupOffsets serves DescribeShareGroupOffsets 0–1 (1 has the lag). What has no
// start offset has -1, which is no error.
func (s *Server) describeShareGroupOffsets(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.DescribeShareGroupOffsetsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeShareGroupOffsetsResponse)
	topics := s.o.Store.Topics()
	for _, asked := range req.Groups {
		g := kmsg.NewDescribeShareGroupOffsetsResponseGroup()
		g.GroupID = asked.GroupID
		if !s.allowed(r, auth.Describe, groupResource(asked.GroupID)) {
			g.ErrorCode = errGroupAuthorizationFailed
			resp.Groups = append(resp.Groups, g)
			continue
		}
		offsets, ok := s.o.Admin.Share.Offsets(asked.GroupID)
		if !ok {
			g.ErrorCode = errGroupIDNotFound
			g.ErrorMessage = nullable("Group " + asked.GroupID + " not found.")
			resp.Groups = append(resp.Groups, g)
			continue
		}
		if asked.Topics == nil {
			g.Topics = s.allShareOffsets(r, offsets)
		}
		for _, t := range asked.Topics {
			rt := kmsg.NewDescribeShareGroupOffsetsResponseGroupTopic()
			rt.Topic = t.Topic
			topic, code := s.resolve(r, topics, topicRef{name: t.Topic}, false, auth.Describe)
			if code == errUnknownTopicOrPartition {
				code = errNone
			}
			rt.TopicID = topic.ID
			for _, p := range t.Partitions {
				rt.Partitions = append(rt.Partitions, s.shareOffset(state.TopicPartition{Topic: topic.ID, Partition: p}, offsets, code))
			}
			g.Topics = append(g.Topics, rt)
		}
		resp.Groups = append(resp.Groups, g)
	}
	return resp, nil
}

func (s *Server) shareOffset(tp state.TopicPartition, offsets map[state.TopicPartition]share.PartitionOffset, code int16) kmsg.DescribeShareGroupOffsetsResponseGroupTopicPartition {
	p := kmsg.NewDescribeShareGroupOffsetsResponseGroupTopicPartition()
	p.Partition, p.StartOffset, p.Lag, p.ErrorCode = tp.Partition, -1, -1, code
	if o, ok := offsets[tp]; ok && code == errNone {
		p.StartOffset = o.Start
		if b, err := s.o.Store.Bounds(tp); err == nil {
			p.Lag = max(0, b.End-o.Start-o.Complete)
		}
	}
	return p
}

// allShareOffsets is every share partition that there is, in topic name and partition order.
func (s *Server) allShareOffsets(r *request, offsets map[state.TopicPartition]share.PartitionOffset) []kmsg.DescribeShareGroupOffsetsResponseGroupTopic {
	tps := make([]state.TopicPartition, 0, len(offsets))
	for tp := range offsets {
		tps = append(tps, tp)
	}
	slices.SortFunc(tps, state.TopicPartition.Compare)
	topics := s.o.Store.Topics()
	var all []kmsg.DescribeShareGroupOffsetsResponseGroupTopic
	for _, tp := range tps {
		topic, ok := topics.ByID(tp.Topic)
		if !ok || !s.allowed(r, auth.Describe, topicResource(topic.Name)) {
			continue
		}
		if n := len(all); n == 0 || all[n-1].TopicID != tp.Topic {
			t := kmsg.NewDescribeShareGroupOffsetsResponseGroupTopic()
			t.Topic, t.TopicID = topic.Name, tp.Topic
			all = append(all, t)
		}
		t := &all[len(all)-1]
		t.Partitions = append(t.Partitions, s.shareOffset(tp, offsets, errNone))
	}
	slices.SortFunc(all, func(a, b kmsg.DescribeShareGroupOffsetsResponseGroupTopic) int {
		return strings.Compare(a.Topic, b.Topic)
	})
	return all
}
