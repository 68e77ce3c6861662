package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"slices"
	"testing"
	"time"

	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"millrace/ingest"
	"millrace/internal/vfs"
	"millrace/server/auth"
	"millrace/server/kafka/group"
	"millrace/server/kafka/groupconfig"
	"millrace/server/kafka/share"
	"millrace/store"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// adminServer is a whole Kafka front end over a store in memory.
type adminServer struct {
	t      *testing.T
	fs     *vfs.Mem
	st     *store.Store
	auth   *auth.Service
	groups *group.Coordinator
	srv    *Server
	addr   string
	stop   func()
}

func startAdminServer(t *testing.T, change ...func(*Options)) *adminServer {
	t.Helper()
	return startAdminServerOn(t, vfs.NewMem(), change...)
}

func startAdminServerOn(t *testing.T, fs *vfs.Mem, change ...func(*Options)) *adminServer {
	t.Helper()
	st, err := store.Open(context.Background(), store.Options{Dir: "data", FS: fs, LogFileBytes: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	a := &adminServer{t: t, fs: fs, st: st, auth: auth.New(st)}
	configs := groupconfig.New(st)
	if a.groups, err = group.New(st, group.Options{GroupConfig: configs.Of}); err != nil {
		t.Fatal(err)
	}
	shares := share.New(st, share.Options{Groups: a.groups, GroupConfig: configs.Of})
	o := Options{
		Store: st, Ingest: ingest.New(st, ingest.Options{}), Auth: a.auth,
		Listeners:         []Listener{{Address: "127.0.0.1:0"}},
		Admin:             AdminOptions{Groups: a.groups, Share: shares, LogDir: "/data"},
		AutoCreateTopics:  true,
		DefaultPartitions: 3,
		Logger:            slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&o)
	}
	if a.srv, err = New(o); err != nil {
		t.Fatal(err)
	}
	a.addr = a.srv.Addrs()[0].String()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- a.srv.Serve(ctx) }()
	stopped := false
	a.stop = func() {
		if stopped {
			return
		}
		stopped = true
		a.groups.Close()
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		shares.Close()
		if err := st.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	}
	t.Cleanup(a.stop)
	return a
}

// rawConn speaks to the server without a client's help.
type rawConn struct {
	t  *testing.T
	nc net.Conn
}

func (a *adminServer) dial() *rawConn {
	a.t.Helper()
	nc, err := net.Dial("tcp", a.addr)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(time.Minute))
	return &rawConn{t: a.t, nc: nc}
}

// ask sends req in its version and returns the response, which must decode without a
// byte left over.
func (c *rawConn) ask(req kmsg.Request) kmsg.Response {
	c.t.Helper()
	formatter := kmsg.NewRequestFormatter(kmsg.FormatterClientID("raw"))
	if _, err := c.nc.Write(formatter.AppendRequest(nil, req, 7)); err != nil {
		c.t.Fatal(err)
	}
	var size [4]byte
	if _, err := io.ReadFull(c.nc, size[:]); err != nil {
		c.t.Fatalf("%s version %d: %v", kmsg.NameForKey(req.Key()), req.GetVersion(), err)
	}
	body := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(c.nc, body); err != nil {
		c.t.Fatal(err)
	}
	body = body[4:]
	if req.IsFlexible() {
		if body[0] != 0 {
			c.t.Fatalf("%s version %d: tags in the header", kmsg.NameForKey(req.Key()), req.GetVersion())
		}
		body = body[1:]
	}
	resp := req.ResponseKind()
	if err := resp.ReadFrom(body); err != nil {
		c.t.Fatalf("%s version %d: %v", kmsg.NameForKey(req.Key()), req.GetVersion(), err)
	}
	if !bytes.Equal(resp.AppendTo(nil), body) {
		c.t.Fatalf("%s version %d: bytes left over", kmsg.NameForKey(req.Key()), req.GetVersion())
	}
	return resp
}

// versioned sets the version of a request.
func versioned[R kmsg.Request](req R, version int16) R {
	req.SetVersion(version)
	return req
}

// create makes a topic with the given configs (name, value, name, value ...).
func (a *adminServer) create(name string, partitions int32, configs ...string) state.Topic {
	a.t.Helper()
	req := kmsg.NewPtrCreateTopicsRequest()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, 1
	for c := range slices.Chunk(configs, 2) {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = c[0], &c[1]
		topic.Configs = append(topic.Configs, config)
	}
	req.Topics = append(req.Topics, topic)
	resp := a.dial().ask(versioned(req, 7)).(*kmsg.CreateTopicsResponse)
	if code := resp.Topics[0].ErrorCode; code != kafkaerr.None {
		a.t.Fatalf("create %s: %d %s", name, code, api.Deref(resp.Topics[0].ErrorMessage))
	}
	created, ok := a.st.Topics().ByName(name)
	if !ok {
		a.t.Fatalf("%s was created and is not there", name)
	}
	return created
}

// client is a franz-go client of the server.
func (a *adminServer) client(opts ...kgo.Opt) *kgo.Client {
	a.t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(a.addr)}, opts...)...)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(cl.Close)
	return cl
}

// produce writes n records "0".."n-1", record i to partition i mod partitions.
func (a *adminServer) produce(topic string, partitions int32, n int) {
	a.t.Helper()
	cl := a.client(kgo.RecordPartitioner(kgo.ManualPartitioner()))
	defer cl.Close()
	var records []*kgo.Record
	for i := range n {
		records = append(records, &kgo.Record{Topic: topic, Partition: int32(i) % partitions, Value: []byte{byte(i >> 8), byte(i)}})
	}
	if err := cl.ProduceSync(context.Background(), records...).FirstErr(); err != nil {
		a.t.Fatal(err)
	}
}
