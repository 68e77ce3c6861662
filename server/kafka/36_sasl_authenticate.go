package kafka

import (
	"context"

	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// saslAuthenticate carries one step of a login. Whatever fails, the connection ends
// after the answer: a client that ignores it is talking to nobody.
func (c *conn) saslAuthenticate(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.SASLAuthenticateRequest)
	resp := req.ResponseKind().(*kmsg.SASLAuthenticateResponse)
	resp.SASLAuthBytes = []byte{}
	if c.sasl.done || c.sasl.mechanism == "" {
		resp.ErrorCode = kafkaerr.IllegalSASLState
		resp.ErrorMessage = kmsg.StringPtr("SaslAuthenticate without a SaslHandshake before it")
		r.HangUp = !c.sasl.mayProceed()
		return resp, nil
	}
	answer, err := c.saslStep(req.SASLAuthBytes)
	if err != nil {
		c.loginFailed(ctx, err)
		// The same words for everyone: not whether the user exists.
		resp.ErrorCode = kafkaerr.SASLAuthenticationFailed
		resp.ErrorMessage = kmsg.StringPtr("Authentication failed")
		r.HangUp = true
		return resp, nil
	}
	if answer != nil {
		resp.SASLAuthBytes = answer
	}
	return resp, nil
}
