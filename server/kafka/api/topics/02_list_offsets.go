package topics

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/store"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Special timestamps and the version that brought each.
const (
	timeLatest                = -1
	timeEarliest              = -2
	timeMax                   = -3
	timeEarliestLocal         = -4
	timeLatestTiered          = -5
	timeEarliestPendingUpload = -6
)

var specialTimes = map[int64]int16{
	timeLatest: 1, timeEarliest: 1, timeMax: 7, timeEarliestLocal: 8, timeLatestTiered: 9, timeEarliestPendingUpload: 11,
}

func (h *Handlers) ListOffsets(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.ListOffsetsRequest)
	resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
	iso := store.ReadUncommitted
	if req.IsolationLevel == 1 {
		iso = store.ReadCommitted
	}
	topics := h.Store.Topics()
	type asked struct {
		topic     string
		partition int32
	}
	seen := map[asked]int{}
	for i := range req.Topics {
		for j := range req.Topics[i].Partitions {
			seen[asked{req.Topics[i].Topic, req.Topics[i].Partitions[j].Partition}]++
		}
	}
	resp.Topics = make([]kmsg.ListOffsetsResponseTopic, len(req.Topics))
	for i := range req.Topics {
		in, out := &req.Topics[i], &resp.Topics[i]
		out.Default()
		out.Topic = in.Topic
		topic, code := h.Resolve(r, topics, api.TopicRef{Name: in.Topic}, false, auth.Describe)
		out.Partitions = make([]kmsg.ListOffsetsResponseTopicPartition, len(in.Partitions))
		for j := range in.Partitions {
			p, o := &in.Partitions[j], &out.Partitions[j]
			o.Default()
			o.Partition = p.Partition
			o.Timestamp, o.Offset, o.LeaderEpoch = -1, -1, -1
			switch {
			case code == kafkaerr.TopicAuthorizationFailed:
				o.ErrorCode = code
			case !knownTime(p.Timestamp, r.Version):
				o.ErrorCode = kafkaerr.UnsupportedVersion // of the topic no matter what, as in Kafka
			case code != kafkaerr.None:
				o.ErrorCode = code
			case seen[asked{in.Topic, p.Partition}] > 1:
				o.ErrorCode = kafkaerr.InvalidRequest // which one should be answered?
			case p.Partition < 0 || p.Partition >= topic.Partitions:
				o.ErrorCode = kafkaerr.UnknownTopicOrPartition
			default:
				o.ErrorCode = api.CheckLeaderEpoch(p.CurrentLeaderEpoch)
			}
			if o.ErrorCode == kafkaerr.None {
				h.listOffset(state.TopicPartition{Topic: topic.ID, Partition: p.Partition}, p.Timestamp, iso, o)
			}
		}
	}
	return resp, nil
}

// knownTime reports whether a version of the API has the timestamp: negative ones have
// special meanings.
func knownTime(ts int64, version int16) bool {
	since, special := specialTimes[ts]
	return ts >= 0 || special && version >= since
}

// listOffset answers for one partition: the offset that the timestamp asks for, and its
// own timestamp where there is one; −1 and −1 when nothing is so late.
func (h *Handlers) listOffset(tp state.TopicPartition, ts int64, iso store.Isolation, o *kmsg.ListOffsetsResponseTopicPartition) {
	var (
		found bool
		err   error
	)
	switch ts {
	case timeLatest, timeEarliest, timeEarliestLocal:
		var b state.Bounds
		if b, err = h.Store.Bounds(tp); err == nil {
			found = true
			switch {
			case ts != timeLatest:
				o.Offset = b.LogStart
			case iso == store.ReadCommitted:
				o.Offset = b.LastStable
			default:
				o.Offset = b.End
			}
		}
	case timeMax:
		o.Offset, o.Timestamp, found, err = h.Store.MaxTimestamp(tp, iso)
	case timeLatestTiered, timeEarliestPendingUpload:
		// No record was ever moved elsewhere, nor waits to be.
	default:
		o.Offset, o.Timestamp, found, err = h.Store.OffsetForTime(tp, ts, iso)
	}
	switch {
	case err != nil:
		o.ErrorCode = h.Code(err)
		o.Offset, o.Timestamp = -1, -1
	case found:
		o.LeaderEpoch = api.LeaderEpoch
	default:
		o.Offset, o.Timestamp = -1, -1
	}
}
