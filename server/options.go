// Package server is the composition root: it starts one store and the front
// ends over it, in order, and stops them in reverse.
package server

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"millrace/ingest/sealer"
	"millrace/scan/columns"
	"millrace/server/kafka"
	"millrace/server/kafka/group"
	"millrace/server/mysql"
	"millrace/store"
)

// Options are everything `millrace serve` can be told. The packages' own options
// carry their limits and times; what connects the packages (stores, listeners,
// loggers and the like) is filled in by Start.
type Options struct {
	Data string // data directory; created when missing

	Kafka []Listener // at least one
	MySQL string     // listen address; "" for none
	// MySQLSecurity is what MySQL connections must have.
	MySQLSecurity Security
	HTTP          string // health, metrics, pprof; "" for none

	TLSCert, TLSKey string // PEM files; both or none (then MySQL makes itself a certificate)
	// TLSClientCA: PEM file of who signs certificates that clients log in with; "" for nobody.
	TLSClientCA string

	// Insecure allows other listen addresses than loopback while no user exists.
	Insecure bool
	// InsecurePlain allows SASL PLAIN, which tells the password to whoever listens on the
	// line, without TLS from beyond loopback.
	InsecurePlain bool

	MaxConnections   int           // on each wire
	LoginTimeout     time.Duration // on each wire
	MemoryLimitBytes int64         // soft limit of the Go heap; 0: none of our own

	Store     store.Options
	Groups    group.Options
	KafkaWire kafka.Options // MaxConnections and LoginTimeout are the above
	MySQLWire mysql.Options // likewise
	Columns   columns.Options
	// ColumnsCold is after what time files of columns are compressed; 0: never.
	ColumnsCold time.Duration

	Version string
	Logger  *slog.Logger // nil: slog.Default()
}

// Listener is one Kafka listener.
type Listener struct {
	Name       string // for logs and tools; "" is the protocol's name
	Address    string // host:port to listen on
	Advertised string // host:port that clients are told; "" is Address
	TLS        bool
	SASL       bool // clients must log in; elsewhere they may, once a user exists
	// Certificate: over TLS, clients must show a certificate that TLSClientCA signed and that names a user.
	Certificate bool
}

// Security is what a listener demands of connections.
type Security uint8

const (
	SecurityOptional    Security = iota // TLS if the client asks for it
	SecurityTLS                         // TLS
	SecurityCertificate                 // TLS with a client certificate that TLSClientCA signed
)

// DefaultOptions is what `millrace serve` runs with when told nothing: the packages'
// own defaults, loopback only, topics made as they are asked for.
func DefaultOptions() Options {
	o := Options{
		Data:      "./millrace-data",
		Kafka:     []Listener{{Address: "127.0.0.1:9092"}},
		MySQL:     "127.0.0.1:3306",
		HTTP:      "127.0.0.1:9644",
		Store:     store.DefaultOptions(),
		Groups:    group.DefaultOptions(),
		KafkaWire: kafka.DefaultOptions(),
		MySQLWire: mysql.DefaultOptions(),

		ColumnsCold: sealer.DefaultCold,
	}
	o.MaxConnections, o.LoginTimeout = o.KafkaWire.MaxConnections, o.KafkaWire.LoginTimeout
	o.KafkaWire.AutoCreateTopics = true
	return o
}

// ErrInsecure refuses to serve strangers: an address others can reach, and no user.
var ErrInsecure = errors.New("no user exists: refusing to listen beyond loopback (create one with `millrace user add NAME --data DIR`, or give --insecure)")

// checkAddresses returns ErrInsecure when an address is reachable from
// elsewhere while open says that nobody has to log in.
func (o *Options) checkAddresses(open bool) error {
	if !open || o.Insecure {
		return nil
	}
	addresses := []string{o.MySQL, o.HTTP}
	for _, l := range o.Kafka {
		addresses = append(addresses, l.Address)
	}
	for _, a := range addresses {
		if a == "" {
			continue
		}
		host, _, err := net.SplitHostPort(a)
		if err != nil {
			return fmt.Errorf("listen address %q: %w", a, err)
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return fmt.Errorf("%s: %w", a, ErrInsecure)
		}
	}
	return nil
}
