package kafka

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"

	"millrace/server/auth"
)

// errCertificate ends a connection whose certificate is no login where one is required.
var errCertificate = errors.New("the client's certificate names no user who may log in")

// takeCertificate makes the connection the user's whom the client's certificate names, if it showed one. Where a
// login by SASL is required that is still to come, and who it is counts.
func (c *conn) takeCertificate(t *tls.Conn) error {
	state := t.ConnectionState()
	c.transport = auth.Transport{TLS: true, Certificate: auth.CertificateName(&state)}
	if c.sasl.required || c.s.o.Auth.Open() {
		return nil
	}
	if len(state.PeerCertificates) == 0 && !c.l.Certificate {
		return nil
	}
	name := c.transport.Certificate
	if err := c.s.o.Auth.AdmitCertificate(name, c.transport); err != nil {
		c.s.metrics.authFailures.Inc()
		c.s.rare.Warn("certificate "+c.client.Host, "kafka login by certificate failed",
			slog.String("client", c.client.Host), slog.String("certificate", subject(&state)), slog.Any("error", err))
		if c.l.Certificate {
			return fmt.Errorf("%w: %w: %w", errTLSHandshake, errCertificate, err)
		}
		return nil
	}
	c.is(auth.Principal{Name: name})
	return nil
}

// subject is the certificate's, for the log.
func subject(state *tls.ConnectionState) string {
	if len(state.PeerCertificates) == 0 {
		return ""
	}
	const enough = 256
	s := state.PeerCertificates[0].Subject.String()
	return s[:min(len(s), enough)]
}
