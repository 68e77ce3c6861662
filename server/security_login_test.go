package server_test

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"millrace/internal/testkit"
	"millrace/server"
	"millrace/server/auth"
)

// rawMySQL is a client that writes its own packets.
type rawMySQL struct {
	t   *testing.T
	c   net.Conn
	seq byte
}

func dialMySQL(t *testing.T, s *server.Server) *rawMySQL {
	t.Helper()
	c, err := net.Dial("tcp", s.MySQLAddr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	r := &rawMySQL{t: t, c: c}
	if p := r.recv(); p[0] != 10 {
		t.Fatalf("no greeting: %q", p)
	}
	return r
}

func (r *rawMySQL) recv() []byte {
	r.t.Helper()
	p, err := r.tryRecv()
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func (r *rawMySQL) tryRecv() ([]byte, error) {
	var h [4]byte
	if _, err := io.ReadFull(r.c, h[:]); err != nil {
		return nil, err
	}
	r.seq = h[3] + 1
	p := make([]byte, int(h[0])|int(h[1])<<8|int(h[2])<<16)
	_, err := io.ReadFull(r.c, p)
	return p, err
}

func (r *rawMySQL) packet(p []byte) []byte {
	b := append([]byte{byte(len(p)), byte(len(p) >> 8), byte(len(p) >> 16), r.seq}, p...)
	r.seq++
	return b
}

func (r *rawMySQL) send(p []byte) {
	r.t.Helper()
	if _, err := r.c.Write(r.packet(p)); err != nil {
		r.t.Fatal(err)
	}
}

const (
	capTLS   = 1 << 11
	capLogin = 1<<9 | 1<<15 | 1<<19 // protocol 4.1, the response with its length, a plugin's name
)

func loginHead(caps uint32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, caps)
	b = binary.LittleEndian.AppendUint32(b, 1<<24)
	return append(append(b, 45), make([]byte, 23)...)
}

func loginPacket(caps uint32, user string, response []byte) []byte {
	b := append(append(loginHead(caps), user...), 0)
	b = append(append(b, byte(len(response))), response...)
	return append(b, "caching_sha2_password\x00"...)
}

// startTLS goes on over TLS.
func (r *rawMySQL) startTLS() {
	r.t.Helper()
	r.send(loginHead(capLogin | capTLS))
	c := tls.Client(r.c, &tls.Config{InsecureSkipVerify: true})
	if err := c.Handshake(); err != nil {
		r.t.Fatal(err)
	}
	r.c = c
}

// S13: whether there is a user is told by no byte.
func TestAnUnknownUserIsAnsweredByteForByteLikeAKnownOne(t *testing.T) {
	s := testkit.Server(t)
	users := auth.New(s.Store)
	for _, name := range []string{"admin", "alice"} {
		if err := users.AddUser(name, matrixPassword); err != nil {
			t.Fatal(err)
		}
	}
	locked := true
	if err := users.AddUser("lucky", matrixPassword); err != nil {
		t.Fatal(err)
	}
	if err := users.AlterAccount("lucky", auth.Change{Locked: &locked}); err != nil {
		t.Fatal(err)
	}
	transcript := func(user string, overTLS bool, response []byte) string {
		r := dialMySQL(t, s)
		caps := uint32(capLogin)
		if overTLS {
			r.startTLS()
			caps |= capTLS
		}
		began := time.Now()
		r.send(loginPacket(caps, user, response))
		var all [][]byte
		for {
			p, err := r.tryRecv()
			if err != nil {
				break
			}
			all = append(all, bytes.ReplaceAll(p, []byte(user), []byte("USER")))
			switch {
			case bytes.Equal(p, []byte{1, 4}): // the password itself, please
				r.send([]byte("wrong\x00"))
			case p[0] == 0xfe: // another plugin: its salt is new each time
				all[len(all)-1] = p[:22]
				r.send(nil)
			}
		}
		if took := time.Since(began); took < auth.FailureDelay {
			t.Errorf("%s: refused after %s", user, took)
		}
		return string(bytes.Join(all, []byte("|")))
	}
	scramble := bytes.Repeat([]byte{7}, 32)
	for _, c := range []struct {
		tls      bool
		response []byte
		want     string
	}{{true, scramble, "1045"}, {true, nil, "1045"}, {false, scramble, "3159"}, {false, nil, "1045"}} {
		known := transcript("alice", c.tls, c.response)
		for _, other := range []string{"mallo", "lucky"} {
			if got := transcript(other, c.tls, c.response); got != known {
				t.Errorf("TLS %v, %d bytes: alice %q, %s %q", c.tls, len(c.response), known, other, got)
			}
		}
	}
}

// S18: what came in the clear before TLS counts for nothing.
func TestALoginInTheClearBehindTheRequestForTLSIsNoLogin(t *testing.T) {
	s := testkit.Server(t)
	r := dialMySQL(t, s)
	b := r.packet(loginHead(capLogin | capTLS))
	b = append(b, r.packet(loginPacket(capLogin, "root", nil))...)
	if _, err := r.c.Write(b); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(r.c)
	if err != nil && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
		t.Fatal(err)
	}
	if len(rest) > 0 && rest[0] != 0x15 { // at most an alert of TLS
		t.Fatalf("answered with %q", rest)
	}
}

// S6: a packet that was begun has to arrive.
func TestACommandThatTricklesInEndsTheConnection(t *testing.T) {
	s := testkit.Server(t, func(o *server.Options) { o.MySQLWire.WriteTimeout = 100 * time.Millisecond })
	r := dialMySQL(t, s)
	r.send(loginPacket(capLogin, "root", nil))
	for {
		p := r.recv()
		if p[0] == 0xfe {
			r.send(nil)
			continue
		}
		if p[0] == 0 {
			break
		}
	}
	r.seq = 0
	if _, err := r.c.Write(append([]byte{0xff, 0, 0, 0}, "\x03SELECT"...)); err != nil {
		t.Fatal(err)
	}
	var timeout net.Error
	if _, err := io.ReadAll(r.c); errors.As(err, &timeout) && timeout.Timeout() {
		t.Fatal("the connection stays open")
	}
}

// S18: MySQL listeners can demand TLS, and a certificate.
func TestACertificateIsALoginOnMySQL(t *testing.T) {
	ca := testkit.NewAuthority(t)
	other := testkit.NewAuthority(t)
	caFile, cert, key := ca.Files(t.TempDir(), ca.Issue("localhost"))
	secured := func(security server.Security) *server.Server {
		s := testkit.Server(t, func(o *server.Options) {
			o.TLSCert, o.TLSKey, o.TLSClientCA, o.MySQLSecurity = cert, key, caFile, security
		})
		users := auth.New(s.Store)
		x509, locked := auth.RequireCertificate, true
		for name, c := range map[string]auth.Change{"ada": {}, "lock": {Locked: &locked}, "strict": {Require: &x509}} {
			if err := users.AddUser(name, matrixPassword); err != nil {
				t.Fatal(err)
			}
			if len(users.Users()) == 1 {
				if err := users.AddUser("admin", matrixPassword); err != nil {
					t.Fatal(err)
				}
				if err := users.SetAdministrator("admin", true); err != nil {
					t.Fatal(err)
				}
			}
			if err := users.AlterAccount(name, c); err != nil {
				t.Fatal(err)
			}
		}
		if err := users.CreateAccount(t.Context(), "cert", auth.Change{Require: &x509}); err != nil {
			t.Fatal(err)
		}
		return s
	}
	try := func(s *server.Server, user, password string, c *tls.Config) int {
		return loginError(t, s, user, password, c)
	}
	with := func(of *testkit.Authority, name string) *tls.Config {
		return &tls.Config{RootCAs: ca.Pool(), ServerName: "127.0.0.1", Certificates: []tls.Certificate{of.Issue(name)}}
	}
	plain := &tls.Config{RootCAs: ca.Pool(), ServerName: "127.0.0.1"}
	optional, required, mutual := secured(server.SecurityOptional), secured(server.SecurityTLS), secured(server.SecurityCertificate)
	const broken = -1
	for _, c := range []struct {
		name           string
		s              *server.Server
		user, password string
		tls            *tls.Config
		want           int
	}{
		{"password", optional, "ada", matrixPassword, plain, 0},
		{"certificate", optional, "ada", "", with(ca, "ada"), 0},
		{"certificate of another", optional, "ada", "", with(ca, "admin"), 1045},
		{"certificate of another and the password", optional, "ada", matrixPassword, with(ca, "admin"), 0},
		{"certificate of another authority", optional, "ada", "", with(other, "ada"), broken},
		{"no password and no certificate", optional, "ada", "", plain, 1045},
		{"unknown user", optional, "nobody", "", with(ca, "nobody"), 1045},
		{"locked", optional, "lock", "", with(ca, "lock"), 1045},
		{"locked with the password", optional, "lock", matrixPassword, plain, 3118},
		{"certificate only", optional, "cert", "", with(ca, "cert"), 0},
		{"certificate only, with a password", optional, "cert", matrixPassword, with(ca, "cert"), 1045},
		{"password where a certificate is required", optional, "strict", matrixPassword, plain, 1045},
		{"password with the certificate", optional, "strict", matrixPassword, with(ca, "strict"), 0},
		{"TLS required", required, "ada", matrixPassword, nil, 3159},
		{"TLS required and there", required, "ada", matrixPassword, plain, 0},
		{"certificate required", mutual, "ada", matrixPassword, plain, broken},
		{"certificate required, no TLS", mutual, "ada", "", nil, 3159},
		{"certificate required and there", mutual, "ada", "", with(ca, "ada"), 0},
	} {
		if got := try(c.s, c.user, c.password, c.tls); got != c.want {
			t.Errorf("%s: error %d, want %d", c.name, got, c.want)
		}
	}
}
