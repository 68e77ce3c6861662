package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"millrace/blobexpand"
	"millrace/catalog"
	"millrace/internal/recordbatch"
	"millrace/store"
	"millrace/store/state"

	"github.com/apache/arrow-go/v18/arrow/array"
)

// fakeSource holds raw batches by partition and remembers which were read.
type fakeSource struct {
	batches map[int32][][]byte
	read    []string // partition:base offset
	sparse  bool     // bounds are not dense
	start   int64    // log start of every partition
}

func (s *fakeSource) end(p int32) int64 {
	n := int64(0)
	for _, raw := range s.batches[p] {
		b, _, _ := recordbatch.Parse(raw)
		n = b.LastOffset() + 1
	}
	return n
}

func (s *fakeSource) Bounds(tp state.TopicPartition) (state.Bounds, error) {
	end := s.end(tp.Partition)
	return state.Bounds{LogStart: s.start, End: end, LastStable: end, Dense: !s.sparse}, nil
}

func (s *fakeSource) Batches(_ context.Context, tp state.TopicPartition, r store.BatchRange) (BatchIter, error) {
	it := &fakeIter{s: s, p: tp.Partition, at: -1}
	for _, raw := range s.batches[tp.Partition] {
		b, _, err := recordbatch.Parse(raw)
		if err != nil {
			return nil, err
		}
		lo, hi := int64(math.MaxInt64), int64(-1)
		var rd recordbatch.Reader
		if rd.Reset(&b) == nil {
			for rec := (recordbatch.Record{}); rd.Next(&rec); {
				lo, hi = min(lo, rec.Timestamp), max(hi, rec.Timestamp)
			}
		}
		if lo < 0 || lo == math.MaxInt64 {
			lo, hi = -1, math.MaxInt64 // unknown
		}
		if b.LastOffset() < r.FromOffset || b.BaseOffset >= r.ToOffset || hi < r.MinTimestamp || lo >= 0 && lo > r.MaxTimestamp {
			continue
		}
		it.raw = append(it.raw, raw)
		it.infos = append(it.infos, store.BatchInfo{BaseOffset: b.BaseOffset, LastOffset: b.LastOffset(), MinTimestamp: lo, MaxTimestamp: hi, AppendTime: 42})
	}
	if r.Reverse {
		slices.Reverse(it.raw)
		slices.Reverse(it.infos)
	}
	return it, nil
}

type fakeIter struct {
	s     *fakeSource
	p     int32
	raw   [][]byte
	infos []store.BatchInfo
	at    int
}

func (it *fakeIter) Next() bool            { it.at++; return it.at < len(it.raw) }
func (it *fakeIter) Info() store.BatchInfo { return it.infos[it.at] }
func (it *fakeIter) Err() error            { return nil }
func (it *fakeIter) Close()                {}
func (it *fakeIter) Bytes() ([]byte, error) {
	it.s.read = append(it.s.read, fmt.Sprintf("%d:%d", it.p, it.infos[it.at].BaseOffset))
	return it.raw[it.at], nil
}

type rec struct {
	ts         int64
	key, value string
}

// add appends one batch.
func (s *fakeSource) add(p int32, codec int, recs ...rec) {
	b := recordbatch.Builder{Codec: codec}
	for _, r := range recs {
		var key []byte
		if r.key != "" {
			key = []byte(r.key)
		}
		b.Append(r.ts, key, []byte(r.value), nil)
	}
	raw := b.Build()
	recordbatch.SetBaseOffset(raw, s.end(p))
	if s.batches == nil {
		s.batches = make(map[int32][][]byte)
	}
	s.batches[p] = append(s.batches[p], raw)
}

func table(partitions int32, cols ...blobexpand.Column) *catalog.Table {
	return &catalog.Table{Topic: state.Topic{Name: "t", Partitions: partitions}, Expanded: cols}
}

func column(name string, kind blobexpand.Kind) blobexpand.Column {
	return blobexpand.Column{Name: name, Path: []string{name}, Type: blobexpand.Type{Kind: kind, Bits: 64}, Declared: true}
}

var (
	colPartition = Column{Kind: Partition}
	colOffset    = Column{Kind: Offset}
	colTimestamp = Column{Kind: Timestamp}
	colKey       = Column{Kind: Key}
	colValue     = Column{Kind: Value}
	colError     = Column{Kind: Error}
)

func expanded(i int) Column { return Column{Kind: Expanded, Index: i} }

// rows reads everything as text.
func rows(t testing.TB, req Request) ([]string, Stats) {
	t.Helper()
	r, err := Open(req)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []string
	for {
		batch, err := r.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return out, r.Stats()
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := batch.NumRows(); n < 1 || n > MaxBatchRows {
			t.Errorf("record batch of %d rows", n)
		}
		for i := range int(batch.NumRows()) {
			cells := make([]string, batch.NumCols())
			for c := range cells {
				cells[c] = batch.Column(c).ValueStr(i)
			}
			out = append(out, strings.Join(cells, ","))
		}
		batch.Release()
	}
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestValuesAreNotTouchedUnlessAskedFor(t *testing.T) {
	s := &fakeSource{}
	s.add(0, recordbatch.None, rec{1000, "a", `{"x":1}`}, rec{2000, "b", `{"x":2}`})
	tab := table(1, column("x", blobexpand.Int64))
	got, stats := rows(t, Request{Source: s, Table: tab, Columns: []Column{colOffset, colKey}})
	expect(t, got, "0,a", "1,b")
	if stats.ValuesExpanded != 0 {
		t.Errorf("%d values expanded", stats.ValuesExpanded)
	}
	got, stats = rows(t, Request{Source: s, Table: tab, Columns: []Column{expanded(0)}, Filter: Compare{colKey, EQ, Literal{String: "b"}}})
	expect(t, got, "2")
	if stats.ValuesExpanded != 1 {
		t.Errorf("%d values expanded, want only the one whose key matches", stats.ValuesExpanded)
	}
}

func TestOffsetsAloneNeedNoRecords(t *testing.T) {
	s := &fakeSource{}
	s.add(0, recordbatch.Zstd, rec{1000, "a", "1"}, rec{2000, "b", "2"}, rec{3000, "c", "3"})
	raw := s.batches[0][0]
	for i := recordbatch.HeaderBytes; i < len(raw); i++ {
		raw[i] = 0xee // undecodable from here
	}
	got, _ := rows(t, Request{Source: s, Table: table(1), Columns: []Column{colPartition, colOffset}, Filter: Compare{colOffset, GE, Literal{Int: 1}}})
	expect(t, got, "0,1", "0,2")
}

func TestAnUndecodableBatchBecomesRowsWithAnError(t *testing.T) {
	s := &fakeSource{}
	s.add(0, recordbatch.None, rec{1000, "a", `{"x":1}`})
	s.add(0, recordbatch.Zstd, rec{1000, "b", `{"x":"` + strings.Repeat("0", 4096) + `"}`}, rec{1000, "c", `{}`})
	s.add(0, recordbatch.None, rec{1000, "d", `{"x":4}`})
	r, err := Open(Request{Source: s, Table: table(1, column("x", blobexpand.Int64)), Columns: []Column{colOffset, colKey, expanded(0), colError}})
	if err != nil {
		t.Fatal(err)
	}
	r.decoder.reader.MaxDecompressedBytes = 1024
	batch, err := r.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Release()
	errs := batch.Column(3).(*array.String)
	if batch.NumRows() != 4 || !errs.IsNull(0) || errs.IsNull(1) || errs.IsNull(2) || !errs.IsNull(3) {
		t.Errorf("rows %d, errors %v", batch.NumRows(), errs)
	}
	if keys := batch.Column(1); !keys.IsNull(1) || keys.ValueStr(3) != "d" || batch.Column(2).ValueStr(3) != "4" {
		t.Errorf("%v", batch)
	}
}

func TestOnlyNeededBatchesAreRead(t *testing.T) {
	s := &fakeSource{}
	for p := range int32(3) {
		for i := range int64(4) {
			s.add(p, recordbatch.None, rec{1000 + i*10, "k", "v"}, rec{1005 + i*10, "k", "v"})
		}
	}
	off := func(op Op, n int64) Expr { return Compare{colOffset, op, Literal{Int: n}} }
	part := func(op Op, n int64) Expr { return Compare{colPartition, op, Literal{Int: n}} }
	ts := func(op Op, n int64) Expr { return Compare{colTimestamp, op, Literal{Int: n}} }
	for _, c := range []struct {
		name   string
		filter Expr
		read   []string
		rows   int
	}{
		{"partition and offsets", And{[]Expr{part(EQ, 1), off(GE, 3), off(LT, 5)}}, []string{"1:2", "1:4"}, 2},
		{"offsets by partition", Or{[]Expr{And{[]Expr{part(EQ, 0), off(EQ, 7)}}, And{[]Expr{part(EQ, 2), off(EQ, 0)}}}}, []string{"0:6", "2:0"}, 2},
		{"timestamps", And{[]Expr{part(EQ, 0), ts(GE, 1015), ts(LE, 1020)}}, []string{"0:2", "0:4"}, 2},
		{"negation", And{[]Expr{Not{Or{[]Expr{part(NE, 2), off(GT, 1)}}}}}, []string{"2:0"}, 2},
		{"list", And{[]Expr{In{colPartition, []Literal{{Int: 1}, {Int: 9}}, true}, off(LE, 1)}}, []string{"1:0"}, 2},
		{"null constant", And{[]Expr{part(EQ, 0), Const{Null}}}, nil, 0},
		{"impossible", And{[]Expr{off(LT, 0)}}, nil, 0},
		{"beyond int64", off(GT, math.MaxInt64), nil, 0},
	} {
		s.read = nil
		got, _ := rows(t, Request{Source: s, Table: table(3), Columns: []Column{colPartition, colOffset, colKey}, Filter: c.filter})
		if !slices.Equal(s.read, c.read) || len(got) != c.rows {
			t.Errorf("%s: read %v, want %v; %d rows %v", c.name, s.read, c.read, len(got), got)
		}
	}
}

func TestLimitsEndTheScanEarly(t *testing.T) {
	s := &fakeSource{}
	for p := range int32(2) {
		for range 3 {
			s.add(p, recordbatch.None, rec{1, "a", `{"x":1}`}, rec{1, "b", `{"x":2}`})
		}
	}
	tab := table(2, column("x", blobexpand.Int64))
	late := Compare{expanded(0), EQ, Literal{Int: 2}}
	for _, c := range []struct {
		req  Request
		want []string
		read int
	}{
		{Request{Limit: 3}, []string{"0,0", "0,1", "0,2"}, 2},
		{Request{PartitionLimit: 3}, []string{"0,0", "0,1", "0,2", "1,0", "1,1", "1,2"}, 4},
		{Request{PartitionLimit: 3, Reverse: true}, []string{"0,5", "0,4", "0,3", "1,5", "1,4", "1,3"}, 4},
		{Request{PartitionLimit: 2, Limit: 3, Reverse: true}, []string{"0,5", "0,4", "1,5"}, 2},
		{Request{Limit: 2, Filter: late}, []string{"0,1", "0,3"}, 6},
		{Request{PartitionLimit: 2, Filter: late, Reverse: true}, []string{"0,5", "0,3", "1,5", "1,3"}, 6},
		{Request{PartitionLimit: 9}, []string{"0,0", "0,1", "0,2", "0,3", "0,4", "0,5", "1,0", "1,1", "1,2", "1,3", "1,4", "1,5"}, 6},
	} {
		s.read = nil
		c.req.Source, c.req.Table, c.req.Columns = s, tab, []Column{colPartition, colOffset}
		got, _ := rows(t, c.req)
		expect(t, got, c.want...)
		if len(s.read) > c.read {
			t.Errorf("%+v read %v", c.req, s.read)
		}
	}
}

func TestACancelledScanStopsAtTheNextBatch(t *testing.T) {
	s := &fakeSource{}
	for range 100 {
		s.add(0, recordbatch.None, rec{1, "a", "v"})
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	r, err := Open(Request{Source: s, Table: table(1), Columns: []Column{colValue}, Filter: Compare{colKey, EQ, Literal{String: "z"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	why := errors.New("killed")
	cancel(why)
	if _, err := r.Next(ctx); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if len(s.read) != 0 {
		t.Errorf("read %v", s.read)
	}
}

func TestRecordBatchesAreBoundedInRowsAndBytes(t *testing.T) {
	s := &fakeSource{}
	big := make([]rec, 20)
	for i := range big {
		big[i] = rec{1, "k", strings.Repeat("x", 1<<20)}
	}
	s.add(0, recordbatch.Zstd, big...)
	many := make([]rec, 3*MaxBatchRows)
	for i := range many {
		many[i] = rec{1, "", "v"}
	}
	s.add(0, recordbatch.None, many...)
	r, err := Open(Request{Source: s, Table: table(1), Columns: []Column{colValue}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	total := int64(0)
	for {
		batch, err := r.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		bytes := len(batch.Column(0).(*array.String).ValueBytes())
		if batch.NumRows() > MaxBatchRows || bytes > maxBatchBytes+1<<20 {
			t.Errorf("%d rows, %d bytes", batch.NumRows(), bytes)
		}
		total += batch.NumRows()
		batch.Release()
	}
	if want := int64(20 + 3*MaxBatchRows); total != want {
		t.Errorf("%d rows, want %d", total, want)
	}
}

func TestTimestampsOutsideMySQLsRangeAreNull(t *testing.T) {
	s := &fakeSource{}
	s.add(0, recordbatch.None, rec{-1, "", ""}, rec{999, "", ""}, rec{1000, "", ""}, rec{maxTimestampMillis, "", ""}, rec{maxTimestampMillis + 1, "", ""})
	got, _ := rows(t, Request{Source: s, Table: table(1), Columns: []Column{colOffset}, Filter: IsNull{colTimestamp}})
	expect(t, got, "0", "1", "4")
	got, _ = rows(t, Request{Source: s, Table: table(1), Columns: []Column{colOffset}, Filter: Not{Compare{colTimestamp, GT, Literal{Int: 1000}}}})
	expect(t, got, "2")
	got, _ = rows(t, Request{Source: s, Table: table(1), Columns: []Column{{Kind: TimestampProducer}, {Kind: TimestampBroker}, {Kind: TimestampType}}, Limit: 1})
	expect(t, got, "-1,42,CreateTime")
}

func TestCountsFromBoundsAgreeWithReading(t *testing.T) {
	s := &fakeSource{}
	for p := range int32(3) {
		for range 5 {
			s.add(p, recordbatch.None, rec{1, "", ""}, rec{1, "", ""})
		}
	}
	off := func(op Op, n int64) Expr { return Compare{colOffset, op, Literal{Int: n}} }
	part := func(op Op, n int64) Expr { return Compare{colPartition, op, Literal{Int: n}} }
	for i, filter := range []Expr{
		nil, off(GE, 3), off(NE, 3), part(NE, 1),
		Or{[]Expr{off(LT, 2), off(GE, 8)}},
		Not{Or{[]Expr{off(EQ, 0), part(EQ, 2)}}},
		In{colOffset, []Literal{{Int: 1}, {Int: 9}, {Int: 99}}, false},
		And{[]Expr{off(GT, 2), off(LT, 3)}},
		Not{In{colPartition, []Literal{{Int: 0}}, false}},
		And{},
		Or{},
		Not{IsNull{colOffset}},
	} {
		req := Request{Source: s, Table: table(3), Columns: []Column{colPartition, colOffset}, Filter: filter}
		counts, ok, err := CountFromBounds(&req)
		if err != nil || !ok {
			t.Errorf("filter %d: %v %v", i, ok, err)
			continue
		}
		var total int64
		for _, c := range counts {
			total += c.Rows
		}
		got, _ := rows(t, req)
		if int64(len(got)) != total {
			t.Errorf("filter %d: counted %d, read %d", i, total, len(got))
		}
	}
	for _, filter := range []Expr{Compare{colKey, EQ, Literal{String: "a"}}, Const{Null}, In{colOffset, nil, true}} {
		if _, ok, _ := CountFromBounds(&Request{Source: s, Table: table(3), Filter: filter}); ok {
			t.Errorf("%v was counted from bounds", filter)
		}
	}
	s.sparse = true
	if _, ok, _ := CountFromBounds(&Request{Source: s, Table: table(3)}); ok {
		t.Error("a partition with holes was counted from its bounds")
	}
}

func TestHeadersAsObjectAndPairs(t *testing.T) {
	h := func(kv ...string) (out []recordbatch.Header) {
		for i := 0; i < len(kv); i += 2 {
			out = append(out, recordbatch.Header{Key: kv[i], Value: []byte(kv[i+1])})
		}
		return out
	}
	many := h()
	for i := range 40 {
		many = append(many, h(fmt.Sprint("k", i%3), fmt.Sprint(i))...)
	}
	for _, c := range []struct {
		in    []recordbatch.Header
		want  string
		pairs string
	}{
		{nil, `{}`, `[]`},
		{h("a", "1", "b", "2", "a", "3"), `{"a":"3","b":"2"}`, `[["a","1"],["b","2"],["a","3"]]`},
		{h("\"\n", "\xff\t"), `{"\"\u000a":"` + "\uFFFD" + `\u0009"}`, `[["\"\u000a","` + "\uFFFD" + `\u0009"]]`},
		{[]recordbatch.Header{{Key: "n"}}, `{"n":null}`, `[["n",null]]`},
		{many, `{"k0":"39","k1":"37","k2":"38"}`, ""},
	} {
		if got := string(appendHeadersObject(nil, c.in)); got != c.want {
			t.Errorf("object %s, want %s", got, c.want)
		}
		if got := string(appendHeadersPairs(nil, c.in)); c.pairs != "" && got != c.pairs {
			t.Errorf("pairs %s, want %s", got, c.pairs)
		}
	}
}

func TestRecordsBeforeTheLogStartAreGone(t *testing.T) {
	s := &fakeSource{start: 3}
	for range 3 {
		s.add(0, recordbatch.None, rec{1, "a", "{}"}, rec{1, "b", "{}"})
	}
	req := Request{Source: s, Table: table(1), Columns: []Column{colOffset}}
	got, _ := rows(t, req)
	expect(t, got, "3", "4", "5")
	req.Reverse, req.PartitionLimit = true, 9
	got, _ = rows(t, req)
	expect(t, got, "5", "4", "3")
	req.Columns, req.Limit = []Column{colKey}, 1
	got, _ = rows(t, req)
	expect(t, got, "b")
}

func TestValuesWithoutAFormHaveNoError(t *testing.T) {
	s := &fakeSource{}
	s.add(0, recordbatch.None, rec{1, "a", "not JSON"})
	for format, null := range map[string]bool{"json": false, "text": true, "binary": true, "csv": true} {
		tab := table(1)
		tab.Config.ValueFormat = format
		got, _ := rows(t, Request{Source: s, Table: tab, Columns: []Column{colOffset}, Filter: IsNull{colError}})
		if (len(got) == 1) != null {
			t.Errorf("%s: _error is null: %v", format, len(got) == 1)
		}
	}
}

func TestTakeKeepsEveryType(t *testing.T) {
	kinds := []blobexpand.Kind{
		blobexpand.Bool, blobexpand.Int64, blobexpand.Uint64, blobexpand.Float64, blobexpand.Decimal,
		blobexpand.Text, blobexpand.JSON, blobexpand.Date, blobexpand.Time, blobexpand.DateTime, blobexpand.Timestamp, blobexpand.Year,
	}
	var cols []blobexpand.Column
	var req Request
	for i, k := range kinds {
		c := column(fmt.Sprintf("c%d", i), k)
		if k == blobexpand.Decimal {
			c.Type.Precision, c.Type.Scale = 40, 2
		}
		cols = append(cols, c)
		req.Columns = append(req.Columns, expanded(i))
	}
	s := &fakeSource{}
	full := `{"c0":true,"c1":1,"c2":2,"c3":1.5,"c4":3.25,"c5":"x","c6":[1],"c7":"2024-01-02","c8":"01:02:03","c9":"2024-01-02T03:04:05Z","c10":"2024-01-02T03:04:05Z","c11":2024}`
	s.add(0, recordbatch.None, rec{1, "", full}, rec{1, "", `{}`}, rec{1, "", full})
	req.Source, req.Table = s, table(1, cols...)
	all, _ := rows(t, req)
	if strings.Contains(all[0], array.NullValueStr) {
		t.Fatalf("a value did not convert: %s", all[0])
	}
	req.Filter = Not{IsNull{expanded(1)}}
	got, _ := rows(t, req)
	expect(t, got, all[0], all[2])
	req.Filter = IsNull{expanded(5)}
	got, _ = rows(t, req)
	expect(t, got, all[1])
}

func TestAColumnThatDoesNotExistIsAnError(t *testing.T) {
	for _, req := range []Request{
		{Columns: []Column{expanded(0)}},
		{Columns: []Column{{}}},
		{Filter: IsNull{expanded(3)}},
	} {
		req.Source, req.Table = &fakeSource{}, table(1)
		if _, err := Open(req); !errors.Is(err, ErrNoColumn) {
			t.Errorf("got %v", err)
		}
	}
}
