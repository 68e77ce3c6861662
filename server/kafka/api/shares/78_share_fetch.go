package shares

import (
	"bytes"
	"context"
	"time"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/api/fetch"
	"millrace/server/kafka/kafkaerr"
	"millrace/server/kafka/share"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// maxShareMemberID is how long a member id may be: that of a UUID.
const maxShareMemberID = 36

// ShareFetch serves ShareFetch 1–2: acknowledgements first, then records, for which it may
// wait. What it acknowledged is durable before it answers.
func (h *Handlers) ShareFetch(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.ShareFetchRequest)
	resp := req.ResponseKind().(*kmsg.ShareFetchResponse)
	name, member := api.Deref(req.GroupID), api.Deref(req.MemberID)
	if !h.Allowed(r, auth.Read, api.GroupResource(name)) {
		resp.ErrorCode = kafkaerr.GroupAuthorizationFailed
		return resp, nil
	}
	if name == "" || member == "" || len(member) > maxShareMemberID ||
		req.IsRenewAck && (req.MaxBytes != 0 || req.MinBytes != 0 || req.MaxRecords != 0 || req.MaxWaitMillis != 0) {
		resp.ErrorCode = kafkaerr.InvalidRequest
		return resp, nil
	}
	var add, forget []state.TopicPartition
	var acks []shareAcks
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			tp := state.TopicPartition{Topic: t.TopicID, Partition: p.Partition}
			add = append(add, tp)
			if len(p.AcknowledgementBatches) > 0 {
				a := shareAcks{tp: tp}
				for _, b := range p.AcknowledgementBatches {
					a.add(b.FirstOffset, b.LastOffset, b.AcknowledgeTypes)
				}
				acks = append(acks, a)
			}
		}
	}
	for _, t := range req.ForgottenTopicsData {
		for _, p := range t.Partitions {
			forget = append(forget, state.TopicPartition{Topic: t.TopicID, Partition: p})
		}
	}
	var ss *share.Session
	var err error
	switch {
	case req.ShareSessionEpoch == share.EpochInitial && len(acks) > 0:
		err = share.ErrInvalidRequest
	case req.ShareSessionEpoch == share.EpochInitial:
		if ss, err = h.Shares.Open(name, member, add); err == nil {
			r.Hold(ss)
		}
	default:
		if ss, err = h.Shares.Continue(name, member, req.ShareSessionEpoch); err == nil {
			err = ss.Update(add, forget)
		}
	}
	if err != nil {
		resp.ErrorCode = h.Code(err)
		resp.ErrorMessage = api.Nullable(err.Error())
		return resp, nil
	}
	resp.AcquisitionLockTimeoutMillis = int32(h.Shares.LockDuration(name).Milliseconds())
	answered := map[state.TopicPartition]*kmsg.ShareFetchResponseTopicPartition{}
	var order []state.TopicPartition
	part := func(tp state.TopicPartition) *kmsg.ShareFetchResponseTopicPartition {
		p := answered[tp]
		if p == nil {
			n := kmsg.NewShareFetchResponseTopicPartition()
			n.Partition, n.CurrentLeader.LeaderID, n.CurrentLeader.LeaderEpoch = tp.Partition, -1, -1
			n.Records = []byte{}
			p = &n
			answered[tp] = p
			order = append(order, tp)
		}
		return p
	}
	codes, err := h.acknowledgeShares(ctx, r, ss, acks, req.IsRenewAck)
	if err != nil {
		return nil, err
	}
	for i, a := range acks {
		part(a.tp).AcknowledgeErrorCode = codes[i]
	}
	switch {
	case req.ShareSessionEpoch == share.EpochFinal:
		ss.Close()
	case !req.IsRenewAck:
		topics := h.Store.Topics()
		wait := min(time.Duration(max(req.MaxWaitMillis, 0))*time.Millisecond, fetch.MaxWait)
		held := 0
		defer func() { h.Memory.Release(int64(held)) }()
		for _, f := range ss.Fetch(ctx, share.FetchRequest{
			MaxWait: wait, MinBytes: int(req.MinBytes), MaxBytes: min(max(int(req.MaxBytes), 0), fetch.MaxBytes),
			MaxRecords: int(req.MaxRecords), BatchSize: int(req.BatchSize), Strict: req.ShareAcquireMode == 1,
			Reserve: func(ctx context.Context, n int) (int, error) {
				got, err := h.Memory.AcquireSome(ctx, int64(n), fetch.MinGrant)
				return int(got), err
			},
			Unreserve: func(n int) { h.Memory.Release(int64(n)) },
			Idle:      func() func() { return api.Waiting(ctx) },
			May: func(tp state.TopicPartition) error {
				t, ok := topics.ByID(tp.Topic)
				switch {
				case !ok:
					return kafkaerr.Faultf(kafkaerr.UnknownTopicID, "unknown topic id")
				case !h.Allowed(r, auth.Read, api.TopicResource(t.Name)):
					return kafkaerr.Faultf(kafkaerr.TopicAuthorizationFailed, "the topic may not be read")
				}
				return nil
			},
		}) {
			p := part(f.TopicPartition)
			p.ErrorCode = h.Code(f.Err)
			p.Records = bytes.Join(f.Result.Batches, nil)
			held += f.Result.Bytes
			for _, a := range f.Acquired {
				ar := kmsg.NewShareFetchResponseTopicPartitionAcquiredRecord()
				ar.FirstOffset, ar.LastOffset, ar.DeliveryCount = a.First, a.Last, a.DeliveryCount
				p.AcquiredRecords = append(p.AcquiredRecords, ar)
			}
			f.Result.Release()
		}
		if req.ShareSessionEpoch == share.EpochInitial { // the first answer names all
			for _, tp := range add {
				part(tp)
			}
		}
	}
	index := map[state.TopicID]int{}
	for _, tp := range order {
		i, ok := index[tp.Topic]
		if !ok {
			i = len(resp.Topics)
			index[tp.Topic] = i
			t := kmsg.NewShareFetchResponseTopic()
			t.TopicID = tp.Topic
			resp.Topics = append(resp.Topics, t)
		}
		resp.Topics[i].Partitions = append(resp.Topics[i].Partitions, *answered[tp])
	}
	return resp, nil
}
