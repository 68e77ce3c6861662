package kafka

import (
	"context"

	"millrace/server/auth"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// addOffsetsToTxn serves AddOffsetsToTxn 0–4.
func (s *Server) addOffsetsToTxn(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.AddOffsetsToTxnRequest)
	resp := req.ResponseKind().(*kmsg.AddOffsetsToTxnResponse)
	switch {
	case !s.allowed(r, auth.Write, transactionResource(req.TransactionalID)):
		resp.ErrorCode = errTransactionalIDAuthorization
		return resp, nil
	case !s.allowed(r, auth.Read, groupResource(req.Group)):
		resp.ErrorCode = errGroupAuthorizationFailed
		return resp, nil
	}
	res, err := commitAs[state.TransactionResult](ctx, s, state.AddGroupToTransaction{
		TransactionRef: state.TransactionRef{TransactionalID: req.TransactionalID, ProducerID: req.ProducerID, ProducerEpoch: req.ProducerEpoch},
		Group:          req.Group,
	})
	if err == nil {
		err = res.Err
	}
	if resp.ErrorCode = s.code(err); resp.ErrorCode == errInvalidProducerEpoch {
		resp.ErrorCode = fenced(req.Version, 2)
	}
	return resp, nil
}
