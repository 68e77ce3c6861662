package kafka

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// saslHandshake agrees on a mechanism. After version 0 the tokens follow bare, after
// version 1 in SaslAuthenticate requests.
func (s *Server) saslHandshake(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.SASLHandshakeRequest)
	resp := req.ResponseKind().(*kmsg.SASLHandshakeResponse)
	c := r.conn
	st := &c.sasl
	switch {
	case !c.mayLogIn(), st.done, st.mechanism != "":
		// There is nobody to log in as, or it was agreed on before.
		resp.ErrorCode = errIllegalSASLState
		r.hangUp = !st.mayProceed()
	case !slices.Contains(c.mechanisms(), req.Mechanism):
		resp.ErrorCode = errUnsupportedSASLMechanism
		resp.SupportedMechanisms = c.mechanisms()
		r.hangUp = true
	default:
		st.mechanism = req.Mechanism
		st.rawTokens = r.version == 0
		resp.SupportedMechanisms = c.mechanisms()
	}
	return resp, nil
}
