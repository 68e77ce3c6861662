package groups

import (
	"context"
	"slices"
	"strings"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/store"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// OffsetFetch serves OffsetFetch 1–10: one group up to 7 (its errors per partition in 1),
// several from 8 on, topics by id from 10 on. RequireStable, from 7 on, asks for no offset that
// an open transaction is about to change.
func (h *Handlers) OffsetFetch(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.OffsetFetchRequest)
	resp := req.ResponseKind().(*kmsg.OffsetFetchResponse)
	if req.Version >= 8 {
		for _, g := range req.Groups {
			resp.Groups = append(resp.Groups, h.fetchGroupOffsets(r, g, req.Version >= 10, req.RequireStable))
		}
		return resp, nil
	}
	asked := kmsg.OffsetFetchRequestGroup{Group: req.Group, MemberEpoch: -1}
	if req.Topics != nil {
		asked.Topics = make([]kmsg.OffsetFetchRequestGroupTopic, 0, len(req.Topics))
	}
	for _, t := range req.Topics {
		asked.Topics = append(asked.Topics, kmsg.OffsetFetchRequestGroupTopic{Topic: t.Topic, Partitions: t.Partitions})
	}
	g := h.fetchGroupOffsets(r, asked, false, req.RequireStable)
	if g.ErrorCode != kafkaerr.None && req.Version < 2 {
		for _, t := range req.Topics {
			gt := kmsg.OffsetFetchResponseGroupTopic{Topic: t.Topic}
			for _, p := range t.Partitions {
				gt.Partitions = append(gt.Partitions, noOffset(p, g.ErrorCode))
			}
			g.Topics = append(g.Topics, gt)
		}
	}
	resp.ErrorCode = g.ErrorCode
	for _, gt := range g.Topics {
		t := kmsg.OffsetFetchResponseTopic{Topic: gt.Topic}
		for _, p := range gt.Partitions {
			t.Partitions = append(t.Partitions, kmsg.OffsetFetchResponseTopicPartition{
				Partition: p.Partition, Offset: p.Offset, LeaderEpoch: p.LeaderEpoch,
				Metadata: p.Metadata, ErrorCode: p.ErrorCode,
			})
		}
		resp.Topics = append(resp.Topics, t)
	}
	return resp, nil
}

// noOffset is a partition for which nothing was committed, or cannot be told.
func noOffset(partition int32, code int16) kmsg.OffsetFetchResponseGroupTopicPartition {
	p := kmsg.NewOffsetFetchResponseGroupTopicPartition()
	p.Partition, p.Offset, p.LeaderEpoch, p.ErrorCode = partition, -1, -1, code
	p.Metadata = new(string) // kafka-python and others cannot read null
	return p
}

func (h *Handlers) fetchGroupOffsets(r *api.Request, asked kmsg.OffsetFetchRequestGroup, byID, stable bool) kmsg.OffsetFetchResponseGroup {
	g := kmsg.NewOffsetFetchResponseGroup()
	g.Group = asked.Group
	if !h.Allowed(r, auth.Describe, api.GroupResource(asked.Group)) {
		g.ErrorCode = kafkaerr.GroupAuthorizationFailed
		return g
	}
	if err := h.Groups.CheckFetch(asked.Group, api.Deref(asked.MemberID), asked.MemberEpoch); err != nil {
		g.ErrorCode = h.Code(err)
		return g
	}
	topics := h.Store.Topics()
	var pending map[state.TopicPartition]struct{}
	if stable { // before the offsets: what ends in between is answered with its outcome
		pending = h.Store.PendingOffsets(asked.Group)
	}
	offsets := h.Groups.Committed(asked.Group)
	if asked.Topics == nil {
		g.Topics = h.allGroupOffsets(r, topics, offsets, pending)
		return g
	}
	for _, t := range asked.Topics {
		gt := kmsg.NewOffsetFetchResponseGroupTopic()
		gt.Topic, gt.TopicID = t.Topic, t.TopicID
		topic, code := h.Resolve(r, topics, api.TopicRef{Name: t.Topic, ID: t.TopicID}, byID, auth.Describe)
		if code == kafkaerr.UnknownTopicOrPartition {
			code = kafkaerr.None // a name that does not exist has no offset, which is no error
		}
		for _, p := range t.Partitions {
			tp := state.TopicPartition{Topic: topic.ID, Partition: p}
			o, ok := offsets[tp]
			if _, unstable := pending[tp]; unstable && code == kafkaerr.None {
				gt.Partitions = append(gt.Partitions, noOffset(p, kafkaerr.UnstableOffsetCommit))
				continue
			}
			if code != kafkaerr.None || !ok {
				gt.Partitions = append(gt.Partitions, noOffset(p, code))
				continue
			}
			gt.Partitions = append(gt.Partitions, committedOffset(p, o))
		}
		g.Topics = append(g.Topics, gt)
	}
	return g
}

// allGroupOffsets is every offset of the group, in topic name and partition order.
func (h *Handlers) allGroupOffsets(r *api.Request, topics *store.TopicSet, offsets map[state.TopicPartition]state.CommittedOffset, pending map[state.TopicPartition]struct{}) []kmsg.OffsetFetchResponseGroupTopic {
	tps := make([]state.TopicPartition, 0, len(offsets))
	for tp := range offsets {
		tps = append(tps, tp)
	}
	for tp := range pending {
		if _, ok := offsets[tp]; !ok {
			tps = append(tps, tp)
		}
	}
	slices.SortFunc(tps, state.TopicPartition.Compare)
	var all []kmsg.OffsetFetchResponseGroupTopic
	for i := 0; i < len(tps); {
		j := i
		for j < len(tps) && tps[j].Topic == tps[i].Topic {
			j++
		}
		same := tps[i:j]
		i = j
		topic, ok := topics.ByID(same[0].Topic)
		if !ok || !h.Allowed(r, auth.Describe, api.TopicResource(topic.Name)) {
			continue
		}
		gt := kmsg.NewOffsetFetchResponseGroupTopic()
		gt.Topic, gt.TopicID = topic.Name, topic.ID
		for _, tp := range same {
			if _, unstable := pending[tp]; unstable {
				gt.Partitions = append(gt.Partitions, noOffset(tp.Partition, kafkaerr.UnstableOffsetCommit))
				continue
			}
			gt.Partitions = append(gt.Partitions, committedOffset(tp.Partition, offsets[tp]))
		}
		all = append(all, gt)
	}
	slices.SortFunc(all, func(a, b kmsg.OffsetFetchResponseGroupTopic) int { return strings.Compare(a.Topic, b.Topic) })
	return all
}

func committedOffset(partition int32, o state.CommittedOffset) kmsg.OffsetFetchResponseGroupTopicPartition {
	p := kmsg.NewOffsetFetchResponseGroupTopicPartition()
	p.Partition, p.Offset, p.LeaderEpoch = partition, o.Offset, o.LeaderEpoch
	metadata := o.Metadata
	p.Metadata = &metadata
	return p
}
