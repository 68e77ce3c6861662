package transactions

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// InitProducerID gives an idempotent producer its id, and a transactional one the next
// epoch of its transactional id; what an earlier holder of that left open is aborted.
//
// Without a transactional id that is always a new id, as in Kafka also when the producer names
// the one it has: whoever could have another's epoch raised could stop that producer.
func (h *Handlers) InitProducerID(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.InitProducerIDRequest)
	resp := req.ResponseKind().(*kmsg.InitProducerIDResponse)
	resp.ProducerID, resp.ProducerEpoch = -1, -1
	var intent state.Intent
	if req.TransactionalID == nil {
		intent = state.AllocateProducerID{ProducerID: -1, ProducerEpoch: -1}
		if !h.mayWriteAnything(r) {
			resp.ErrorCode = kafkaerr.ClusterAuthorizationFailed
			return resp, nil
		}
	} else {
		in := state.InitTransaction{TransactionalID: *req.TransactionalID, TimeoutMillis: req.TransactionTimeoutMillis, ProducerID: -1, ProducerEpoch: -1}
		if req.Version >= 3 {
			in.ProducerID, in.ProducerEpoch = req.ProducerID, req.ProducerEpoch
		}
		switch {
		case in.TransactionalID == "", (in.ProducerID < 0) != (in.ProducerEpoch < 0):
			resp.ErrorCode = kafkaerr.InvalidRequest
		case !h.Allowed(r, auth.Write, api.TransactionResource(in.TransactionalID)):
			resp.ErrorCode = kafkaerr.TransactionalIDAuthorization
		case in.TimeoutMillis <= 0 || int64(in.TimeoutMillis) > h.MaxTimeout.Milliseconds():
			resp.ErrorCode = kafkaerr.InvalidTransactionTimeout
		}
		if resp.ErrorCode != kafkaerr.None {
			return resp, nil
		}
		intent = in
	}
	id, err := api.CommitAs[state.ProducerIDResult](ctx, h.Node, intent)
	if err == nil {
		err = id.Err
	}
	switch resp.ErrorCode = h.Code(err); resp.ErrorCode {
	case kafkaerr.None:
		resp.ProducerID, resp.ProducerEpoch = id.ProducerID, id.ProducerEpoch
	case kafkaerr.InvalidProducerEpoch:
		resp.ErrorCode = kafkaerr.Fenced(req.Version, 4)
	}
	return resp, nil
}

// mayWriteAnything: who may write to some topic may be idempotent about it (KIP-679).
func (h *Handlers) mayWriteAnything(r *api.Request) bool {
	return h.Allowed(r, auth.IdempotentWrite, api.ClusterResource) || h.Auth.AuthorizeAny(r.Principal, auth.Write, auth.Topic)
}
