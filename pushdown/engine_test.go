package pushdown_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"millrace/catalog"
	"millrace/catalog/sqltable"
	"millrace/internal/recordbatch"
	"millrace/internal/vfs"
	"millrace/pushdown"
	"millrace/scan/columns"
	"millrace/store"
	"millrace/store/state"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/google/uuid"
)

// bench is an engine over a store in memory.
type bench struct {
	t         tb
	fs        *vfs.Mem
	store     *store.Store
	cat       *catalog.Catalog
	provider  *sqltable.Provider
	builder   *pushdown.Builder
	engine    *sqle.Engine
	topics    int
	zone      string
	few       int64 // pushdown.Options.FewRows
	blockRows int   // of columns; each reads its whole batch
}

func newBench(t tb) *bench {
	t.Helper()
	b := &bench{t: t, fs: vfs.NewMem(), zone: "+00:00", few: -1, blockRows: 1000}
	if err := b.fs.MkdirAll("/data"); err != nil {
		t.Fatal(err)
	}
	sql.SystemVariables.AddSystemVariables([]sql.SystemVariable{&sql.MysqlSystemVariable{
		Name: sqltable.PushdownVariable, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
		Type: types.NewSystemBoolType(sqltable.PushdownVariable), Default: int8(1),
	}})
	b.open()
	t.Cleanup(b.close)
	return b
}

func (b *bench) open() {
	b.t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	var err error
	b.store, err = store.Open(context.Background(), store.Options{Dir: "/data", FS: b.fs, Logger: quiet, RetentionEvery: time.Hour})
	if err != nil {
		b.t.Fatal(err)
	}
	b.cat = catalog.New(b.store, catalog.Options{Logger: quiet})
	b.provider = sqltable.NewProvider(b.cat, b.store, sqltable.Options{Columns: columns.New(columns.Options{BlockRows: b.blockRows})})
	b.builder = pushdown.NewBuilder(pushdown.Options{FewRows: b.few})
	b.engine = sqle.NewDefault(withSums{b.provider})
	b.engine.Analyzer.ExecBuilder = b.builder
}

func (b *bench) close() {
	if err := b.engine.Close(); err != nil && !errors.Is(err, context.Canceled) { // its way to say that it is closed
		b.t.Error(err)
	}
	if err := b.cat.Close(); err != nil {
		b.t.Error(err)
	}
	if err := b.store.Close(); err != nil {
		b.t.Error(err)
	}
}

func (b *bench) topic(name string, partitions int32, configs map[string]string) state.TopicID {
	b.t.Helper()
	b.topics++
	id := uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "%s-%d", name, b.topics))
	res, err := b.store.Commit(context.Background(), state.CreateTopic{ID: id, Name: name, Partitions: partitions, Configs: configs})
	if err != nil {
		b.t.Fatal(err)
	}
	if r := res.(state.TopicResult); r.Err != nil {
		b.t.Fatal(r.Err)
	}
	return id
}

// record is one record to produce; empty key and value are absent.
type record struct {
	ts         int64
	key, value string
	noValue    bool
	headers    []recordbatch.Header
}

func (b *bench) produce(id state.TopicID, partition int32, records ...record) {
	b.t.Helper()
	var rb recordbatch.Builder
	lo, hi := int64(math.MaxInt64), int64(-1)
	for _, r := range records {
		if r.ts == 0 {
			r.ts = 1_700_000_000_000
		}
		var key, value []byte
		if r.key != "" {
			key = []byte(r.key)
		}
		if !r.noValue {
			value = []byte(r.value)
		}
		rb.Append(r.ts, key, value, r.headers)
		lo = min(lo, r.ts)
		hi = max(hi, r.ts)
	}
	raw := rb.Build()
	in := state.Produce{Batches: []state.Batch{{
		TopicPartition: state.TopicPartition{Topic: id, Partition: partition},
		Records:        int32(len(records)), SizeBytes: int32(len(raw)),
		MinTimestamp: lo, MaxTimestamp: hi, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
	}}}
	done := make(chan error, 1)
	err := b.store.Submit(context.Background(), in, [][]byte{raw}, func(result any, err error) {
		if r, ok := result.(state.ProduceResult); ok && err == nil {
			err = r.Batches[0].Err
		}
		done <- err
	})
	if err == nil {
		err = <-done
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) values(id state.TopicID, partition int32, values ...string) {
	b.t.Helper()
	recs := make([]record, len(values))
	for i, v := range values {
		recs[i] = record{value: v}
	}
	b.produce(id, partition, recs...)
}

func (b *bench) seal() {
	b.t.Helper()
	if err := b.store.Seal(context.Background()); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) context(on bool) (*sql.Context, *sqltable.StatementSnapshot) {
	b.t.Helper()
	stmt := b.provider.NewStatement(nil)
	ctx := sql.NewContext(sqltable.WithStatement(context.Background(), stmt),
		sql.WithSession(sql.NewBaseSession()), sql.WithProcessList(sqle.NewProcessList()))
	ctx.SetCurrentDatabase(sqltable.KafkaDatabase)
	if err := ctx.SetSessionVariable(ctx, "time_zone", b.zone); err != nil {
		b.t.Fatal(err)
	}
	v := int8(0)
	if on {
		v = 1
	}
	if err := ctx.SetSessionVariable(ctx, sqltable.PushdownVariable, v); err != nil {
		b.t.Fatal(err)
	}
	return ctx, stmt
}

// query returns the rows as text, cells joined by commas.
func (b *bench) query(on bool, q string) ([]string, error) {
	ctx, stmt := b.context(on)
	defer stmt.Release()
	sql.WithQuery(q)(ctx)
	schema, iter, _, err := b.engine.Query(ctx, q)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := iter.Close(ctx); err != nil {
			b.t.Error(err)
		}
	}()
	var out []string
	for {
		row, err := iter.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		cells := make([]string, len(row))
		for i, c := range row {
			if c == nil {
				cells[i] = "NULL"
				continue
			}
			if _, ok := c.(types.OkResult); ok {
				continue // of a statement without rows
			}
			v, err := schema[i].Type.SQL(ctx, nil, c)
			if err != nil {
				return nil, fmt.Errorf("cell %d (%T) of %v: %w", i, c, row, err)
			}
			if cells[i] = v.ToString(); cells[i] == "-0" {
				cells[i] = "0" // as the server sends it
			}
		}
		out = append(out, strings.Join(cells, ","))
	}
}

// want runs q with pushdown on and off: as things are, after sealing, and after a
// restart; and compares.
func (b *bench) want(q string, rows ...string) {
	b.t.Helper()
	for _, when := range []string{"at once", "sealed", "restarted"} {
		switch when {
		case "sealed":
			b.seal()
		case "restarted":
			b.close()
			b.open()
		}
		for _, on := range []bool{true, false} {
			got, err := b.query(on, q)
			if err != nil {
				b.t.Errorf("%s\npushdown %v, %s: %v", q, on, when, err)
				continue
			}
			if !slices.Equal(got, rows) {
				b.t.Errorf("%s\npushdown %v, %s\n got %q\nwant %q", q, on, when, got, rows)
			}
		}
	}
}

func (b *bench) explain(q string) string {
	b.t.Helper()
	ctx, stmt := b.context(true)
	defer stmt.Release()
	n, err := b.engine.AnalyzeQuery(ctx, q)
	if err != nil {
		b.t.Fatal(err)
	}
	s, err := b.builder.Explain(ctx, n)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// tb is what a bench needs of a test, or of a drawn case of one.
type tb interface {
	Helper()
	Fatal(args ...any)
	Error(args ...any)
	Errorf(format string, args ...any)
	Cleanup(f func())
}
