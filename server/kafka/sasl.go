package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"time"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/server/kafka/refusal"
	"millrace/server/kafka/wire"

	"github.com/xdg-go/scram"
)

// mechanismPlain is beside auth's SCRAM mechanisms.
const mechanismPlain = "PLAIN"

// saslState is how far a connection's login has come. It only ever moves forward:
// nothing → a mechanism chosen → done. A failure ends the connection, so there
// is no way from a failed or unfinished exchange to an authenticated one, nor back
// to being nobody.
type saslState struct {
	required bool // by the listener; elsewhere clients may log in, once users exist
	// mechanism was agreed on by a handshake; "" before.
	mechanism string
	// rawTokens: after a handshake of version 0, frames are bare tokens until done.
	rawTokens bool
	scram     *scram.ServerConversation
	done      bool
}

// mayProceed says whether ordinary requests are served: after the login where one is
// required or was begun.
func (st *saslState) mayProceed() bool { return st.done || !st.required && st.mechanism == "" }

// mayLogIn says whether this connection is one that a login is for. While no user exists
// only a listener that requires one takes it (and refuses everybody).
func (c *conn) mayLogIn() bool { return c.sasl.required || !c.s.o.Auth.Open() }

// mechanisms that this connection may use: PLAIN tells the password to whoever
// listens on the line, so it wants TLS, or no line.
func (c *conn) mechanisms() []string {
	if c.l.TLS != nil || c.l.InsecurePlain || c.isLoopback {
		return []string{mechanismPlain, auth.MechanismSHA256, auth.MechanismSHA512}
	}
	return []string{auth.MechanismSHA256, auth.MechanismSHA512}
}

// saslStep takes one token of the client's and returns the answer to it. When the
// exchange has succeeded the connection has its principal; an error is its end.
func (c *conn) saslStep(token []byte) (answer []byte, err error) {
	st := &c.sasl
	switch st.mechanism {
	case mechanismPlain:
		p, err := c.checkPlain(token)
		if err != nil {
			return nil, err
		}
		return nil, c.loggedIn(p)
	case auth.MechanismSHA256, auth.MechanismSHA512:
		if st.scram == nil {
			server, err := c.s.o.Auth.SCRAM(st.mechanism)
			if err != nil {
				return nil, err
			}
			st.scram = server.NewConversation()
		}
		reply, err := st.scram.Step(string(token))
		if err != nil {
			return nil, err
		}
		if !st.scram.Done() {
			return []byte(reply), nil
		}
		// A finished exchange is a login only with a proof and an identity.
		user := st.scram.Username()
		if !st.scram.Valid() || user == "" || (st.scram.AuthzID() != "" && st.scram.AuthzID() != user) {
			return nil, auth.ErrDenied
		}
		if err := c.loggedIn(auth.Principal{Name: user}); err != nil {
			return nil, err
		}
		return []byte(reply), nil
	}
	return nil, errors.New("no mechanism was agreed on")
}

// checkPlain checks "authorisation id NUL user NUL password".
func (c *conn) checkPlain(token []byte) (auth.Principal, error) {
	authzid, rest, ok := bytes.Cut(token, []byte{0})
	user, password, ok2 := bytes.Cut(rest, []byte{0})
	if !ok || !ok2 || len(user) == 0 || len(password) == 0 || bytes.IndexByte(password, 0) >= 0 {
		return auth.Principal{}, errors.New("malformed PLAIN token")
	}
	if len(authzid) > 0 && !bytes.Equal(authzid, user) {
		return auth.Principal{}, auth.ErrDenied
	}
	return c.s.o.Auth.CheckPassword(string(user), string(password))
}

// loggedIn lets who has proved to be p in, unless his account wants more of the connection.
func (c *conn) loggedIn(p auth.Principal) error {
	if err := c.s.o.Auth.Admit(p.Name, c.transport); err != nil {
		return err
	}
	c.is(p)
	c.sasl = saslState{required: true, done: true, mechanism: c.sasl.mechanism}
	return nil
}

// is makes the connection p's.
func (c *conn) is(p auth.Principal) {
	p.Host = c.client.Host
	c.client.Principal = p
	c.show(func(s *Connection) { s.User = p.Name })
}

// loginFailed counts and logs a failed login, and holds the answer back.
func (c *conn) loginFailed(ctx context.Context, err error) {
	c.s.metrics.authFailures.Inc()
	c.s.rare.Warn("login "+c.client.Host, "kafka login failed",
		slog.String("client", c.client.Host), slog.String("mechanism", c.sasl.mechanism), slog.Any("error", err))
	t := time.NewTimer(auth.FailureDelay)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// rawToken reads one bare token, as sent after a handshake of version 0, and answers it
// bare. A failure has no code there: the connection just ends.
func (c *conn) rawToken() error {
	b, err := c.br.Peek(wire.SizeBytes)
	if err != nil {
		return err
	}
	n := int32(binary.BigEndian.Uint32(b))
	if n < 0 || n > preAuthFrameBytes {
		return errTooLong
	}
	_, _ = c.br.Discard(wire.SizeBytes)
	token := make([]byte, n)
	if _, err := io.ReadFull(c.br, token); err != nil {
		return wire.NoEOF(err)
	}
	answer, err := c.saslStep(token)
	if err != nil {
		c.loginFailed(c.ctx, err)
		c.refuse(c.s.table[keySASLAuthenticate], wire.Header{ClientID: c.client.QuotaID}, refusal.Refused{Code: kafkaerr.SASLAuthenticationFailed}, "", true)
		return api.ErrHangUp
	}
	if c.sasl.done {
		c.greeted = true
	}
	return c.write(append(wire.PutInt32(nil, int32(len(answer))), answer...))
}
