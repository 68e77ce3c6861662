package shares

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/server/kafka/share"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// shareAcks are the acknowledgements of one partition.
type shareAcks struct {
	tp      state.TopicPartition
	batches []share.AckBatch
}

func (a *shareAcks) add(first, last int64, kinds []int8) {
	b := share.AckBatch{First: first, Last: last, Kinds: make([]share.Ack, len(kinds))}
	for i, k := range kinds {
		b.Kinds[i] = share.Ack(k)
	}
	a.batches = append(a.batches, b)
}

// ShareAcknowledge serves ShareAcknowledge 1–2.
func (h *Handlers) ShareAcknowledge(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.ShareAcknowledgeRequest)
	resp := req.ResponseKind().(*kmsg.ShareAcknowledgeResponse)
	name, member := api.Deref(req.GroupID), api.Deref(req.MemberID)
	if !h.Allowed(r, auth.Read, api.GroupResource(name)) {
		resp.ErrorCode = kafkaerr.GroupAuthorizationFailed
		return resp, nil
	}
	if name == "" || member == "" || len(member) > maxShareMemberID {
		resp.ErrorCode = kafkaerr.InvalidRequest
		return resp, nil
	}
	resp.AcquisitionLockTimeoutMillis = int32(h.Shares.LockDuration(name).Milliseconds())
	var ss *share.Session
	err := share.ErrInvalidSessionEpoch // a session is not begun by acknowledging
	if req.ShareSessionEpoch != share.EpochInitial {
		ss, err = h.Shares.Continue(name, member, req.ShareSessionEpoch)
	}
	if err != nil {
		resp.ErrorCode = h.Code(err)
		resp.ErrorMessage = api.Nullable(err.Error())
		return resp, nil
	}
	var acks []shareAcks
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			a := shareAcks{tp: state.TopicPartition{Topic: t.TopicID, Partition: p.Partition}}
			for _, b := range p.AcknowledgementBatches {
				a.add(b.FirstOffset, b.LastOffset, b.AcknowledgeTypes)
			}
			acks = append(acks, a)
		}
	}
	codes, err := h.acknowledgeShares(ctx, r, ss, acks, req.IsRenewAck)
	if err != nil {
		return nil, err
	}
	i := 0
	for _, t := range req.Topics {
		rt := kmsg.NewShareAcknowledgeResponseTopic()
		rt.TopicID = t.TopicID
		for _, p := range t.Partitions {
			rp := kmsg.NewShareAcknowledgeResponseTopicPartition()
			rp.Partition, rp.ErrorCode = p.Partition, codes[i]
			rp.CurrentLeader.LeaderID, rp.CurrentLeader.LeaderEpoch = -1, -1
			rt.Partitions = append(rt.Partitions, rp)
			i++
		}
		resp.Topics = append(resp.Topics, rt)
	}
	if req.ShareSessionEpoch == share.EpochFinal {
		ss.Close()
	}
	return resp, nil
}

// acknowledgeShares carries out acknowledgements and waits until they are durable: all of them at
// once, so that they share a sync. An error is ctx's.
func (h *Handlers) acknowledgeShares(ctx context.Context, r *api.Request, ss *share.Session, acks []shareAcks, renew bool) ([]int16, error) {
	codes := make([]int16, len(acks))
	type outcome struct {
		i   int
		err error
	}
	done := make(chan outcome, len(acks))
	topics := h.Store.Topics()
	pending := 0
	for i, a := range acks {
		t, ok := topics.ByID(a.tp.Topic)
		switch {
		case !ok:
			codes[i] = kafkaerr.UnknownTopicID
		case !h.Allowed(r, auth.Read, api.TopicResource(t.Name)):
			codes[i] = kafkaerr.TopicAuthorizationFailed
		case a.tp.Partition < 0 || a.tp.Partition >= t.Partitions:
			codes[i] = kafkaerr.UnknownTopicOrPartition
		default:
			pending++
			ss.Acknowledge(a.tp, a.batches, renew, func(err error) { done <- outcome{i, err} })
		}
	}
	for range pending {
		o, err := api.Receive(ctx, done)
		if err != nil {
			return nil, err
		}
		codes[o.i] = h.Code(o.err)
	}
	return codes, nil
}
