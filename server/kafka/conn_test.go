package kafka

import (
	"context"
	"crypto/tls"
	"math"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func (e *env) connections() int {
	e.srv.mu.Lock()
	defer e.srv.mu.Unlock()
	return len(e.srv.conns)
}

// until runs on until ok, and fails the test when that takes for ever.
func until(t testing.TB, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(wireTimeout); !ok(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("it does not happen")
		}
	}
}

func TestAClientThatLeavesEndsItsLongPoll(t *testing.T) {
	e := start(t)
	id := e.topic("t", 1)
	r := e.raw()
	req := fetchRequest1(12, "t", id, 0, 0)
	req.MaxWaitMillis = math.MaxInt32
	r.send(req)
	until(t, func() bool { return e.connections() == 1 })
	_ = r.c.Close()
	until(t, func() bool { return e.connections() == 0 })
}

func TestAClientThatHasClosedItsHalfStillGetsItsAnswers(t *testing.T) {
	e := start(t)
	id := e.topic("t", 1)
	r := e.raw()
	var ids []int32
	req := produceRequest(9, "t", id, 0, batch(1, "x"))
	for range 20 {
		ids = append(ids, r.send(req))
	}
	if err := r.c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	for i, n := range ids {
		if p := onlyPart(t, r.recv(req, n)); p.ErrorCode != 0 || p.BaseOffset != int64(i) {
			t.Fatalf("%+v", p)
		}
	}
	r.closed()
}

func TestLongPollsWorkOverTLS(t *testing.T) {
	cfg := selfSigned(t)
	e := start(t, func(o *Options) { o.Listeners[0].TLS = cfg })
	e.topic("t", 1)
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	insecure := kgo.DialTLSConfig(&tls.Config{InsecureSkipVerify: true})
	producer := e.client(insecure, kgo.DefaultProduceTopic("t"))
	consumer := e.client(insecure, kgo.ConsumeTopics("t"), kgo.FetchMaxWait(time.Minute))
	for i := range 20 {
		v := strings.Repeat("0123456789", 1+i*1000)
		if err := producer.ProduceSync(ctx, kgo.StringRecord(v)).FirstErr(); err != nil {
			t.Fatal(err)
		}
		fs := consumer.PollFetches(ctx)
		if rs := fs.Records(); fs.Err() != nil || len(rs) != 1 || string(rs[0].Value) != v {
			t.Fatal(i, len(rs), fs.Err())
		}
	}
}

func TestAPanicEndsItsConnectionOnlyAndIsCounted(t *testing.T) {
	reg := prometheus.NewRegistry()
	e := start(t, func(o *Options) { o.Registry = reg })
	handle := e.srv.table[keyDescribeCluster].handle
	e.srv.table[keyDescribeCluster].handle = func(ctx context.Context, r *api.Request) (kmsg.Response, error) {
		if r.Version == 0 {
			panic("on purpose")
		}
		return handle(ctx, r)
	}
	r := e.raw()
	r.send(kmsg.NewPtrDescribeClusterRequest())
	r.closed()
	next := kmsg.NewPtrDescribeClusterRequest()
	next.Version, next.EndpointType = 2, 1
	if got := e.raw().ask(next).(*kmsg.DescribeClusterResponse); got.ErrorCode != 0 || len(got.Brokers) != 1 || got.ClusterID == "" {
		t.Fatalf("%+v", got)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "millrace_kafka_panics_total" && f.Metric[0].GetCounter().GetValue() != 1 {
			t.Fatal(f)
		}
	}
}

func TestASlowReaderIsDisconnected(t *testing.T) {
	e := start(t, func(o *Options) { o.WriteTimeout = 50 * time.Millisecond })
	id := e.topic("t", 1, "max.message.bytes", "20000000")
	value := strings.Repeat("x", 16<<20)
	if p := onlyPart(t, e.raw().ask(produceRequest(9, "t", id, 0, batch(1, value)))); p.ErrorCode != 0 {
		t.Fatalf("%+v", p)
	}
	before := e.connections()
	r := e.raw() // asks and does not read
	_ = r.c.(*net.TCPConn).SetReadBuffer(4 << 10)
	for range 4 {
		r.send(fetchRequest1(12, "t", id, 0, 0))
	}
	until(t, func() bool { return e.connections() == before })
	if n := e.srv.fetches.InUse(); n != 0 {
		t.Fatalf("%d bytes of the fetch budget were not given back", n)
	}
}

func TestAutoCreateOffAnswersUnknownAndSaysWhoAsked(t *testing.T) {
	e := start(t, func(o *Options) { o.AutoCreateTopics = false })
	req := kmsg.NewPtrMetadataRequest()
	req.Version, req.AllowAutoTopicCreation = 9, true
	mt := kmsg.NewMetadataRequestTopic()
	mt.Topic = kmsg.StringPtr("missing")
	req.Topics = []kmsg.MetadataRequestTopic{mt}
	if got := e.raw().ask(req).(*kmsg.MetadataResponse).Topics[0]; got.ErrorCode != kafkaerr.UnknownTopicOrPartition {
		t.Fatalf("%+v", got)
	}
	if _, ok := e.st.Topics().ByName("missing"); ok {
		t.Fatal("it was made")
	}
	req.Topics[0].Topic = kmsg.StringPtr("no/topic")
	if got := e.raw().ask(req).(*kmsg.MetadataResponse).Topics[0]; got.ErrorCode != kafkaerr.InvalidTopic {
		t.Fatalf("a name that no topic can have: %+v", got)
	}
}

func TestProducersDoNotWriteToInternalTopics(t *testing.T) {
	e := start(t)
	id := e.topic("__consumer_offsets", 1)
	for _, version := range []int16{9, 13} {
		if got := onlyPart(t, e.raw().ask(produceRequest(version, "__consumer_offsets", id, 0, batch(1, "x")))); got.ErrorCode != kafkaerr.InvalidTopic {
			t.Errorf("version %d: %+v", version, got)
		}
	}
}

func TestAFetchThatGetsNoMemoryTellsTheTrueOffsets(t *testing.T) {
	e := start(t, func(o *Options) { o.WriteTimeout = 50 * time.Millisecond })
	id := e.topic("t", 1)
	r := e.raw()
	for range 3 {
		onlyPart(t, r.ask(produceRequest(9, "t", id, 0, batch(1, "x"))))
	}
	all := e.srv.o.FetchBufferBytes
	if err := e.srv.fetches.Acquire(context.Background(), all); err != nil {
		t.Fatal(err)
	}
	req := fetchRequest1(12, "t", id, 0, 1)
	req.MaxWaitMillis = 1
	if p := onlyFetched(t, r.ask(req)); p.ErrorCode != 0 || p.HighWatermark != 3 || p.LastStableOffset != 3 || len(p.RecordBatches) != 0 {
		t.Errorf("%+v", p)
	}
	e.srv.fetches.Release(all)
	if p := onlyFetched(t, r.ask(req)); p.HighWatermark != 3 || len(p.RecordBatches) == 0 {
		t.Errorf("%+v", p)
	}
}

func TestManyIdleConnectionsTakeLittleAndAllEnd(t *testing.T) {
	e := start(t)
	var all []*raw
	for range 300 {
		r := e.raw()
		r.ask(kmsg.NewPtrApiVersionsRequest())
		all = append(all, r)
	}
	if n := e.connections(); n != 300 {
		t.Fatal(n)
	}
	for _, r := range all {
		_ = r.c.Close()
	}
	until(t, func() bool { return e.connections() == 0 })
}

func BenchmarkProduceSmall(b *testing.B) {
	e := start(b)
	id := e.topic("t", 1)
	r := e.raw()
	req := produceRequest(9, "t", id, 0, batch(1, strings.Repeat("x", 100)))
	b.ReportAllocs()
	b.ResetTimer()
	const window = 100
	var ids []int32
	for i := 0; i < b.N; i++ {
		ids = append(ids, r.send(req))
		if len(ids) == window {
			r.recv(req, ids[0])
			ids = ids[1:]
		}
	}
	for _, n := range ids {
		r.recv(req, n)
	}
}
