package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificates are the server's certificate and key and who may sign its clients', for all wires. The
// files are read again when they have changed, which is looked for with a handshake: connections that
// there are go on, and what cannot be read leaves in place what was read before.
type certificates struct {
	certFile, keyFile, caFile string
	log                       *slog.Logger
	now                       func() time.Time

	mu     sync.Mutex // guards what follows
	looked time.Time
	seen   [3]stamp // of the files when they were last read, well or not
	cert   *tls.Certificate
	ca     *x509.CertPool // nil: no client certificates
}

// stamp tells a file from what it was before.
type stamp struct {
	modified time.Time
	size     int64
}

// certificateCheck is how often the files are looked at, at most.
const certificateCheck = time.Second

// newCertificates reads the files that o names; nil when it names none.
func newCertificates(o Options) (*certificates, error) {
	if o.TLSCert == "" && o.TLSKey == "" {
		if o.TLSClientCA != "" {
			return nil, errors.New("a CA for clients' certificates needs a certificate and key of the server's own")
		}
		return nil, nil
	}
	c := &certificates{certFile: o.TLSCert, keyFile: o.TLSKey, caFile: o.TLSClientCA, log: o.Logger, now: time.Now}
	c.seen, _ = c.stamps()
	c.looked = c.now()
	if err := c.read(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *certificates) read() error {
	cert, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("TLS certificate: %w", err)
	}
	var pool *x509.CertPool
	if c.caFile != "" {
		pem, err := os.ReadFile(c.caFile)
		if err != nil {
			return fmt.Errorf("CA of clients' certificates: %w", err)
		}
		pool = x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return fmt.Errorf("CA of clients' certificates: %s holds no certificate", c.caFile)
		}
	}
	c.cert, c.ca = &cert, pool
	return nil
}

// stamps says what the files are now; an error if one cannot be found.
func (c *certificates) stamps() (s [3]stamp, err error) {
	for i, name := range []string{c.certFile, c.keyFile, c.caFile} {
		if name == "" {
			continue
		}
		info, serr := os.Stat(name)
		if serr != nil {
			err = serr
			continue
		}
		s[i] = stamp{info.ModTime(), info.Size()}
	}
	return s, err
}

// current returns what a handshake that begins now is to use.
func (c *certificates) current() (*tls.Certificate, *x509.CertPool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); now.Sub(c.looked) >= certificateCheck {
		c.looked = now
		if s, err := c.stamps(); err == nil && s != c.seen {
			// A pair of which only one is written yet does not fit together: the other's stamp brings it here again.
			c.seen = s
			if err := c.read(); err != nil {
				c.log.Warn("changed TLS files cannot be used, the ones before stay", "error", err)
			} else {
				c.log.Info("TLS files were read again", "certificate", c.certFile)
			}
		}
	}
	return c.cert, c.ca
}

// config is one listener's; require: clients must show a certificate, else they may if a CA is known.
// It is nil for nil certificates.
func (c *certificates) config(require bool) *tls.Config {
	if c == nil {
		return nil
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			cert, ca := c.current()
			config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*cert}}
			if ca != nil {
				config.ClientCAs, config.ClientAuth = ca, tls.VerifyClientCertIfGiven
				if require {
					config.ClientAuth = tls.RequireAndVerifyClientCert
				}
				// Who signs may change: a session of before must not come in by its ticket.
				config.SessionTicketsDisabled = true
			}
			return config, nil
		},
	}
}
