// Package kafka is the Kafka wire: listeners, connections, logins, and requests in order. It
// holds no records and takes no decisions of its own: batches are checked by ingest, ordered
// and kept by the store, groups coordinated by server/kafka/group.
//
// The APIs are served by the packages below server/kafka/api; apis.go is the list of them.
// conn.go is the life of a connection, pipeline.go the order of its answers. The APIs that
// change the connection itself are here: 17, 18 and 36.
package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"millrace/ingest"
	"millrace/internal/budget"
	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/api/cluster"
	"millrace/server/kafka/api/fetch"
	"millrace/server/kafka/api/groups"
	"millrace/server/kafka/api/produce"
	"millrace/server/kafka/api/transactions"
	"millrace/server/kafka/group"
	"millrace/server/kafka/groupconfig"
	"millrace/server/kafka/quota"
	"millrace/server/kafka/rarelog"
	"millrace/server/kafka/refusal"
	"millrace/server/kafka/share"
	"millrace/store"

	"github.com/prometheus/client_golang/prometheus"
)

// Options of the Kafka front end. Store, Ingest, Auth and one listener are
// required; other zero values take DefaultOptions', or the default named here.
type Options struct {
	Store  *store.Store
	Ingest *ingest.Ingest
	Auth   *auth.Service

	Listeners []Listener

	Admin AdminOptions // of the group and administration APIs

	NodeID              int32
	AutoCreateTopics    bool
	DefaultPartitions   int // of topics created without a count
	ProduceAllOrNothing bool

	MaxTransactionTimeout     time.Duration // Kafka's transaction.max.timeout.ms
	TransactionalIDExpiration time.Duration // Kafka's transactional.id.expiration.ms

	MaxRequestBytes     int           // largest request
	MaxConnections      int           // over all listeners
	MaxConnectionsPerIP int           // default MaxConnections
	LoginTimeout        time.Duration // from accept to the first request, logged in where required
	IdleTimeout         time.Duration // between requests
	RequestTimeout      time.Duration // without progress inside a request
	WriteTimeout        time.Duration // for a client to take 1 MiB
	DrainTimeout        time.Duration // Close waits so long for requests under way

	RequestBufferBytes int64 // requests being read or waiting for the store, in all
	FetchBufferBytes   int64 // answers to Fetch being gathered or sent, in all

	// Refusals remembers what clients were refused; default one of refusal.DefaultKinds.
	Refusals *refusal.Log

	Now      func() time.Time // default time.Now
	Logger   *slog.Logger     // default slog.Default()
	Registry prometheus.Registerer
}

// AdminOptions is what the group and administration APIs need beyond the rest.
type AdminOptions struct {
	// Groups coordinates consumer groups; nil: the group APIs are not advertised.
	Groups *group.Coordinator
	// Share coordinates share groups; nil: their APIs are not advertised. It needs Groups.
	Share *share.Coordinator
	// CheckColumns checks millrace.columns when it is set; nil: any text is taken.
	CheckColumns func(ddl string) error
	// LogDir is the data directory as tools are shown it.
	LogDir string
	// BrokerConfigs are broker configs that were set explicitly and differ from what
	// broker_configs.go would report (Kafka's names and spelling).
	BrokerConfigs map[string]string
}

// DefaultOptions are what New takes for zero values.
func DefaultOptions() Options {
	return Options{
		NodeID:            1,
		DefaultPartitions: 1,

		MaxTransactionTimeout:     time.Hour, // what Flink asks for by default; Kafka allows 15 minutes
		TransactionalIDExpiration: 7 * 24 * time.Hour,

		MaxRequestBytes:    100 << 20, // as Kafka
		MaxConnections:     10_000,
		LoginTimeout:       9 * time.Second,  // strangers are gone within ten, whatever the clock
		IdleTimeout:        10 * time.Minute, // as Kafka
		RequestTimeout:     time.Minute,
		WriteTimeout:       30 * time.Second,
		DrainTimeout:       5 * time.Second,
		RequestBufferBytes: 256 << 20,
		FetchBufferBytes:   256 << 20,
	}
}

// Listener is one address that clients connect to.
type Listener struct {
	Name       string // for logs; default the security protocol's name
	Address    string // host:port to listen on; port 0 takes a free one
	Advertised string // host:port that clients are told; default the address listened on
	TLS        *tls.Config
	SASL       bool // clients must log in; elsewhere they may, once a user exists
	// Certificate: clients must show a certificate that names a user (auth.CertificateName), once there are
	// users; TLS has to ask for it. Where it is false they may, if TLS asks.
	Certificate bool
	// InsecurePlain allows SASL PLAIN, which sends the password as it is, without TLS
	// from beyond loopback.
	InsecurePlain bool
}

// listener is a bound Listener.
type listener struct {
	Listener
	net  net.Listener
	host string // advertised; "" for the address the client reached
	port int32
}

// Server is the Kafka front end.
type Server struct {
	o           Options
	log         *slog.Logger
	metrics     *metrics
	table       apiTable
	listeners   []*listener
	rare        *rarelog.Log
	quotas      *quota.Quotas
	groupConfig *groupconfig.Configs

	node         *api.Node
	producing    *produce.Handlers
	fetching     *fetch.Handlers
	groups       *groups.Handlers
	transactions *transactions.Handlers
	cluster      *cluster.Handlers

	smallRequests *budget.Budget // the first 64 KiB of every request
	largeRequests *budget.Budget // what goes beyond
	decoding      *budget.Budget // what the larger ones without records become when decoded
	fetches       *budget.Budget

	ctx      context.Context // ends when the server stops: long polls answer
	cancel   context.CancelFunc
	stopping atomic.Bool
	accepted atomic.Int64   // connections so far
	wg       sync.WaitGroup // accept loops and connections

	mu    sync.Mutex // guards conns and perIP
	conns map[*conn]struct{}
	perIP map[string]int
}

// New checks the options and binds the listeners; clients are served once Serve runs.
func New(o Options) (*Server, error) {
	if o.Store == nil || o.Ingest == nil || o.Auth == nil {
		return nil, errors.New("kafka: store, ingest and auth are required")
	}
	if len(o.Listeners) == 0 {
		return nil, errors.New("kafka: no listener")
	}
	d := DefaultOptions()
	setDefault(&o.NodeID, d.NodeID)
	setDefault(&o.DefaultPartitions, d.DefaultPartitions)
	setDefault(&o.MaxTransactionTimeout, d.MaxTransactionTimeout)
	setDefault(&o.TransactionalIDExpiration, d.TransactionalIDExpiration)
	setDefault(&o.MaxRequestBytes, d.MaxRequestBytes)
	setDefault(&o.MaxConnections, d.MaxConnections)
	setDefault(&o.MaxConnectionsPerIP, o.MaxConnections)
	setDefault(&o.LoginTimeout, d.LoginTimeout)
	setDefault(&o.IdleTimeout, d.IdleTimeout)
	setDefault(&o.RequestTimeout, d.RequestTimeout)
	setDefault(&o.WriteTimeout, d.WriteTimeout)
	setDefault(&o.DrainTimeout, d.DrainTimeout)
	setDefault(&o.RequestBufferBytes, d.RequestBufferBytes)
	setDefault(&o.FetchBufferBytes, d.FetchBufferBytes)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Refusals == nil {
		o.Refusals = refusal.New(refusal.DefaultKinds, o.Now)
	}
	s := &Server{
		o: o, log: o.Logger, metrics: newMetrics(o.Registry), rare: rarelog.New(o.Logger),
		quotas:        quota.New(o.Store, o.Now),
		groupConfig:   groupconfig.New(o.Store),
		smallRequests: budget.New(o.RequestBufferBytes),
		largeRequests: budget.New(o.RequestBufferBytes),
		decoding:      budget.New(o.RequestBufferBytes),
		fetches:       budget.New(o.FetchBufferBytes),
		conns:         map[*conn]struct{}{}, perIP: map[string]int{},
	}
	s.node = &api.Node{NodeID: o.NodeID, Store: o.Store, Auth: o.Auth, Now: o.Now, Log: s.log, Rare: s.rare}
	s.producing = &produce.Handlers{Node: s.node, Ingest: o.Ingest, AllOrNothing: o.ProduceAllOrNothing}
	s.fetching = &fetch.Handlers{Node: s.node, Memory: s.fetches, WriteTimeout: o.WriteTimeout, Sessions: s.metrics.fetchSession}
	s.groups = &groups.Handlers{Node: s.node, Groups: o.Admin.Groups, Shares: o.Admin.Share}
	s.transactions = &transactions.Handlers{Node: s.node, MaxTimeout: o.MaxTransactionTimeout, IDExpiration: o.TransactionalIDExpiration}
	s.cluster = &cluster.Handlers{
		Node: s.node, LogDir: o.Admin.LogDir,
		ConsumerGroups: o.Admin.Groups != nil && o.Admin.Groups.ServesConsumers(), ShareGroups: o.Admin.Share != nil,
	}
	var err error
	if s.table, err = newAPITable(s.apis(), s.metrics); err != nil {
		return nil, err
	}
	for _, l := range o.Listeners {
		bound, err := bind(l)
		if err != nil {
			s.closeListeners()
			return nil, err
		}
		s.listeners = append(s.listeners, bound)
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func bind(l Listener) (*listener, error) {
	n, err := net.Listen("tcp", l.Address)
	if err != nil {
		return nil, fmt.Errorf("kafka: listen on %s: %w", l.Address, err)
	}
	b := &listener{Listener: l, net: n}
	if b.Name == "" {
		b.Name = b.protocol()
	}
	host, port, err := net.SplitHostPort(l.Advertised)
	if l.Advertised == "" {
		host, port, err = net.SplitHostPort(n.Addr().String())
		if h, _, e := net.SplitHostPort(l.Address); e == nil && h != "" && net.ParseIP(h) == nil {
			host = h // a name stays the name
		}
	}
	p, perr := strconv.ParseUint(port, 10, 16)
	if err != nil || perr != nil {
		_ = n.Close()
		return nil, fmt.Errorf("kafka: advertised address %q: want host:port", l.Advertised)
	}
	// Nobody can connect to 0.0.0.0: such a client is told the address it reached.
	if ip := net.ParseIP(host); ip == nil || !ip.IsUnspecified() {
		b.host = host
	}
	b.port = int32(p)
	if b.port == 0 {
		b.port = int32(n.Addr().(*net.TCPAddr).Port)
	}
	return b, nil
}

// protocol is Kafka's name of the listener's security.
func (l *listener) protocol() string {
	switch {
	case l.SASL && l.TLS != nil:
		return "SASL_SSL"
	case l.SASL:
		return "SASL_PLAINTEXT"
	case l.TLS != nil:
		return "SSL"
	}
	return "PLAINTEXT"
}

// Addrs are the addresses listened on, in the order of Options.Listeners.
func (s *Server) Addrs() []net.Addr {
	var a []net.Addr
	for _, l := range s.listeners {
		a = append(a, l.net.Addr())
	}
	return a
}

// Addr is the first of Addrs.
func (s *Server) Addr() net.Addr { return s.listeners[0].net.Addr() }

// Serve accepts connections until ctx ends or Close is called, then drains as Close
// does. It returns nil unless a listener fails.
func (s *Server) Serve(ctx context.Context) error {
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		s.transactions.Expire(s.ctx)
	}()
	errs := make(chan error, len(s.listeners))
	for _, l := range s.listeners {
		s.wg.Add(1)
		go func() {
			defer s.wg.Done()
			errs <- s.accept(l)
		}()
	}
	for range s.listeners {
		select {
		case err := <-errs:
			if err != nil { // the others would be served without this one, and nobody told
				return errors.Join(err, s.Close())
			}
		case <-ctx.Done():
			return s.Close()
		}
	}
	return s.Close()
}

// acceptPause keeps a full descriptor table from turning into a busy loop.
const acceptPause = 50 * time.Millisecond

func (s *Server) accept(l *listener) error {
	for {
		nc, err := l.net.Accept()
		if err != nil {
			if s.stopping.Load() || errors.Is(err, net.ErrClosed) {
				return nil
			}
			var ne net.Error
			if errors.As(err, &ne) {
				s.log.Warn("kafka accept", slog.String("listener", l.Name), slog.Any("error", err))
				select {
				case <-time.After(acceptPause):
					continue
				case <-s.ctx.Done():
					return nil
				}
			}
			return fmt.Errorf("kafka listener %s: %w", l.Name, err)
		}
		s.metrics.accepted.Inc()
		c, reason := s.admit(l, nc)
		if c == nil {
			s.metrics.refused.WithLabelValues(reason).Inc()
			s.refusedAtTheDoor(nc, reason)
			_ = nc.Close()
			continue
		}
		go func() {
			defer s.wg.Done()
			c.serve()
		}()
	}
}

// admit counts the connection, or says why it is one too many.
func (s *Server) admit(l *listener, nc net.Conn) (c *conn, reason string) {
	host, _, err := net.SplitHostPort(nc.RemoteAddr().String())
	if err != nil {
		host = nc.RemoteAddr().String()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopping.Load():
		return nil, "stopping"
	case len(s.conns) >= s.o.MaxConnections:
		return nil, "max connections"
	case s.perIP[host] >= s.o.MaxConnectionsPerIP:
		return nil, "max connections per address"
	}
	c = newConn(s, l, nc, host)
	s.conns[c] = struct{}{}
	s.perIP[host]++
	s.wg.Add(1)
	s.metrics.connections.Inc()
	return c, ""
}

// forget is called once by every connection at its end.
func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if s.perIP[c.client.Host]--; s.perIP[c.client.Host] == 0 {
		delete(s.perIP, c.client.Host)
	}
	s.metrics.connections.Dec()
}

func (s *Server) closeListeners() {
	for _, l := range s.listeners {
		_ = l.net.Close()
	}
}

// Close stops accepting, lets requests under way be answered for DrainTimeout at
// most, closes the connections and waits for everything to end. The store must
// still run: answers to Produce wait for it.
func (s *Server) Close() error {
	first := !s.stopping.Swap(true)
	s.closeListeners()
	s.cancel()
	s.eachConn(func(c *conn) { c.drain() })
	done := make(chan struct{})
	go func() {
		s.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-time.After(s.o.DrainTimeout):
	}
	if first {
		s.log.Warn("kafka connections did not drain", slog.Duration("timeout", s.o.DrainTimeout))
	}
	s.eachConn(func(c *conn) { c.abort() })
	<-done
	return nil
}

func (s *Server) eachConn(fn func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		fn(c)
	}
}

// GroupMembers lists the members of a group, none of one that does not exist.
func (s *Server) GroupMembers(name string) []groups.Member { return s.groups.Members(name) }

// Quotas lists all quotas there are.
func (s *Server) Quotas() []quota.Quota { return s.quotas.All() }

// Refusals lists the refusals that millrace.client_errors shows, the latest first.
func (s *Server) Refusals() []refusal.Kind { return s.o.Refusals.All() }
