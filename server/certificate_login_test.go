package server_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"millrace/internal/testkit"
	"millrace/server"
	"millrace/server/auth"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

// secured is a server with a certificate that also takes clients', with what each listener demands.
type secured struct {
	*server.Server
	ca    *testkit.Authority
	users *auth.Service
}

const (
	overTLS = iota
	overMTLS
	overSASL
)

func startSecured(t *testing.T) *secured {
	t.Helper()
	ca := testkit.NewAuthority(t)
	caFile, cert, key := ca.Files(t.TempDir(), ca.Issue("localhost"))
	s := testkit.Server(t, func(o *server.Options) {
		o.TLSCert, o.TLSKey, o.TLSClientCA = cert, key, caFile
		o.Kafka = []server.Listener{
			{Address: "127.0.0.1:0", TLS: true},
			{Address: "127.0.0.1:0", TLS: true, Certificate: true},
			{Address: "127.0.0.1:0", TLS: true, SASL: true},
		}
	})
	return &secured{s, ca, auth.New(s.Store)}
}

// topics asks a listener for the names of all topics, as who the certificates say.
func (s *secured) topics(t *testing.T, listener int, certs []tls.Certificate, opts ...kgo.Opt) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cl, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(s.KafkaAddrs()[listener]), kgo.RequestRetries(0), kgo.RetryTimeout(time.Millisecond),
		kgo.DialTLSConfig(&tls.Config{RootCAs: s.ca.Pool(), Certificates: certs}),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	req := kmsg.NewPtrMetadataRequest()
	resp, err := cl.SeedBrokers()[0].Request(ctx, req)
	if err != nil {
		return "refused"
	}
	var names []string
	for _, topic := range resp.(*kmsg.MetadataResponse).Topics {
		names = append(names, *topic.Topic)
	}
	slices.Sort(names)
	return fmt.Sprint(names)
}

func TestACertificateIsALoginOnKafka(t *testing.T) {
	s := startSecured(t)
	other := testkit.NewAuthority(t)
	certs := func(of *testkit.Authority, name string) []tls.Certificate { return []tls.Certificate{of.Issue(name)} }
	createTopic(t, s.Server, "orders")
	// While there are no users a certificate is asked for, and names nobody.
	if got := s.topics(t, overMTLS, certs(s.ca, "whoever")); got != "[orders]" {
		t.Fatal(got)
	}
	if got := s.topics(t, overMTLS, nil); got != "refused" {
		t.Fatal(got)
	}
	for _, name := range []string{"admin", "ada", "bob", "locked", "strict"} {
		if err := s.users.AddUser(name, matrixPassword); err != nil {
			t.Fatal(err)
		}
	}
	yes, x509 := true, auth.RequireCertificate
	for name, c := range map[string]auth.Change{"locked": {Locked: &yes}, "strict": {Require: &x509}} {
		if err := s.users.AlterAccount(name, c); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.users.CreateAccount(context.Background(), "cert", auth.Change{Require: &x509}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ada", "locked", "strict", "cert"} {
		if err := s.users.Grant(name, auth.Describe, auth.Pattern{Type: auth.Topic, Name: "*"}); err != nil {
			t.Fatal(err)
		}
	}
	password := func(name string) kgo.Opt {
		return kgo.SASL(plain.Auth{User: name, Pass: matrixPassword}.AsMechanism())
	}
	for _, c := range []struct {
		listener int
		certs    []tls.Certificate
		login    string
		want     string
	}{
		{overTLS, nil, "", "[]"},
		{overTLS, certs(s.ca, "ada"), "", "[orders]"},
		{overTLS, certs(s.ca, "bob"), "", "[]"},
		{overTLS, certs(s.ca, "nobody"), "", "[]"},
		{overTLS, certs(s.ca, "locked"), "", "[]"},
		{overTLS, certs(s.ca, "cert"), "", "[orders]"},
		{overTLS, certs(s.ca, "bob"), "ada", "[orders]"}, // who logs in later counts
		{overMTLS, nil, "", "refused"},
		{overMTLS, certs(s.ca, "ada"), "", "[orders]"},
		{overMTLS, certs(s.ca, "cert"), "", "[orders]"},
		{overMTLS, certs(s.ca, "nobody"), "", "refused"},
		{overMTLS, certs(s.ca, "ANONYMOUS"), "", "refused"},
		{overMTLS, certs(s.ca, "locked"), "", "refused"},
		{overMTLS, certs(other, "ada"), "", "refused"},
		{overSASL, certs(s.ca, "ada"), "", "refused"}, // a login is required
		{overSASL, nil, "ada", "[orders]"},
		{overSASL, nil, "locked", "refused"},
		{overSASL, nil, "strict", "refused"},
		{overSASL, certs(s.ca, "ada"), "strict", "refused"},
		{overSASL, certs(s.ca, "strict"), "strict", "[orders]"},
		{overSASL, certs(s.ca, "cert"), "cert", "refused"}, // has no password
	} {
		var opts []kgo.Opt
		if c.login != "" {
			opts = append(opts, password(c.login))
		}
		if got := s.topics(t, c.listener, c.certs, opts...); got != c.want {
			name := "none"
			if len(c.certs) > 0 {
				name = c.certs[0].Leaf.Subject.CommonName
			}
			t.Errorf("listener %d, certificate %s, login %q: %s, want %s", c.listener, name, c.login, got, c.want)
		}
	}
}

func TestPlaintextOnATLSPortEndsTheConnectionAndIsShown(t *testing.T) {
	s := startSecured(t)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.KafkaAddrs()[overTLS]), kgo.RequestRetries(0), kgo.RetryTimeout(time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if err := cl.Ping(ctx); err == nil {
		t.Fatal("was answered")
	}
	var text string
	if err := openSQL(t, s.Server, "root", "").QueryRowContext(ctx, "SELECT GROUP_CONCAT(error) FROM millrace.client_errors").Scan(&text); err != nil || !strings.Contains(text, "TLS") {
		t.Fatal("no row says so:", text, err)
	}
}
