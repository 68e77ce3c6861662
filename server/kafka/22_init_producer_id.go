package kafka

import (
	"context"

	"millrace/server/auth"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// initProducerID gives an idempotent producer its id, and a transactional one the next
// epoch of its transactional id; what an earlier holder of that left open is aborted.
//
// Without a transactional id that is always a new id, as in Kafka also when the producer names
// the one it has: whoever could have another's epoch raised could stop that producer.
func (s *Server) initProducerID(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.InitProducerIDRequest)
	resp := req.ResponseKind().(*kmsg.InitProducerIDResponse)
	resp.ProducerID, resp.ProducerEpoch = -1, -1
	var intent state.Intent
	if req.TransactionalID == nil {
		intent = state.AllocateProducerID{ProducerID: -1, ProducerEpoch: -1}
		if !s.mayWriteAnything(r) {
			resp.ErrorCode = errClusterAuthorizationFailed
			return resp, nil
		}
	} else {
		in := state.InitTransaction{TransactionalID: *req.TransactionalID, TimeoutMillis: req.TransactionTimeoutMillis, ProducerID: -1, ProducerEpoch: -1}
		if req.Version >= 3 {
			in.ProducerID, in.ProducerEpoch = req.ProducerID, req.ProducerEpoch
		}
		switch {
		case in.TransactionalID == "", (in.ProducerID < 0) != (in.ProducerEpoch < 0):
			resp.ErrorCode = errInvalidRequest
		case !s.allowed(r, auth.Write, transactionResource(in.TransactionalID)):
			resp.ErrorCode = errTransactionalIDAuthorization
		case in.TimeoutMillis <= 0 || int64(in.TimeoutMillis) > s.o.MaxTransactionTimeout.Milliseconds():
			resp.ErrorCode = errInvalidTransactionTimeout
		}
		if resp.ErrorCode != errNone {
			return resp, nil
		}
		intent = in
	}
	id, err := commitAs[state.ProducerIDResult](ctx, s, intent)
	if err == nil {
		err = id.Err
	}
	switch resp.ErrorCode = s.code(err); resp.ErrorCode {
	case errNone:
		resp.ProducerID, resp.ProducerEpoch = id.ProducerID, id.ProducerEpoch
	case errInvalidProducerEpoch:
		resp.ErrorCode = fenced(req.Version, 4)
	}
	return resp, nil
}

// mayWriteAnything: who may write to some topic may be idempotent about it (KIP-679).
func (s *Server) mayWriteAnything(r *request) bool {
	return s.allowed(r, auth.IdempotentWrite, clusterResource) || s.o.Auth.AuthorizeAny(r.conn.principal, auth.Write, auth.Topic)
}
