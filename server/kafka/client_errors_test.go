package kafka

import (
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// refusals are what the server remembers, the oldest first: "API topic group ERROR count".
func (e *env) refusals() string {
	var b strings.Builder
	all := e.srv.Refusals()
	for i := len(all) - 1; i >= 0; i-- {
		r := all[i]
		fmt.Fprintf(&b, "%s %s %s %s %d\n", r.API, r.Topic, r.Group, r.Name, r.Count)
		if r.Hint == "" {
			fmt.Fprintf(&b, "no hint for %s\n", r.Name)
		}
	}
	return b.String()
}

func (e *env) wantRefusals(lines ...string) {
	e.t.Helper()
	want := strings.Join(append(lines, ""), "\n")
	if got := e.refusals(); got != want {
		e.t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

func TestEveryRefusalIsRememberedWithAHint(t *testing.T) {
	var log strings.Builder
	e := start(t, func(o *Options) {
		o.AutoCreateTopics = false
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	e.topic("t", 1, "max.message.bytes", "1000")
	e.topic("keyed", 1, "cleanup.policy", "compact")
	r := e.raw()
	hello := kmsg.NewPtrApiVersionsRequest()
	hello.Version, hello.ClientSoftwareName, hello.ClientSoftwareVersion = 3, "some-library", "1.0"
	r.ask(hello)
	meta := versioned(kmsg.NewPtrMetadataRequest(), 12)
	meta.Topics = []kmsg.MetadataRequestTopic{{Topic: str("missing")}}
	r.ask(meta)
	for range 3 {
		r.ask(produceRequest(9, "missing", [16]byte{}, 0, batch(1, "x")))
	}
	r.ask(produceRequest(9, "t", [16]byte{}, 0, batch(1, strings.Repeat("x", 2000))))
	bad := produceRequest(9, "t", [16]byte{}, 0, batch(1, "x"))
	bad.Acks = 2
	r.ask(bad)
	r.ask(produceRequest(9, "keyed", [16]byte{}, 0, batch(1, "no key")))
	r.ask(produceRequest(2, "t", [16]byte{}, 0, batch(1, "x")))
	r.ask(fetchRequest1(12, "t", [16]byte{}, 0, 99))
	beat := versioned(kmsg.NewPtrHeartbeatRequest(), 4)
	beat.Group, beat.MemberID = "g", "m"
	r.ask(beat)
	end := versioned(kmsg.NewPtrEndTxnRequest(), 5)
	end.TransactionalID = "x"
	r.ask(end)
	e.wantRefusals(
		"Metadata missing  UNKNOWN_TOPIC_OR_PARTITION 1",
		"Produce missing  UNKNOWN_TOPIC_OR_PARTITION 3",
		"Produce t  MESSAGE_TOO_LARGE 1",
		"Produce t  INVALID_REQUIRED_ACKS 1",
		"Produce keyed  INVALID_RECORD 1",
		"Produce t  UNSUPPORTED_VERSION 1",
		"Fetch t  OFFSET_OUT_OF_RANGE 1",
		"Heartbeat  g UNKNOWN_MEMBER_ID 1",
		"EndTxn   INVALID_PRODUCER_ID_MAPPING 1",
	)
	first := e.srv.Refusals()[8]
	if first.Software != "some-library" || first.Address != "127.0.0.1" || first.Principal != "ANONYMOUS" || first.Version != 12 || !strings.Contains(first.Hint, "auto-create is off") {
		t.Errorf("%+v", first)
	}
	if n := strings.Count(log.String(), "UNKNOWN_TOPIC_OR_PARTITION"); n != 2 {
		t.Errorf("%d lines about four refusals of two kinds:\n%s", n, log.String())
	}
}

func TestWhatIsOrdinaryWorkIsNoClientError(t *testing.T) {
	e := start(t) // topics are created by themselves
	e.topic("t", 1)
	r := e.raw()
	join := versioned(kmsg.NewPtrJoinGroupRequest(), 9)
	join.Group, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis, join.ProtocolType = "g", 30000, 30000, "consumer"
	join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
	if code := r.ask(join).(*kmsg.JoinGroupResponse).ErrorCode; code != kafkaerr.MemberIDRequired {
		t.Fatal(code)
	}
	meta := versioned(kmsg.NewPtrMetadataRequest(), 12)
	meta.Topics = []kmsg.MetadataRequestTopic{{Topic: str("missing")}}
	if code := r.ask(meta).(*kmsg.MetadataResponse).Topics[0].ErrorCode; code != kafkaerr.UnknownTopicOrPartition {
		t.Fatal(code)
	}
	fetch := fetchRequest1(12, "t", [16]byte{}, 0, 0)
	fetch.SessionID, fetch.SessionEpoch = 12345, 7
	if code := r.ask(fetch).(*kmsg.FetchResponse).ErrorCode; code == kafkaerr.None {
		t.Fatal("a session that never was")
	}
	e.wantRefusals()
}

func TestConnectionsThatEndWithoutAnAnswerAreClientErrors(t *testing.T) {
	secure := selfSigned(t)
	e := start(t, func(o *Options) {
		o.Listeners = []Listener{
			{Address: "127.0.0.1:0"},
			{Address: "127.0.0.1:0", TLS: secure},
			{Address: "127.0.0.1:0", SASL: true},
		}
	})
	ends := func(listener int, send func(net.Conn)) {
		t.Helper()
		nc, err := net.Dial("tcp", e.srv.Addrs()[listener].String())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		_ = nc.SetDeadline(time.Now().Add(time.Minute))
		send(nc)
		_, _ = io.Copy(io.Discard, nc)
	}
	frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID("c")).AppendRequest(nil, versioned(kmsg.NewPtrMetadataRequest(), 12), 1)
	write := func(b []byte) func(net.Conn) {
		return func(nc net.Conn) { _, _ = nc.Write(b) }
	}
	ends(0, func(nc net.Conn) { _ = tls.Client(nc, &tls.Config{ServerName: "x"}).Handshake() })
	ends(1, write(frame))
	ends(1, func(nc net.Conn) { _ = tls.Client(nc, &tls.Config{ServerName: "x"}).Handshake() })
	ends(2, write(frame))
	ends(0, write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")))
	ends(0, write([]byte{0, 0, 0, 12, 0, 3, 0, 99, 0, 0, 0, 1, 0, 0, 0, 0}))
	ends(0, write([]byte{0, 0, 0, 12, 3, 0, 0, 99, 0, 0, 0, 1, 0, 0, 0, 0}))
	ends(0, write([]byte{0, 0, 0, 1}))
	e.wantRefusals(
		"   TLS_ON_PLAINTEXT_PORT 1",
		"   PLAINTEXT_ON_TLS_PORT 1",
		"   TLS_HANDSHAKE_FAILED 1",
		"Metadata   LOGIN_REQUIRED 1",
		"   HTTP_ON_KAFKA_PORT 1",
		"Metadata   UNSUPPORTED_VERSION 1",
		"   UNSERVED_API 1",
		"   MALFORMED_REQUEST 1",
	)
}

func TestWhoMayNotIsAClientErrorUnderHisName(t *testing.T) {
	e, r := as(t, nobody)
	r.ask(produceRequest(9, "t", [16]byte{}, 0, batch(1, "x")))
	s := e.raw()
	s.ask(handshake(1, "GSSAPI"))
	s = e.raw()
	s.ask(handshake(1, mechanismPlain))
	s.ask(authenticate("\x00nobody\x00wrong"))
	e.wantRefusals(
		"Produce t  TOPIC_AUTHORIZATION_FAILED 1",
		"SASLHandshake   UNSUPPORTED_SASL_MECHANISM 1",
		"SASLAuthenticate   SASL_AUTHENTICATION_FAILED 1",
	)
	if p := e.srv.Refusals()[2].Principal; p != "nobody" {
		t.Errorf("%q", p)
	}
}
