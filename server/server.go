package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"

	"millrace/catalog"
	"millrace/catalog/sqltable"
	"millrace/ingest"
	"millrace/ingest/sealer"
	"millrace/internal/pace"
	"millrace/internal/vfs"
	"millrace/scan/columns"
	"millrace/server/auth"
	"millrace/server/console"
	"millrace/server/kafka"
	"millrace/server/kafka/group"
	"millrace/server/kafka/groupconfig"
	"millrace/server/kafka/share"
	"millrace/server/mysql"
	"millrace/server/mysql/workmem"
	"millrace/store"
	"millrace/store/state"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Server is a running Millrace: one store and the front ends over it.
type Server struct {
	Store *store.Store

	log     *slog.Logger
	kafka   *kafka.Server
	mysql   *mysql.Server
	console *console.Console
	stop    []func() error // in start order
	serving sync.WaitGroup
	failed  chan error // the first front end that stopped by itself
	floor   []byte     // heapFloor bytes
}

// Run serves until ctx ends or a front end fails, then stops in order: clients
// are drained, the store checkpoints.
func Run(ctx context.Context, o Options) error {
	// Statements use what the machine has. Background threads come on top: see pace.Threads.
	o.MySQLWire.Threads = cmp.Or(o.MySQLWire.Threads, runtime.GOMAXPROCS(0))
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + pace.Threads)
	s, err := Start(ctx, o)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		s.log.Info("stopping", "why", context.Cause(ctx))
	case err = <-s.failed:
	}
	if err = errors.Join(err, s.Close()); err == nil {
		s.log.Info("stopped")
	}
	return err
}

// columnsDir is where files of columns lie in the data directory. All of it may be deleted while the server is down.
const columnsDir = "columns"

// spillDir is for the rows that statements cannot keep in memory; it is empty but while they run.
const spillDir = "spill"

// gcPercent is half of Go's default: nearly all of a busy server's heap is record batches
// and column vectors, in which the collector has nothing to look at. Collecting them twice as
// often cannot be measured; the garbage of the default is a third more resident memory.
const gcPercent = 50

// heapFloor is pointer-free memory that nobody touches, so that it takes address space alone, but that the collector counts
// as kept: a heap of 5 MB would be collected after each 3 MB of garbage, several times in the first question after a start.
const heapFloor = 32 << 20

// Start starts everything; on an error what had started is stopped again.
func Start(ctx context.Context, o Options) (_ *Server, err error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.MemoryLimitBytes > 0 {
		debug.SetMemoryLimit(o.MemoryLimitBytes)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	s := &Server{log: o.Logger, failed: make(chan error, 2), floor: make([]byte, heapFloor)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	certs, err := newCertificates(o)
	if err != nil {
		return s, err
	}

	so := o.Store
	so.Dir, so.Logger, so.Registry = o.Data, o.Logger, registry
	if s.Store, err = store.Open(ctx, so); err != nil {
		return s, fmt.Errorf("open the store in %s: %w", o.Data, err)
	}
	s.stop = append(s.stop, s.Store.Close)
	users := auth.New(s.Store)
	if err := o.checkAddresses(users.Open()); err != nil {
		return s, err
	}
	tables := catalog.New(s.Store, catalog.Options{Logger: o.Logger, Registry: registry})
	s.stop = append(s.stop, tables.Close)

	co := o.Columns
	co.Logger, co.Registry = o.Logger, registry
	co.Dir, co.FS = filepath.Join(o.Data, columnsDir), so.FS
	cols := columns.New(co)
	s.stop = append(s.stop, cols.Close)
	seals := sealer.New(sealer.Options{Store: s.Store, Catalog: tables, Columns: cols, Cold: o.ColumnsCold, Logger: o.Logger, Registry: registry})
	s.stop = append(s.stop, seals.Close)

	in := ingest.New(s.Store, ingest.Options{Registry: registry, Check: ingest.CheckColumns(tables)})
	configs := groupconfig.New(s.Store)
	gro := o.Groups
	gro.Logger, gro.Registry, gro.GroupConfig = o.Logger, registry, configs.Of
	groups, err := group.New(s.Store, gro)
	if err != nil {
		return s, err
	}
	s.stop = append(s.stop, func() error { groups.Close(); return nil })
	shares := share.New(s.Store, share.Options{Groups: groups, GroupConfig: configs.Of, Logger: o.Logger, Registry: registry})
	s.stop = append(s.stop, func() error { shares.Close(); return nil })
	if s.kafka, err = s.newKafka(o, in, groups, shares, users, registry, certs); err != nil {
		return s, err
	}
	s.stop = append(s.stop, s.kafka.Close)
	if o.MySQL != "" {
		mo := o.MySQLWire
		mo.Address, mo.Logger, mo.Registry = o.MySQL, o.Logger, registry
		mo.TLSConfig, mo.RequireTLS = certs.config(o.MySQLSecurity == SecurityCertificate), o.MySQLSecurity != SecurityOptional
		mo.MaxConnections, mo.LoginTimeout = o.MaxConnections, o.LoginTimeout
		mo.Store, mo.Catalog, mo.Auth, mo.Ingest = s.Store, tables, users, in
		mo.DefaultPartitions = o.KafkaWire.DefaultPartitions
		mo.CommitOffsets = func(ctx context.Context, name string, offsets []state.OffsetCommit) error {
			return commitOffsets(ctx, groups, name, offsets)
		}
		mo.SealColumns = seals.Seal
		fsys := so.FS
		if fsys == nil {
			fsys = vfs.OS{}
		}
		if mo.Spill, err = workmem.NewSpill(fsys, filepath.Join(o.Data, spillDir), registry); err != nil {
			return s, err
		}
		system := s.systemTables(groups, shares, users, seals)
		system.Columns = cols
		mo.Provider = sqltable.NewProvider(tables, s.Store, system)
		if s.mysql, err = mysql.New(mo); err != nil {
			return s, err
		}
		s.stop = append(s.stop, s.mysql.Close)
	}
	if o.HTTP != "" {
		s.console, err = console.Serve(console.Options{Address: o.HTTP, Store: s.Store, Auth: users, Gatherer: registry, Logger: o.Logger})
		if err != nil {
			return s, fmt.Errorf("http: %w", err)
		}
		s.stop = append(s.stop, s.console.Close)
	}

	s.serve(func() error { return s.kafka.Serve(context.Background()) }) // until Close
	if s.mysql != nil {
		s.serve(s.mysql.Serve)
	}
	s.log.Info("millrace is ready", "version", o.Version, "data", o.Data,
		"kafka", s.KafkaAddr(), "mysql", s.MySQLAddr(), "http", s.HTTPAddr(), "users", !users.Open())
	return s, nil
}

func (s *Server) newKafka(o Options, in *ingest.Ingest, groups *group.Coordinator, shares *share.Coordinator, users *auth.Service, registry prometheus.Registerer, certs *certificates) (*kafka.Server, error) {
	ko := o.KafkaWire
	ko.Store, ko.Ingest, ko.Auth, ko.Logger, ko.Registry = s.Store, in, users, o.Logger, registry
	ko.MaxConnections, ko.LoginTimeout = o.MaxConnections, o.LoginTimeout
	ko.Admin = kafka.AdminOptions{
		Groups: groups,
		Share:  shares,
		CheckColumns: func(ddl string) error {
			_, err := catalog.ParseColumns(ddl)
			return err
		},
		LogDir: o.Data,
	}
	if every := o.Store.RetentionEvery; every != store.DefaultOptions().RetentionEvery {
		ko.Admin.BrokerConfigs = map[string]string{"log.retention.check.interval.ms": strconv.FormatInt(every.Milliseconds(), 10)}
	}
	for _, l := range o.Kafka {
		kl := kafka.Listener{Name: l.Name, Address: l.Address, Advertised: l.Advertised, SASL: l.SASL, Certificate: l.Certificate, InsecurePlain: o.InsecurePlain}
		if l.TLS {
			if kl.TLS = certs.config(l.Certificate); kl.TLS == nil {
				return nil, fmt.Errorf("kafka listener %s: TLS needs a certificate and key", l.Address)
			}
		}
		ko.Listeners = append(ko.Listeners, kl)
	}
	return kafka.New(ko)
}

// commitOffsets commits as who is no member of the group, which it must not have any of then.
func commitOffsets(ctx context.Context, groups *group.Coordinator, name string, offsets []state.OffsetCommit) error {
	done := make(chan error, 1)
	groups.Commit(group.CommitRequest{Group: name, Generation: -1, Offsets: offsets}, func(errs []error, err error) {
		if errors.Is(err, group.ErrUnknownMember) {
			err = group.ErrNonEmptyGroup // that is why nobody else may
		}
		done <- errors.Join(append(errs, err)...)
	})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// groupStatus is what millrace.groups shows of a live group.
func groupStatus(groups *group.Coordinator, shares *share.Coordinator, name string) (sqltable.GroupStatus, bool) {
	d, ok := groups.Describe(name)
	if !ok {
		if c, err := groups.DescribeConsumer(name); err == nil {
			return sqltable.GroupStatus{State: c.State.String(), ProtocolType: "consumer", Protocol: c.Assignor, Generation: c.Epoch, Members: len(c.Members)}, true
		}
		if g, ok := shares.Describe(name); ok {
			return sqltable.GroupStatus{State: g.State, ProtocolType: "share", Generation: g.Epoch, Members: len(g.Members)}, true
		}
		return sqltable.GroupStatus{}, false
	}
	return sqltable.GroupStatus{State: d.State.String(), ProtocolType: d.ProtocolType, Protocol: d.Protocol, Generation: d.Generation, Members: len(d.Members)}, true
}

// connections are those of both wires, for millrace.connections.
func (s *Server) connections() []sqltable.Connection {
	var list []sqltable.Connection
	for _, c := range s.kafka.Connections() {
		list = append(list, sqltable.Connection{
			ID: c.ID, Protocol: "kafka", User: c.User, Client: c.Client, Software: c.Software, Since: c.Since.UnixMilli(),
		})
	}
	return append(list, s.mysql.Connections()...) // who asks is connected to it
}

// clientErrors are the rows of millrace.client_errors.
func (s *Server) clientErrors() []sqltable.ClientError {
	var list []sqltable.ClientError
	for _, e := range s.kafka.Refusals() {
		list = append(list, sqltable.ClientError{
			First: e.First.UnixMilli(), Last: e.Last.UnixMilli(), Count: e.Count,
			ClientID: e.ClientID, Software: e.Software, Address: e.Address, Principal: e.Principal,
			API: e.API, Version: e.Version, Topic: e.Topic, Group: e.Group, TransactionalID: e.TransactionalID,
			Code: e.Code, Error: e.Name, Message: e.Message, Hint: e.Hint,
		})
	}
	return list
}

// serve runs a front end's accept loop until Close.
func (s *Server) serve(accept func() error) {
	s.serving.Go(func() {
		if err := accept(); err != nil {
			select {
			case s.failed <- err:
			default:
			}
		}
	})
}

// Close stops everything in reverse order of its start.
func (s *Server) Close() error {
	var errs []error
	for i := len(s.stop) - 1; i >= 0; i-- {
		errs = append(errs, s.stop[i]())
	}
	s.stop = nil
	s.serving.Wait()
	return errors.Join(errs...)
}

// KafkaAddr, MySQLAddr and HTTPAddr are the (first) addresses listened on; ""
// where there is none.
func (s *Server) KafkaAddr() string { return s.kafka.Addr().String() }

// KafkaAddrs are all addresses that Kafka clients connect to, in the order of Options.Kafka.
func (s *Server) KafkaAddrs() []string {
	var list []string
	for _, a := range s.kafka.Addrs() {
		list = append(list, a.String())
	}
	return list
}

// MySQLAddr: see KafkaAddr.
func (s *Server) MySQLAddr() string {
	return addr(s.mysql != nil, func() net.Addr { return s.mysql.Addr() })
}

// HTTPAddr: see KafkaAddr.
func (s *Server) HTTPAddr() string {
	return addr(s.console != nil, func() net.Addr { return s.console.Addr() })
}

func addr(there bool, get func() net.Addr) string {
	if !there {
		return ""
	}
	return get().String()
}

// statements executed over the MySQL wire.
func (s *Server) statements() []sqltable.Statement {
	if s.mysql == nil {
		return nil
	}
	return s.mysql.Statements()
}
