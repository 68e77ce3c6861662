package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"millrace/internal/client"
	"millrace/internal/testkit"
	"millrace/server"
)

// running is a server and how commands reach it.
type running struct {
	t *testing.T
	s *server.Server
}

// do runs a command line against the server, stdin given, and returns what it printed.
func (r running) do(stdin string, args ...string) (out string, ok bool) {
	r.t.Helper()
	switch args[0] {
	case "sql", "user":
		args = append(args, "--mysql", r.s.MySQLAddr())
	default:
		args = append(args, "--kafka", r.s.KafkaAddr())
	}
	var b bytes.Buffer
	status := run(args, &client.IO{In: strings.NewReader(stdin), Out: &b, Err: &b})
	return b.String(), status == 0
}

func (r running) must(stdin string, args ...string) string {
	r.t.Helper()
	out, ok := r.do(stdin, args...)
	if !ok {
		r.t.Fatalf("%v: %s", args, out)
	}
	return out
}

func (r running) expect(want, stdin string, args ...string) {
	r.t.Helper()
	if got := r.must(stdin, args...); got != want {
		r.t.Fatalf("%v printed\n%s\nwant\n%s", args, got, want)
	}
}

func (r running) fails(want string, args ...string) {
	r.t.Helper()
	if out, ok := r.do("", args...); ok || !strings.Contains(out, want) {
		r.t.Fatalf("%v: ok %v, printed %q, want %q", args, ok, out, want)
	}
}

func TestTopicCommands(t *testing.T) {
	r := running{t, testkit.Server(t)}
	r.expect("topic,partitions,offsets\n", "", "topic", "list", "-f", "csv") // and no hint at logging in
	r.expect("topic orders created with 3 partitions\n", "", "topic", "create", "orders", "-p", "3", "--set", "retention.ms=86400000", "--set", "millrace.columns=a BIGINT, b TEXT")
	r.fails("already exists", "topic", "create", "orders")
	r.expect("topic orders exists already\n", "", "topic", "create", "orders", "--if-not-exists")
	r.expect("topic single created with 1 partition\n", "", "topic", "create", "single")
	r.expect("topic single deleted\n", "", "topic", "delete", "single")
	r.expect("topic,partitions,offsets\norders,3,0\n", "", "topic", "list", "-f", "csv")
	r.expect("topic orders altered: cleanup.policy=compact, retention.ms unset, 5 partitions\n", "",
		"topic", "alter", "orders", "--partitions", "5", "--set", "cleanup.policy=compact", "--unset", "retention.ms")
	out := r.must("", "topic", "describe", "orders", "-f", "tsv")
	if !strings.Contains(out, "\n4\t0\t0\t0\n") || !strings.Contains(out, "cleanup.policy\tcompact\ttopic\n") ||
		!strings.Contains(out, "millrace.columns\ta BIGINT, b TEXT\ttopic\n") || strings.Contains(out, "retention.ms\t86400000") {
		t.Fatal(out)
	}
	if out := r.must("", "topic", "describe", "orders", "--all", "-f", "tsv"); !strings.Contains(out, "retention.ms\t604800000\tdefault\n") {
		t.Fatal(out)
	}
	r.fails("bananas", "topic", "alter", "orders", "--set", "bananas=1")
	r.fails("INVALID_PARTITIONS", "topic", "alter", "orders", "--partitions", "2")
	r.fails("nope", "topic", "delete", "orders", "nope")
	r.expect("topic,partitions,offsets\n", "", "topic", "list", "-f", "csv")
	r.fails("nope", "topic", "describe", "nope")
}

func TestProducedRecordsAreConsumed(t *testing.T) {
	r := running{t, testkit.Server(t)}
	r.must("", "topic", "create", "kv", "-p", "2")
	r.must("a:1\nb:2:3\n", "produce", "kv", "-f", "key-value", "-p", "0")
	for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		r.must("{\"codec\":\""+codec+"\"}\n", "produce", "kv", "-k", "K", "-H", "source=web", "-p", "1", "-z", codec)
	}
	r.must("\n", "produce", "kv", "-k", "a", "-p", "0", "--empty-null", "--acks", "1")
	r.expect("a:1\nb:2:3\na:\n", "", "consume", "kv", "-f", "key-value", "-p", "0")
	r.expect("0 1 b\n", "", "consume", "kv", "-f", `%p %o %k\n`, "-p", "0", "--from", "1", "-n", "1")
	r.expect("{\"codec\":\"zstd\"}\n", "", "consume", "kv", "-p", "1", "--from=-1")
	r.expect("", "", "consume", "kv", "--from", "latest")
	out := r.must("", "consume", "kv", "-f", "json", "--from", "1h", "-p", "1", "-n", "1")
	if !regexp.MustCompile(`^{"topic":"kv","partition":1,"offset":0,"timestamp":"20[0-9:.T-]+Z","key":"K","value":{"codec":"none"},"headers":\[{"key":"source","value":"web"}\]}\n$`).MatchString(out) {
		t.Fatal(out)
	}
	// What consume prints as JSON can be produced again, timestamps and all.
	all := r.must("", "consume", "kv", "-f", "json", "-p", "0")
	r.must("", "topic", "create", "copy", "-p", "2")
	r.must(all, "produce", "copy", "-f", "json")
	if got := r.must("", "consume", "copy", "-f", "json", "-p", "0"); strings.ReplaceAll(got, `"copy"`, `"kv"`) != all {
		t.Fatalf("%s\n%s", got, all)
	}
	r.fails("no partition 7", "consume", "kv", "-p", "7")
	r.fails("nope", "consume", "nope")
}

func TestGroupCommands(t *testing.T) {
	r := running{t, testkit.Server(t)}
	r.must("", "topic", "create", "t", "-p", "1")
	r.must("1\n2\n3\n4\n5\n", "produce", "t")
	r.expect("1\n2\n", "", "consume", "t", "-g", "g", "-n", "2")
	r.expect("topic,partition,committed,end,lag,member\nt,0,2,5,3,\n", "", "group", "describe", "g", "-f", "csv")
	r.expect("3\n4\n5\n", "", "consume", "t", "-g", "g")
	r.expect("", "", "consume", "t", "-g", "g")
	r.expect("group,state,protocol\ng,Empty,consumer\n", "", "group", "list", "-f", "csv")
	r.expect("topic,partition,before,after\nt,0,5,4\n", "", "group", "reset-offsets", "g", "--to=-1", "--dry-run", "-f", "csv")
	r.expect("topic,partition,before,after\nt,0,5,1\n", "", "group", "reset-offsets", "g", "-t", "t", "--to", "1", "-f", "csv")
	r.expect("2\n3\n4\n5\n", "", "consume", "t", "-g", "g")
	for to, want := range map[string]string{
		"9":          "topic t partition 0: offset 9 is beyond the end: 5 is taken\ntopic,partition,before,after\nt,0,5,5\n",
		"-9":         "topic t partition 0: offset -4 is before the first one: 0 is taken\ntopic,partition,before,after\nt,0,5,0\n",
		"2999-01-01": "topic t partition 0: no record of that time or a later one: the end is taken\ntopic,partition,before,after\nt,0,5,5\n",
	} {
		if out, _ := r.do("", "group", "reset-offsets", "g", "-t", "t", "--to="+to, "-n", "-f", "csv"); !strings.HasSuffix(out, want) {
			t.Errorf("%s: %s", to, out)
		}
	}
	r.expect("topic,partition,before,after\nt,0,,5\n", "", "group", "reset-offsets", "new", "-t", "t", "--to", "latest", "-f", "csv")
	if out := r.must("", "group", "describe", "g"); !strings.HasPrefix(out, "Group g: Empty, 0 members\n") {
		t.Fatal(out)
	}
	r.fails("has no offsets", "group", "reset-offsets", "unknown", "--to", "latest")
	r.must("", "group", "delete", "g")
	r.fails("GROUP_ID_NOT_FOUND", "group", "delete", "g")
}

func TestImportAndGenerateAndQuery(t *testing.T) {
	r := running{t, testkit.Server(t)}
	dir := t.TempDir()
	csv := filepath.Join(dir, "people.csv")
	if err := os.WriteFile(csv, []byte("id;name;zip;height\n1;Ada;02134;1.70\n2;Émile;;1.8\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.must("", "import", csv, "-t", "people", "-d", ";", "-k", "id")
	r.expect("_key,id,name,zip,height\n1,1,Ada,02134,1.7\n2,2,Émile,,1.8\n", "",
		"sql", "-f", "csv", "SELECT _key, id, name, zip, height FROM people ORDER BY id")
	if out := r.must("", "import", "../../examples/data/earthquakes.ndjson.gz", "-t", "quakes", "-k", "properties.net"); !strings.HasPrefix(out, "1707 records imported into quakes in ") {
		t.Fatal(out)
	}
	r.must("", "gen", "orders", "-n", "500", "-r", "0", "-p", "3")
	r.expect("n\n500\nn\n1707\n", "", "sql", "-f", "tsv", "SELECT COUNT(*) AS n FROM orders; SELECT COUNT(*) AS n FROM quakes")
	r.expect("[\n{\"a\":1,\"b\":null,\"c\":\"x\"}\n]\n", "SELECT 1 AS a,\n NULL AS b, 'x' AS c", "sql", "-f", "json")
	r.expect("{\"a\":1,\"b\":null,\"c\":\"x\"}\n", "SELECT 1 AS a,\n NULL AS b, 'x' AS c", "sql", "-f", "ndjson")
	r.expect("a\n1\nb\n2\n", "", "sql", "-f", "csv", "-e", "SELECT 1 AS a", "-e", "SELECT 2 AS b")
	r.expect("─── row 1 ────────────────────\na: 1\n", "", "sql", `SELECT 1 AS a\G`)
	r.fails("1146", "sql", "SELECT * FROM nope; SELECT 1")
	bars := r.must("", "sql", "--plot", "bar", "SELECT status, COUNT(*) AS n FROM orders GROUP BY status ORDER BY n DESC")
	if !strings.HasPrefix(bars, "paid ") || !strings.Contains(bars, "█") {
		t.Fatal(bars)
	}
	bad := filepath.Join(dir, "bad.ndjson")
	if err := os.WriteFile(bad, []byte("{}\n{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.fails("line 2: not JSON (stopped there; the lines before are stored in bad: 1 record; --skip-bad skips such lines)", "import", bad, "-t", "bad")
	if out := r.must("", "import", bad, "-t", "skipped", "--skip-bad"); !strings.HasPrefix(out, "1 record imported into skipped in ") || !strings.Contains(out, "1 bad line skipped; the first: line 2: not JSON\n") {
		t.Fatal(out)
	}
}

func TestARefusedRecordIsNamedWithTheServersReason(t *testing.T) {
	r := running{t, testkit.Server(t)}
	r.must("", "topic", "create", "rej", "-p", "1", "--set", "millrace.columns=a INT", "--set", "millrace.on_error=reject")
	r.must("", "topic", "create", "keyed", "-p", "1", "--set", "cleanup.policy=compact")
	dir := t.TempDir()
	file := filepath.Join(dir, "rej.ndjson")
	if err := os.WriteFile(file, []byte("{\"a\":1}\n{\"a\":\"zz\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("x", 2_000_000)
	for _, c := range []struct {
		want, stdin string
		args        []string
	}{
		{"millrace: record 3: a: found \"zz\", expected INT (INVALID_RECORD)\n", "{\"a\":1}\n{\"a\":2}\n{\"a\":\"zz\"}\n{\"a\":4}\n", []string{"produce", "rej"}},
		{"record 1: a: found \"zz\", expected INT (INVALID_RECORD)\n", "{\"a\":\"zz\"}", []string{"produce", "rej", "--acks", "1", "-z", "lz4"}},
		{"(INVALID_RECORD)\n", "v\n", []string{"produce", "keyed"}},
		{"record 2: a: found \"zz\", expected INT (INVALID_RECORD)\n", "", []string{"import", file, "-t", "rej"}},
		{"(MESSAGE_TOO_LARGE)\n", "k:" + large, []string{"produce", "keyed", "-f", "key-value"}},
	} {
		if out, ok := r.do(c.stdin, c.args...); ok || !strings.Contains(out, c.want) {
			t.Errorf("%v: %v %q", c.args, ok, out)
		}
	}
	r.expect("", "", "consume", "rej")
}

func TestTheTopicDecidesHowLargeARecordMayBe(t *testing.T) {
	r := running{t, testkit.Server(t)}
	r.must("", "topic", "create", "large", "-p", "1", "--set", "max.message.bytes=5000000")
	r.must("", "topic", "create", "small", "-p", "1")
	lines := "first\n" + strings.Repeat("x", 4_000_000) + "\nlast\n"
	r.must(lines, "produce", "large")
	if got := r.must("", "consume", "large"); got != lines {
		t.Fatalf("%d bytes came back of %d", len(got), len(lines))
	}
	if out, ok := r.do(lines, "produce", "small"); ok || !strings.Contains(out, "MESSAGE_TOO_LARGE") {
		t.Fatal(ok, out)
	}
	r.expect("first\n", "", "consume", "small")
	// Small records do not share batches that are larger than the topic takes.
	r.must(strings.Repeat(strings.Repeat("y", 300_000)+"\n", 20), "produce", "small")
}

func TestUserCommandsOverTheWire(t *testing.T) {
	s := testkit.Server(t)
	r := running{t, s}
	r.must("secret\n", "user", "add", "ada", "--password-stdin")
	r.fails("Access denied", "sql", "SELECT 1")
	as := []string{"--user", "ada", "--password", "secret"}
	r.must("it's\n", append([]string{"user", "add", "o'neil", "--password-stdin"}, as...)...)
	r.must("other\n", append([]string{"user", "passwd", "o'neil", "--password-stdin"}, as...)...)
	r.expect("1\n1\n", "", "sql", "-f", "csv", "SELECT 1", "--user", "o'neil", "--password", "other")
	r.fails("Access denied", "sql", "SELECT 1", "--user", "o'neil", "--password", "it's")
	r.expect("ada\no'neil\n", "", append([]string{"user", "list"}, as...)...)
	r.expect("o'neil\n", "", "user", "list", "--user", "o'neil", "--password", "other")
	r.fails("log in as one with --user", "user", "list")
	r.must("", append([]string{"user", "drop", "o'neil"}, as...)...)
	r.fails("last administrator", append([]string{"user", "drop", "ada"}, as...)...)
}

func TestWhoIsRefusedWithoutALoginIsToldToLogIn(t *testing.T) {
	r := running{t, testkit.Server(t)}
	r.must("", "topic", "create", "t")
	r.must("secret\n", "user", "add", "ada", "--password-stdin")
	for _, args := range [][]string{
		{"topic", "create", "u"},
		{"topic", "describe", "t"},
		{"topic", "alter", "t", "--set", "retention.ms=1"},
		{"topic", "delete", "t"},
		{"produce", "t"},
		{"consume", "t"},
		{"consume", "t", "--follow"},
		{"consume", "nope", "--follow"},
		{"gen", "orders", "-n", "1"},
		{"group", "describe", "g"},
		{"sql", "SELECT 1"},
		{"user", "list"},
	} {
		if out, ok := r.do("1\n", args...); ok || strings.Count(out, client.LoginHint) != 1 {
			t.Errorf("%v: %v %q", args, ok, out)
		}
	}
	for _, args := range [][]string{{"topic", "list"}, {"group", "list"}} {
		if out := r.must("", args...); !strings.Contains(out, client.LoginHint) {
			t.Errorf("%v: %q", args, out)
		}
	}
	as := []string{"--user", "ada", "--password", "secret"}
	if out, ok := r.do("", append([]string{"topic", "describe", "nope"}, as...)...); ok || strings.Contains(out, client.LoginHint) {
		t.Error(out)
	}
	if out, ok := r.do("", "topic", "list", "--user", "ada", "--password", "wrong"); ok || strings.Contains(out, client.LoginHint) {
		t.Error(out)
	}
}

func TestAFollowerWaitsForItsTopic(t *testing.T) {
	for _, create := range []bool{true, false} {
		r := running{t, testkit.Server(t, func(o *server.Options) { o.KafkaWire.AutoCreateTopics = create })}
		var out bytes.Buffer
		status := make(chan int)
		noted := make(chan struct{})
		go func() {
			status <- run([]string{"consume", "later", "--follow", "-n", "1", "--from", "latest", "--kafka", r.s.KafkaAddr()},
				&client.IO{In: strings.NewReader(""), Out: &out, Err: onWrite(func() { close(noted) })})
		}()
		if create {
			// The server made the topic for the follower, who reads from the end of it.
			for !strings.Contains(r.must("", "topic", "list"), "later") {
			}
			for done := false; !done; {
				r.must("now\n", "produce", "later")
				select {
				case code := <-status:
					if done = true; code != 0 {
						t.Fatal(code)
					}
				default:
				}
			}
		} else {
			<-noted
			r.must("", "topic", "create", "later")
			r.must("now\n", "produce", "later")
			if code := <-status; code != 0 {
				t.Fatal(code)
			}
		}
		if out.String() != "now\n" {
			t.Fatalf("%q", out.String())
		}
	}
}

// onWrite is a writer that is told of being written to.
type onWrite func()

func (f onWrite) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

// certificate makes a certificate for 127.0.0.1 that signs itself.
func certificate(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyBytes, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, b []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	return write("cert.pem", "CERTIFICATE", cert), write("key.pem", "PRIVATE KEY", keyBytes)
}

func TestUsersLogInOverTLSOnBothWires(t *testing.T) {
	cert, key := certificate(t)
	data := filepath.Join(t.TempDir(), "data")
	var out bytes.Buffer
	if status := run([]string{"user", "add", "ada", "--data", data, "--password-stdin"}, &client.IO{In: strings.NewReader("secret"), Out: &out, Err: &out}); status != 0 {
		t.Fatal(out.String())
	}
	r := running{t, testkit.Server(t, func(o *server.Options) {
		o.Data, o.TLSCert, o.TLSKey = data, cert, key
		o.Kafka[0].TLS, o.Kafka[0].SASL = true, true
	})}
	t.Setenv("MILLRACE_USER", "ada")
	t.Setenv("MILLRACE_PASSWORD", "secret")
	t.Setenv("MILLRACE_TLS_CA", cert)
	for _, mechanism := range []string{"SCRAM-SHA-256", "SCRAM-SHA-512", "PLAIN"} {
		r.must("", "topic", "create", mechanism, "--sasl", mechanism)
	}
	r.expect("n\n0\n", "", "sql", "-f", "csv", "SELECT COUNT(*) AS n FROM `PLAIN`")
	r.fails("SASL", "topic", "list", "--password", "wrong")
	r.fails(client.LoginHint, "topic", "list", "--user", "")
	r.fails("1045", "sql", "SELECT 1", "--password", "wrong")
	os.Unsetenv("MILLRACE_TLS_CA")
	r.fails("certificate", "topic", "list", "--tls")
	r.fails("certificate", "sql", "SELECT 1", "--tls")
	r.must("", "topic", "list", "--tls-skip-verify")
}

func TestNobodyAnswers(t *testing.T) {
	for _, args := range [][]string{
		{"topic", "list", "--kafka", "127.0.0.1:1"},
		{"sql", "SELECT 1", "--mysql", "127.0.0.1:1"},
		{"user", "list", "--mysql", "127.0.0.1:1"},
	} {
		var out bytes.Buffer
		if status := run(args, &client.IO{In: strings.NewReader(""), Out: &out, Err: &out}); status != exitFailed || !strings.Contains(out.String(), "127.0.0.1:1") {
			t.Error(fmt.Sprint(args, status, out.String()))
		}
	}
}

func TestVerifyFindsAFlippedByte(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s := testkit.Server(t, func(o *server.Options) { o.Data = data })
	r := running{t, s}
	r.must("", "gen", "orders", "-n", "1000", "-r", "0")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	verify := func() (string, int) {
		var out bytes.Buffer
		status := run([]string{"verify", "--data", data}, &client.IO{In: strings.NewReader(""), Out: &out, Err: &out})
		return out.String(), status
	}
	if out, status := verify(); status != 0 || !strings.Contains(out, "no problem found") {
		t.Fatal(status, out)
	}
	// Damage a record: the log holds its text as it is.
	damaged := 0
	err := filepath.WalkDir(data, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if i := bytes.Index(b, []byte(`"order_id":100500`)); i >= 0 {
			b[i+12] ^= 1
			damaged++
			return os.WriteFile(path, b, 0o600)
		}
		return nil
	})
	if err != nil || damaged == 0 {
		t.Fatal(damaged, err)
	}
	if out, status := verify(); status != exitFailed || !strings.Contains(out, "problems found") {
		t.Fatal(status, out)
	}
}
