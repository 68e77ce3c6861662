package columns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"millrace/catalog"
	"millrace/internal/recordbatch"
	"millrace/internal/vector"
	"millrace/internal/vfs"
	"millrace/scan"
	"millrace/scan/exec"
	"millrace/store"
	"millrace/store/state"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/google/uuid"
)

// fixture is a store in memory with a catalog and a Set over it.
type fixture struct {
	t      testing.TB
	fs     *vfs.Mem
	st     *store.Store
	cat    *catalog.Catalog
	set    *Set
	o      Options
	topics int
	summed int // sums that were held against rows
	opened int // blocks
}

func newFixture(t testing.TB, o Options) *fixture {
	t.Helper()
	f := &fixture{t: t, fs: vfs.NewMem(), o: o}
	if err := f.fs.MkdirAll("/data"); err != nil {
		t.Fatal(err)
	}
	f.open()
	t.Cleanup(f.close)
	return f
}

func (f *fixture) open() {
	f.t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	var err error
	f.st, err = store.Open(context.Background(), store.Options{
		Dir: "/data", FS: f.fs, Logger: quiet, RetentionEvery: time.Hour, CompactEvery: time.Hour, LogFileBytes: 1 << 20,
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.cat = catalog.New(f.st, catalog.Options{Logger: quiet})
	o := f.o
	o.Dir, o.FS = "/data/columns", f.fs
	f.set = New(o)
	f.set.smallChunks, f.set.leastAhead = 0, 0 // all are small here
}

func (f *fixture) close() {
	if err := f.set.Close(); err != nil {
		f.t.Error(err)
	}
	if err := f.cat.Close(); err != nil {
		f.t.Error(err)
	}
	if err := f.st.Close(); err != nil {
		f.t.Error(err)
	}
}

func (f *fixture) commit(in state.Intent) any {
	f.t.Helper()
	res, err := f.st.Commit(context.Background(), in)
	if err != nil {
		f.t.Fatalf("%T: %v", in, err)
	}
	return res
}

func (f *fixture) create(name string, partitions int32, configs map[string]string) state.TopicID {
	f.t.Helper()
	f.topics++
	id := uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "%s-%d", name, f.topics))
	if r := f.commit(state.CreateTopic{ID: id, Name: name, Partitions: partitions, Configs: configs}).(state.TopicResult); r.Err != nil {
		f.t.Fatal(r.Err)
	}
	return id
}

type record struct {
	key, value string // empty: none
	time       int64
}

// produce appends one batch; x nil: outside of transactions.
func (f *fixture) produce(tp state.TopicPartition, x *transactor, codec int, records ...record) {
	f.t.Helper()
	b := recordbatch.Builder{Codec: codec}
	lo, hi := int64(1<<62), int64(-1)
	for _, r := range records {
		var key, value []byte
		if r.key != "" {
			key = []byte(r.key)
		}
		if r.value != "" {
			value = []byte(r.value)
		}
		b.Append(r.time, key, value, nil)
		lo, hi = min(lo, r.time), max(hi, r.time)
	}
	raw := b.Build()
	n := int32(len(records))
	in := state.Produce{Batches: []state.Batch{{
		TopicPartition: tp, Records: n, MinTimestamp: lo, MaxTimestamp: hi, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
	}}}
	sb := &in.Batches[0]
	if x != nil {
		raw[22] |= 0x10
		recordbatch.SetProducer(raw, x.pid, x.epoch, x.seq[tp])
		in.TransactionalID, in.AddPartitions = x.id, true
		sb.ProducerID, sb.ProducerEpoch, sb.FirstSequence, sb.Transactional = x.pid, x.epoch, x.seq[tp], true
		x.seq[tp] += n
	}
	sb.SizeBytes = int32(len(raw))
	done := make(chan error, 1)
	err := f.st.Submit(context.Background(), in, [][]byte{raw}, func(res any, err error) {
		if r, ok := res.(state.ProduceResult); ok && err == nil {
			err = r.Batches[0].Err
		}
		done <- err
	})
	if err == nil {
		err = <-done
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// transactor is a transactional producer.
type transactor struct {
	id    string
	pid   int64
	epoch int16
	seq   map[state.TopicPartition]int32
	// Of the open transaction.
	own    *catalog.Own
	blocks *Own
	of     *Set // whose blocks they are
}

func (f *fixture) transactor(id string) *transactor {
	f.t.Helper()
	r := f.commit(state.InitTransaction{TransactionalID: id, TimeoutMillis: 60_000, ProducerID: -1, ProducerEpoch: -1}).(state.ProducerIDResult)
	if r.Err != nil {
		f.t.Fatal(r.Err)
	}
	return &transactor{id, r.ProducerID, r.ProducerEpoch, map[state.TopicPartition]int32{}, &catalog.Own{}, &Own{}, f.set}
}

func (f *fixture) end(x *transactor, commit bool) {
	f.t.Helper()
	r := f.commit(state.EndTransaction{
		TransactionRef: state.TransactionRef{TransactionalID: x.id, ProducerID: x.pid, ProducerEpoch: x.epoch}, Commit: commit,
	}).(state.ProducerIDResult)
	if r.Err != nil {
		f.t.Fatal(r.Err)
	}
	x.own = &catalog.Own{}
	x.blocks.Release()
	x.blocks = &Own{}
}

// snapshot is a snapshot with a table bound to it.
type snapshot struct {
	*store.Snapshot
	table *catalog.Table
	own   *Own // nil: nobody's
}

func (f *fixture) snapshot(topic string) snapshot {
	f.t.Helper()
	sn := f.st.Snapshot()
	t, err := f.cat.Bind(context.Background(), sn, topic)
	if err != nil {
		f.t.Fatal(err)
	}
	return snapshot{sn, t, nil}
}

// snapshotOf is a snapshot of the transactor's: what is open of it counts.
func (f *fixture) snapshotOf(topic string, x *transactor) snapshot {
	f.t.Helper()
	sn := f.st.SnapshotOf(x.pid)
	t, err := f.cat.BindOwn(context.Background(), sn, topic, x.own)
	if err != nil {
		f.t.Fatal(err)
	}
	if x.of != f.set { // opened again
		x.blocks, x.of = &Own{}, f.set
	}
	return snapshot{sn, t, x.blocks}
}

// seal writes what there is of one partition into files.
func (f *fixture) seal(r *rand.Rand) (p Progress) {
	f.t.Helper()
	s := f.snapshot("t")
	defer s.Release()
	p, err := f.set.Seal(context.Background(), s.Snapshot, s.table, [][]int32{{0}, {1}, {0, 1}}[r.IntN(3)], r.IntN(2) == 0,
		func(context.Context) error { return nil })
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

// renew joins small blocks, and seals them again at once or later.
func (f *fixture) renew() {
	f.t.Helper()
	s := f.snapshot("t")
	defer s.Release()
	partitions, err := f.set.Renew(context.Background(), s.Snapshot, s.table)
	if err != nil {
		f.t.Fatal(err)
	}
	if len(partitions) == 0 {
		return
	}
	if _, err := f.set.Seal(context.Background(), s.Snapshot, s.table, partitions, false, func(context.Context) error { return nil }); err != nil {
		f.t.Fatal(err)
	}
}

// all columns of the table that a scan knows.
func (s snapshot) all() []scan.Column {
	var cols []scan.Column
	for _, k := range []scan.ColumnKind{
		scan.Partition, scan.Offset, scan.Timestamp, scan.Key, scan.Value,
		scan.Error, scan.RawKey, scan.TimestampProducer, scan.ProducerID, scan.TimestampType,
	} {
		cols = append(cols, scan.Column{Kind: k})
	}
	for i := range s.table.Expanded {
		cols = append(cols, scan.Column{Kind: scan.Expanded, Index: i})
	}
	return cols
}

// byReader are the rows as the row path reads them.
func (f *fixture) byReader(s snapshot, cols []scan.Column, filter scan.Expr) []string {
	f.t.Helper()
	r, err := scan.Open(scan.Request{Source: scan.FromSnapshot(s.Snapshot), Table: s.table, Columns: cols, Filter: filter})
	if err != nil {
		f.t.Fatal(err)
	}
	defer r.Close()
	var out []string
	for {
		rec, err := r.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			f.t.Fatal(err)
		}
		for i := range int(rec.NumRows()) {
			row := ""
			for c := range cols {
				row += cell(rec.Column(c), i) + "|"
			}
			out = append(out, row)
		}
		rec.Release()
	}
}

func cell(a arrow.Array, i int) string {
	if a.IsNull(i) {
		return "NULL"
	}
	switch a := a.(type) {
	case *array.String:
		return sorted(a.Value(i))
	case *array.Binary:
		return string(a.Value(i))
	case *array.Boolean:
		if a.Value(i) {
			return "1"
		}
		return "0"
	case *array.Timestamp:
		return fmt.Sprint(int64(a.Value(i)))
	case *array.Duration:
		return fmt.Sprint(int64(a.Value(i)))
	case *array.Date32:
		return fmt.Sprint(int32(a.Value(i)))
	case *array.Decimal128:
		return a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Decimal256:
		return a.Value(i).ToString(a.DataType().(*arrow.Decimal256Type).Scale)
	case *array.Float64:
		return fmt.Sprint(a.Value(i))
	}
	return a.ValueStr(i)
}

func vcell(v *vector.Vector, i int) string {
	if v.IsNull(i) {
		return "NULL"
	}
	j := i
	if v.Const {
		j = 0
	}
	switch v.Kind {
	case vector.Int:
		return fmt.Sprint(v.Int(i))
	case vector.Uint:
		return fmt.Sprint(v.Uint64[j])
	case vector.Float:
		return fmt.Sprint(v.Float64[j])
	case vector.Decimal128:
		return v.Dec128[j].ToString(v.Scale)
	case vector.Decimal256:
		return v.Dec256[j].ToString(v.Scale)
	}
	return sorted(string(v.Text(i)))
}

// sorted puts the misfits of an _error, which come in the order in which columns were asked for, into one.
func sorted(s string) string {
	if !strings.Contains(s, "; ") || !strings.Contains(s, ": found ") {
		return s
	}
	parts := strings.Split(s, "; ")
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

// byBlocks are the rows as the blocks have them.
func (f *fixture) byBlocks(s snapshot, cols []scan.Column, prune scan.Expr) []string {
	f.t.Helper()
	blocks, err := f.set.SourceOf(s.Snapshot, s.own).Blocks(context.Background(), s.table, cols, prune)
	if err != nil {
		f.t.Fatal(err)
	}
	var out []string
	for _, b := range blocks {
		out = append(out, f.rowsOf(s, b, cols)...)
	}
	return out
}

func (f *fixture) rowsOf(s snapshot, b exec.Block, cols []scan.Column) (out []string) {
	f.t.Helper()
	if f.opened++; f.opened%2 == 0 {
		b.(exec.Fetcher).WillNeed(cols, 0, b.Rows())
	}
	vecs, from, to, release, err := b.Open(context.Background(), cols)
	if err != nil {
		f.t.Fatal(err)
	}
	defer release()
	if from < 0 || to < from || to > b.Rows() {
		f.t.Fatalf("rows [%d,%d) of at most %d", from, to, b.Rows())
	}
	for i := from; i < to; i++ {
		row := ""
		for _, v := range vecs {
			row += vcell(v, i) + "|"
		}
		out = append(out, row)
	}
	f.singleRows(b, cols, from, to, out)
	for c, v := range vecs {
		st, ok := b.Stats(cols[c])
		if ok {
			f.checkStats(s, b, cols[c], v, from, to, st)
		}
		f.checkTally(s, b, cols[c], v, from, to)
		for of := range vecs {
			f.checkSums(s, b, cols[c], cols[of], v, vecs[of], to)
		}
		for i := from + 1; v.Ascends && i < to; i++ {
			if v.IsNull(i) || v.Int(i) < v.Int(i-1) {
				f.t.Fatalf("%s does not ascend", cols[c].Name(s.table))
			}
		}
	}
	return out
}

// singleRows reads some rows on their own.
func (f *fixture) singleRows(b exec.Block, cols []scan.Column, from, to int, want []string) {
	f.t.Helper()
	if to == from || len(cols) < 5 {
		return
	}
	var rows []int32
	for i := int32(0); int(i) < to-from; i += 1 + (i % 7) {
		rows = append(rows, i)
	}
	rows = rows[:min(len(rows), 5)]
	vecs, ok, err := b.(exec.RowReader).OpenRows(context.Background(), cols, from, to, rows)
	if err != nil {
		f.t.Fatal(err)
	}
	if !ok {
		return
	}
	for _, r := range rows {
		row := ""
		for _, v := range vecs {
			row += vcell(v, int(r)) + "|"
		}
		if row != want[r] {
			f.t.Fatalf("row %d on its own is %s, want %s", r, row, want[r])
		}
	}
}

// checkStats holds a column's bounds against its rows.
func (f *fixture) checkStats(s snapshot, b exec.Block, c scan.Column, v *vector.Vector, from, to int, st exec.Stats) {
	f.t.Helper()
	nulls := 0
	for i := from; i < to; i++ {
		if v.IsNull(i) {
			nulls++
			continue
		}
		x := valueAt(v, i)
		if i%14 == 0 {
			b.(exec.Fetcher).WillAsk(c, x)
		}
		if (i+from)%7 == 0 && !b.MayContain(c, x) {
			f.t.Fatalf("%s: the block denies %s", c.Name(s.table), vcell(v, i))
		}
		if st.HasMin && compareConst(x, st.Min) < 0 || st.HasMax && compareConst(x, st.Max) > 0 {
			f.t.Fatalf("%s: %s is outside of its block's bounds", c.Name(s.table), vcell(v, i))
		}
	}
	if st.Exact && nulls != st.Nulls {
		f.t.Fatalf("%s: %d NULLs, stats say %d", c.Name(s.table), nulls, st.Nulls)
	}
	if !st.Exact {
		return
	}
	if from != 0 || to != v.Len || to != b.Rows() {
		f.t.Fatalf("%s: exact bounds of rows [%d, %d) of a block of %d", c.Name(s.table), from, to, b.Rows())
	}
	least, most := false, false
	for i := from; i < to; i++ {
		if !v.IsNull(i) {
			x := valueAt(v, i)
			least = least || compareConst(x, st.Min) == 0
			most = most || compareConst(x, st.Max) == 0
		}
	}
	if st.HasMin && !least || st.HasMax && !most {
		f.t.Fatalf("%s: a bound that is called exact is no row's", c.Name(s.table))
	}
}

// rowsAgree compares both ways over all columns, and over each alone.
func (f *fixture) rowsAgree(s snapshot, r *rand.Rand) {
	f.t.Helper()
	cols := s.all()
	want := f.byReader(s, cols, nil)
	if got := f.byBlocks(s, cols, nil); !slices.Equal(got, want) {
		f.t.Fatalf("blocks and reader differ: %s", firstDifference(got, want))
	}
	one := cols[r.IntN(len(cols)):][:1]
	want = f.byReader(s, one, nil)
	if got := f.byBlocks(s, one, nil); !slices.Equal(got, want) {
		f.t.Fatalf("%s: blocks and reader differ: %s", one[0].Name(s.table), firstDifference(got, want))
	}
	if got := f.byBlocks(s, nil, nil); len(got) != len(want) {
		f.t.Fatalf("%d rows without columns, want %d", len(got), len(want))
	}
	// A narrow range, which may be read on its own.
	lo := int64(r.IntN(200))
	in := scan.And{Args: []scan.Expr{
		scan.Compare{Column: scan.Column{Kind: scan.Offset}, Op: scan.GE, Value: scan.Literal{Int: lo}},
		scan.Compare{Column: scan.Column{Kind: scan.Offset}, Op: scan.LT, Value: scan.Literal{Int: lo + 3}},
	}}
	want = f.byReader(s, cols[:6], in)
	got := f.byBlocks(s, cols[:6], in)
	for _, w := range want {
		if !slices.Contains(got, w) {
			f.t.Fatalf("%s is missing when offsets from %d are asked for", w, lo)
		}
	}
}

func firstDifference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Sprintf("row %d: %s is missing, and %d more", i, want[i], len(want)-i-1)
		case i >= len(want):
			return fmt.Sprintf("row %d: %s is too many, and %d more", i, got[i], len(got)-i-1)
		case got[i] != want[i]:
			return fmt.Sprintf("row %d: %s, want %s", i, got[i], want[i])
		}
	}
	return "not at all"
}
