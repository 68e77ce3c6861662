package kafka

import (
	"context"
	"errors"
	"strings"
	"testing"

	"millrace/server/kafka/kafkaerr"

	"millrace/server/auth"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// mechanismsFor is every way to log in with a name and a password.
func mechanismsFor(user, password string) map[string]sasl.Mechanism {
	return map[string]sasl.Mechanism{
		mechanismPlain:       plain.Auth{User: user, Pass: password}.AsMechanism(),
		auth.MechanismSHA256: scram.Auth{User: user, Pass: password}.AsSha256Mechanism(),
		auth.MechanismSHA512: scram.Auth{User: user, Pass: password}.AsSha512Mechanism(),
	}
}

func TestUsersMayLogInWhereNoLoginIsRequired(t *testing.T) {
	e := start(t)
	e.user("alice", "secret")
	e.user("bob", "hidden")
	e.topic("t", 1)
	ctx, cancel := context.WithTimeout(context.Background(), wireTimeout)
	defer cancel()
	produce := func(m ...sasl.Mechanism) error {
		cl := e.client(kgo.SASL(m...), kgo.DefaultProduceTopic("t"), kgo.RecordRetries(0), kgo.RequestRetries(0))
		defer cl.Close()
		return cl.ProduceSync(ctx, kgo.StringRecord("x")).FirstErr()
	}
	for name, m := range mechanismsFor("alice", "secret") {
		if err := produce(m); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, m := range mechanismsFor("alice", "wrong") {
		if err := produce(m); !errors.Is(err, kerr.SaslAuthenticationFailed) {
			t.Errorf("%s with a wrong password: %v", name, err)
		}
	}
	for name, m := range mechanismsFor("carol", "secret") {
		if err := produce(m); !errors.Is(err, kerr.SaslAuthenticationFailed) {
			t.Errorf("%s without a user: %v", name, err)
		}
	}
	for name, m := range mechanismsFor("bob", "hidden") {
		if err := produce(m); !errors.Is(err, kerr.TopicAuthorizationFailed) {
			t.Errorf("%s without a grant: %v", name, err)
		}
	}
	if err := produce(); !errors.Is(err, kerr.TopicAuthorizationFailed) {
		t.Errorf("without a login: %v", err)
	}
}

func TestALoginThatWasBegunHasToBeFinished(t *testing.T) {
	e := start(t)
	e.user("alice", "secret")
	if err := e.auth.Grant(auth.Anonymous.Name, auth.Describe, auth.Pattern{Type: auth.Topic, Name: "*"}); err != nil {
		t.Fatal(err)
	}
	e.topic("t", 1)
	sees := func(r *raw) int {
		m := kmsg.NewPtrMetadataRequest()
		m.Version = 12
		return len(r.ask(m).(*kmsg.MetadataResponse).Topics)
	}
	r := e.raw()
	if n := sees(r); n != 1 {
		t.Fatalf("ANONYMOUS sees %d topics with its grant", n)
	}
	// A request in the middle of an exchange, and a second handshake.
	r.ask(handshake(1, "SCRAM-SHA-512"))
	r.send(kmsg.NewPtrMetadataRequest())
	r.closed()
	r = e.raw()
	r.ask(handshake(1, "SCRAM-SHA-512"))
	if got := r.ask(handshake(1, "PLAIN")).(*kmsg.SASLHandshakeResponse); got.ErrorCode != kafkaerr.IllegalSASLState {
		t.Fatalf("%+v", got)
	}
	r.closed()
	// A failed one does not fall back to being ANONYMOUS.
	r = e.raw()
	r.ask(handshake(1, "PLAIN"))
	if got := r.ask(authenticate("\x00alice\x00wrong")).(*kmsg.SASLAuthenticateResponse); got.ErrorCode != kafkaerr.SASLAuthenticationFailed {
		t.Fatalf("%+v", got)
	}
	r.closed()
	// Out of the blue: nothing is agreed on, and ANONYMOUS goes on.
	r = e.raw()
	if got := r.ask(authenticate("\x00alice\x00secret")).(*kmsg.SASLAuthenticateResponse); got.ErrorCode != kafkaerr.IllegalSASLState {
		t.Fatalf("%+v", got)
	}
	if n := sees(r); n != 1 {
		t.Fatal(n)
	}
	// After other requests, too; and only once.
	r.ask(handshake(1, "PLAIN"))
	if got := r.ask(authenticate("\x00alice\x00secret")).(*kmsg.SASLAuthenticateResponse); got.ErrorCode != 0 {
		t.Fatalf("%+v", got)
	}
	if list := e.srv.Connections(); list[len(list)-1].User != "alice" {
		t.Fatalf("%+v", list)
	}
	if got := r.ask(handshake(1, "PLAIN")).(*kmsg.SASLHandshakeResponse); got.ErrorCode != kafkaerr.IllegalSASLState {
		t.Fatalf("%+v", got)
	}
	if n := sees(r); n != 1 {
		t.Fatal(n)
	}
}

func TestWithoutUsersThereIsNobodyToLogInAs(t *testing.T) {
	e := start(t)
	r := e.raw()
	if got := r.ask(handshake(1, "PLAIN")).(*kmsg.SASLHandshakeResponse); got.ErrorCode != kafkaerr.IllegalSASLState {
		t.Fatalf("%+v", got)
	}
	if got := r.ask(authenticate("\x00alice\x00secret")).(*kmsg.SASLAuthenticateResponse); got.ErrorCode != kafkaerr.IllegalSASLState {
		t.Fatalf("%+v", got)
	}
	r.ask(kmsg.NewPtrMetadataRequest())
	// On an open server where a login is required, every login is refused.
	e = start(t, withSASL)
	r = e.raw()
	r.ask(handshake(1, "PLAIN"))
	if got := r.ask(authenticate("\x00alice\x00secret")).(*kmsg.SASLAuthenticateResponse); got.ErrorCode != kafkaerr.SASLAuthenticationFailed {
		t.Fatalf("%+v", got)
	}
	r.closed()
}

func TestStrangersSendNothingLarge(t *testing.T) {
	e := start(t)
	id := e.topic("t", 1)
	large := produceRequest(9, "t", id, 0, batch(1, strings.Repeat("x", preAuthFrameBytes)))
	r := e.raw()
	if p := onlyPart(t, r.ask(large)); p.ErrorCode != 0 {
		t.Fatalf("%+v", p)
	}
	e.user("alice", "secret")
	r.send(large)
	r.closed()
	// Whoever may do something may also send it.
	if err := e.auth.Grant(auth.Anonymous.Name, auth.Write, auth.Pattern{Type: auth.Topic, Name: "t"}); err != nil {
		t.Fatal(err)
	}
	if p := onlyPart(t, e.raw().ask(large)); p.ErrorCode != 0 {
		t.Fatalf("%+v", p)
	}
}

func TestTheConnectionOfADroppedUserMayDoNothing(t *testing.T) {
	e := start(t)
	e.user("admin", "secret")
	e.user("alice", "secret")
	if err := e.auth.Grant("alice", auth.Write, auth.Pattern{Type: auth.Topic, Name: "t"}); err != nil {
		t.Fatal(err)
	}
	id := e.topic("t", 1)
	r := e.loggedIn("alice")
	if p := onlyPart(t, r.ask(produceRequest(9, "t", id, 0, batch(1, "x")))); p.ErrorCode != kafkaerr.None {
		t.Fatalf("%+v", p)
	}
	if err := e.auth.DropUser("alice"); err != nil {
		t.Fatal(err)
	}
	if p := onlyPart(t, r.ask(produceRequest(9, "t", id, 0, batch(1, "x")))); p.ErrorCode != kafkaerr.TopicAuthorizationFailed {
		t.Fatalf("%+v", p)
	}
}
