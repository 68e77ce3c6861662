// Package config composes the server's options from one struct: its fields are
// at the same time the flags of `millrace serve`, their MILLRACE_* variables,
// the keys of the configuration file and the help text.
// A flag wins over its variable, that over the file, the file over the default.
package config

import (
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"millrace/server"

	"github.com/alecthomas/kong"
)

// EnvPrefix stands before every variable: --seal-age is MILLRACE_SEAL_AGE.
const EnvPrefix = "MILLRACE"

// Serve is everything `millrace serve` can be told.
type Serve struct {
	Config string `help:"YAML file with any of these flags as keys." placeholder:"FILE" group:"Basics"`
	Data   string `help:"Data directory; created when missing." default:"${data}" placeholder:"DIR" group:"Basics"`

	Kafka []Listener    `help:"Kafka listener: [SECURITY://]HOST:PORT[?advertised=HOST:PORT&name=NAME]. SECURITY is plaintext, tls, mtls, sasl or sasl+tls; with sasl clients must log in, with mtls show a certificate, with the others they may once a user exists. Several may be given." default:"${kafka}" placeholder:"LISTENER" group:"Basics"`
	MySQL MySQLListener `name:"mysql" help:"MySQL listener: [SECURITY://]HOST:PORT; empty for none. SECURITY is plaintext (clients may ask for TLS), tls (they must) or mtls (and show a certificate)." default:"${mysql}" placeholder:"LISTENER" group:"Basics"`
	HTTP  string        `name:"http" help:"Listen address of health, metrics and pprof; empty for none." default:"${http}" placeholder:"HOST:PORT" group:"Basics"`

	TLSCert     string `name:"tls-cert" help:"Certificate for TLS on every wire (PEM)." placeholder:"FILE" group:"Security"`
	TLSKey      string `name:"tls-key" help:"Key of --tls-cert (PEM)." placeholder:"FILE" group:"Security"`
	TLSClientCA string `name:"tls-client-ca" help:"Who signs clients' certificates (PEM): one whose common name is a user's logs in as that user, on every wire." placeholder:"FILE" group:"Security"`
	Insecure    bool   `help:"Listen beyond loopback although no user exists: anyone who can connect may read, write and delete everything." group:"Security"`

	InsecurePlain bool          `help:"Take SASL PLAIN without TLS from beyond loopback, too: whoever listens on the line reads the passwords." group:"Security"`
	LoginTimeout  time.Duration `help:"A client that has not logged in (or asked anything, where it need not) by then is disconnected." default:"${logintimeout}" placeholder:"TIME" group:"Security"`

	AutoCreateTopics    bool `help:"Create a topic that a producer or consumer asks for and that does not exist." default:"${autocreate}" negatable:"" group:"Topics"`
	DefaultPartitions   int  `help:"Partitions of a topic that is created without a count." default:"${partitions}" placeholder:"N" group:"Topics"`
	ProduceAllOrNothing bool `help:"One bad batch in a produce request fails all of them, and nothing is stored." group:"Topics"`

	InitialRebalanceDelay time.Duration `help:"The first rebalance of a group waits so long for more members." default:"${rebalancedelay}" placeholder:"TIME" group:"Groups"`
	MinSessionTimeout     time.Duration `help:"Shortest session timeout that a member may ask for." default:"${minsession}" placeholder:"TIME" group:"Groups"`
	MaxSessionTimeout     time.Duration `help:"Longest session timeout that a member may ask for." default:"${maxsession}" placeholder:"TIME" group:"Groups"`
	GroupMaxSize          int           `help:"Members that a group may have." default:"${groupsize}" placeholder:"N" group:"Groups"`
	MaxGroups             int           `help:"Groups that may exist." default:"${maxgroups}" placeholder:"N" group:"Groups"`
	OffsetsRetention      time.Duration `help:"Committed offsets of a group without members are kept so long." default:"${offsetsretention}" placeholder:"TIME" group:"Groups"`
	ProducerIDExpiration  time.Duration `help:"What is known of an idle idempotent producer is kept so long." default:"${pidexpiration}" placeholder:"TIME" group:"Groups"`

	MaxRequest          ByteSize      `help:"Largest Kafka request." default:"${maxrequest}" placeholder:"SIZE" group:"Limits"`
	RequestBufferBytes  ByteSize      `help:"Memory for Kafka requests that are being read or wait for the store; producers wait beyond it." default:"${requestbuffer}" placeholder:"SIZE" group:"Limits"`
	FetchBufferBytes    ByteSize      `help:"Memory for answers to consumers." default:"${fetchbuffer}" placeholder:"SIZE" group:"Limits"`
	MaxConnections      int           `help:"Connections on each wire." default:"${maxconns}" placeholder:"N" group:"Limits"`
	MaxConnectionsPerIP int           `help:"Kafka connections from one address; 0 for as many as in all." default:"${maxconnsperip}" placeholder:"N" group:"Limits"`
	IdleTimeout         time.Duration `help:"A Kafka connection that asks nothing for so long is closed." default:"${idletimeout}" placeholder:"TIME" group:"Limits"`
	StatementTimeout    time.Duration `help:"A SQL statement that runs longer is ended, unless the session sets max_execution_time; 0 for none." default:"${stmttimeout}" placeholder:"TIME" group:"Limits"`
	MaxStatement        ByteSize      `help:"Longest SQL statement." default:"${maxstatement}" placeholder:"SIZE" group:"Limits"`
	MemoryLimit         ByteSize      `help:"Soft limit of the Go heap; 0 for none." default:"${memory}" placeholder:"SIZE" group:"Limits"`
	QueryMemory         ByteSize      `help:"What one SQL statement keeps in memory, to sort, group or join, before it goes on in temporary files." default:"${querymemory}" placeholder:"SIZE" group:"Limits"`
	MaxTopics           int           `help:"Topics that may exist." default:"${maxtopics}" placeholder:"N" group:"Limits"`
	MaxPartitions       int           `help:"Partitions of all topics together." default:"${maxpartitions}" placeholder:"N" group:"Limits"`

	LogFileBytes   ByteSize      `help:"Largest file of the commit log." default:"${logfile}" placeholder:"SIZE" group:"Storage"`
	UnsealedBytes  ByteSize      `help:"Bound of the log that is not sealed into segments yet; produce is throttled beyond it." default:"${unsealed}" placeholder:"SIZE" group:"Storage"`
	SealBytes      ByteSize      `help:"Seal a log range into segments when it is this large." default:"${sealbytes}" placeholder:"SIZE" group:"Storage"`
	SealAge        time.Duration `help:"... or this old." default:"${sealage}" placeholder:"TIME" group:"Storage"`
	TailCacheBytes ByteSize      `help:"Recent records kept in memory." default:"${tailcache}" placeholder:"SIZE" group:"Storage"`
	ColumnCache    ByteSize      `help:"Columns kept in memory for SQL; 0 for 1GiB or a quarter of the machine's memory, whichever is less." default:"${columncache}" placeholder:"SIZE" group:"Storage"`
	ColumnsCold    time.Duration `help:"Files of columns are written anew after so long, compressed where that pays; 0 for never." default:"${columnscold}" placeholder:"TIME" group:"Storage"`
	InFlightBytes  ByteSize      `help:"Records waiting for the disk; producers wait beyond it." default:"${inflight}" placeholder:"SIZE" group:"Storage"`
	RetentionEvery time.Duration `help:"Interval of retention checks." default:"${retentionevery}" placeholder:"TIME" group:"Storage"`

	LogLevel  string `help:"Least severe level that is logged: ${enum}." enum:"debug,info,warn,error" default:"info" placeholder:"LEVEL" group:"Logging"`
	LogFormat string `help:"Form of log lines: ${enum}." enum:"text,json" default:"text" placeholder:"FORMAT" group:"Logging"`
}

// Vars are the defaults in Serve's tags, from the packages that own them.
func Vars() kong.Vars {
	d := server.DefaultOptions()
	size := func(n int64) string { return ByteSize(n).String() }
	return kong.Vars{
		"data":  d.Data,
		"kafka": d.Kafka[0].Address,
		"mysql": d.MySQL,
		"http":  d.HTTP,

		"logintimeout": period(d.LoginTimeout),

		"autocreate": strconv.FormatBool(d.KafkaWire.AutoCreateTopics),
		"partitions": strconv.Itoa(d.KafkaWire.DefaultPartitions),

		"rebalancedelay":   period(d.Groups.InitialRebalanceDelay),
		"minsession":       period(d.Groups.MinSessionTimeout),
		"maxsession":       period(d.Groups.MaxSessionTimeout),
		"groupsize":        strconv.Itoa(d.Groups.MaxSize),
		"maxgroups":        strconv.Itoa(d.Groups.MaxGroups),
		"offsetsretention": period(d.Groups.OffsetsRetention),
		"pidexpiration":    period(d.Groups.ProducerIDExpiration),

		"maxrequest":    size(int64(d.KafkaWire.MaxRequestBytes)),
		"requestbuffer": size(d.KafkaWire.RequestBufferBytes),
		"fetchbuffer":   size(d.KafkaWire.FetchBufferBytes),
		"maxconns":      strconv.Itoa(d.MaxConnections),
		"maxconnsperip": strconv.Itoa(d.KafkaWire.MaxConnectionsPerIP),
		"idletimeout":   period(d.KafkaWire.IdleTimeout),
		"stmttimeout":   period(d.MySQLWire.StatementTimeout),
		"maxstatement":  size(int64(d.MySQLWire.MaxStatementBytes)),
		"memory":        size(d.MemoryLimitBytes),
		"querymemory":   size(int64(d.MySQLWire.QueryBytes)),
		"maxtopics":     strconv.Itoa(d.Store.MaxTopics),
		"maxpartitions": strconv.Itoa(d.Store.MaxPartitions),

		"logfile":        size(d.Store.LogFileBytes),
		"unsealed":       size(d.Store.UnsealedBytes),
		"sealbytes":      size(d.Store.SealBytes),
		"sealage":        period(d.Store.SealAge),
		"tailcache":      size(d.Store.TailCacheBytes),
		"columncache":    size(d.Columns.CacheBytes),
		"columnscold":    period(d.ColumnsCold),
		"inflight":       size(d.Store.InFlightBytes),
		"retentionevery": period(d.Store.RetentionEvery),
	}
}

// period is d without the zeros that its String ends with: 1m, not 1m0s.
func period(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// check refuses what would be taken for something else: the packages read zero as their
// default.
func (s *Serve) check() error {
	for _, f := range []struct {
		flag  string
		value int64
	}{
		{"login-timeout", int64(s.LoginTimeout)},
		{"default-partitions", int64(s.DefaultPartitions)},
		{"initial-rebalance-delay", int64(s.InitialRebalanceDelay)},
		{"min-session-timeout", int64(s.MinSessionTimeout)},
		{"max-session-timeout", int64(s.MaxSessionTimeout)},
		{"group-max-size", int64(s.GroupMaxSize)},
		{"max-groups", int64(s.MaxGroups)},
		{"offsets-retention", int64(s.OffsetsRetention)},
		{"producer-id-expiration", int64(s.ProducerIDExpiration)},
		{"request-buffer-bytes", int64(s.RequestBufferBytes)},
		{"fetch-buffer-bytes", int64(s.FetchBufferBytes)},
		{"max-connections", int64(s.MaxConnections)},
		{"idle-timeout", int64(s.IdleTimeout)},
		{"max-statement", int64(s.MaxStatement)},
		{"max-topics", int64(s.MaxTopics)},
		{"max-partitions", int64(s.MaxPartitions)},
		{"log-file-bytes", int64(s.LogFileBytes)},
		{"unsealed-bytes", int64(s.UnsealedBytes)},
		{"seal-bytes", int64(s.SealBytes)},
		{"seal-age", int64(s.SealAge)},
		{"tail-cache-bytes", int64(s.TailCacheBytes)},
		{"in-flight-bytes", int64(s.InFlightBytes)},
		{"retention-every", int64(s.RetentionEvery)},
	} {
		if f.value < 1 {
			return fmt.Errorf("--%s: must be more than 0", f.flag)
		}
	}
	if s.MaxConnectionsPerIP < 0 {
		return fmt.Errorf("--max-connections-per-ip=%d: must not be negative", s.MaxConnectionsPerIP)
	}
	if s.StatementTimeout < 0 {
		return fmt.Errorf("--statement-timeout=%s: must not be negative", s.StatementTimeout)
	}
	if s.MaxSessionTimeout < s.MinSessionTimeout {
		return fmt.Errorf("--max-session-timeout=%s is below --min-session-timeout=%s", s.MaxSessionTimeout, s.MinSessionTimeout)
	}
	if (s.TLSCert == "") != (s.TLSKey == "") {
		return fmt.Errorf("--tls-cert and --tls-key belong together")
	}
	if s.MaxRequest < 1<<10 || s.MaxRequest > 1<<30 {
		return fmt.Errorf("--max-request=%s: must be 1KiB to 1GiB", s.MaxRequest)
	}
	if s.MaxStatement > 1<<30 {
		return fmt.Errorf("--max-statement=%s: must be at most 1GiB", s.MaxStatement)
	}
	if len(s.Kafka) == 0 {
		return fmt.Errorf("--kafka: at least one listener is needed")
	}
	if s.TLSClientCA != "" && s.TLSCert == "" {
		return fmt.Errorf("--tls-client-ca needs --tls-cert and --tls-key")
	}
	if s.MySQL.Security == server.SecurityCertificate && s.TLSClientCA == "" {
		return fmt.Errorf("--mysql=%s: clients' certificates need --tls-client-ca", s.MySQL)
	}
	for _, l := range s.Kafka {
		if l.Certificate && s.TLSClientCA == "" {
			return fmt.Errorf("listener %s: clients' certificates need --tls-client-ca", l)
		}
		if l.TLS && s.TLSCert == "" {
			return fmt.Errorf("listener %s: TLS needs --tls-cert and --tls-key", l)
		}
	}
	return nil
}

// Options are what the server is started with; log lines go to w.
func (s *Serve) Options(version string, w io.Writer) (server.Options, error) {
	o := server.DefaultOptions()
	if err := s.check(); err != nil {
		return o, err
	}
	o.Data, o.HTTP = s.Data, s.HTTP
	o.MySQL, o.MySQLSecurity = s.MySQL.Address, s.MySQL.Security
	o.Kafka = nil
	for _, l := range s.Kafka {
		o.Kafka = append(o.Kafka, server.Listener(l))
	}
	o.TLSCert, o.TLSKey, o.TLSClientCA = s.TLSCert, s.TLSKey, s.TLSClientCA
	o.Insecure, o.InsecurePlain = s.Insecure, s.InsecurePlain
	o.LoginTimeout = s.LoginTimeout
	o.MaxConnections = s.MaxConnections
	o.MemoryLimitBytes = int64(s.MemoryLimit)
	o.MySQLWire.QueryBytes = uint64(s.QueryMemory)

	o.KafkaWire.AutoCreateTopics = s.AutoCreateTopics
	o.KafkaWire.DefaultPartitions = s.DefaultPartitions
	o.KafkaWire.ProduceAllOrNothing = s.ProduceAllOrNothing
	o.KafkaWire.MaxRequestBytes = int(s.MaxRequest)
	o.KafkaWire.RequestBufferBytes = int64(s.RequestBufferBytes)
	o.KafkaWire.FetchBufferBytes = int64(s.FetchBufferBytes)
	o.KafkaWire.MaxConnectionsPerIP = s.MaxConnectionsPerIP
	o.KafkaWire.IdleTimeout = s.IdleTimeout

	o.MySQLWire.MaxStatementBytes = int(s.MaxStatement)
	o.MySQLWire.StatementTimeout = s.StatementTimeout
	if s.StatementTimeout == 0 {
		o.MySQLWire.StatementTimeout = -1 // none
	}

	o.Groups.InitialRebalanceDelay = s.InitialRebalanceDelay
	o.Groups.MinSessionTimeout = s.MinSessionTimeout
	o.Groups.MaxSessionTimeout = s.MaxSessionTimeout
	o.Groups.MaxSize = s.GroupMaxSize
	o.Groups.MaxGroups = s.MaxGroups
	o.Groups.OffsetsRetention = s.OffsetsRetention
	o.Groups.ProducerIDExpiration = s.ProducerIDExpiration

	o.Store.MaxTopics = s.MaxTopics
	o.Store.MaxPartitions = s.MaxPartitions
	o.Store.LogFileBytes = int64(s.LogFileBytes)
	o.Store.UnsealedBytes = int64(s.UnsealedBytes)
	o.Store.SealBytes = int64(s.SealBytes)
	o.Store.SealAge = s.SealAge
	o.Store.TailCacheBytes = int64(s.TailCacheBytes)
	o.Columns.CacheBytes = int64(s.ColumnCache)
	o.ColumnsCold = s.ColumnsCold
	o.Store.InFlightBytes = int64(s.InFlightBytes)
	o.Store.RetentionEvery = s.RetentionEvery

	o.Version = version
	o.Logger = s.logger(w)
	return o, nil
}

func (s *Serve) logger(w io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.LogLevel)); err != nil {
		level = slog.LevelInfo // the enum tag lets nothing else through
	}
	o := &slog.HandlerOptions{Level: level}
	if s.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
