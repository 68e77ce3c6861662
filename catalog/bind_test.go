package catalog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"millrace/blobexpand"
	"millrace/internal/recordbatch"
	"millrace/internal/vfs"
	"millrace/store"
	"millrace/store/state"

	"github.com/google/uuid"
)

type fixture struct {
	t    *testing.T
	fs   vfs.FS
	st   *store.Store
	c    *Catalog
	next byte
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, fs: vfs.NewMem()}
	f.open()
	t.Cleanup(func() { f.st.Close() })
	return f
}

func (f *fixture) open() {
	f.t.Helper()
	st, err := store.Open(context.Background(), store.Options{Dir: "/data", FS: f.fs, LogFileBytes: 1 << 20, RetentionEvery: time.Hour})
	if err != nil {
		f.t.Fatal(err)
	}
	f.st, f.c = st, newCatalog(st, Options{})
}

func (f *fixture) commit(intent state.Intent) any {
	f.t.Helper()
	res, err := f.st.Commit(context.Background(), intent)
	if err != nil {
		f.t.Fatal(err)
	}
	return res
}

func (f *fixture) create(name string, partitions int32, configs map[string]string) state.Topic {
	f.t.Helper()
	f.next++
	r := f.commit(state.CreateTopic{ID: uuid.UUID{15: f.next}, Name: name, Partitions: partitions, Configs: configs}).(state.TopicResult)
	if r.Err != nil {
		f.t.Fatal(r.Err)
	}
	return r.Topic
}

func (f *fixture) produce(topic state.Topic, partition int32, values ...string) {
	f.t.Helper()
	f.produceKeyed(topic, partition, nil, values...)
}

func (f *fixture) produceKeyed(topic state.Topic, partition int32, key []byte, values ...string) {
	f.t.Helper()
	var b recordbatch.Builder
	for _, v := range values {
		b.Append(1000, key, []byte(v), nil)
	}
	raw := b.Build()
	// As ingest does; so every test here also holds against batches that are skipped.
	parsed, _, err := recordbatch.Parse(raw)
	if err != nil {
		f.t.Fatal(err)
	}
	var reader recordbatch.Reader
	summary, err := reader.Verify(&parsed)
	if err != nil {
		f.t.Fatal(err)
	}
	done := make(chan error, 1)
	err = f.st.Submit(context.Background(), state.Produce{Batches: []state.Batch{{
		TopicPartition: state.TopicPartition{Topic: topic.ID, Partition: partition}, Records: int32(len(values)), SizeBytes: int32(len(raw)),
		MinTimestamp: 1000, MaxTimestamp: 1000, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
		Opaque: Opaque(&summary),
	}}}, [][]byte{raw}, func(res any, err error) {
		if err == nil {
			err = res.(state.ProduceResult).Batches[0].Err
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

func (f *fixture) bind(topic string) *Table {
	f.t.Helper()
	sn := f.st.Snapshot()
	defer sn.Release()
	table, err := f.c.Bind(context.Background(), sn, topic)
	if err != nil {
		f.t.Fatal(err)
	}
	return table
}

func describe(t *Table) string {
	var s []string
	for _, c := range t.Expanded {
		s = append(s, c.Name+" "+c.Type.String())
	}
	return strings.Join(s, ", ")
}

func (f *fixture) want(topic, columns string) {
	f.t.Helper()
	if got := describe(f.bind(topic)); got != columns {
		f.t.Errorf("%s has %s, want %s", topic, got, columns)
	}
}

func TestAColumnOfTheLastRecordCanBeNamedAtOnce(t *testing.T) {
	f := newFixture(t)
	top := f.create("t", 2, nil)
	f.want("t", "")
	f.produce(top, 0, `{"a":1}`)
	f.want("t", "a BIGINT")
	f.produce(top, 1, `{"b":"x"}`, `not json`, `[1]`)
	f.want("t", "a BIGINT, b VARCHAR(16383)")
	f.produce(top, 0, `{"a":"1","c":[]}`)
	f.want("t", "a VARCHAR(16383), b VARCHAR(16383), c JSON")
}

func TestOnlyBatchesWithoutObjectsAreSkipped(t *testing.T) {
	f := newFixture(t)
	topic := f.create("t", 1, nil)
	f.produce(topic, 0, "plain", "", "[1]", `"{"`, "7")
	f.want("t", "")
	f.produce(topic, 0, "plain", "\n\t {\"a\":1}")
	f.want("t", "a BIGINT")
	f.produce(topic, 0, "{", "plain", `{"b":"x"}`)
	f.want("t", "a BIGINT, b VARCHAR(16383)")
}

func TestNamesFollowTheLogAcrossPartitions(t *testing.T) {
	f := newFixture(t)
	top := f.create("t", 3, nil)
	f.produce(top, 2, `{"id":1}`)
	f.produce(top, 0, `{"Id":1}`)
	f.produce(top, 1, `{"ID":1}`)
	f.produce(top, 2, `{"x":1}`)
	f.want("t", "id BIGINT, Id~2 BIGINT, ID~3 BIGINT, x BIGINT")
}

func TestWhileNothingIsNewTheSameTableIsReturned(t *testing.T) {
	f := newFixture(t)
	top := f.create("t", 1, nil)
	other := f.create("other", 1, nil)
	f.produce(top, 0, `{"a":1}`)
	first := f.bind("t")
	f.produce(other, 0, `{"z":1}`)
	f.produce(top, 0, `{"a":2}`)
	if f.bind("t") != first {
		t.Error("a new table although nothing changed")
	}
	sn := f.st.Snapshot()
	defer sn.Release()
	if n := testing.AllocsPerRun(100, func() {
		if _, err := f.c.Bind(context.Background(), sn, "t"); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("binding costs %v allocations", n)
	}
}

func TestUnknownAndInternalTopicsAreNoTables(t *testing.T) {
	f := newFixture(t)
	f.create("__internal", 1, nil)
	f.create("b", 1, nil)
	f.create("a", 1, nil)
	sn := f.st.Snapshot()
	defer sn.Release()
	for _, name := range []string{"none", "__internal", "B"} {
		if _, err := f.c.Bind(context.Background(), sn, name); !errors.Is(err, state.ErrUnknownTopic) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := f.c.Known(t.Context(), sn, name); !errors.Is(err, state.ErrUnknownTopic) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := fmt.Sprint(f.c.Tables(sn)); got != "[a b]" {
		t.Error(got)
	}
}

func TestTheLogTellsOnceOfMembersWithoutColumns(t *testing.T) {
	f := newFixture(t)
	var logged strings.Builder
	f.c = newCatalog(f.st, Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	top := f.create("t", 1, nil)
	var members []string
	for i := range blobexpand.MaxMembers + 1 {
		members = append(members, fmt.Sprintf(`"m%d":1`, i))
	}
	wide := "{" + strings.Join(members, ",") + "}"
	f.produce(top, 0, `{"a":1}`, `{"m":`+wide+`}`)
	f.bind("t")
	f.produce(top, 0, wide, `{"b":2}`)
	if got := f.bind("t").RestOf; !slices.Equal(got, []string{"$.m", "$"}) {
		t.Error(got)
	}
	if got := logged.String(); strings.Count(got, "members without a column") != 1 || !strings.Contains(got, "topic=t objects=[$.m]") || !strings.Contains(got, "offset=1") {
		t.Error(got)
	}
}

func TestKnownDoesNotRead(t *testing.T) {
	f := newFixture(t)
	top := f.create("t", 1, nil)
	f.produce(top, 0, `{"a":1}`)
	f.want("t", "a BIGINT")
	f.produce(top, 0, `{"b":1}`)
	sn := f.st.Snapshot()
	defer sn.Release()
	table, err := f.c.Known(t.Context(), sn, "t")
	if err != nil || describe(table) != "a BIGINT" {
		t.Errorf("%s, %v", describe(table), err)
	}
}

func TestModesDecideWhatIsExpanded(t *testing.T) {
	f := newFixture(t)
	columns := "id BIGINT, n INT AS (_value->>'$.x.n')"
	for _, c := range []struct {
		name    string
		configs map[string]string
		want    string
	}{
		{"auto", map[string]string{"millrace.columns": columns}, "id BIGINT, n INT, x.m BIGINT"},
		{"declared", map[string]string{"millrace.columns": columns, "millrace.expand": "declared"}, "id BIGINT, n INT"},
		{"off", map[string]string{"millrace.columns": columns, "millrace.expand": "off"}, ""},
		{"text", map[string]string{"millrace.value.format": "text"}, ""},
	} {
		top := f.create(c.name, 1, c.configs)
		f.produce(top, 0, `{"id":"7","x":{"n":1,"m":2}}`)
		f.want(c.name, c.want)
	}
}

func TestAConfigChangeTakesEffectOnHistory(t *testing.T) {
	f := newFixture(t)
	top := f.create("t", 1, map[string]string{"millrace.expand": "declared"})
	f.produce(top, 0, `{"a":1,"b":2}`)
	f.want("t", "")
	old := f.st.Snapshot()
	defer old.Release()
	set := func(configs map[string]string) {
		cur, _ := f.st.Topics().ByName("t")
		if r := f.commit(state.SetTopicConfigs{ID: top.ID, ExpectVersion: cur.ConfigVersion, Configs: configs}).(state.TopicResult); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	set(nil)
	f.want("t", "a BIGINT, b BIGINT")
	set(map[string]string{"millrace.columns": "b VARCHAR(9)"})
	f.want("t", "b VARCHAR(9), a BIGINT")
	table, err := f.c.Bind(context.Background(), old, "t")
	if err != nil || describe(table) != "" {
		t.Errorf("the old snapshot has %s, %v", describe(table), err)
	}
	f.want("t", "b VARCHAR(9), a BIGINT")
}

func TestALongKeyIsNoticed(t *testing.T) {
	f := newFixture(t)
	top := f.create("t", 1, nil)
	f.produceKeyed(top, 0, []byte(strings.Repeat("ä", 16383)), `{}`)
	if f.bind("t").LongKey {
		t.Error("16,383 characters are not long")
	}
	f.produceKeyed(top, 0, []byte(strings.Repeat("k", 16384)), `{}`)
	if !f.bind("t").LongKey {
		t.Error("16,384 characters are long")
	}
}

func TestNamesSurviveARestartAndTheLossOfTheirRecords(t *testing.T) {
	f := newFixture(t)
	top := f.create("t", 2, nil)
	f.produce(top, 0, `{"Id":1,"m":{"x":1}}`)
	f.produce(top, 1, `{"id":1}`)
	f.want("t", "Id BIGINT, m.x BIGINT, id~2 BIGINT")
	if err := f.c.sweep(context.Background()); err != nil {
		t.Fatal(err)
	}
	f.produce(top, 0, `{"ID":1}`) // not saved
	f.want("t", "Id BIGINT, m.x BIGINT, id~2 BIGINT, ID~3 BIGINT")
	f.commit(state.AdvanceLogStart{Partitions: []state.LogStartMove{{TopicPartition: state.TopicPartition{Topic: top.ID, Partition: 1}, Before: -1}}})
	if err := f.st.Close(); err != nil {
		t.Fatal(err)
	}
	f.open()
	f.want("t", "Id BIGINT, m.x BIGINT, id~2 BIGINT, ID~3 BIGINT")
	f.produce(top, 0, `{"new":1}`)
	f.want("t", "Id BIGINT, m.x BIGINT, id~2 BIGINT, ID~3 BIGINT, new BIGINT")
}

func TestCloseSavesAndDeletedTopicsLeaveNothing(t *testing.T) {
	f := newFixture(t)
	f.c = New(f.st, Options{SweepEvery: time.Hour})
	top := f.create("t", 1, nil)
	f.produce(top, 0, `{"a":1}`)
	f.want("t", "a BIGINT")
	if err := f.c.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(f.st.Documents(columnsKind)); n != 1 {
		t.Fatalf("%d documents", n)
	}
	f.c = newCatalog(f.st, Options{})
	f.commit(state.DeleteTopic{ID: top.ID})
	top = f.create("t", 1, nil)
	f.produce(top, 0, `{"b":1}`)
	f.want("t", "b BIGINT")
	if err := f.c.sweep(context.Background()); err != nil {
		t.Fatal(err)
	}
	docs := f.st.Documents(columnsKind)
	if len(docs) != 1 || docs[0].Key != top.ID.String() {
		t.Errorf("documents %v", docs)
	}
}

func TestASweepGoesOnlyWhereSomethingChanged(t *testing.T) {
	f := newFixture(t)
	top := f.create("t", 1, nil)
	f.produce(top, 0, `{"a":1}`)
	for range 5 {
		if err := f.c.sweep(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	lsn := f.st.Stats().LastLSN
	for range 5 {
		if err := f.c.sweep(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if now := f.st.Stats().LastLSN; now != lsn {
		t.Errorf("idle sweeps wrote entries %d to %d", lsn, now)
	}
}

func TestPinnedTypesDoNotWiden(t *testing.T) {
	f := newFixture(t)
	top := f.create("t", 1, nil)
	f.produce(top, 0, `{"a":1,"u":{"x":"s"},"b":true}`)
	if err := f.c.Pin(context.Background(), "t", "A"); err != nil {
		t.Fatal(err)
	}
	f.produce(top, 0, `{"a":"odd","b":"odd"}`)
	f.want("t", "a BIGINT, u.x VARCHAR(16383), b VARCHAR(16383)")
	if err := f.c.Pin(context.Background(), "t", "none"); !errors.Is(err, ErrNoColumn) {
		t.Error(err)
	}

	cur, _ := f.st.Topics().ByName("t")
	configs := map[string]string{"millrace.expand": "pinned", "millrace.columns": cur.Configs["millrace.columns"]}
	f.commit(state.SetTopicConfigs{ID: top.ID, ExpectVersion: cur.ConfigVersion, Configs: configs})
	for range 2 {
		if err := f.c.sweep(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	f.produce(top, 0, `{"u":{"x":"s"},"n":1}`)
	for range 2 {
		if err := f.c.sweep(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	f.produce(top, 0, `{"n":"text"}`)
	f.want("t", "a BIGINT, u.x VARCHAR(16383), b VARCHAR(16383), n VARCHAR(16383)")
	cur, _ = f.st.Topics().ByName("t")
	if got := cur.Configs["millrace.columns"]; strings.Contains(got, "`n`") || !strings.Contains(got, "`u.x`") {
		t.Errorf("columns %s", got)
	}
}

func TestBindsMayRaceWithProducersAndEachOther(t *testing.T) {
	f := newFixture(t)
	f.c = New(f.st, Options{SweepEvery: time.Millisecond})
	top := f.create("t", 4, nil)
	var wg sync.WaitGroup
	for p := range int32(4) {
		wg.Go(func() {
			for i := range 25 {
				f.produce(top, p, fmt.Sprintf(`{"p%d_%d":1}`, p, i))
				table := f.bind("t")
				found := false
				for _, c := range table.Expanded {
					found = found || c.Name == fmt.Sprintf("p%d_%d", p, i)
				}
				if !found {
					t.Errorf("column of an acknowledged record is missing")
				}
			}
		})
	}
	wg.Wait()
	before := describe(f.bind("t"))
	if err := f.c.Close(); err != nil {
		t.Fatal(err)
	}
	f.c = newCatalog(f.st, Options{})
	f.want("t", before)
	// From nothing but the log, the same.
	for _, d := range f.st.Documents(columnsKind) {
		f.commit(state.PutDocument{Kind: d.Kind, Key: d.Key, ExpectVersion: d.Version})
	}
	f.c = newCatalog(f.st, Options{})
	f.want("t", before)
}

func TestWaitingForABusyTopicEndsWithTheContext(t *testing.T) {
	f := newFixture(t)
	top := f.create("t", 1, nil)
	f.produce(top, 0, `{"a":1}`)
	s := f.c.schemaOf(top.ID)
	if err := s.enter(context.Background()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	sn := f.st.Snapshot()
	defer sn.Release()
	if _, err := f.c.Bind(ctx, sn, "t"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.leave()
	f.want("t", "a BIGINT")
}

func TestABatchIsCheckedAgainstTheDeclaredColumns(t *testing.T) {
	f := newFixture(t)
	top := f.create("t", 1, map[string]string{"millrace.columns": "a TINYINT", "millrace.on_error": "reject"})
	check := func(values ...string) error {
		var b recordbatch.Builder
		for _, v := range values {
			b.Append(1, nil, []byte(v), nil)
		}
		batch, _, err := recordbatch.Parse(b.Build())
		if err != nil {
			t.Fatal(err)
		}
		return f.c.CheckBatch(top, &batch)
	}
	if err := check(`{"a":1}`, `{"b":2}`); err != nil {
		t.Error(err)
	}
	if err := check(`{"a":1}`, `{"a":999}`); err == nil || !strings.Contains(err.Error(), "record 1") {
		t.Error(err)
	}
	if err := check(`{`); err == nil {
		t.Error("broken JSON passes")
	}
	var bad *MisfitError
	if err := check(`{"a":"x"}`, `{"a":1}`, `{"a":999}`); !errors.As(err, &bad) {
		t.Fatal(err)
	}
	if fmt.Sprint(bad.Total, bad.Index) != "2 [0 2]" || !strings.Contains(bad.Reasons[0], `a: found "x", expected TINYINT`) ||
		!strings.Contains(bad.Reasons[1], "a: found 999, expected TINYINT") {
		t.Errorf("%+v", bad)
	}
	many := make([]string, maxMisfits+1)
	for i := range many {
		many[i] = `{"a":[]}`
	}
	if err := check(many...); !errors.As(err, &bad) || bad.Total != maxMisfits+1 || len(bad.Index) != maxMisfits || len(bad.Reasons) != maxMisfits {
		t.Error(err)
	}
}

func TestFaultyConfigsAreFoundBeforeTheyAreStored(t *testing.T) {
	for _, configs := range []map[string]string{
		{"millrace.columns": "a BIGINT NOT NULL"}, {"millrace.columns": "nonsense"}, {"millrace.expand": "x"},
	} {
		if CheckConfigs(configs) == nil {
			t.Errorf("%v passes", configs)
		}
	}
	if err := CheckConfigs(map[string]string{"millrace.columns": "a BIGINT"}); err != nil {
		t.Error(err)
	}
}

func TestCSVTopicsHaveTheirDeclaredFields(t *testing.T) {
	f := newFixture(t)
	f.create("t", 1, map[string]string{"millrace.columns": "a INT, b TEXT", "millrace.value.format": "csv"})
	cols := f.bind("t").Expanded
	if len(cols) != 2 || cols[0].Field != 1 || cols[1].Field != 2 {
		t.Errorf("%+v", cols)
	}
}

func TestIdleTopicsLeaveMemoryAndComeBack(t *testing.T) {
	f := newFixture(t)
	top := f.create("t", 2, nil)
	f.produce(top, 0, `{"a":1}`)
	f.produce(top, 1, `{"A":1}`)
	f.want("t", "a BIGINT, A~2 BIGINT")
	for range 2*idleSweeps + 1 {
		if err := f.c.sweep(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if f.c.schemaOf(top.ID).loaded {
		t.Fatal("still in memory")
	}
	f.want("t", "a BIGINT, A~2 BIGINT")
	f.produce(top, 1, `{"b":1}`)
	f.want("t", "a BIGINT, A~2 BIGINT, b BIGINT")
}

func TestASweepLoadsOnlyTopicsWithUnreadRecords(t *testing.T) {
	f := newFixture(t)
	quiet := f.create("quiet", 1, nil)
	f.create("empty", 1, nil)
	busy := f.create("busy", 1, nil)
	f.produce(quiet, 0, `{"a":1}`)
	f.produce(busy, 0, `{"a":1}`)
	sweep := func() {
		t.Helper()
		if err := f.c.sweep(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	sweep()
	f.produce(busy, 0, `{"b":1}`)
	f.c = newCatalog(f.st, Options{}) // as after a restart
	sweep()
	if f.c.schemaOf(quiet.ID).loaded || !f.c.schemaOf(busy.ID).loaded {
		t.Errorf("quiet loaded %t, busy loaded %t", f.c.schemaOf(quiet.ID).loaded, f.c.schemaOf(busy.ID).loaded)
	}
	if n := len(f.st.Documents(columnsKind)); n != 2 {
		t.Errorf("%d documents", n)
	}
	f.produce(quiet, 0, `{"b":1}`)
	sweep()
	sn := f.st.Snapshot()
	defer sn.Release()
	table, err := f.c.Known(t.Context(), sn, "quiet")
	if err != nil || describe(table) != "a BIGINT, b BIGINT" {
		t.Errorf("%s, %v", describe(table), err)
	}
}
