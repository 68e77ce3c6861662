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

	Kafka []Listener `help:"Kafka listener: [SECURITY://]HOST:PORT[?advertised=HOST:PORT&name=NAME]. SECURITY is plaintext, tls, sasl or sasl+tls. Several may be given." default:"${kafka}" placeholder:"LISTENER" group:"Basics"`
	MySQL string     `name:"mysql" help:"MySQL listen address; empty for none." default:"${mysql}" placeholder:"HOST:PORT" group:"Basics"`
	HTTP  string     `name:"http" help:"Listen address of health, metrics and pprof; empty for none." default:"${http}" placeholder:"HOST:PORT" group:"Basics"`

	TLSCert  string `name:"tls-cert" help:"Certificate for TLS on every wire (PEM)." placeholder:"FILE" group:"Security"`
	TLSKey   string `name:"tls-key" help:"Key of --tls-cert (PEM)." placeholder:"FILE" group:"Security"`
	Insecure bool   `help:"Listen beyond loopback although no user exists: anyone who can connect may read, write and delete everything." group:"Security"`

	AutoCreateTopics    bool `help:"Create a topic that a producer or consumer asks for and that does not exist." default:"${autocreate}" negatable:"" group:"Topics"`
	DefaultPartitions   int  `help:"Partitions of a topic that is created without a count." default:"${partitions}" placeholder:"N" group:"Topics"`
	ProduceAllOrNothing bool `help:"One bad batch in a produce request fails all of them, and nothing is stored." group:"Topics"`

	MaxRequest       ByteSize      `help:"Largest Kafka request." default:"${maxrequest}" placeholder:"SIZE" group:"Limits"`
	MaxConnections   int           `help:"Connections on each wire." default:"${maxconns}" placeholder:"N" group:"Limits"`
	StatementTimeout time.Duration `help:"A SQL statement that runs longer is ended, unless the session sets max_execution_time." default:"${stmttimeout}" placeholder:"TIME" group:"Limits"`
	MemoryLimit      ByteSize      `help:"Soft limit of the Go heap; 0 for none." default:"${memory}" placeholder:"SIZE" group:"Limits"`
	MaxTopics        int           `help:"Topics that may exist (10,000 when not given)." placeholder:"N" group:"Limits"`
	MaxPartitions    int           `help:"Partitions of all topics together (100,000 when not given)." placeholder:"N" group:"Limits"`

	LogFileBytes   ByteSize      `help:"Largest file of the commit log (128MiB when not given)." placeholder:"SIZE" group:"Storage"`
	UnsealedBytes  ByteSize      `help:"Bound of the log that is not sealed into segments yet; produce is throttled beyond it (4GiB when not given)." placeholder:"SIZE" group:"Storage"`
	SealBytes      ByteSize      `help:"Seal a log range into segments when it is this large (256MiB when not given)." placeholder:"SIZE" group:"Storage"`
	SealAge        time.Duration `help:"... or this old (10m when not given)." placeholder:"TIME" group:"Storage"`
	TailCacheBytes ByteSize      `help:"Recent records kept in memory (64MiB when not given)." placeholder:"SIZE" group:"Storage"`
	InFlightBytes  ByteSize      `help:"Records waiting for the disk; producers wait beyond it (64MiB when not given)." placeholder:"SIZE" group:"Storage"`
	RetentionEvery time.Duration `help:"Interval of retention checks (5m when not given)." placeholder:"TIME" group:"Storage"`

	LogLevel  string `help:"Least severe level that is logged: ${enum}." enum:"debug,info,warn,error" default:"info" placeholder:"LEVEL" group:"Logging"`
	LogFormat string `help:"Form of log lines: ${enum}." enum:"text,json" default:"text" placeholder:"FORMAT" group:"Logging"`
}

// Vars are the defaults in Serve's tags, from the packages that own them.
func Vars() kong.Vars {
	d := server.DefaultOptions()
	return kong.Vars{
		"data":        d.Data,
		"kafka":       d.Kafka[0].Address,
		"mysql":       d.MySQL,
		"http":        d.HTTP,
		"autocreate":  strconv.FormatBool(d.AutoCreateTopics),
		"partitions":  strconv.Itoa(d.DefaultPartitions),
		"maxrequest":  ByteSize(d.MaxRequestBytes).String(),
		"maxconns":    strconv.Itoa(d.MaxConnections),
		"stmttimeout": d.StatementTimeout.String(),
		"memory":      ByteSize(d.MemoryLimitBytes).String(),
	}
}

// Options are what the server is started with; log lines go to w.
func (s *Serve) Options(version string, w io.Writer) (server.Options, error) {
	o := server.DefaultOptions()
	for what, n := range map[string]int{"default-partitions": s.DefaultPartitions, "max-connections": s.MaxConnections} {
		if n < 1 {
			return o, fmt.Errorf("--%s=%d: must be at least 1", what, n)
		}
	}
	if (s.TLSCert == "") != (s.TLSKey == "") {
		return o, fmt.Errorf("--tls-cert and --tls-key belong together")
	}
	if s.MaxRequest < 1<<10 || s.MaxRequest > 1<<30 {
		return o, fmt.Errorf("--max-request=%s: must be 1KiB to 1GiB", s.MaxRequest)
	}
	o.Data, o.MySQL, o.HTTP = s.Data, s.MySQL, s.HTTP
	o.Kafka = nil
	for _, l := range s.Kafka {
		if l.TLS && s.TLSCert == "" {
			return o, fmt.Errorf("listener %s: TLS needs --tls-cert and --tls-key", l)
		}
		o.Kafka = append(o.Kafka, server.Listener(l))
	}
	if len(o.Kafka) == 0 {
		return o, fmt.Errorf("--kafka: at least one listener is needed")
	}
	o.TLSCert, o.TLSKey, o.Insecure = s.TLSCert, s.TLSKey, s.Insecure
	o.AutoCreateTopics = s.AutoCreateTopics
	o.DefaultPartitions = s.DefaultPartitions
	o.ProduceAllOrNothing = s.ProduceAllOrNothing
	o.MaxRequestBytes = int(s.MaxRequest)
	o.MaxConnections = s.MaxConnections
	o.StatementTimeout = s.StatementTimeout
	o.MemoryLimitBytes = int64(s.MemoryLimit)

	o.Store.MaxTopics = s.MaxTopics
	o.Store.MaxPartitions = s.MaxPartitions
	o.Store.LogFileBytes = int64(s.LogFileBytes)
	o.Store.UnsealedBytes = int64(s.UnsealedBytes)
	o.Store.SealBytes = int64(s.SealBytes)
	o.Store.SealAge = s.SealAge
	o.Store.TailCacheBytes = int64(s.TailCacheBytes)
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
