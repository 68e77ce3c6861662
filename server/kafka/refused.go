package kafka

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"strings"

	"millrace/server/kafka/kafkaerr"
	"millrace/server/kafka/rarelog"
	"millrace/server/kafka/refusal"
	"millrace/server/kafka/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Refuse notes a refusal of a part of the request with that header, unless clients meet such in
// the course of ordinary work. message and logged: see refuse.
func (c *conn) Refuse(h wire.Header, r refusal.Refused, message string, logged bool) {
	if !refusal.IsNormal(h.Key, r.Code, c.s.o.AutoCreateTopics) {
		c.refuse(c.s.table[h.Key], h, r, message, logged)
	}
}

// noteErrors notes the refusals in a response.
func (c *conn) noteErrors(a *endpoint, h wire.Header, req kmsg.Request, resp kmsg.Response) {
	left := maxNotedErrors
	a.errors.Each(req, resp, c.s.node.TopicNamed, func(r refusal.Refused, message string) bool {
		if refusal.IsNormal(h.Key, r.Code, c.s.o.AutoCreateTopics) {
			return true
		}
		c.refuse(a, h, r, message, h.Key == keySASLAuthenticate) // a failed login has its own line
		left--
		return left > 0
	})
}

// refuse notes a refusal and leaves a line in the log, though not for every one of a kind.
// logged: there is such a line already, with more in it.
func (c *conn) refuse(a *endpoint, h wire.Header, r refusal.Refused, message string, logged bool) {
	name, version := "", int16(0)
	if a != nil {
		name, version = a.name, h.Version
	}
	r.Topic, r.Group, r.TransactionalID = refusal.CutName(r.Topic), refusal.CutName(r.Group), refusal.CutName(r.TransactionalID)
	if r.Name == "" {
		r.Name = kafkaerr.Name(r.Code)
	}
	key := refusal.Key{
		ClientID: refusal.CutName(h.ClientID), Software: c.software, Address: c.client.Host, Principal: c.client.Principal.Name,
		API: name, Version: version, Refused: r,
	}
	hint := refusal.Hint(r, c.s.o.AutoCreateTopics)
	if !c.s.o.Refusals.Note(key, rarelog.Cut(message), hint) || logged {
		return
	}
	args := []any{
		slog.String("client", c.client.Host), slog.String("client_id", key.ClientID), slog.String("user", key.Principal),
		slog.String("error", r.Name),
	}
	for _, attr := range []slog.Attr{
		slog.String("software", key.Software), slog.String("api", name), slog.String("topic", r.Topic), slog.String("group", r.Group),
		slog.String("transactional_id", r.TransactionalID), slog.String("message", rarelog.Cut(message)), slog.String("hint", hint),
	} {
		if attr.Value.String() != "" {
			args = append(args, attr)
		}
	}
	c.s.rare.Warn(strings.Join([]string{"refused", c.client.Host, key.ClientID, name, r.Name, r.Topic, r.Group, r.TransactionalID}, "\x00"),
		"kafka request refused", args...)
}

// refusedConnection notes why a connection ends for whose last request there was no answer.
// It says whether err is such a reason.
func (c *conn) refusedConnection(err error) bool {
	var record tls.RecordHeaderError
	var refused *refusedRequest
	strange := ""
	if b, _ := c.br.Peek(min(c.br.Buffered(), 4)); len(b) >= 2 && !c.greeted {
		strange = refusal.StrangeProtocol(b)
	}
	switch {
	case errors.As(err, &refused) && strange == "":
		c.refuse(refused.endpoint, refused.header, refused.Refused, err.Error(), false)
	case errors.As(err, &record):
		c.refuse(nil, wire.Header{}, refusal.Refused{Name: refusal.EndPlaintextOnTLS}, "", false)
	case errors.Is(err, errTLSHandshake):
		c.refuse(nil, wire.Header{}, refusal.Refused{Name: refusal.EndTLSFailed}, err.Error(), false)
	case errors.Is(err, wire.ErrFrame), errors.Is(err, wire.ErrBody), errors.Is(err, errTooLong):
		name := strange
		if name == "" {
			name = refusal.EndMalformed
		}
		c.refuse(nil, wire.Header{}, refusal.Refused{Name: name}, err.Error(), false)
	default:
		return false
	}
	return true
}

var errTLSHandshake = errors.New("TLS handshake failed")

// refusedRequest ends a connection over a request that has no answer.
type refusedRequest struct {
	error
	endpoint *endpoint
	header   wire.Header
	refusal.Refused
}

func (e *refusedRequest) Unwrap() error { return e.error }

// refusal is err as the end of a connection over a request of which only this much was read.
func (c *conn) refusal(a *endpoint, key, version int16, r refusal.Refused, err error) error {
	return &refusedRequest{err, a, wire.Header{Key: key, Version: version, ClientID: c.client.QuotaID}, r}
}

// refusedAtTheDoor notes a connection that is one too many.
func (s *Server) refusedAtTheDoor(nc net.Conn, reason string) {
	host, _, err := net.SplitHostPort(nc.RemoteAddr().String())
	if err != nil {
		host = nc.RemoteAddr().String()
	}
	if reason != "stopping" {
		key := refusal.Key{Address: host, Refused: refusal.Refused{Name: refusal.EndRefused}}
		s.o.Refusals.Note(key, reason, refusal.Hint(refusal.Refused{Name: refusal.EndRefused}, false))
	}
	s.rare.Warn("refused "+reason, "kafka connection refused", slog.String("reason", reason), slog.String("client", nc.RemoteAddr().String()))
}
