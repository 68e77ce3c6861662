package kafka

import (
	"context"
	"slices"

	"millrace/server/auth"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// writeTxnMarkers serves WriteTxnMarkers 1–2 as far as anybody but a broker needs it:
// kafka-transactions.sh abort. A transaction has all its markers in one entry of the log, so
// that the whole transaction is aborted, and nothing but an open one can be.
func (s *Server) writeTxnMarkers(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.WriteTxnMarkersRequest)
	resp := req.ResponseKind().(*kmsg.WriteTxnMarkersResponse)
	topics := s.o.Store.Topics()
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
				case !s.allowed(r, auth.Alter, clusterResource):
					rp.ErrorCode = errClusterAuthorizationFailed
				case !known || p < 0 || p >= topic.Partitions:
					rp.ErrorCode = errUnknownTopicOrPartition
				case m.Committed:
					rp.ErrorCode = errInvalidRequest // only its producer knows whether all was written
				case !ended:
					endCode = s.abortByMarker(ctx, &m, state.TopicPartition{Topic: topic.ID, Partition: p})
					ended = endCode == errNone
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

func (s *Server) abortByMarker(ctx context.Context, m *kmsg.WriteTxnMarkersRequestMarker, tp state.TopicPartition) int16 {
	t, ok := s.o.Store.TransactionOf(m.ProducerID)
	switch {
	case !ok || t.Status != state.TransactionOngoing || !slices.Contains(t.Partitions, tp):
		return errInvalidTxnState
	case t.ProducerEpoch != m.ProducerEpoch:
		return errInvalidProducerEpoch
	}
	// As if it had timed out, which fences the producer: what it still sends must not become
	// a transaction of its own, which it would then commit without the part aborted here.
	res, err := commitAs[state.TransactionResult](ctx, s, state.ExpireTransaction{OpenTransaction: state.OpenTransaction{
		TransactionRef: state.TransactionRef{TransactionalID: t.TransactionalID, ProducerID: t.ProducerID, ProducerEpoch: t.ProducerEpoch},
		StartedAt:      t.StartedAt, TimeoutMillis: t.TimeoutMillis,
	}})
	if err == nil {
		err = res.Err
	}
	return s.code(err)
}
