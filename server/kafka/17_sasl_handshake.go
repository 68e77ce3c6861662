package kafka

import (
	"context"
	"slices"

	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// saslHandshake agrees on a mechanism. After version 0 the tokens follow bare, after
// version 1 in SaslAuthenticate requests.
func (c *conn) saslHandshake(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.SASLHandshakeRequest)
	resp := req.ResponseKind().(*kmsg.SASLHandshakeResponse)
	st := &c.sasl
	switch {
	case !c.mayLogIn(), st.done, st.mechanism != "":
		// There is nobody to log in as, or it was agreed on before.
		resp.ErrorCode = kafkaerr.IllegalSASLState
		r.HangUp = !st.mayProceed()
	case !slices.Contains(c.mechanisms(), req.Mechanism):
		resp.ErrorCode = kafkaerr.UnsupportedSASLMechanism
		resp.SupportedMechanisms = c.mechanisms()
		r.HangUp = true
	default:
		st.mechanism = req.Mechanism
		st.rawTokens = r.Version == 0
		resp.SupportedMechanisms = c.mechanisms()
	}
	return resp, nil
}
