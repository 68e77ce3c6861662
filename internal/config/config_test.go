package config

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"millrace/server"

	"github.com/alecthomas/kong"
)

type cli struct {
	Serve Serve `cmd:"" help:"x"`
}

func parse(t *testing.T, args ...string) (Serve, error) {
	t.Helper()
	var c cli
	k, err := kong.New(&c, Vars(), kong.DefaultEnvars(EnvPrefix), kong.Resolvers(Resolver()), kong.Exit(func(int) { t.Fatal("exit") }))
	if err != nil {
		t.Fatal(err)
	}
	_, err = k.Parse(append([]string{"serve"}, args...))
	return c.Serve, err
}

func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "millrace.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestToldNothingTheServerGetsItsOwnDefaults(t *testing.T) {
	s, err := parse(t)
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.Options("", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	o.Logger = nil
	if want := server.DefaultOptions(); !reflect.DeepEqual(o, want) {
		t.Fatalf("got %+v\nwant %+v", o, want)
	}
}

func TestFlagOverEnvironmentOverFileOverDefault(t *testing.T) {
	f := file(t, "data: from-file\nmysql: 127.0.0.1:1\nhttp: 127.0.0.1:2\nauto-create-topics: false\nseal-bytes: 4MiB\nseal-age: 90s\ndefault-partitions: 3\n")
	t.Setenv("MILLRACE_MYSQL", "127.0.0.1:11")
	t.Setenv("MILLRACE_HTTP", "127.0.0.1:12")
	s, err := parse(t, "--config", f, "--http", "127.0.0.1:22")
	if err != nil {
		t.Fatal(err)
	}
	if s.Data != "from-file" || s.MySQL.Address != "127.0.0.1:11" || s.HTTP != "127.0.0.1:22" || s.AutoCreateTopics ||
		s.SealBytes != 4<<20 || s.SealAge != 90*time.Second || s.DefaultPartitions != 3 || s.LogLevel != "info" {
		t.Fatalf("%+v", s)
	}
}

func TestTheFileMayBeNamedByTheEnvironment(t *testing.T) {
	t.Setenv("MILLRACE_CONFIG", file(t, "data: here\n"))
	if s, err := parse(t); err != nil || s.Data != "here" {
		t.Fatal(s.Data, err)
	}
}

func TestEveryFlagCanBeSetInTheFile(t *testing.T) {
	for i := range reflect.TypeFor[Serve]().NumField() {
		f := reflect.TypeFor[Serve]().Field(i)
		if f.Name == "Config" {
			continue
		}
		var c cli
		k := kong.Must(&c, Vars())
		name := ""
		for _, flag := range k.Model.Children[0].Flags {
			if flag.Target == reflect.ValueOf(&c.Serve).Elem().Field(i) {
				name = flag.Name
			}
		}
		text := map[reflect.Type]string{
			reflect.TypeFor[string]():        "x",
			reflect.TypeFor[bool]():          "true",
			reflect.TypeFor[int]():           "7",
			reflect.TypeFor[ByteSize]():      "7KiB",
			reflect.TypeFor[time.Duration](): "7s",
			reflect.TypeFor[[]Listener]():    "[127.0.0.1:7]",
			reflect.TypeFor[MySQLListener](): "127.0.0.1:7",
		}[f.Type]
		switch f.Name {
		case "LogLevel":
			text = "warn"
		case "LogFormat":
			text = "json"
		case "AutoCreateTopics":
			text = "false"
		}
		s, err := parse(t, "--config", file(t, name+": "+text+"\n"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		def, _ := parse(t)
		if reflect.DeepEqual(reflect.ValueOf(s).Field(i).Interface(), reflect.ValueOf(def).Field(i).Interface()) {
			t.Errorf("%s: %s in the file changes nothing", name, text)
		}
		switch f.Name {
		case "TLSCert", "TLSKey", "TLSClientCA": // belong together
		case "LogLevel", "LogFormat": // are in the logger
		default:
			o, err := s.Options("", io.Discard)
			o.Logger = nil
			if err != nil || reflect.DeepEqual(o, server.DefaultOptions()) {
				t.Errorf("%s: %s does not reach the server: %v", name, text, err)
			}
		}
	}
}

func TestMistakesInTheFileAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"dta: x\n":                              `unknown key "dta"`,
		"config: other.yaml\n":                  `unknown key "config"`,
		"data: a\ndata: b\n":                    "data",
		"max-topics: many\n":                    "many",
		"seal-bytes: 4 bananas\n":               "bananas",
		"log-level: loud\n":                     "log-level",
		"data: {a: b}\n":                        "neither text",
		"kafka: [{adress: '127.0.0.1:1'}]\n":    `unknown key "adress"`,
		"kafka: [{address: a, tls: 'yes'}]\n":   "wrong type",
		"kafka: [127.0.0.1]\n":                  "missing port",
		"kafka: ['http://127.0.0.1:9092']\n":    "none of plaintext",
		"kafka: ['127.0.0.1:9?advertized=a']\n": "unknown option",
		"[1]\n":                                 "",
	} {
		_, err := parse(t, "--config", file(t, text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := parse(t, "--config", "/nowhere/x.yaml"); err == nil {
		t.Error("a missing file is refused")
	}
}

func TestListeners(t *testing.T) {
	want := []Listener{
		{Address: "127.0.0.1:9092"},
		{Address: "0.0.0.0:9093", TLS: true, SASL: true, Advertised: "broker.example.com:443", Name: "EXTERNAL"},
		{Address: "[::1]:9094", SASL: true},
		{Address: "0.0.0.0:9095", TLS: true, Certificate: true},
	}
	s, err := parse(t, "--kafka", "127.0.0.1:9092", "--kafka", "sasl+tls://0.0.0.0:9093?advertised=broker.example.com:443&name=EXTERNAL,sasl://[::1]:9094,mtls://0.0.0.0:9095")
	if err != nil || !reflect.DeepEqual(s.Kafka, want) {
		t.Fatalf("%+v %v", s.Kafka, err)
	}
	s, err = parse(t, "--config", file(t, `
kafka:
  - 127.0.0.1:9092
  - {address: 0.0.0.0:9093, tls: true, sasl: true, advertised: broker.example.com:443, name: EXTERNAL}
  - sasl://[::1]:9094
  - mtls://0.0.0.0:9095
`))
	if err != nil || !reflect.DeepEqual(s.Kafka, want) {
		t.Fatalf("%+v %v", s.Kafka, err)
	}
	for _, l := range want {
		var back Listener
		if err := back.UnmarshalText([]byte(l.String())); err != nil || back != l {
			t.Errorf("%s reads back as %+v, %v", l, back, err)
		}
	}
}

func TestTheMySQLListenerReadsBackAsWritten(t *testing.T) {
	for text, want := range map[string]MySQLListener{
		"":                      {},
		"127.0.0.1:3306":        {Address: "127.0.0.1:3306"},
		"tls://0.0.0.0:3306":    {"0.0.0.0:3306", server.SecurityTLS},
		"mtls://[::1]:3306":     {"[::1]:3306", server.SecurityCertificate},
		"plaintext://[::]:3306": {Address: "[::]:3306"},
	} {
		var l, back MySQLListener
		if err := l.UnmarshalText([]byte(text)); err != nil || l != want {
			t.Errorf("%q: %+v, %v", text, l, err)
		}
		if err := back.UnmarshalText([]byte(l.String())); err != nil || back != l {
			t.Errorf("%s reads back as %+v, %v", l, back, err)
		}
	}
	for _, text := range []string{"127.0.0.1", "sasl://127.0.0.1:1", "tls://", "tls://127.0.0.1:70000"} {
		var l MySQLListener
		if err := l.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken as %+v", text, l)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]ByteSize{"0": 0, "17": 17, "4MiB": 4 << 20, "4 MiB": 4 << 20, "4m": 4 << 20, "4MB": 4e6, "1TiB": 1 << 40} {
		var b ByteSize
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%q: %d, %v", text, b, err)
		}
		var back ByteSize
		if err := back.UnmarshalText([]byte(want.String())); err != nil || back != want {
			t.Errorf("%s does not read back", want)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "1.5GiB", "9999999999TiB", "1 potato"} {
		var b ByteSize
		if err := b.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is accepted as %d", text, b)
		}
	}
}

func TestOptionsThatContradictAreRefused(t *testing.T) {
	for _, args := range [][]string{
		{"--tls-cert", "a"},
		{"--tls-key", "a"},
		{"--default-partitions", "0"},
		{"--max-connections=-1"},
		{"--max-request", "1"},
		{"--kafka", "tls://127.0.0.1:1"},
		{"--kafka", "mtls://127.0.0.1:1", "--tls-cert", "a", "--tls-key", "b"},
		{"--tls-client-ca", "a"},
		{"--mysql", "mtls://127.0.0.1:1", "--tls-cert", "a", "--tls-key", "b"},
		{"--seal-bytes", "0"},
		{"--login-timeout", "0s"},
		{"--max-connections-per-ip=-1"},
		{"--statement-timeout=-1s"},
		{"--min-session-timeout", "10s", "--max-session-timeout", "9s"},
		{"--offsets-retention=-1h"},
		{"--group-max-size", "0"},
		{"--max-statement", "2GiB"},
	} {
		s, err := parse(t, args...)
		if err != nil {
			t.Errorf("%v: %v", args, err)
			continue
		}
		if _, err := s.Options("", io.Discard); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
}
