package transactions

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AddOffsetsToTxn serves AddOffsetsToTxn 0–4.
func (h *Handlers) AddOffsetsToTxn(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.AddOffsetsToTxnRequest)
	resp := req.ResponseKind().(*kmsg.AddOffsetsToTxnResponse)
	switch {
	case !h.Allowed(r, auth.Write, api.TransactionResource(req.TransactionalID)):
		resp.ErrorCode = kafkaerr.TransactionalIDAuthorization
		return resp, nil
	case !h.Allowed(r, auth.Read, api.GroupResource(req.Group)):
		resp.ErrorCode = kafkaerr.GroupAuthorizationFailed
		return resp, nil
	}
	res, err := api.CommitAs[state.TransactionResult](ctx, h.Node, state.AddGroupToTransaction{
		TransactionRef: state.TransactionRef{TransactionalID: req.TransactionalID, ProducerID: req.ProducerID, ProducerEpoch: req.ProducerEpoch},
		Group:          req.Group,
	})
	if err == nil {
		err = res.Err
	}
	if resp.ErrorCode = h.Code(err); resp.ErrorCode == kafkaerr.InvalidProducerEpoch {
		resp.ErrorCode = kafkaerr.Fenced(req.Version, 2)
	}
	return resp, nil
}
