package kafka

import (
	"fmt"
	"strings"
	"testing"
	"time"

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
			return errorName(resp.ErrorCode)
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
		if got := r.ask(bad).(*kmsg.AlterClientQuotasResponse).Entries[0].ErrorCode; got != errInvalidRequest {
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
