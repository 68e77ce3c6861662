package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql/driver"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// connectTimeout bounds dialling and logging in. A person waits for it when
// the address is wrong.
const connectTimeout = 5 * time.Second

// Login is who connects, and how the connection is secured.
type Login struct {
	User          string `help:"User to log in as." placeholder:"NAME" group:"Connection"`
	Password      string `help:"Its password; asked for on a terminal when not given. Better in MILLRACE_PASSWORD than on the command line." placeholder:"TEXT" group:"Connection"`
	TLS           bool   `name:"tls" help:"Connect with TLS. (To MySQL on this machine it is used anyway when a user logs in.)" group:"Connection"`
	TLSCA         string `name:"tls-ca" help:"Certificates to trust instead of the system's (PEM)." placeholder:"FILE" group:"Connection"`
	TLSSkipVerify bool   `name:"tls-skip-verify" help:"Accept any certificate: whoever answers may read the password." group:"Connection"`
}

// tlsConfig is nil without TLS.
func (l *Login) tlsConfig(address string) (*tls.Config, error) {
	if !l.TLS && l.TLSCA == "" && !l.TLSSkipVerify {
		return nil, nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host, InsecureSkipVerify: l.TLSSkipVerify}
	if l.TLSCA != "" {
		pem, err := os.ReadFile(l.TLSCA)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate", l.TLSCA)
		}
	}
	return c, nil
}

// password is asked for once, however often a command connects.
func (l *Login) password(s *IO) (_ string, err error) {
	if l.Password == "" && l.User != "" && s.InTerminal {
		l.Password, err = s.askPassword("Password of "+l.User, false)
	}
	return l.Password, err
}

// Kafka is the connection of a command to a Kafka listener.
type Kafka struct {
	Address   string `name:"kafka" help:"Kafka listener to connect to." default:"127.0.0.1:9092" placeholder:"HOST:PORT" group:"Connection"`
	Mechanism string `name:"sasl" help:"How the user logs in: ${enum}." enum:"SCRAM-SHA-256,SCRAM-SHA-512,PLAIN" default:"SCRAM-SHA-256" placeholder:"MECHANISM" group:"Connection"`
	Login
}

// Client connects, and fails at once when nobody answers.
func (k *Kafka) Client(ctx context.Context, s *IO, opts ...kgo.Opt) (*kgo.Client, error) {
	return k.heardClient(ctx, s, nil, opts...)
}

// heardClient is Client whose connections heard listens to, unless it is nil.
func (k *Kafka) heardClient(ctx context.Context, s *IO, heard *refusals, opts ...kgo.Opt) (*kgo.Client, error) {
	opts = append([]kgo.Opt{
		kgo.SeedBrokers(k.Address),
		kgo.ClientID("millrace"),
		kgo.RetryTimeout(2 * connectTimeout),
		kgo.DisableClientMetrics(),
	}, opts...)
	tc, err := k.tlsConfig(k.Address)
	if err != nil {
		return nil, err
	}
	plainly := &net.Dialer{Timeout: connectTimeout}
	dial := dialFunc(plainly.DialContext)
	if tc != nil {
		dial = (&tls.Dialer{NetDialer: plainly, Config: tc}).DialContext
	}
	if heard != nil {
		dial = heard.dial(dial)
	}
	opts = append(opts, kgo.Dialer(dial))
	if k.User != "" {
		pw, err := k.password(s)
		if err != nil {
			return nil, err
		}
		switch k.Mechanism {
		case "PLAIN":
			opts = append(opts, kgo.SASL(plain.Auth{User: k.User, Pass: pw}.AsMechanism()))
		case "SCRAM-SHA-512":
			opts = append(opts, kgo.SASL(scram.Auth{User: k.User, Pass: pw}.AsSha512Mechanism()))
		default:
			opts = append(opts, kgo.SASL(scram.Auth{User: k.User, Pass: pw}.AsSha256Mechanism()))
		}
	}
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, err
	}
	ping, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if err := cl.Ping(ping); err != nil {
		cl.Close()
		return nil, fmt.Errorf("cannot reach Kafka at %s: %w", k.Address, err)
	}
	return cl, nil
}

// defaultDatabase is the one of topics, and unknownDatabase how a server says that it has none of a name.
const (
	defaultDatabase = "kafka"
	unknownDatabase = 1049
)

// MySQL is the connection of a command to a MySQL listener.
type MySQL struct {
	Address  string `name:"mysql" help:"MySQL listener to connect to." default:"127.0.0.1:3306" placeholder:"HOST:PORT" group:"Connection"`
	Database string `help:"Database to start in." default:"kafka" placeholder:"NAME" group:"Connection"`
	Login
}

// connector is how the MySQL driver connects.
func (m *MySQL) connector(s *IO) (driver.Connector, error) {
	c := mysql.NewConfig()
	c.Net, c.Addr, c.DBName = "tcp", m.Address, m.Database
	c.User = m.User
	if c.User == "" {
		c.User = "anonymous" // the protocol has no nameless login; without users the server takes any name
	}
	var err error
	if c.Passwd, err = m.password(s); err != nil {
		return nil, err
	}
	if c.TLS, err = m.tlsConfig(m.Address); err != nil {
		return nil, err
	}
	if c.TLS == nil && m.User != "" && isLoopback(m.Address) {
		// Servers take passwords over TLS only. Whoever could pose as the server on this
		// machine's own loopback has its users' files already, so the certificate, which
		// servers make themselves, is not checked here.
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}
		c.AllowFallbackToPlaintext = true
	}
	c.Timeout = connectTimeout
	c.Logger = quietLogger{}
	return mysql.NewConnector(c)
}

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// quietLogger drops the driver's own lines: every failure also comes as an error.
type quietLogger struct{}

func (quietLogger) Print(...any) {}
