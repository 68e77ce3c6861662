package client

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/twmb/franz-go/pkg/kgo"
)

func importText(t *testing.T, c Import, format, text string) (lines []string, err error) {
	t.Helper()
	if c.Delimiter == "" {
		c.Delimiter = ","
	}
	err = c.records(context.Background(), format, strings.NewReader(text), func(_ int64, r *kgo.Record) error {
		k := "-"
		if r.Key != nil {
			k = string(r.Key)
		}
		if c.Timestamp != "" {
			k += " " + r.Timestamp.UTC().Format(time.RFC3339Nano)
		}
		lines = append(lines, k+" "+string(r.Value))
		return nil
	}, func(bad *badLine) error {
		if !c.SkipBad {
			return bad
		}
		lines = append(lines, bad.Error())
		return nil
	})
	return lines, err
}

func TestCSVBecomesTypedJSON(t *testing.T) {
	got, err := importText(t, Import{Key: "id"}, "csv", "\ufeffid,zip,amount,ok,note,big\n"+
		"7,02134,1.50,true,\"a \"\"b\"\"\nc\",123456789012345678901234567890\n"+
		"8,,-0.5e3,TRUE,+1,1.\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`7 {"id":7,"zip":"02134","amount":1.50,"ok":true,"note":"a \"b\"\nc","big":123456789012345678901234567890}`,
		`8 {"id":8,"zip":null,"amount":-0.5e3,"ok":"TRUE","note":"+1","big":"1."}`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
}

func TestCSVCanStayText(t *testing.T) {
	got, err := importText(t, Import{NoTypes: true, Delimiter: ";"}, "csv", "a;b\n1;true\n;x,y\n")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{`- {"a":"1","b":"true"}`, `- {"a":null,"b":"x,y"}`}, got); d != "" {
		t.Fatal(d)
	}
}

func TestCSVMistakesSayWhere(t *testing.T) {
	for text, want := range map[string]string{
		"a,b\n1\n":     "line 2",
		"a,a\n":        "twice",
		"a\n\"x\ny\n":  "line 2",
		"b\n1\n":       "no such column",
		"a,b\n1,2,3\n": "line 2",
	} {
		c := Import{}
		if strings.HasPrefix(text, "b\n") {
			c.Key = "a"
		}
		if _, err := importText(t, c, "csv", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestNDJSONIsTakenAsItIs(t *testing.T) {
	got, err := importText(t, Import{Key: "a.b"}, "ndjson", "\ufeff{\"a\": {\"b\": \"x\"} }\r\n\n  {\"a\":{\"b\":1.50}}\n{\"a\":{\"b\":null}}\n{\"a\":1}\n{}\n[1]")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`x {"a": {"b": "x"} }`, `1.50 {"a":{"b":1.50}}`, `- {"a":{"b":null}}`, `- {"a":1}`, `- {}`, `- [1]`}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
	if _, err := importText(t, Import{}, "ndjson", "{}\n{\"a\":}\n"); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Fatal(err)
	}
}

func TestCompressedFilesAreRecognised(t *testing.T) {
	const text = "{\"a\":1}\n"
	var gz, zs bytes.Buffer
	g := gzip.NewWriter(&gz)
	g.Write([]byte(text))
	g.Close()
	z, _ := zstd.NewWriter(&zs)
	z.Write([]byte(text))
	z.Close()
	for _, in := range []string{text, gz.String(), zs.String()} {
		r, err := decompress(strings.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(r); err != nil || string(b) != text {
			t.Fatalf("%q %v", b, err)
		}
	}
	if r, err := decompress(strings.NewReader("")); err != nil {
		t.Fatal(err)
	} else if b, _ := io.ReadAll(r); len(b) != 0 {
		t.Fatal(b)
	}
}

func TestTheFormatGoesByTheName(t *testing.T) {
	for file, want := range map[string]string{"a.ndjson.gz": "ndjson", "A.JSONL": "ndjson", "b.csv.zst": "csv", "c.tsv": "csv", "d": "", "-": ""} {
		got, err := (&Import{File: file, Format: "auto"}).format()
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q %v", file, got, err)
		}
	}
}

func TestLinesOfAnyLengthAndEnd(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	var got []string
	if err := eachLine(context.Background(), strings.NewReader("a\r\n\n"+long+"\nlast"), func(n int64, line []byte) error {
		got = append(got, string(line))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a", "", long, "last"}, got); d != "" {
		t.Fatal(d)
	}
}

func TestTimestampsComeFromAField(t *testing.T) {
	got, err := importText(t, Import{Timestamp: "a.t"}, "ndjson", `{"a":{"t":1517363399650}}
{"a":{"t":"2018-01-31T02:49:59.65+01:00"}}
{"a":{"t":1517363399}}
{"a":{"t":"2001/01/01 00:47"}}
{}
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`- 2018-01-31T01:49:59.65Z {"a":{"t":1517363399650}}`,
		`- 2018-01-31T01:49:59.65Z {"a":{"t":"2018-01-31T02:49:59.65+01:00"}}`,
		`- 2018-01-31T01:49:59Z {"a":{"t":1517363399}}`,
		`- 2001-01-01T00:47:00Z {"a":{"t":"2001/01/01 00:47"}}`,
		`- 0001-01-01T00:00:00Z {}`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
	got, err = importText(t, Import{Timestamp: "t"}, "csv", "t\n2018-01-31\n")
	if d := cmp.Diff([]string{`- 2018-01-31T00:00:00Z {"t":"2018-01-31"}`}, got); d != "" || err != nil {
		t.Fatal(d, err)
	}
	if _, err := importText(t, Import{Timestamp: "t"}, "csv", "t\n2018-01-31\nsoon\n"); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Fatal(err)
	}
}

func TestBadLinesCanBeSkipped(t *testing.T) {
	got, err := importText(t, Import{SkipBad: true, Timestamp: "t"}, "ndjson", "{}\n{\n\n{\"t\":\"soon\"}\n{}\n")
	want := []string{"- 0001-01-01T00:00:00Z {}", "line 2: not JSON", `line 4: "soon" is not a time`, "- 0001-01-01T00:00:00Z {}"}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(err, d)
	}
	got, err = importText(t, Import{SkipBad: true}, "csv", "a,b\n1,2\n3\n4,x\"y\n5,\"6\n7\"\n8,9\n")
	want = []string{`- {"a":1,"b":2}`, "line 3: wrong number of fields", "line 4: bare \" in non-quoted-field", `- {"a":5,"b":"6\n7"}`, `- {"a":8,"b":9}`}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(err, d)
	}
}
