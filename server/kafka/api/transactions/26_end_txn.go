package transactions

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// EndTxn serves EndTxn 0–5; from 5 on (transactions version 2) the epoch rises with every
// end, so that nothing late can join the next transaction.
func (h *Handlers) EndTxn(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.EndTxnRequest)
	resp := req.ResponseKind().(*kmsg.EndTxnResponse)
	resp.ProducerID, resp.ProducerEpoch = -1, -1
	if !h.Allowed(r, auth.Write, api.TransactionResource(req.TransactionalID)) {
		resp.ErrorCode = kafkaerr.TransactionalIDAuthorization
		return resp, nil
	}
	res, err := api.CommitAs[state.ProducerIDResult](ctx, h.Node, state.EndTransaction{
		TransactionRef: state.TransactionRef{TransactionalID: req.TransactionalID, ProducerID: req.ProducerID, ProducerEpoch: req.ProducerEpoch},
		Commit:         req.Commit,
		BumpEpoch:      req.Version >= 5,
	})
	if err == nil {
		err = res.Err
	}
	switch resp.ErrorCode = h.Code(err); resp.ErrorCode {
	case kafkaerr.None:
		resp.ProducerID, resp.ProducerEpoch = res.ProducerID, res.ProducerEpoch
	case kafkaerr.InvalidProducerEpoch:
		resp.ErrorCode = kafkaerr.Fenced(req.Version, 2)
	}
	return resp, nil
}
