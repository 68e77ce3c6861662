package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// saslAuthenticate carries one step of a login. Whatever fails, the connection ends
// after the answer: a client that ignores it is talking to nobody.
func (s *Server) saslAuthenticate(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.SASLAuthenticateRequest)
	resp := req.ResponseKind().(*kmsg.SASLAuthenticateResponse)
	resp.SASLAuthBytes = []byte{}
	c := r.conn
	if c.sasl.done || c.sasl.mechanism == "" {
		resp.ErrorCode = errIllegalSASLState
		resp.ErrorMessage = kmsg.StringPtr("SaslAuthenticate without a SaslHandshake before it")
		r.hangUp = !c.sasl.mayProceed()
		return resp, nil
	}
	answer, err := c.saslStep(req.SASLAuthBytes)
	if err != nil {
		c.loginFailed(ctx, err)
		// The same words for everyone: not whether the user exists.
		resp.ErrorCode = errSASLAuthenticationFailed
		resp.ErrorMessage = kmsg.StringPtr("Authentication failed")
		r.hangUp = true
		return resp, nil
	}
	if answer != nil {
		resp.SASLAuthBytes = answer
	}
	return resp, nil
}
