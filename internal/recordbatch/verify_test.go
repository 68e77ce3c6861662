package recordbatch

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

// verifySlowly is Verify by Next alone.
func verifySlowly(r *Reader, b *Batch) (Summary, error) {
	if err := r.Reset(b); err != nil {
		return Summary{}, err
	}
	var s Summary
	var rec Record
	for n := int64(0); r.Next(&rec); n++ {
		if rec.Offset != b.BaseOffset+n {
			return Summary{}, ErrInvalid
		}
		if _, err := rec.Headers(nil); err != nil {
			return Summary{}, err
		}
		s.time(rec.Timestamp, rec.Offset, n == 0)
		if rec.Key == nil {
			s.NullKeys++
		}
		s.LongestKey = max(s.LongestKey, len(rec.Key))
		s.Objects = s.Objects || mayBeObject(rec.Value)
	}
	if r.Err() != nil {
		return Summary{}, r.Err()
	}
	return s, nil
}

// mixed is a batch of records of all lengths that integers of one, two, three and more
// bytes are for, some of them with headers.
func mixed(r *rand.Rand) []byte {
	var bd Builder
	some := func() []byte {
		switch r.IntN(8) {
		case 0:
			return nil
		case 1:
			return []byte{}
		case 2:
			return bytes.Repeat([]byte{'{'}, r.IntN(3))
		case 3:
			return bytes.Repeat([]byte("x"), 1<<r.IntN(15))
		}
		return bytes.Repeat([]byte("y"), r.IntN(200))
	}
	t := int64(1_700_000_000_000)
	odd := r.IntN(4) == 0
	for range 1 + r.IntN(300) {
		t += r.Int64N(100) - 30
		if r.IntN(50) == 0 {
			t += r.Int64N(1 << 40)
		}
		var headers []Header
		if odd && r.IntN(3) == 0 {
			headers = []Header{{Key: "h", Value: some()}}
		}
		bd.Append(t, some(), some(), headers)
	}
	return bd.Build()
}

func TestVerifyFindsOfPlainRecordsWhatWalkingThemOneByOneFinds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var r Reader
	check := func(raw []byte) {
		t.Helper()
		b, _, err := Parse(raw)
		if err != nil {
			return
		}
		got, gotErr := r.Verify(&b)
		want, wantErr := verifySlowly(&r, &b)
		if got != want || (gotErr == nil) != (wantErr == nil) || gotErr != nil && !errors.Is(gotErr, ErrInvalid) {
			t.Fatalf("%+v %v, one by one %+v %v", got, gotErr, want, wantErr)
		}
	}
	for range 200 {
		raw := mixed(rnd)
		check(raw)
		for range 20 {
			damaged := bytes.Clone(raw)
			for range 1 + rnd.IntN(2) {
				// The first records, or the header's counts and times: where damage shows.
				at := 23 + rnd.IntN(min(len(damaged)-23, 120))
				damaged[at] ^= byte(1 << rnd.IntN(8))
			}
			damaged[22] &^= attrCodec
			check(damaged)
		}
		cut := bytes.Clone(raw[:HeaderBytes+rnd.IntN(len(raw)-HeaderBytes)])
		cut[8], cut[9], cut[10], cut[11] = byte((len(cut)-12)>>24), byte((len(cut)-12)>>16), byte((len(cut)-12)>>8), byte(len(cut)-12)
		check(cut)
	}
}

func TestVerifyTakesManySmallRecords(t *testing.T) {
	// Offset deltas of three bytes begin at 8192.
	var bd Builder
	value := bytes.Repeat([]byte("v"), 100)
	for i := range int64(10_000) {
		bd.Append(i/7, nil, value, nil)
	}
	b, _, _ := Parse(bd.Build())
	var r Reader
	s, err := r.Verify(&b)
	if err != nil || s != (Summary{MaxTimestamp: 9_999 / 7, OffsetOfMax: 9_996, NullKeys: 10_000}) {
		t.Fatalf("%+v %v", s, err)
	}
}

func BenchmarkVerifySmallRecords(b *testing.B) {
	var bd Builder
	value := bytes.Repeat([]byte("v"), 100)
	for i := range int64(9_000) {
		bd.Append(i/100, nil, value, nil)
	}
	raw := bd.Build()
	batch, _, _ := Parse(raw)
	var r Reader
	for name, verify := range map[string]func(*Reader, *Batch) (Summary, error){"plain": (*Reader).Verify, "one by one": verifySlowly} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if _, err := verify(&r, &batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
