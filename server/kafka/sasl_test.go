package kafka

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"math/big"
	"net"
	"testing"
	"time"

	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

func withSASL(o *Options) { o.Listeners[0].SASL = true }

func (e *env) user(name, password string) {
	e.t.Helper()
	if err := e.auth.AddUser(name, password); err != nil {
		e.t.Fatal(err)
	}
}

func TestUsersLogInWithEveryMechanismAndOthersDoNot(t *testing.T) {
	e := start(t, withSASL)
	e.user("alice", "secret")
	e.topic("t", 1)
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	login := func(m sasl.Mechanism) error {
		cl := e.client(kgo.SASL(m), kgo.DefaultProduceTopic("t"), kgo.RetryTimeout(time.Millisecond), kgo.RecordRetries(0))
		defer cl.Close()
		return cl.Ping(ctx)
	}
	for name, m := range map[string]func(user, pass string) sasl.Mechanism{
		"PLAIN":  func(u, p string) sasl.Mechanism { return plain.Auth{User: u, Pass: p}.AsMechanism() },
		"SCRAM2": func(u, p string) sasl.Mechanism { return scram.Auth{User: u, Pass: p}.AsSha256Mechanism() },
		"SCRAM5": func(u, p string) sasl.Mechanism { return scram.Auth{User: u, Pass: p}.AsSha512Mechanism() },
	} {
		if err := login(m("alice", "secret")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := login(m("alice", "wrong")); err == nil {
			t.Errorf("%s: logged in with a wrong password", name)
		}
		if err := login(m("bob", "secret")); err == nil {
			t.Errorf("%s: logged in without a user", name)
		}
	}
}

func handshake(version int16, mechanism string) *kmsg.SASLHandshakeRequest {
	req := kmsg.NewPtrSASLHandshakeRequest()
	req.Version, req.Mechanism = version, mechanism
	return req
}

func authenticate(token string) *kmsg.SASLAuthenticateRequest {
	req := kmsg.NewPtrSASLAuthenticateRequest()
	req.Version, req.SASLAuthBytes = 2, []byte(token)
	return req
}

// C61
func TestAWrongProofEndsTheConnectionWhateverTheClientMakesOfIt(t *testing.T) {
	e := start(t, withSASL)
	e.user("alice", "secret")
	id := e.topic("t", 1)
	r := e.raw()
	if got := r.ask(handshake(1, "SCRAM-SHA-256")).(*kmsg.SASLHandshakeResponse); got.ErrorCode != 0 {
		t.Fatalf("%+v", got)
	}
	first := r.ask(authenticate("n,,n=alice,r=abcdefgh")).(*kmsg.SASLAuthenticateResponse)
	nonce, _, _ := bytes.Cut(first.SASLAuthBytes, []byte(","))
	if first.ErrorCode != 0 || !bytes.HasPrefix(nonce, []byte("r=abcdefgh")) {
		t.Fatalf("%+v", first)
	}
	wrong := authenticate("c=biws," + string(nonce) + ",p=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	n := r.send(wrong)
	r.send(kmsg.NewPtrMetadataRequest())
	r.send(produceRequest(9, "t", id, 0, batch(1, "x")))
	if got := r.recv(wrong, n).(*kmsg.SASLAuthenticateResponse); got.ErrorCode != kafkaerr.SASLAuthenticationFailed {
		t.Fatalf("%+v", got)
	}
	r.closed()
	if e.end(id, 0) != 0 {
		t.Fatal("something was stored")
	}
}

func TestNothingIsServedBeforeALogin(t *testing.T) {
	e := start(t, withSASL)
	e.user("alice", "secret")
	id := e.topic("t", 1)
	for name, req := range map[string]kmsg.Request{
		"metadata": kmsg.NewPtrMetadataRequest(), "produce": produceRequest(9, "t", id, 0, batch(1, "x")),
		"groups": kmsg.NewPtrListGroupsRequest(), "init": kmsg.NewPtrInitProducerIDRequest(),
	} {
		for _, state := range []string{"new", "asked", "handshaken", "half way"} {
			r := e.raw()
			if state != "new" {
				r.ask(kmsg.NewPtrApiVersionsRequest())
			}
			if state == "handshaken" || state == "half way" {
				r.ask(handshake(1, "SCRAM-SHA-512"))
			}
			if state == "half way" {
				r.ask(authenticate("n,,n=alice,r=abcdefgh"))
			}
			r.send(req)
			r.closed()
			_ = name
		}
	}
	// An authenticate out of the blue, and a second handshake.
	r := e.raw()
	if got := r.ask(authenticate("\x00alice\x00secret")).(*kmsg.SASLAuthenticateResponse); got.ErrorCode != kafkaerr.IllegalSASLState {
		t.Fatalf("%+v", got)
	}
	r.closed()
	r = e.raw()
	r.ask(handshake(1, "SCRAM-SHA-512"))
	if got := r.ask(handshake(1, "PLAIN")).(*kmsg.SASLHandshakeResponse); got.ErrorCode != kafkaerr.IllegalSASLState {
		t.Fatalf("%+v", got)
	}
	r.closed()
	r = e.raw()
	if got := r.ask(handshake(1, "GSSAPI")).(*kmsg.SASLHandshakeResponse); got.ErrorCode != kafkaerr.UnsupportedSASLMechanism || len(got.SupportedMechanisms) != 3 {
		t.Fatalf("%+v", got)
	}
	r.closed()
}

func TestMalformedPlainTokensAreNoLogin(t *testing.T) {
	e := start(t, withSASL)
	e.user("alice", "secret")
	for _, token := range []string{"", "alice", "\x00alice", "\x00alice\x00", "\x00\x00secret", "\x00alice\x00secret\x00", "bob\x00alice\x00secret", "alice\x00secret"} {
		r := e.raw()
		r.ask(handshake(1, "PLAIN"))
		if got := r.ask(authenticate(token)).(*kmsg.SASLAuthenticateResponse); got.ErrorCode != kafkaerr.SASLAuthenticationFailed {
			t.Errorf("%q: %+v", token, got)
		}
		r.closed()
	}
}

func TestBareTokensFollowAHandshakeOfVersion0(t *testing.T) {
	e := start(t, withSASL)
	e.user("alice", "secret")
	token := func(s string) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...)
	}
	r := e.raw()
	r.ask(handshake(0, "PLAIN"))
	r.write(token("\x00alice\x00secret"))
	var empty [4]byte
	if _, err := r.c.Read(empty[:]); err != nil || empty != [4]byte{} {
		t.Fatal(empty, err)
	}
	if got := r.ask(kmsg.NewPtrMetadataRequest()).(*kmsg.MetadataResponse); len(got.Brokers) != 1 {
		t.Fatalf("%+v", got)
	}
	r = e.raw()
	r.ask(handshake(0, "PLAIN"))
	r.write(token("\x00alice\x00wrong"))
	r.closed()
}

func TestLargeFramesBeforeALoginEndTheConnection(t *testing.T) {
	e := start(t, withSASL)
	r := e.raw()
	r.write([]byte{0, 1, 0, 1, 0, 18, 0, 0, 0, 0, 0, 1})
	r.closed()
}

func TestOnceAUserExistsStrangersSeeNothing(t *testing.T) {
	e := start(t)
	id := e.topic("secret-topic", 1)
	r := e.raw()
	if p := onlyPart(t, r.ask(produceRequest(9, "secret-topic", id, 0, batch(1, "x")))); p.ErrorCode != 0 {
		t.Fatalf("%+v", p)
	}
	e.user("admin", "secret")
	if p := onlyPart(t, r.ask(produceRequest(9, "secret-topic", id, 0, batch(1, "x")))); p.ErrorCode != kafkaerr.TopicAuthorizationFailed {
		t.Errorf("produce: %+v", p)
	}
	if p := onlyPart(t, r.ask(produceRequest(13, "", id, 0, batch(1, "x")))); p.ErrorCode != kafkaerr.UnknownTopicID {
		t.Errorf("produce by id: %+v", p)
	}
	if p := onlyFetched(t, r.ask(fetchRequest1(12, "secret-topic", id, 0, 0))); p.ErrorCode != kafkaerr.TopicAuthorizationFailed || len(p.RecordBatches) != 0 || p.HighWatermark != -1 {
		t.Errorf("fetch: %+v", p)
	}
	if p := onlyFetched(t, r.ask(fetchRequest1(13, "", id, 0, 0))); p.ErrorCode != kafkaerr.UnknownTopicID {
		t.Errorf("fetch by id: %+v", p)
	}
	all := kmsg.NewPtrMetadataRequest()
	all.Version = 12
	if m := r.ask(all).(*kmsg.MetadataResponse); len(m.Topics) != 0 {
		t.Errorf("metadata of all: %+v", m)
	}
	// The same answer whether it exists or not.
	var answers []kmsg.MetadataResponseTopic
	for _, name := range []string{"secret-topic", "none-there"} {
		one := kmsg.NewMetadataRequestTopic()
		one.Topic = kmsg.StringPtr(name)
		all.Topics = []kmsg.MetadataRequestTopic{one}
		all.AllowAutoTopicCreation = true
		a := r.ask(all).(*kmsg.MetadataResponse).Topics[0]
		a.Topic = nil
		answers = append(answers, a)
	}
	if answers[0].ErrorCode != kafkaerr.TopicAuthorizationFailed || answers[1].ErrorCode != kafkaerr.TopicAuthorizationFailed || answers[0].TopicID != answers[1].TopicID {
		t.Errorf("metadata by name: %+v", answers)
	}
	byID := kmsg.NewMetadataRequestTopic()
	byID.TopicID = id
	all.Topics = []kmsg.MetadataRequestTopic{byID}
	if a := r.ask(all).(*kmsg.MetadataResponse).Topics[0]; a.ErrorCode != kafkaerr.UnknownTopicID || a.Topic != nil {
		t.Errorf("metadata by id: %+v", a)
	}
	if got := r.ask(kmsg.NewPtrInitProducerIDRequest()).(*kmsg.InitProducerIDResponse); got.ErrorCode != kafkaerr.ClusterAuthorizationFailed {
		t.Errorf("init producer id: %+v", got)
	}
	if _, ok := e.st.Topics().ByName("none-there"); ok {
		t.Error("a stranger made a topic")
	}
}

func selfSigned(t testing.TB) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

func TestSeveralListenersEachWithItsOwnSecurityAndAddress(t *testing.T) {
	cfg := selfSigned(t)
	e := start(t, func(o *Options) {
		o.Listeners = append(o.Listeners,
			Listener{Address: "127.0.0.1:0", TLS: cfg, SASL: true},
			Listener{Address: "127.0.0.1:0", Advertised: "broker.example:19092"},
			Listener{Address: "0.0.0.0:0"})
	})
	e.user("alice", "secret")
	e.topic("t", 1)
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	pool := x509.NewCertPool()
	leaf, _ := x509.ParseCertificate(cfg.Certificates[0].Certificate[0])
	pool.AddCert(leaf)
	cl, err := kgo.NewClient(kgo.SeedBrokers(e.srv.Addrs()[1].String()), kgo.DialTLSConfig(&tls.Config{RootCAs: pool}),
		kgo.SASL(plain.Auth{User: "alice", Pass: "secret"}.AsMechanism()), kgo.DefaultProduceTopic("t"), kgo.ConsumeTopics("t"))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if err := cl.ProduceSync(ctx, kgo.StringRecord("over TLS")).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if rs := cl.PollFetches(ctx).Records(); len(rs) != 1 || string(rs[0].Value) != "over TLS" {
		t.Fatal(rs)
	}
	for i, want := range map[int]string{2: "broker.example:19092", 3: "127.0.0.1"} {
		c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", portOf(e.srv.Addrs()[i])))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(wireTimeout))
		r := &raw{t: t, c: c}
		b := r.ask(kmsg.NewPtrMetadataRequest()).(*kmsg.MetadataResponse).Brokers[0]
		if got := b.Host; i == 2 && (got != "broker.example" || b.Port != 19092) || i == 3 && got != want {
			t.Errorf("listener %d advertises %s:%d, want %s", i, got, b.Port, want)
		}
	}
}

func portOf(a net.Addr) string {
	_, port, _ := net.SplitHostPort(a.String())
	return port
}

func TestPlainNeedsTLSBeyondLoopback(t *testing.T) {
	c := &conn{l: &listener{}}
	if got := c.mechanisms(); len(got) != 2 || got[0] == mechanismPlain {
		t.Fatal(got)
	}
	for _, c := range []*conn{
		{l: &listener{}, isLoopback: true},
		{l: &listener{Listener: Listener{TLS: &tls.Config{}}}},
		{l: &listener{Listener: Listener{InsecurePlain: true}}},
	} {
		if got := c.mechanisms(); len(got) != 3 {
			t.Fatal(got)
		}
	}
}

func TestConnectionsAreListedWithWhoAndWhatIsBehindThem(t *testing.T) {
	e := start(t, withSASL)
	e.user("alice", "secret")
	first, second := e.raw(), e.raw()
	hello := kmsg.NewPtrApiVersionsRequest()
	hello.Version, hello.ClientSoftwareName, hello.ClientSoftwareVersion = 3, "raw", "1.2"
	first.ask(hello)
	first.ask(handshake(1, "PLAIN"))
	first.ask(authenticate("\x00alice\x00secret"))
	second.ask(kmsg.NewPtrApiVersionsRequest())
	list := e.srv.Connections()
	if len(list) != 2 || list[0].ID >= list[1].ID || list[0].User != "alice" || list[0].Software != "raw 1.2" ||
		list[0].Client != first.c.LocalAddr().String() || list[1].User != "ANONYMOUS" || list[1].Software != "" ||
		list[0].Listener != "SASL_PLAINTEXT" || list[0].Since.IsZero() {
		t.Fatalf("%+v", list)
	}
}
