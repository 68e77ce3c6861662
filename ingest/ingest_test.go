package ingest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"testing"
	"time"

	"millrace/internal/recordbatch"
	"millrace/store/commitlog"
	"millrace/store/state"

	"github.com/google/uuid"
)

// fakeStore decides with a real state machine and keeps the payload.
type fakeStore struct {
	st      *state.State
	payload [][]byte
	batches []state.Batch
	fail    error // of done
	refuse  error // of Submit
}

func (f *fakeStore) Submit(_ context.Context, intent state.Intent, payload [][]byte, done func(any, error)) error {
	if f.refuse != nil {
		return f.refuse
	}
	if f.fail != nil {
		done(nil, f.fail)
		return nil
	}
	entry, result := f.st.Decide(now, intent, nil)
	if entry != nil {
		if err := f.st.Apply(entry); err != nil {
			return err
		}
		f.batches = append(f.batches, intent.(state.Produce).Batches...)
		f.payload = append(f.payload, payload...)
	}
	done(result, nil)
	return nil
}

const now = 1_700_000_000_000

func newTest(t testing.TB, configs map[string]string) (*Ingest, *Topic, *fakeStore) {
	t.Helper()
	f := &fakeStore{st: state.New()}
	create := state.CreateTopic{ID: uuid.New(), Name: "t", Partitions: 3, Configs: configs}
	entry, result := f.st.Decide(now, create, nil)
	tr := result.(state.TopicResult)
	if tr.Err != nil {
		t.Fatal(tr.Err)
	}
	if err := f.st.Apply(entry); err != nil {
		t.Fatal(err)
	}
	in := New(f, Options{Now: func() time.Time { return time.UnixMilli(now) }})
	topic, err := in.Topic(tr.Topic)
	if err != nil {
		t.Fatal(err)
	}
	return in, topic, f
}

func one(in *Ingest, topic *Topic, raw []byte) Result {
	e := []Entry{{Topic: topic, Batch: raw}}
	calls := 0
	in.Produce(context.Background(), e, Mode{}, func() { calls++ })
	if calls != 1 {
		panic(fmt.Sprintf("done was called %d times", calls))
	}
	return e[0].Result
}

type rec struct {
	ts    int64
	key   []byte
	value string
}

func build(codec int, recs ...rec) []byte {
	b := recordbatch.Builder{Codec: codec}
	for _, r := range recs {
		b.Append(r.ts, r.key, []byte(r.value), nil)
	}
	return b.Build()
}

func resum(raw []byte) []byte {
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

func put32(raw []byte, at int, v int32) []byte {
	binary.BigEndian.PutUint32(raw[at:], uint32(v))
	return resum(raw)
}

func TestSoundBatchesAreStoredAsSent(t *testing.T) {
	for codec := recordbatch.None; codec <= recordbatch.Zstd; codec++ {
		in, topic, f := newTest(t, nil)
		raw := build(codec, rec{now, nil, "a"}, rec{now - 5, []byte("k"), "b"}, rec{now + 5, nil, "c"})
		want := bytes.Clone(raw)
		for i := range 2 {
			if r := one(in, topic, bytes.Clone(raw)); r.Err != nil || r.BaseOffset != int64(3*i) || r.AppendTime != -1 || r.LogStart != 0 {
				t.Fatalf("%s: %+v", recordbatch.CodecName(codec), r)
			}
		}
		if !bytes.Equal(f.payload[0], want) {
			t.Errorf("%s: other bytes were stored", recordbatch.CodecName(codec))
		}
		minTime := int64(now - 5)
		if codec != recordbatch.None {
			minTime = recordbatch.NoTimestamp // not known without decompressing
		}
		if b := f.batches[0]; b.MinTimestamp != minTime || b.MaxTimestamp != now+5 || b.Records != 3 || int(b.SizeBytes) != len(want) || b.ProducerID != -1 {
			t.Errorf("%s: %+v", recordbatch.CodecName(codec), b)
		}
	}
}

func TestWhatInferenceNeedNotSeeIsMarked(t *testing.T) {
	for value, want := range map[string]bool{"plain": true, "": true, "[1]": true, `{"a":1}`: false, " {}": false, "{": false} {
		for codec, known := range map[int]bool{recordbatch.None: true, recordbatch.LZ4: false} {
			in, topic, f := newTest(t, nil)
			b := recordbatch.Builder{Codec: codec}
			b.Append(now, []byte("k"), []byte("first"), nil)
			b.Append(now, nil, []byte(value), nil)
			if r := one(in, topic, b.Build()); r.Err != nil {
				t.Fatal(r.Err)
			}
			if got := f.batches[0].Opaque; got != (want && known) {
				t.Errorf("%q, codec %d: opaque is %v", value, codec, got)
			}
		}
	}
}

func TestUnsoundBatchesAreRefusedWithTheirReason(t *testing.T) {
	good := func() []byte { return build(recordbatch.None, rec{now, nil, "a"}, rec{now, nil, "b"}) }
	zstd := func() []byte { return build(recordbatch.Zstd, rec{now, nil, "a"}, rec{now, nil, "b"}) }
	compact := map[string]string{"cleanup.policy": "compact"}
	producer := func(id int64, epoch int16, seq int32) []byte {
		raw := good()
		recordbatch.SetProducer(raw, id, epoch, seq)
		return raw
	}
	for name, c := range map[string]struct {
		raw     []byte
		configs map[string]string
		want    error
	}{
		"nothing":                     {nil, nil, ErrInvalidRecord},
		"a byte changed":              {func() []byte { b := good(); b[len(b)-1] ^= 1; return b }(), nil, recordbatch.ErrCorrupt},
		"cut":                         {good()[:70], nil, recordbatch.ErrCorrupt},
		"old format":                  {func() []byte { b := good(); b[16] = 1; return b }(), nil, recordbatch.ErrMagic},
		"two batches":                 {append(good(), good()...), nil, ErrInvalidRecord},
		"a byte after it":             {append(good(), 0), nil, ErrInvalidRecord},
		"larger than allowed":         {good(), map[string]string{"max.message.bytes": "70"}, ErrMessageTooLarge},
		"a control batch":             {func() []byte { b := good(); b[22] |= 0x20; return resum(b) }(), nil, ErrInvalidRecord},
		"a transactional batch":       {func() []byte { b := producer(1, 0, 0); b[22] |= 0x10; return resum(b) }(), nil, ErrTransactional},
		"one without a producer":      {func() []byte { b := good(); b[22] |= 0x10; return resum(b) }(), nil, ErrInvalidRecord},
		"log append time by client":   {func() []byte { b := good(); b[22] |= 0x08; return resum(b) }(), nil, ErrInvalidTimestamp},
		"codec 5":                     {func() []byte { b := good(); b[22] |= 5; return resum(b) }(), nil, recordbatch.ErrCodec},
		"no records":                  {put32(put32(good(), 57, 0), 23, 0), nil, ErrInvalidRecord},
		"a gap at the end":            {put32(good(), 23, 5), nil, ErrInvalidRecord},
		"more records than there are": {put32(put32(good(), 57, 3), 23, 2), nil, recordbatch.ErrInvalid},
		"fewer":                       {put32(put32(good(), 57, 1), 23, 0), nil, recordbatch.ErrInvalid},
		"2^31-1 compressed records":   {put32(put32(zstd(), 57, 1<<31-1), 23, 1<<31-2), nil, ErrInvalidRecord},
		"damaged compression":         {func() []byte { b := zstd(); b[61] ^= 1; return resum(b) }(), nil, recordbatch.ErrInvalid},
		"too far ahead":               {build(recordbatch.None, rec{now + 3_600_001, nil, "a"}), nil, ErrInvalidTimestamp},
		"too far ahead, compressed":   {build(recordbatch.Zstd, rec{now + 3_600_001, nil, "a"}), nil, ErrInvalidTimestamp},
		"too old":                     {build(recordbatch.None, rec{now, nil, "a"}, rec{now - 1001, nil, "a"}), map[string]string{"message.timestamp.before.max.ms": "1000"}, ErrInvalidTimestamp},
		"before time":                 {build(recordbatch.None, rec{-5, nil, "a"}), nil, ErrInvalidTimestamp},
		"no key to compact by":        {build(recordbatch.None, rec{now, []byte("k"), "a"}, rec{now, nil, "a"}), compact, ErrInvalidRecord},
		"no key, compressed":          {build(recordbatch.LZ4, rec{now, []byte("k"), "a"}, rec{now, nil, "a"}), compact, ErrInvalidRecord},
		"a sequence without an epoch": {producer(1, -1, 0), nil, ErrInvalidRecord},
		"an epoch without a sequence": {producer(1, 0, -1), nil, ErrInvalidRecord},
		"producer id -2":              {producer(-2, 0, 0), nil, ErrInvalidRecord},
	} {
		in, topic, f := newTest(t, c.configs)
		if r := one(in, topic, c.raw); !errors.Is(r.Err, c.want) || r.BaseOffset != -1 || len(f.payload) != 0 {
			t.Errorf("%s: %+v, want %v", name, r, c.want)
		}
	}
}

func TestRecordsWithoutAKeyAreNamedUpToALimit(t *testing.T) {
	in, topic, _ := newTest(t, map[string]string{"cleanup.policy": "compact"})
	recs := []rec{{now, []byte("k"), "a"}}
	for range maxRecordErrors + 1 {
		recs = append(recs, rec{now, nil, "a"})
	}
	var bad *RecordsError
	if r := one(in, topic, build(recordbatch.None, recs...)); !errors.As(r.Err, &bad) {
		t.Fatal(r.Err)
	}
	if bad.Total != maxRecordErrors+1 || len(bad.Index) != maxRecordErrors || bad.Index[0] != 1 || bad.Index[maxRecordErrors-1] != maxRecordErrors {
		t.Errorf("%d of %d, from %d to %d", len(bad.Index), bad.Total, bad.Index[0], bad.Index[len(bad.Index)-1])
	}
}

func TestTimestampsWithinTheLimitsPass(t *testing.T) {
	in, topic, _ := newTest(t, map[string]string{"message.timestamp.before.max.ms": "1000"})
	for _, ts := range []int64{now + 3_600_000, now - 1000, now, recordbatch.NoTimestamp} {
		if r := one(in, topic, build(recordbatch.None, rec{ts, nil, "a"})); r.Err != nil {
			t.Errorf("%d: %v", ts, r.Err)
		}
	}
}

func TestAppendTimeIsSetWhereTheTopicWantsIt(t *testing.T) {
	in, topic, f := newTest(t, map[string]string{"message.timestamp.type": "LogAppendTime"})
	for _, codec := range []int{recordbatch.None, recordbatch.Snappy} {
		r := one(in, topic, build(codec, rec{5, nil, "a"}, rec{now * 2, nil, "b"}))
		if r.Err != nil || r.AppendTime != now {
			t.Fatalf("%+v", r)
		}
		b, _, err := recordbatch.Parse(f.payload[len(f.payload)-1])
		if err != nil || !b.CheckCRC() || !b.LogAppendTime() || b.MaxTimestamp != now {
			t.Fatalf("%+v %v", b, err)
		}
		if sb := f.batches[len(f.batches)-1]; sb.MinTimestamp != now || sb.MaxTimestamp != now {
			t.Fatalf("%+v", sb)
		}
	}
}

func TestAWrongMaximumTimestampIsCorrected(t *testing.T) {
	in, topic, f := newTest(t, nil)
	raw := build(recordbatch.None, rec{now - 7, nil, "a"}, rec{now - 3, nil, "b"})
	binary.BigEndian.PutUint64(raw[35:], 0)
	if r := one(in, topic, resum(raw)); r.Err != nil {
		t.Fatal(r.Err)
	}
	b, _, _ := recordbatch.Parse(f.payload[0])
	if b.MaxTimestamp != now-3 || !b.CheckCRC() || f.batches[0].MaxTimestamp != now-3 {
		t.Fatalf("%+v", b)
	}
}

// A producer that set the delete horizon would have its own and, after a rewrite, others' delete markers dropped at once.
func TestTheDeleteHorizonOfAProducerIsNotStored(t *testing.T) {
	for codec := recordbatch.None; codec <= recordbatch.Zstd; codec++ {
		in, topic, f := newTest(t, map[string]string{"cleanup.policy": "compact"})
		raw := build(codec, rec{now - 7, []byte("k"), "a"}, rec{now - 3, []byte("k"), "b"})
		raw[22] |= 0x40
		if r := one(in, topic, resum(raw)); r.Err != nil {
			t.Fatal(r.Err)
		}
		b, _, err := recordbatch.Parse(f.payload[0])
		if _, has := b.DeleteHorizon(); err != nil || has || !b.CheckCRC() {
			t.Fatalf("%+v %v", b, err)
		}
		var r recordbatch.Reader
		var got recordbatch.Record
		if err := r.Reset(&b); err != nil || !r.Next(&got) || got.Timestamp != now-7 || string(got.Value) != "a" {
			t.Fatalf("%+v %v", got, err)
		}
	}
}

func TestCompressionTypeRecompresses(t *testing.T) {
	in, topic, f := newTest(t, map[string]string{"compression.type": "zstd"})
	if r := one(in, topic, build(recordbatch.Gzip, rec{now, []byte("k"), "value"})); r.Err != nil {
		t.Fatal(r.Err)
	}
	b, _, _ := recordbatch.Parse(f.payload[0])
	var rd recordbatch.Reader
	var got recordbatch.Record
	if b.Codec() != recordbatch.Zstd || !b.CheckCRC() || rd.Reset(&b) != nil || !rd.Next(&got) || string(got.Value) != "value" {
		t.Fatalf("%+v %+v", b, got)
	}
}

func TestOneBadBatchDoesNotHinderTheOthersUnlessAskedTo(t *testing.T) {
	for _, strict := range []bool{false, true} {
		in, topic, f := newTest(t, nil)
		bad := build(recordbatch.None, rec{now, nil, "bad"})
		bad[70] ^= 1
		e := []Entry{
			{Topic: topic, Partition: 0, Batch: build(recordbatch.None, rec{now, nil, "a"})},
			{Topic: topic, Partition: 1, Batch: bad},
			{Topic: topic, Partition: 9, Batch: build(recordbatch.None, rec{now, nil, "b"})},
			{Topic: topic, Partition: 2, Batch: build(recordbatch.None, rec{now, nil, "c"})},
		}
		in.Produce(context.Background(), e, Mode{AllOrNothing: strict}, func() {})
		var goodErr error
		stored := 2
		if strict {
			goodErr, stored = state.ErrRequestRefused, 0
		}
		for i, want := range []error{goodErr, recordbatch.ErrCorrupt, state.ErrUnknownTopic, goodErr} {
			if !errors.Is(e[i].Result.Err, want) {
				t.Errorf("strict %v, entry %d: %v, want %v", strict, i, e[i].Result.Err, want)
			}
		}
		if len(f.payload) != stored {
			t.Errorf("strict %v: %d batches stored", strict, len(f.payload))
		}
	}
}

func TestFailuresOfTheStoreReachEveryEntry(t *testing.T) {
	in, topic, f := newTest(t, nil)
	f.fail = commitlog.ErrStorage
	if r := one(in, topic, build(0, rec{now, nil, "a"})); !errors.Is(r.Err, commitlog.ErrStorage) || r.BaseOffset != -1 {
		t.Fatalf("%+v", r)
	}
	f.refuse = context.Canceled
	if r := one(in, topic, build(0, rec{now, nil, "a"})); !errors.Is(r.Err, context.Canceled) {
		t.Fatalf("%+v", r)
	}
}

func TestDuplicatesAreAnsweredAndNotStoredAgain(t *testing.T) {
	in, topic, f := newTest(t, nil)
	raw := build(0, rec{now, nil, "a"})
	recordbatch.SetProducer(raw, 7, 0, 0)
	for range 2 {
		if r := one(in, topic, bytes.Clone(raw)); r.Err != nil || r.BaseOffset != 0 {
			t.Fatalf("%+v", r)
		}
	}
	if len(f.payload) != 1 {
		t.Fatal("stored twice")
	}
}

func TestTopicIsParsedAgainWhenItChanges(t *testing.T) {
	in, topic, _ := newTest(t, nil)
	again, err := in.Topic(topic.Topic)
	if err != nil || again != topic {
		t.Fatal("not cached", err)
	}
	changed := topic.Topic
	changed.ConfigVersion++
	changed.Configs = map[string]string{"max.message.bytes": "70"}
	if again, err = in.Topic(changed); err != nil || again.Config.MaxMessageBytes != 70 {
		t.Fatal(again, err)
	}
	for range maxCachedTopics {
		changed.ID = uuid.New()
		if _, err := in.Topic(changed); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	in.topics.Range(func(any, any) bool { n++; return true })
	if n > maxCachedTopics {
		t.Fatalf("%d topics are cached", n)
	}
}

func TestAppendPlacesRecordsByPartitionKeyOrChance(t *testing.T) {
	in, topic, f := newTest(t, map[string]string{"max.message.bytes": "300"})
	var recs []Record
	for i := range 60 {
		r := Record{Partition: AnyPartition, Timestamp: NowTimestamp, Value: fmt.Appendf(nil, "value %d", i)}
		switch i % 3 {
		case 0:
			r.Partition = 2
		case 1:
			r.Key = fmt.Appendf(nil, "key %d", i)
		}
		recs = append(recs, r)
	}
	pos, err := in.Append(context.Background(), topic, recs)
	if err != nil {
		t.Fatal(err)
	}
	stored := map[Position]string{}
	offsets := map[int32]int64{}
	for i, raw := range f.payload {
		b, _, err := recordbatch.Parse(raw)
		if err != nil || len(raw) > 300 {
			t.Fatal(len(raw), err)
		}
		var rd recordbatch.Reader
		if err := rd.Reset(&b); err != nil {
			t.Fatal(err)
		}
		var rc recordbatch.Record
		for rd.Next(&rc) {
			p := f.batches[i].Partition
			if rc.Timestamp != now {
				t.Fatal(rc.Timestamp)
			}
			stored[Position{p, offsets[p]}] = string(rc.Value)
			offsets[p]++
		}
	}
	sticky := int32(-1)
	for i, p := range pos {
		if stored[p] != string(recs[i].Value) {
			t.Fatalf("record %d is said to be at %v, there is %q", i, p, stored[p])
		}
		switch i % 3 {
		case 0:
			if p.Partition != 2 {
				t.Fatal(p)
			}
		case 1:
			if p.Partition != PartitionForKey(recs[i].Key, 3) {
				t.Fatal(p)
			}
		case 2:
			if sticky >= 0 && p.Partition != sticky {
				t.Fatal(p)
			}
			sticky = p.Partition
		}
	}
	if _, err := in.Append(context.Background(), topic, []Record{{Partition: 1, Value: []byte("a")}, {Partition: 0, Value: make([]byte, 400)}}); !errors.Is(err, ErrMessageTooLarge) {
		t.Fatal(err)
	}
	if _, err := in.Append(context.Background(), topic, []Record{{Partition: 3}}); !errors.Is(err, ErrInvalidRecord) {
		t.Fatal(err)
	}
}

func TestKeysGoWhereJavaClientsSendThem(t *testing.T) {
	// From the Java client's own test of its hash.
	for key, want := range map[string]int32{
		"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536,
		"a-little-bit-longer-string": -1486304829, "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
		"abc": 479470107,
	} {
		if got := int32(murmur2([]byte(key))); got != want {
			t.Errorf("%q: %d, want %d", key, got, want)
		}
	}
	for i, want := range []int32{1, 0, 2, 1} {
		if got := PartitionForKey(fmt.Appendf(nil, "customer-%d", i), 3); got != want {
			t.Errorf("customer-%d: partition %d, want %d", i, got, want)
		}
	}
}

func BenchmarkProduce(b *testing.B) {
	for _, codec := range []int{recordbatch.None, recordbatch.LZ4, recordbatch.Zstd} {
		b.Run(recordbatch.CodecName(codec), func(b *testing.B) {
			in, topic, _ := newTest(b, nil)
			in.store = discard{}
			bd := recordbatch.Builder{Codec: codec}
			for i := range 900 {
				bd.Append(now, nil, fmt.Appendf(nil, "%01024d", i), nil)
			}
			size := bd.Size()
			raw := bd.Build()
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if r := one(in, topic, raw); r.Err != nil {
					b.Fatal(r.Err)
				}
			}
		})
	}
}

// BenchmarkProduceRecords measures what checking costs a record, by its size.
func BenchmarkProduceRecords(b *testing.B) {
	for _, size := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			in, topic, _ := newTest(b, nil)
			in.store = discard{}
			var bd recordbatch.Builder
			n := 0
			for ; bd.Size() < 500_000; n++ {
				bd.Append(now, nil, bytes.Repeat([]byte("x"), size), nil)
			}
			raw := bd.Build()
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if r := one(in, topic, raw); r.Err != nil {
					b.Fatal(r.Err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/record")
		})
	}
}

type discard struct{}

func (discard) Submit(_ context.Context, intent state.Intent, _ [][]byte, done func(any, error)) error {
	done(state.ProduceResult{Batches: make([]state.BatchResult, len(intent.(state.Produce).Batches))}, nil)
	return nil
}

func TestAnsweredEntriesHoldNoBatch(t *testing.T) {
	in, topic, _ := newTest(t, nil)
	good, bad := build(recordbatch.None, rec{now, nil, "a"}), build(recordbatch.None, rec{now, nil, "b"})
	bad[30]++
	entries := []Entry{{Topic: topic, Batch: good}, {Topic: topic, Batch: bad}}
	in.Produce(context.Background(), entries, Mode{}, func() {})
	if entries[0].Result.Err != nil || entries[1].Result.Err == nil {
		t.Fatalf("%+v", entries)
	}
	for i := range entries {
		if entries[i].Batch != nil {
			t.Errorf("entry %d still holds its batch, and so the request that it came in", i)
		}
	}
}
