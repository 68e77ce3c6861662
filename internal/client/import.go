package client

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Import is `millrace import`.
type Import struct {
	File       string `arg:"" help:"File to import (- is standard input): NDJSON or CSV with a header line, plain or under gzip or zstd."`
	Topic      string `short:"t" help:"Topic to import into; created if need be." required:"" placeholder:"TOPIC"`
	Key        string `short:"k" help:"Member or column whose value becomes the record key; dots lead into nested objects." placeholder:"FIELD"`
	Timestamp  string `help:"Member or column that becomes the record timestamp: an ISO 8601 time (UTC without a zone) or a Unix time in s, ms, µs or ns. Now where it is missing." placeholder:"FIELD"`
	Format     string `short:"f" help:"What the file holds: ${enum}; auto goes by its name." enum:"auto,ndjson,csv" default:"auto" placeholder:"FORMAT"`
	Delimiter  string `short:"d" help:"Between CSV columns; \\t for a tab." default:"," placeholder:"CHAR"`
	NoTypes    bool   `help:"Leave all CSV cells text instead of writing numbers, true and false as such."`
	Partitions int32  `short:"p" help:"Partitions of the topic if it is created; -1 for the server's default." default:"-1" placeholder:"N"`
	ProducerFlags
	Kafka
}

func (*Import) Help() string {
	return `Each line of NDJSON becomes the value of a record, unchanged. Each line of CSV becomes a
JSON object of its columns; an empty cell is null.

Examples:
  millrace import earthquakes.ndjson.gz --topic earthquakes --key properties.net --timestamp properties.time
  millrace import people.csv --topic people --delimiter ';'`
}

func (c *Import) Run(ctx context.Context, s *IO) (err error) {
	in, size := s.In, int64(-1)
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return err
		}
		defer f.Close()
		st, err := f.Stat()
		if err != nil {
			return err
		}
		if st.IsDir() {
			return fmt.Errorf("%s is a directory", c.File)
		}
		in, size = f, st.Size()
	}
	format, err := c.format()
	if err != nil {
		return err
	}
	cl, err := c.Client(ctx, s, append(c.options(), kgo.DefaultProduceTopic(c.Topic), kgo.RecordPartitioner(pinnedPartitioner()))...)
	if err != nil {
		return err
	}
	defer cl.Close()
	if err := ensureTopic(ctx, cl, c.Topic, c.Partitions); err != nil {
		return err
	}
	bar := newProgress(s, size, filepath.Base(c.File)+" → "+c.Topic, true)
	plain, err := decompress(io.TeeReader(in, bar))
	if err != nil {
		return err
	}
	defer plain.Close()
	began := time.Now()
	out := newSink(ctx, cl)
	err = c.records(ctx, format, plain, func(r *kgo.Record) error { return out.send(r) })
	if cerr := out.close(); err == nil {
		err = cerr
	}
	finishProgress(s, bar)
	if err != nil {
		return fmt.Errorf("%s after %d records: %w", c.File, out.sent(), err)
	}
	fmt.Fprintf(s.Err, "%d records imported into %s in %s\n", out.sent(), c.Topic, time.Since(began).Round(time.Millisecond))
	return nil
}

// format decides between ndjson and csv.
func (c *Import) format() (string, error) {
	if c.Format != "auto" {
		return c.Format, nil
	}
	name := strings.ToLower(c.File)
	for _, ext := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, ext)
	}
	switch filepath.Ext(name) {
	case ".ndjson", ".jsonl", ".json":
		return "ndjson", nil
	case ".csv", ".tsv":
		return "csv", nil
	}
	return "", fmt.Errorf("cannot tell from the name %q what it holds: give --format ndjson or csv", c.File)
}

// maxDecoderMemory bounds the window that a zstd file may ask for.
const maxDecoderMemory = 256 << 20

// decompress looks at the first bytes: gzip and zstd say what they are.
func decompress(r io.Reader) (io.ReadCloser, error) {
	br := bufio.NewReaderSize(r, 1<<18)
	magic, err := br.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		return gzip.NewReader(br)
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		d, err := zstd.NewReader(br, zstd.WithDecoderMaxMemory(maxDecoderMemory))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return io.NopCloser(br), nil
}

// records calls emit with each record of r, which is emit's to keep.
func (c *Import) records(ctx context.Context, format string, r io.Reader, emit func(*kgo.Record) error) error {
	if format == "csv" {
		return c.csvRecords(ctx, r, emit)
	}
	return eachLine(ctx, r, func(n int64, line []byte) error {
		if n == 1 {
			line = trimBOM(line)
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			return nil
		}
		if !json.Valid(line) {
			return fmt.Errorf("line %d is not JSON", n)
		}
		key, err := jsonMember(line, c.Key)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		when, err := jsonMember(line, c.Timestamp)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		rec := &kgo.Record{Key: key, Value: bytes.Clone(line), Partition: -1}
		if rec.Timestamp, err = parseTime(string(when)); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		return emit(rec)
	})
}

// jsonMember is the text of the member at path: a string's text, any other value as
// spelled, nil when it is null or absent or path is "".
func jsonMember(value []byte, path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	rest := json.RawMessage(value)
	for name := range strings.SplitSeq(path, ".") {
		var members map[string]json.RawMessage
		if json.Unmarshal(rest, &members) != nil {
			return nil, nil // not an object
		}
		if rest = members[name]; rest == nil {
			return nil, nil
		}
	}
	return jsonBytes(bytes.Clone(rest), nil)
}

// csvRecords turns each line into an object of the header's columns.
func (c *Import) csvRecords(ctx context.Context, r io.Reader, emit func(*kgo.Record) error) error {
	cr := csv.NewReader(r)
	cr.ReuseRecord = true
	delimiter := c.Delimiter
	if delimiter == `\t` || delimiter == "," && strings.HasSuffix(strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(c.File), ".gz"), ".zst"), ".tsv") {
		delimiter = "\t"
	}
	d, n := utf8.DecodeRuneInString(delimiter)
	if n == 0 || n != len(delimiter) || d == utf8.RuneError || d == '"' || d == '\n' || d == '\r' {
		return fmt.Errorf("--delimiter %q: one character is needed", c.Delimiter)
	}
	cr.Comma = d
	header, err := cr.Read()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	names := make([][]byte, len(header))
	seen := map[string]bool{}
	keyColumn, timeColumn := -1, -1
	for i, h := range header {
		if i == 0 {
			h = string(trimBOM([]byte(h)))
		}
		if seen[h] {
			return fmt.Errorf("the header names column %q twice", h)
		}
		seen[h] = true
		if h == c.Key {
			keyColumn = i
		}
		if h == c.Timestamp {
			timeColumn = i
		}
		names[i] = append(appendJSONString(nil, h), ':')
	}
	if c.Key != "" && keyColumn < 0 {
		return fmt.Errorf("--key %s: there is no such column", c.Key)
	}
	if c.Timestamp != "" && timeColumn < 0 {
		return fmt.Errorf("--timestamp %s: there is no such column", c.Timestamp)
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		row, err := cr.Read() // says line and column when it fails
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		value := []byte{'{'}
		for i, cell := range row {
			if i > 0 {
				value = append(value, ',')
			}
			value = append(value, names[i]...)
			value = c.appendCell(value, cell)
		}
		value = append(value, '}')
		rec := &kgo.Record{Value: value, Partition: -1}
		if keyColumn >= 0 && row[keyColumn] != "" {
			rec.Key = []byte(row[keyColumn])
		}
		if timeColumn >= 0 {
			if rec.Timestamp, err = parseTime(row[timeColumn]); err != nil {
				line, _ := cr.FieldPos(timeColumn)
				return fmt.Errorf("line %d: %w", line, err)
			}
		}
		if err := emit(rec); err != nil {
			return err
		}
	}
}

// jsonNumber matches cells that are numbers in JSON's own spelling. 007, +1 and
// 1. are none: a postcode keeps its zero.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// appendCell types one cell. Numbers keep their spelling, digit for digit.
func (c *Import) appendCell(b []byte, cell string) []byte {
	switch {
	case cell == "":
		return append(b, "null"...)
	case c.NoTypes:
	case cell == "true", cell == "false", jsonNumber.MatchString(cell):
		return append(b, cell...)
	}
	return appendJSONString(b, cell)
}

// timeLayouts are tried in turn; a spelling without a zone is UTC.
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04", "2006-01-02 15:04",
	"2006/01/02 15:04:05", "2006/01/02 15:04", "2006-01-02", "2006/01/02",
}

// parseTime reads a time; "" is the zero time, for which the producer takes now.
// The size of a Unix time tells its unit: each is good for the years 1973 to 5138.
func parseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n >= 0 {
		switch {
		case n < 1e11:
			return time.Unix(n, 0), nil
		case n < 1e14:
			return time.UnixMilli(n), nil
		case n < 1e17:
			return time.UnixMicro(n), nil
		}
		return time.Unix(0, n), nil
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time", s)
}
