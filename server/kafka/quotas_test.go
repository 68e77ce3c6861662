package kafka

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// alterQuota sets a limit of the entity (type, name, type, name ...); "" is the default.
func alterQuota(key string, value float64, entity ...string) *kmsg.AlterClientQuotasRequest {
	req := versioned(kmsg.NewPtrAlterClientQuotasRequest(), 1)
	entry := kmsg.NewAlterClientQuotasRequestEntry()
	for i := 0; i < len(entity); i += 2 {
		part := kmsg.NewAlterClientQuotasRequestEntryEntity()
		part.Type = entity[i]
		if entity[i+1] != "" {
			part.Name = &entity[i+1]
		}
		entry.Entity = append(entry.Entity, part)
	}
	op := kmsg.NewAlterClientQuotasRequestEntryOp()
	op.Key, op.Value, op.Remove = key, value, value == 0
	entry.Ops = append(entry.Ops, op)
	req.Entries = append(req.Entries, entry)
	return req
}

// quotaServer has an administrator and a clock that stands still.
func quotaServer(t *testing.T) (*env, *raw) {
	now := time.Unix(1_000_000, 0)
	e := start(t, func(o *Options) { o.Now = func() time.Time { return now } })
	e.topic("t", 1)
	e.user("admin", "secret")
	return e, e.loggedIn("admin")
}

func TestQuotasAreStoredAndDescribed(t *testing.T) {
	_, r := quotaServer(t)
	for _, req := range []*kmsg.AlterClientQuotasRequest{
		alterQuota("producer_byte_rate", 1000, "user", "ada"),
		alterQuota("consumer_byte_rate", 2000, "user", "ada"),
		alterQuota("request_percentage", 12.5, "client-id", ""),
		alterQuota("producer_byte_rate", 500, "user", "", "client-id", "c"),
		alterQuota("connection_creation_rate", 7, "ip", "127.0.0.9"),
	} {
		if got := r.ask(req).(*kmsg.AlterClientQuotasResponse).Entries[0]; got.ErrorCode != 0 {
			t.Fatalf("%+v", got)
		}
	}
	describe := func(strict bool, filter ...kmsg.DescribeClientQuotasRequestComponent) string {
		t.Helper()
		req := versioned(kmsg.NewPtrDescribeClientQuotasRequest(), 1)
		req.Strict, req.Components = strict, filter
		resp := r.ask(req).(*kmsg.DescribeClientQuotasResponse)
		if resp.ErrorCode != 0 {
			return kafkaerr.Name(resp.ErrorCode)
		}
		var out []string
		for _, entry := range resp.Entries {
			var b strings.Builder
			for _, p := range entry.Entity {
				name := "<default>"
				if p.Name != nil {
					name = *p.Name
				}
				fmt.Fprintf(&b, "%s=%s ", p.Type, name)
			}
			for _, v := range entry.Values {
				fmt.Fprintf(&b, "%s:%v ", v.Key, v.Value)
			}
			out = append(out, strings.TrimSpace(b.String()))
		}
		return strings.Join(out, ", ")
	}
	filter := func(typ string, match kmsg.QuotasMatchType, name string) kmsg.DescribeClientQuotasRequestComponent {
		c := kmsg.NewDescribeClientQuotasRequestComponent()
		c.EntityType, c.MatchType = typ, match
		if name != "" {
			c.Match = &name
		}
		return c
	}
	const (
		ada = "user=ada consumer_byte_rate:2000 producer_byte_rate:1000"
		any = "client-id=<default> request_percentage:12.5"
		c   = "user=<default> client-id=c producer_byte_rate:500"
		ip  = "ip=127.0.0.9 connection_creation_rate:7"
	)
	for _, q := range []struct{ got, want string }{
		{describe(false), strings.Join([]string{ip, any, c, ada}, ", ")},
		{describe(false, filter("user", kmsg.QuotasMatchTypeExact, "ada")), ada},
		{describe(false, filter("user", kmsg.QuotasMatchTypeAny, "")), c + ", " + ada},
		{describe(true, filter("user", kmsg.QuotasMatchTypeAny, "")), ada},
		{describe(false, filter("user", kmsg.QuotasMatchTypeDefault, "")), c},
		{describe(true, filter("user", kmsg.QuotasMatchTypeDefault, ""), filter("client-id", kmsg.QuotasMatchTypeExact, "c")), c},
		{describe(false, filter("ip", kmsg.QuotasMatchTypeAny, ""), filter("user", kmsg.QuotasMatchTypeAny, "")), "INVALID_REQUEST"},
		{describe(false, filter("planet", kmsg.QuotasMatchTypeAny, "")), "UNSUPPORTED_VERSION"},
	} {
		if q.got != q.want {
			t.Errorf("got  %s\nwant %s", q.got, q.want)
		}
	}
	for _, bad := range []*kmsg.AlterClientQuotasRequest{
		alterQuota("producer_byte_rate", 1000), alterQuota("producer_byte_rate", 1.5, "user", "x"), alterQuota("producer_byte_rate", -1, "user", "x"),
		alterQuota("producer_byte_rate", 10, "ip", "127.0.0.1"), alterQuota("connection_creation_rate", 10, "user", "x"),
		alterQuota("connection_creation_rate", 10, "ip", "nowhere"), alterQuota("nonsense", 10, "user", "x"), alterQuota("producer_byte_rate", 1, "group", "x"),
	} {
		if got := r.ask(bad).(*kmsg.AlterClientQuotasResponse).Entries[0].ErrorCode; got != kafkaerr.InvalidRequest {
			t.Errorf("%+v: %d", bad.Entries, got)
		}
	}
	validate := alterQuota("producer_byte_rate", 9, "user", "x")
	validate.ValidateOnly = true
	r.ask(validate)
	r.ask(alterQuota("producer_byte_rate", 0, "user", "ada"))
	r.ask(alterQuota("consumer_byte_rate", 0, "user", "ada"))
	if got := describe(false, filter("user", kmsg.QuotasMatchTypeAny, "")); got != c {
		t.Error(got)
	}
}

func TestWhoExceedsAQuotaIsToldToWaitAndIsNotReadFromMeanwhile(t *testing.T) {
	_, admin := quotaServer(t)
	produce := func(r *raw) int32 {
		return r.ask(produceRequest(9, "t", [16]byte{}, 0, batch(1, strings.Repeat("x", 1000)))).(*kmsg.ProduceResponse).ThrottleMillis
	}
	fetch := func(r *raw) int32 {
		one := fetchRequest1(12, "t", [16]byte{}, 0, 0)
		one.Topics[0].Partitions[0].PartitionMaxBytes = 1
		resp := r.ask(one).(*kmsg.FetchResponse)
		if len(resp.Topics[0].Partitions[0].RecordBatches) < 1000 {
			t.Error("who waits gets his records all the same")
		}
		return resp.ThrottleMillis
	}
	if got := produce(admin); got != 0 {
		t.Fatal(got)
	}
	// A request of a little more than 1,000 bytes at 100,000 a second: over from the 92nd or so on.
	admin.ask(alterQuota("producer_byte_rate", 100_000, "user", "admin"))
	admin.ask(alterQuota("consumer_byte_rate", 50_000, "user", "admin"))
	waited := func(ask func(*raw) int32) int {
		for i := range 200 {
			if ms := ask(admin); ms != 0 {
				if ms < 1 || ms > 100 {
					t.Errorf("wait for %d ms", ms)
				}
				return i
			}
		}
		return -1
	}
	if n := waited(produce); n < 80 || n > 99 {
		t.Errorf("throttled after %d", n)
	}
	if n := waited(fetch); n < 0 || n > 50 {
		t.Errorf("throttled after %d", n)
	}
	admin.ask(alterQuota("producer_byte_rate", 0, "user", "admin"))
	if got := produce(admin); got != 0 {
		t.Error("there is no quota any more", got)
	}
}

func TestConnectionsAboveTheRateOfAnAddressAreServedLater(t *testing.T) {
	e, admin := quotaServer(t)
	admin.ask(alterQuota("connection_creation_rate", 100, "ip", ""))
	for range 105 {
		e.raw().ask(kmsg.NewPtrApiVersionsRequest())
	}
}

func TestWhoMakesPartitionsTooFastIsRefusedOrToldToWait(t *testing.T) {
	e, r := quotaServer(t)
	fresh := func() *raw { return e.loggedIn("admin") }               // who has to wait, waits elsewhere
	r.ask(alterQuota("controller_mutation_rate", 2, "user", "admin")) // 22 at once
	create := func(version int16, name string, partitions int32, validateOnly bool) (int16, int32) {
		t.Helper()
		req := versioned(kmsg.NewPtrCreateTopicsRequest(), version)
		req.ValidateOnly = validateOnly
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, 1
		req.Topics = append(req.Topics, topic)
		resp := fresh().ask(req).(*kmsg.CreateTopicsResponse)
		return resp.Topics[0].ErrorCode, resp.ThrottleMillis
	}
	remove := func(version int16, name string) (int16, int32) {
		t.Helper()
		req := versioned(kmsg.NewPtrDeleteTopicsRequest(), version)
		req.TopicNames = []string{name}
		resp := fresh().ask(req).(*kmsg.DeleteTopicsResponse)
		return resp.Topics[0].ErrorCode, resp.ThrottleMillis
	}
	grow := func(version int16, name string, count int32) (int16, int32) {
		t.Helper()
		req := versioned(kmsg.NewPtrCreatePartitionsRequest(), version)
		topic := kmsg.NewCreatePartitionsRequestTopic()
		topic.Topic, topic.Count = name, count
		req.Topics = append(req.Topics, topic)
		resp := fresh().ask(req).(*kmsg.CreatePartitionsResponse)
		return resp.Topics[0].ErrorCode, resp.ThrottleMillis
	}
	want := func(code int16, millis int32) func(int16, int32) {
		return func(gotCode int16, gotMillis int32) {
			t.Helper()
			if gotCode != code || gotMillis != millis {
				t.Errorf("got %s and %d ms, want %s and %d ms", kafkaerr.Name(gotCode), gotMillis, kafkaerr.Name(code), millis)
			}
		}
	}
	want(0, 0)(create(7, "a", 50, true))
	want(0, 0)(create(7, "a", 12, false))
	want(0, 0)(create(6, "b", 10, false))
	want(0, 0)(create(7, "c", 1, false)) // from here on it owes one partition more with each
	want(kafkaerr.ThrottlingQuotaExceeded, 500)(create(7, "d", 1, false))
	want(0, 1000)(create(5, "d", 1, false))
	want(kafkaerr.ThrottlingQuotaExceeded, 1000)(grow(3, "d", 2))
	want(0, 1500)(grow(2, "d", 2))
	want(kafkaerr.ThrottlingQuotaExceeded, 1500)(remove(5, "c"))
	want(0, 2000)(remove(4, "c"))
	if code, _ := remove(4, "a"); code != 0 {
		t.Error(code)
	}
	r.ask(alterQuota("controller_mutation_rate", 0, "user", "admin"))
	want(0, 0)(create(7, "c", 100, false))
}

// TestWhoMakesTheServerWorkTooMuchIsToldToWait has a clock that goes on a tenth of a second whenever somebody looks at it.
func TestWhoMakesTheServerWorkTooMuchIsToldToWait(t *testing.T) {
	var looks atomic.Int64
	e := start(t, func(o *Options) {
		o.Now = func() time.Time { return time.Unix(1_000_000, looks.Add(1)*int64(100*time.Millisecond)) }
	})
	e.topic("t", 1)
	e.user("admin", "secret")
	r := e.loggedIn("admin")
	metadata := func() int32 {
		return e.loggedIn("admin").ask(versioned(kmsg.NewPtrMetadataRequest(), 9)).(*kmsg.MetadataResponse).ThrottleMillis
	}
	produce := func() int32 {
		return e.loggedIn("admin").ask(produceRequest(9, "t", [16]byte{}, 0, batch(1, "x"))).(*kmsg.ProduceResponse).ThrottleMillis
	}
	fetch := func() int32 {
		req := fetchRequest1(12, "t", [16]byte{}, 0, 0)
		return e.loggedIn("admin").ask(req).(*kmsg.FetchResponse).ThrottleMillis
	}
	if metadata() != 0 || produce() != 0 || fetch() != 0 {
		t.Error("throttled without a quota")
	}
	r.ask(alterQuota("request_percentage", 0.01, "user", "admin"))
	for name, ask := range map[string]func() int32{"metadata": metadata, "produce": produce, "fetch": fetch} {
		if got := ask(); got != 1000 { // more than it may in a thousand seconds
			t.Errorf("%s: %d ms", name, got)
		}
	}
	e.loggedIn("admin").ask(alterQuota("request_percentage", 0, "user", "admin"))
	if got := metadata(); got != 0 {
		t.Error(got)
	}
}
