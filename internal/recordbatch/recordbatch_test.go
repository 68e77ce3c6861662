package recordbatch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var allCodecs = []int{None, Gzip, Snappy, LZ4, Zstd}

type plainRecord struct {
	Offset, Timestamp int64
	Key, Value        []byte
	Headers           []Header
}

func readAllRecords(t testing.TB, r *Reader, raw []byte) []plainRecord {
	t.Helper()
	b, rest, err := Parse(raw)
	if err != nil || len(rest) != 0 {
		t.Fatalf("parse: %v, %d bytes left", err, len(rest))
	}
	if !b.CheckCRC() {
		t.Fatal("CRC does not match")
	}
	if err := r.Reset(&b); err != nil {
		t.Fatal(err)
	}
	var out []plainRecord
	var rec Record
	for r.Next(&rec) {
		hs, err := rec.Headers(nil)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, plainRecord{rec.Offset, rec.Timestamp, rec.Key, rec.Value, hs})
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return out
}

// same compares quickly, and slowly only to tell a difference.
func same(t testing.TB, want, got []plainRecord) {
	t.Helper()
	if !reflect.DeepEqual(want, got) {
		t.Fatal(cmp.Diff(want, got))
	}
}

func build(codec int, recs []plainRecord) []byte {
	b := Builder{Codec: codec}
	for _, r := range recs {
		b.Append(r.Timestamp, r.Key, r.Value, r.Headers)
	}
	return b.Build()
}

func sample() []plainRecord {
	recs := []plainRecord{
		{Timestamp: 1000, Key: []byte("k"), Value: []byte("v")},
		{Timestamp: 990, Key: nil, Value: []byte{}},
		{Timestamp: 5000, Key: []byte{}, Value: nil, Headers: []Header{{"a", []byte("1")}, {"a", nil}, {"", []byte{}}}},
	}
	for i := range 200 {
		recs = append(recs, plainRecord{Timestamp: 1000 + int64(i), Key: fmt.Appendf(nil, "key-%d", i), Value: bytes.Repeat([]byte("millrace "), i)})
	}
	for i := range recs {
		recs[i].Offset = int64(i)
	}
	return recs
}

func TestEveryCodecReadsBackWhatWasBuilt(t *testing.T) {
	var r Reader
	for _, codec := range allCodecs {
		t.Run(CodecName(codec), func(t *testing.T) {
			want := sample()
			raw := build(codec, want)
			for range 2 { // pooled coders must not remember
				same(t, want, readAllRecords(t, &r, raw))
			}
		})
	}
}

func TestABuiltBatchIsWhatTheProtocolLibraryDecodes(t *testing.T) {
	raw := build(None, sample())
	var rb kmsg.RecordBatch
	if err := rb.ReadFrom(raw); err != nil {
		t.Fatal(err)
	}
	if rb.NumRecords != 203 || rb.LastOffsetDelta != 202 || rb.FirstTimestamp != 1000 || rb.MaxTimestamp != 5000 ||
		rb.ProducerID != -1 || rb.ProducerEpoch != -1 || rb.FirstSequence != -1 || int(rb.Length) != len(raw)-12 {
		t.Fatalf("header: %+v", rb)
	}
	var rec kmsg.Record
	if err := rec.ReadFrom(rb.Records); err != nil || string(rec.Value) != "v" {
		t.Fatalf("first record: %+v, %v", rec, err)
	}
}

func TestNullDiffersFromEmpty(t *testing.T) {
	var r Reader
	got := readAllRecords(t, &r, build(None, sample()))
	if got[1].Key != nil || got[1].Value == nil || got[2].Key == nil || got[2].Value != nil {
		t.Fatalf("%#v %#v", got[1], got[2])
	}
	if got[2].Headers[1].Value != nil || got[2].Headers[2].Value == nil {
		t.Fatalf("%#v", got[2].Headers)
	}
}

func TestParseRefusesWhatIsNoBatch(t *testing.T) {
	good := build(None, sample()[:1])
	edit := func(at int, v byte) []byte { b := bytes.Clone(good); b[at] = v; return b }
	for name, c := range map[string]struct {
		b    []byte
		want error
	}{
		"empty":          {nil, ErrCorrupt},
		"short":          {good[:60], ErrCorrupt},
		"cut":            {good[:len(good)-1], ErrCorrupt},
		"old magic":      {edit(16, 1), ErrMagic},
		"negative len":   {edit(8, 0xff), ErrCorrupt},
		"tiny len":       {edit(11, 3), ErrCorrupt},
		"negative count": {edit(57, 0x80), ErrCorrupt},
		"negative delta": {edit(23, 0x80), ErrCorrupt},
	} {
		if _, _, err := Parse(c.b); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestParseReturnsWhatFollows(t *testing.T) {
	one, two := build(None, sample()[:1]), build(None, sample()[:2])
	b, rest, err := Parse(append(bytes.Clone(one), two...))
	if err != nil || len(b.Raw) != len(one) || !bytes.Equal(rest, two) {
		t.Fatal(err, len(b.Raw), len(rest))
	}
}

func TestPatchesOutsideTheCRCKeepItAndAppendTimeSumsAnew(t *testing.T) {
	raw := build(Zstd, sample())
	SetBaseOffset(raw, 1<<40)
	SetLeaderEpoch(raw, 7)
	b, _, _ := Parse(raw)
	if b.BaseOffset != 1<<40 || b.LeaderEpoch != 7 || !b.CheckCRC() || b.LastOffset() != 1<<40+202 {
		t.Fatalf("%+v", b)
	}
	SetLogAppendTime(raw, 77)
	var r Reader
	for _, rec := range readAllRecords(t, &r, raw) {
		if rec.Timestamp != 77 {
			t.Fatal(rec.Timestamp)
		}
	}
	SetProducer(raw, 9, 3, 12)
	if b, _, _ = Parse(raw); b.ProducerID != 9 || b.ProducerEpoch != 3 || b.BaseSequence != 12 || !b.CheckCRC() {
		t.Fatalf("%+v", b)
	}
}

func TestReaderRefusesRecordsThatDoNotMatchTheHeader(t *testing.T) {
	good := build(None, sample()[:2])
	for name, edit := range map[string]func(b []byte) []byte{
		"one record too many promised": func(b []byte) []byte { b[60] = 3; b[26] = 2; return b },
		"one too few promised":         func(b []byte) []byte { b[60] = 1; return b },
		"delta beyond the last":        func(b []byte) []byte { b[26] = 0; return b },
		"record longer than the batch": func(b []byte) []byte { b[61] = 0x7e; return b },
		"overlong varint":              func(b []byte) []byte { copy(b[61:], "\xff\xff\xff\xff\xff\xff"); return b },
		"negative key length":          func(b []byte) []byte { b[65] = 0x03; return b },
		"header count without headers": func(b []byte) []byte { b[61+8] = 0x10; return b },
	} {
		b, _, err := Parse(edit(bytes.Clone(good)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var r Reader
		if err := r.Reset(&b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var rec Record
		for r.Next(&rec) {
		}
		if !errors.Is(r.Err(), ErrInvalid) {
			t.Errorf("%s: %v", name, r.Err())
		}
	}
}

func TestVerifyFindsTrueTimestampsNullKeysAndGaps(t *testing.T) {
	var r Reader
	for _, codec := range allCodecs {
		b, _, _ := Parse(build(codec, sample()))
		s, err := r.Verify(&b)
		if err != nil || s != (Summary{MinTimestamp: 990, MaxTimestamp: 5000, OffsetOfMax: 2, NullKeys: 1, LongestKey: 7}) {
			t.Fatalf("%s: %+v %v", CodecName(codec), s, err)
		}
	}
	raw := build(None, sample()[:2])
	raw[26] = 5
	second := 62 + int(raw[61]>>1)
	raw[second+3] = 2 << 1
	b, _, _ := Parse(raw)
	if _, err := r.Verify(&b); !errors.Is(err, ErrInvalid) {
		t.Fatal(err)
	}
	if err := r.Reset(&b); err != nil { // but a compacted batch may look so
		t.Fatal(err)
	}
	var rec Record
	for r.Next(&rec) {
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
}

func TestJavaSnappyFramingIsRead(t *testing.T) {
	payload := bytes.Repeat([]byte("abcdefgh"), 9000)
	framed := append(bytes.Clone(xerialMagic), 0, 0, 0, 1, 0, 0, 0, 1)
	for rest := payload; len(rest) > 0; {
		n := min(32<<10, len(rest))
		block := s2.EncodeSnappy(nil, rest[:n])
		framed = binary.BigEndian.AppendUint32(framed, uint32(len(block)))
		framed = append(framed, block...)
		rest = rest[n:]
	}
	got, err := Decompress(Snappy, nil, framed, 1<<20)
	if err != nil || !bytes.Equal(got, payload) {
		t.Fatal(err, len(got))
	}
	if got, err = Decompress(Snappy, nil, append(bytes.Clone(framed), framed...), 1<<20); err != nil || len(got) != 2*len(payload) {
		t.Fatal(err, len(got))
	}
	for cut := 9; cut < 40; cut++ {
		if _, err := Decompress(Snappy, nil, framed[:cut], 1<<20); cut != xerialHeaderBytes && !errors.Is(err, ErrInvalid) {
			t.Fatalf("cut at %d: %v", cut, err)
		}
	}
}

func TestBombsAreRefusedWithoutTakingTheirMemory(t *testing.T) {
	const size, under, over = 24 << 20, 16 << 20, 32 << 20
	zeros := make([]byte, size)
	for _, codec := range []int{Gzip, Snappy, LZ4, Zstd} {
		bomb := Compress(codec, nil, zeros)
		if codec == Zstd { // a frame that does not tell its size
			var out bytes.Buffer
			w, _ := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
			_, _ = w.Write(zeros)
			_ = w.Close()
			if _, err := ExpansionBound(codec, out.Bytes(), under); !errors.Is(err, ErrTooLarge) {
				t.Fatalf("unsized zstd: %v", err)
			}
		}
		if _, err := ExpansionBound(codec, bomb, under); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: bound: %v", CodecName(codec), err)
		}
		if n, err := ExpansionBound(codec, bomb, over); err != nil || n < size {
			t.Errorf("%s: bound under a higher limit: %d %v", CodecName(codec), n, err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Decompress(codec, nil, bomb, 1<<20)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", CodecName(codec), err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
			t.Errorf("%s: a 1 MiB limit let the decoder take %d bytes", CodecName(codec), n)
		}
	}
}

func TestBoundIsNeverBelowTheOutput(t *testing.T) {
	inputs := map[string][]byte{
		"one byte": {7}, "text": bytes.Repeat([]byte("the quick brown fox "), 40_000), "zeros": make([]byte, 3<<20),
	}
	for name, in := range inputs {
		for _, codec := range allCodecs {
			c := Compress(codec, nil, in)
			n, err := ExpansionBound(codec, c, 64<<20)
			if err != nil || n < len(in) {
				t.Errorf("%s %s: bound %d of %d, %v", name, CodecName(codec), n, len(in), err)
			}
			out, err := Decompress(codec, []byte("keep"), c, len(in))
			if err != nil || !bytes.Equal(out[4:], in) || string(out[:4]) != "keep" {
				t.Errorf("%s %s: %d bytes, %v", name, CodecName(codec), len(out), err)
			}
			if _, err := Decompress(codec, nil, c, len(in)-1); !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s %s: limit one too low: %v", name, CodecName(codec), err)
			}
		}
	}
}

func TestRecompressKeepsTheRecords(t *testing.T) {
	want := sample()
	var r Reader
	for _, from := range allCodecs {
		for _, to := range allCodecs {
			b, _, _ := Parse(build(from, want))
			raw, err := Recompress(&b, to, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if nb, _, _ := Parse(raw); nb.Codec() != to {
				t.Fatalf("codec %d, want %d", nb.Codec(), to)
			}
			same(t, want, readAllRecords(t, &r, raw))
		}
	}
}

func TestReaderWalksWithoutAllocating(t *testing.T) {
	for _, codec := range []int{None, Snappy, Zstd} {
		b, _, _ := Parse(build(codec, sample()))
		var r Reader
		var rec Record
		n := testing.AllocsPerRun(20, func() {
			_ = r.Reset(&b)
			for r.Next(&rec) {
			}
		})
		if n > 3 && !raceDetector { // it makes pools forget at random
			t.Errorf("%s: %v allocations a batch of 203 records", CodecName(codec), n)
		}
	}
}

func TestVarintsAreBounded(t *testing.T) {
	for _, v := range []int64{0, -1, 1, 63, 64, -65, 1 << 31, -1 << 31, 1<<63 - 1, -1 << 63} {
		b := appendVarint(nil, v)
		if len(b) != varintLen(v) {
			t.Errorf("%d: length %d, said %d", v, len(b), varintLen(v))
		}
		if got, i := varint64(b, 0); got != v || i != len(b) {
			t.Errorf("%d: read back %d at %d", v, got, i)
		}
		if int64(int32(v)) == v {
			if got, i := varint32(b, 0); int64(got) != v || i != len(b) {
				t.Errorf("%d: read back 32 bits %d at %d", v, got, i)
			}
		} else if _, i := varint32(b, 0); i != -1 {
			t.Errorf("%d fits no 32 bits", v)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, codec := range allCodecs {
		f.Add(build(codec, sample()[:4]))
	}
	r := Reader{MaxDecompressedBytes: 1 << 20}
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, _, err := Parse(raw)
		if err != nil {
			return
		}
		bound, boundErr := ExpansionBound(b.Codec(), b.Records(), 1<<20)
		if err := r.Reset(&b); err != nil {
			return
		}
		if boundErr != nil || bound < len(r.data) {
			t.Fatalf("%s: %d bytes came out of a bound of %d (%v)", CodecName(b.Codec()), len(r.data), bound, boundErr)
		}
		var rec Record
		n := 0
		for r.Next(&rec) {
			n++
			_, _ = rec.Headers(nil)
		}
		if n > len(r.data)/MinRecordBytes {
			t.Fatalf("%d records in %d bytes", n, len(r.data))
		}
		_, _ = r.Verify(&b)
	})
}

func BenchmarkReader(b *testing.B) {
	for _, codec := range allCodecs {
		b.Run(CodecName(codec), func(b *testing.B) {
			bd := Builder{Codec: codec}
			for i := range 1000 {
				bd.Append(int64(i), fmt.Appendf(nil, "key-%d", i), fmt.Appendf(nil, `{"id":%d,"city":"Utrecht","amount":%d.25,"note":"%s"}`, i, i*7, bytes.Repeat([]byte("x"), i%60)), nil)
			}
			size := bd.Size()
			batch, _, _ := Parse(bd.Build())
			var r Reader
			var rec Record
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if err := r.Reset(&batch); err != nil {
					b.Fatal(err)
				}
				for r.Next(&rec) {
				}
			}
		})
	}
}

func BenchmarkExpansionBound(b *testing.B) {
	in := bytes.Repeat([]byte(`{"id":123456,"city":"Utrecht","amount":7.25}`), 24_000)
	for _, codec := range []int{Gzip, Snappy, LZ4, Zstd} {
		c := Compress(codec, nil, in)
		b.Run(CodecName(codec), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				if _, err := ExpansionBound(codec, c, 64<<20); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
