package kafka

import (
	"context"

	"millrace/server/auth"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// endTxn serves EndTxn 0–5; from 5 on (transactions version 2) the epoch rises with every
// end, so that nothing late can join the next transaction.
func (s *Server) endTxn(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.EndTxnRequest)
	resp := req.ResponseKind().(*kmsg.EndTxnResponse)
	resp.ProducerID, resp.ProducerEpoch = -1, -1
	if !s.allowed(r, auth.Write, transactionResource(req.TransactionalID)) {
		resp.ErrorCode = errTransactionalIDAuthorization
		return resp, nil
	}
	res, err := commitAs[state.ProducerIDResult](ctx, s, state.EndTransaction{
		TransactionRef: state.TransactionRef{TransactionalID: req.TransactionalID, ProducerID: req.ProducerID, ProducerEpoch: req.ProducerEpoch},
		Commit:         req.Commit,
		BumpEpoch:      req.Version >= 5,
	})
	if err == nil {
		err = res.Err
	}
	switch resp.ErrorCode = s.code(err); resp.ErrorCode {
	case errNone:
		resp.ProducerID, resp.ProducerEpoch = res.ProducerID, res.ProducerEpoch
	case errInvalidProducerEpoch:
		resp.ErrorCode = fenced(req.Version, 2)
	}
	return resp, nil
}
