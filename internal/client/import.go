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
	SkipBad    bool   `help:"Skip and count lines that are no records instead of stopping at the first."`
	Partitions int32  `short:"p" help:"Partitions of the topic if it is created; -1 for the server's default." default:"-1" placeholder:"N"`
	ProducerFlags
	Kafka
}

func (*Import) Help() string {
	return `Each line of NDJSON becomes the value of a record, unchanged. Each line of CSV becomes a
JSON object of its columns; an empty cell is null. With --timestamp the topic's retention.ms (7 days
unless set) counts from those times: records that are older are deleted soon.

Examples:
  millrace topic create earthquakes --set retention.ms=-1
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
	out, err := c.newSink(ctx, s, append(c.options(), kgo.DefaultProduceTopic(c.Topic), kgo.RecordPartitioner(pinnedPartitioner()))...)
	if err != nil {
		return err
	}
	if err := ensureTopic(ctx, out.cl, c.Topic, c.Partitions); err != nil {
		return errors.Join(err, out.close())
	}
	bar := newProgress(s, size, filepath.Base(c.File)+" → "+c.Topic, true)
	plain, err := decompress(io.TeeReader(in, bar))
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", c.File, err), out.close())
	}
	defer plain.Close()
	began := time.Now()
	old, err := c.newAgeCheck(ctx, out.cl, began)
	if err != nil {
		return errors.Join(err, out.close())
	}
	var skipped int64
	var first *badLine
	line := int64(0) // of the record that was sent last
	err = c.records(ctx, format, plain, func(n int64, r *kgo.Record) error {
		line = n
		old.look(r)
		return out.send(r)
	}, func(bad *badLine) error {
		if !c.SkipBad {
			return bad
		}
		if skipped++; first == nil {
			first = bad
		}
		return nil
	})
	cerr := out.close()
	finishProgress(s, bar)
	old.warn(s)
	var bad *badLine
	switch {
	case cerr != nil: // which of the records that were under way is not known
		return fmt.Errorf("%s: stopped at about line %d, %s stored in %s: %w", c.File, line, plural(out.sent(), "record"), c.Topic, cerr)
	case errors.As(err, &bad):
		return fmt.Errorf("%s: %w (stopped there; the lines before are stored in %s: %s; --skip-bad skips such lines)", c.File, err, c.Topic, plural(out.sent(), "record"))
	case err != nil:
		return fmt.Errorf("%s after line %d: %w (the lines up to there are stored in %s: %s)", c.File, line, err, c.Topic, plural(out.sent(), "record"))
	}
	fmt.Fprintf(s.Err, "%s imported into %s in %s\n", plural(out.sent(), "record"), c.Topic, time.Since(began).Round(time.Millisecond))
	if skipped > 0 {
		fmt.Fprintf(s.Err, "%s skipped; the first: %v\n", plural(skipped, "bad line"), first)
	}
	return nil
}

// badLine is a line of the file that is no record.
type badLine struct {
	line int64
	err  error
}

func (b *badLine) Unwrap() error { return b.err }
func (b *badLine) Error() string { return fmt.Sprintf("line %d: %v", b.line, b.err) }

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

// records calls emit with the line and record of each of r's, which is emit's to keep, and
// bad with each line that is none. It stops at the first error that one of them returns.
func (c *Import) records(ctx context.Context, format string, r io.Reader, emit func(line int64, r *kgo.Record) error, bad func(*badLine) error) error {
	if format == "csv" {
		return c.csvRecords(ctx, r, emit, bad)
	}
	return eachLine(ctx, r, func(n int64, line []byte) error {
		if n == 1 {
			line = trimBOM(line)
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			return nil
		}
		rec, err := c.jsonRecord(line)
		if err != nil {
			return bad(&badLine{n, err})
		}
		return emit(n, rec)
	})
}

func (c *Import) jsonRecord(line []byte) (*kgo.Record, error) {
	if !json.Valid(line) {
		return nil, errors.New("not JSON")
	}
	key, err := jsonMember(line, c.Key)
	if err != nil {
		return nil, err
	}
	when, err := jsonMember(line, c.Timestamp)
	if err != nil {
		return nil, err
	}
	rec := &kgo.Record{Key: key, Value: bytes.Clone(line), Partition: -1}
	rec.Timestamp, err = parseTime(string(when))
	return rec, err
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
func (c *Import) csvRecords(ctx context.Context, r io.Reader, emit func(line int64, r *kgo.Record) error, bad func(*badLine) error) error {
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
		row, err := cr.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var malformed *csv.ParseError
		if errors.As(err, &malformed) {
			if err := bad(&badLine{int64(malformed.StartLine), malformed.Err}); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		start, _ := cr.FieldPos(0)
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
				if err := bad(&badLine{int64(start), err}); err != nil {
					return err
				}
				continue
			}
		}
		if err := emit(int64(start), rec); err != nil {
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
