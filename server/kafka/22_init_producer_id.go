package kafka

import (
	"context"
	"log/slog"
	"strings"

	"millrace/server/auth"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// initProducerID gives an idempotent producer its id. As in Kafka that is always a
// new one, also when the producer names the one it has: whoever could have another's
// epoch raised could stop that producer.
func (s *Server) initProducerID(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.InitProducerIDRequest)
	resp := req.ResponseKind().(*kmsg.InitProducerIDResponse)
	resp.ProducerID, resp.ProducerEpoch = -1, -1
	if req.TransactionalID != nil {
		s.rare.warn(s.log, "transactional "+*req.TransactionalID, "transactions are not supported by this version",
			slog.String("transactional_id", cut(*req.TransactionalID)), slog.String("client_id", cut(r.clientID)), slog.String("client", r.conn.remoteHost))
		resp.ErrorCode = noTransactions(r.conn.software)
		return resp, nil
	}
	if !s.mayWriteAnything(r) {
		resp.ErrorCode = errClusterAuthorizationFailed
		return resp, nil
	}
	res, err := s.o.Store.Commit(ctx, state.AllocateProducerID{ProducerID: -1, ProducerEpoch: -1})
	if err != nil {
		resp.ErrorCode = s.code(err)
		return resp, nil
	}
	id, ok := res.(state.ProducerIDResult)
	if !ok {
		s.log.Error("unexpected answer to AllocateProducerID", slog.Any("answer", res))
		resp.ErrorCode = errUnknownServerError
		return resp, nil
	}
	if resp.ErrorCode = s.code(id.Err); resp.ErrorCode == errNone {
		resp.ProducerID, resp.ProducerEpoch = id.ProducerID, id.ProducerEpoch
	}
	return resp, nil
}

// noTransactions is the code that says so, and that the client takes for fatal. For
// most that is UNSUPPORTED_VERSION. A coordinator error would be retried for
// ever, an authorisation error would send people looking for a grant. librdkafka, though,
// retries UNSUPPORTED_VERSION for ever, too; of the few codes that it gives up on, only
// INVALID_TRANSACTION_TIMEOUT is not about identity: no timeout is short enough.
func noTransactions(software string) int16 {
	if strings.Contains(software, "rdkafka") || strings.HasPrefix(software, "confluent-kafka") {
		return errInvalidTransactionTimeout
	}
	return errUnsupportedVersion
}

// mayWriteAnything: who may write to some topic may be idempotent about it (KIP-679).
func (s *Server) mayWriteAnything(r *request) bool {
	if s.allowed(r, auth.Write, clusterResource) {
		return true
	}
	for _, t := range s.o.Store.Topics().All() {
		if s.allowed(r, auth.Write, topicResource(t.Name)) {
			return true
		}
	}
	return false
}
