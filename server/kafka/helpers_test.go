package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	"millrace/ingest"
	"millrace/internal/recordbatch"
	"millrace/internal/vfs"
	"millrace/server/auth"
	"millrace/server/kafka/group"
	"millrace/server/kafka/groupconfig"
	"millrace/server/kafka/share"
	"millrace/store"
	"millrace/store/state"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// env is a server over a store on an in-memory file system.
type env struct {
	t      testing.TB
	fs     vfs.FS
	st     *store.Store
	auth   *auth.Service
	groups *group.Coordinator
	srv    *Server
	addr   string
	ended  chan error
}

func start(t testing.TB, change ...func(*Options)) *env {
	t.Helper()
	e := &env{t: t, fs: vfs.NewMem()}
	e.open(change...)
	t.Cleanup(e.close)
	return e
}

func (e *env) open(change ...func(*Options)) {
	e.t.Helper()
	log := slog.New(slog.NewTextHandler(e.t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	st, err := store.Open(context.Background(), store.Options{Dir: "/data", FS: e.fs, Logger: log, LogFileBytes: 8 << 20})
	if err != nil {
		e.t.Fatal(err)
	}
	e.st = st
	e.auth = auth.New(st)
	configs := groupconfig.New(st)
	if e.groups, err = group.New(st, group.Options{Logger: log, GroupConfig: configs.Of}); err != nil {
		e.t.Fatal(err)
	}
	shares := share.New(st, share.Options{Logger: log, Groups: e.groups, GroupConfig: configs.Of})
	o := Options{
		Store: st, Ingest: ingest.New(st, ingest.Options{}), Auth: e.auth, Logger: log,
		Listeners:        []Listener{{Address: "127.0.0.1:0"}},
		AutoCreateTopics: true,
		Admin:            AdminOptions{Groups: e.groups, Share: shares, LogDir: "/data"},
	}
	for _, c := range change {
		c(&o)
	}
	if e.srv, err = New(o); err != nil {
		e.t.Fatal(err)
	}
	e.addr = e.srv.Addrs()[0].String()
	e.ended = make(chan error, 1)
	go func() { e.ended <- e.srv.Serve(context.Background()) }()
}

func (e *env) close() {
	if e.srv == nil {
		return
	}
	if e.srv.o.Admin.Groups != nil {
		e.srv.o.Admin.Groups.Close()
	}
	if err := e.srv.Close(); err != nil {
		e.t.Error(err)
	}
	if e.srv.o.Admin.Share != nil {
		e.srv.o.Admin.Share.Close()
	}
	if err := <-e.ended; err != nil {
		e.t.Error(err)
	}
	if err := e.st.Close(); err != nil {
		e.t.Error(err)
	}
	e.srv = nil
}

// topic makes a topic and returns its id.
func (e *env) topic(name string, partitions int32, configs ...string) state.TopicID {
	e.t.Helper()
	c := map[string]string{}
	for i := 0; i < len(configs); i += 2 {
		c[configs[i]] = configs[i+1]
	}
	id := uuid.New()
	res, err := e.st.Commit(context.Background(), state.CreateTopic{ID: id, Name: name, Partitions: partitions, Configs: c})
	if err != nil || res.(state.TopicResult).Err != nil {
		e.t.Fatal(err, res)
	}
	return id
}

// create is topic with all that the store has of it.
func (e *env) create(name string, partitions int32, configs ...string) state.Topic {
	e.t.Helper()
	e.topic(name, partitions, configs...)
	created, ok := e.st.Topics().ByName(name)
	if !ok {
		e.t.Fatalf("%s was created and is not there", name)
	}
	return created
}

// produce writes n records, record i to partition i mod partitions.
func (e *env) produce(topic string, partitions int32, n int) {
	e.t.Helper()
	cl := e.client(kgo.RecordPartitioner(kgo.ManualPartitioner()))
	defer cl.Close()
	var records []*kgo.Record
	for i := range n {
		records = append(records, &kgo.Record{Topic: topic, Partition: int32(i) % partitions, Value: []byte{byte(i >> 8), byte(i)}})
	}
	if err := cl.ProduceSync(context.Background(), records...).FirstErr(); err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) end(id state.TopicID, partition int32) int64 {
	e.t.Helper()
	b, err := e.st.Bounds(state.TopicPartition{Topic: id, Partition: partition})
	if err != nil {
		e.t.Fatal(err)
	}
	return b.End
}

func (e *env) client(opts ...kgo.Opt) *kgo.Client {
	e.t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(e.addr), kgo.ClientID("test")}, opts...)...)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(cl.Close)
	return cl
}

// wireTimeout ends a test that would hang; no test waits for it to pass.
const wireTimeout = 20 * time.Second

// raw is a connection that speaks in single frames.
type raw struct {
	t    testing.TB
	c    net.Conn
	next int32
}

func (e *env) raw() *raw {
	e.t.Helper()
	c, err := net.Dial("tcp", e.addr)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(wireTimeout))
	return &raw{t: e.t, c: c}
}

func (r *raw) write(b []byte) {
	r.t.Helper()
	if _, err := r.c.Write(b); err != nil {
		r.t.Fatal(err)
	}
}

// send writes a request and returns its correlation id.
func (r *raw) send(req kmsg.Request) int32 {
	r.t.Helper()
	r.next++
	r.write(kmsg.NewRequestFormatter(kmsg.FormatterClientID("raw")).AppendRequest(nil, req, r.next))
	return r.next
}

// frame reads one response frame: its correlation id and what follows.
func (r *raw) frame() (int32, []byte) {
	r.t.Helper()
	var size [4]byte
	if _, err := io.ReadFull(r.c, size[:]); err != nil {
		r.t.Fatal(err)
	}
	b := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(r.c, b); err != nil {
		r.t.Fatal(err)
	}
	return int32(binary.BigEndian.Uint32(b)), b[4:]
}

// recv reads the answer to req and checks that it decodes with nothing left over.
func (r *raw) recv(req kmsg.Request, correlation int32) kmsg.Response {
	r.t.Helper()
	got, body := r.frame()
	if got != correlation {
		r.t.Fatalf("answer %d came, %d was next", got, correlation)
	}
	resp := req.ResponseKind()
	if resp.IsFlexible() && req.Key() != keyAPIVersions {
		if body[0] != 0 {
			r.t.Fatalf("tags in the header of %s", kmsg.NameForKey(req.Key()))
		}
		body = body[1:]
	}
	if err := resp.ReadFrom(body); err != nil {
		r.t.Fatalf("%s version %d: %v", kmsg.NameForKey(req.Key()), req.GetVersion(), err)
	}
	if again := resp.AppendTo(nil); !bytes.Equal(again, body) {
		r.t.Fatalf("%s version %d: %d bytes came, %d are what they say", kmsg.NameForKey(req.Key()), req.GetVersion(), len(body), len(again))
	}
	return resp
}

// versioned sets the version of a request.
func versioned[R kmsg.Request](req R, version int16) R {
	req.SetVersion(version)
	return req
}

func (r *raw) ask(req kmsg.Request) kmsg.Response {
	r.t.Helper()
	return r.recv(req, r.send(req))
}

// closed checks that the server ends the connection without another byte.
func (r *raw) closed() {
	r.t.Helper()
	var b [1]byte
	if n, err := r.c.Read(b[:]); n != 0 || err == nil {
		r.t.Fatalf("%d bytes, %v: want the connection closed", n, err)
	} else if errors.Is(err, os.ErrDeadlineExceeded) {
		r.t.Fatal("the connection was left open")
	}
}

// batch builds a record batch of values with timestamps from ts on.
func batch(ts int64, values ...string) []byte {
	var b recordbatch.Builder
	for i, v := range values {
		b.Append(ts+int64(i), nil, []byte(v), nil)
	}
	return b.Build()
}

func produceRequest(version int16, topic string, id state.TopicID, partition int32, batch []byte) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Version = version
	req.Acks = -1
	req.TimeoutMillis = 1000
	t := kmsg.NewProduceRequestTopic()
	t.Topic, t.TopicID = topic, id
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = partition, batch
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func onlyPart(t testing.TB, resp kmsg.Response) kmsg.ProduceResponseTopicPartition {
	t.Helper()
	r := resp.(*kmsg.ProduceResponse)
	if len(r.Topics) != 1 || len(r.Topics[0].Partitions) != 1 {
		t.Fatalf("%+v", r)
	}
	return r.Topics[0].Partitions[0]
}

func fetchRequest1(version int16, topic string, id state.TopicID, partition int32, offset int64) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.Version = version
	req.MinBytes = 1
	req.MaxBytes = 50 << 20
	req.SessionEpoch = -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = topic, id
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.PartitionMaxBytes = partition, offset, 1<<20
	p.CurrentLeaderEpoch = -1
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func onlyFetched(t testing.TB, resp kmsg.Response) kmsg.FetchResponseTopicPartition {
	t.Helper()
	r := resp.(*kmsg.FetchResponse)
	if r.ErrorCode != 0 || len(r.Topics) != 1 || len(r.Topics[0].Partitions) != 1 {
		t.Fatalf("%+v", r)
	}
	return r.Topics[0].Partitions[0]
}

// values decodes the values in record batches.
func values(t testing.TB, batches []byte) []string {
	t.Helper()
	var out []string
	var rd recordbatch.Reader
	for len(batches) > 0 {
		b, rest, err := recordbatch.Parse(batches)
		if err != nil {
			t.Fatal(err)
		}
		if !b.CheckCRC() {
			t.Fatal("CRC")
		}
		if err := rd.Reset(&b); err != nil {
			t.Fatal(err)
		}
		var rec recordbatch.Record
		for rd.Next(&rec) {
			out = append(out, string(rec.Value))
		}
		if rd.Err() != nil {
			t.Fatal(rd.Err())
		}
		batches = rest
	}
	return out
}
