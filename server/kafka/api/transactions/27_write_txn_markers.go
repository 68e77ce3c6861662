package transactions

import (
	"context"
	"slices"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// WriteTxnMarkers serves WriteTxnMarkers 1–2 as far as anybody but a broker needs it:
// kafka-transactions.sh abort. A transaction has all its markers in one entry of the log, so
// that the whole transaction is aborted, and nothing but an open one can be.
func (h *Handlers) WriteTxnMarkers(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.WriteTxnMarkersRequest)
	resp := req.ResponseKind().(*kmsg.WriteTxnMarkersResponse)
	topics := h.Store.Topics()
	for _, m := range req.Markers {
		rm := kmsg.NewWriteTxnMarkersResponseMarker()
		rm.ProducerID = m.ProducerID
		var ended bool
		var endCode int16
		for _, t := range m.Topics {
			rt := kmsg.NewWriteTxnMarkersResponseMarkerTopic()
			rt.Topic = t.Topic
			topic, known := topics.ByName(t.Topic)
			for _, p := range t.Partitions {
				rp := kmsg.NewWriteTxnMarkersResponseMarkerTopicPartition()
				rp.Partition = p
				switch {
				case !h.Allowed(r, auth.Alter, api.ClusterResource):
					rp.ErrorCode = kafkaerr.ClusterAuthorizationFailed
				case !known || p < 0 || p >= topic.Partitions:
					rp.ErrorCode = kafkaerr.UnknownTopicOrPartition
				case m.Committed:
					rp.ErrorCode = kafkaerr.InvalidRequest // only its producer knows whether all was written
				case !ended:
					endCode = h.abortByMarker(ctx, &m, state.TopicPartition{Topic: topic.ID, Partition: p})
					ended = endCode == kafkaerr.None
					rp.ErrorCode = endCode
				}
				rt.Partitions = append(rt.Partitions, rp)
			}
			rm.Topics = append(rm.Topics, rt)
		}
		resp.Markers = append(resp.Markers, rm)
	}
	return resp, nil
}

func (h *Handlers) abortByMarker(ctx context.Context, m *kmsg.WriteTxnMarkersRequestMarker, tp state.TopicPartition) int16 {
	t, ok := h.Store.TransactionOf(m.ProducerID)
	switch {
	case !ok || t.Status != state.TransactionOngoing || !slices.Contains(t.Partitions, tp):
		return kafkaerr.InvalidTxnState
	case t.ProducerEpoch != m.ProducerEpoch:
		return kafkaerr.InvalidProducerEpoch
	}
	// As if it had timed out, which fences the producer: what it still sends must not become
	// a transaction of its own, which it would then commit without the part aborted here.
	res, err := api.CommitAs[state.TransactionResult](ctx, h.Node, state.ExpireTransaction{OpenTransaction: state.OpenTransaction{
		TransactionRef: state.TransactionRef{TransactionalID: t.TransactionalID, ProducerID: t.ProducerID, ProducerEpoch: t.ProducerEpoch},
		StartedAt:      t.StartedAt, TimeoutMillis: t.TimeoutMillis,
	}})
	if err == nil {
		err = res.Err
	}
	return h.Code(err)
}
