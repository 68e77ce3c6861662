package recordbatch

import (
	"bytes"
	"testing"
)

func TestACompactedBatchKeepsOffsetsTimesHeadersAndProducer(t *testing.T) {
	for codec := None; codec <= Zstd; codec++ {
		var bu Builder
		bu.Codec = codec
		bu.SetProducer(7, 3, 40)
		for i := range 5 {
			bu.Append(int64(1000+10*i), []byte{'k', byte('0' + i)}, []byte{byte('a' + i)}, []Header{{Key: "h", Value: []byte{byte(i)}}, {Key: "n"}})
		}
		raw := bu.Build()
		SetBaseOffset(raw, 100)
		b, _, err := Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		var r Reader
		if err := r.Reset(&b); err != nil {
			t.Fatal(err)
		}
		var c Compactor
		out, kept, lo, hi, err := c.Rewrite(&b, &r, 5000, func(rec *Record) bool { return rec.Offset == 101 || rec.Offset == 103 })
		if err != nil || kept != 2 || lo != 1010 || hi != 1030 {
			t.Fatalf("kept %d, times %d to %d, %v", kept, lo, hi, err)
		}
		n, rest, err := Parse(out)
		if err != nil || len(rest) != 0 || !n.CheckCRC() {
			t.Fatalf("%s: %v", CodecName(codec), err)
		}
		if n.BaseOffset != 100 || n.LastOffset() != 104 || n.NumRecords != 2 || n.Codec() != codec || n.MaxTimestamp != 1030 ||
			n.ProducerID != 7 || n.ProducerEpoch != 3 || n.BaseSequence != 40 {
			t.Fatalf("%s: %+v", CodecName(codec), n)
		}
		if h, ok := n.DeleteHorizon(); !ok || h != 5000 {
			t.Fatalf("horizon %d %v", h, ok)
		}
		if err := r.Reset(&n); err != nil {
			t.Fatal(err)
		}
		var rec Record
		for _, want := range []int64{1, 3} {
			if !r.Next(&rec) || rec.Offset != 100+want || rec.Timestamp != 1000+10*want || !bytes.Equal(rec.Value, []byte{byte('a' + want)}) {
				t.Fatalf("%s: record %+v, %v", CodecName(codec), rec, r.Err())
			}
			hs, err := rec.Headers(nil)
			if err != nil || len(hs) != 2 || hs[0].Value[0] != byte(want) || hs[1].Value != nil {
				t.Fatalf("%s: headers %v, %v", CodecName(codec), hs, err)
			}
		}
		if r.Next(&rec) || r.Err() != nil {
			t.Fatalf("%s: more records, %v", CodecName(codec), r.Err())
		}
		// Again, with nothing left.
		if err := r.Reset(&n); err != nil {
			t.Fatal(err)
		}
		var c2 Compactor
		out, kept, _, _, err = c2.Rewrite(&n, &r, NoHorizon, func(*Record) bool { return false })
		if err != nil || kept != 0 || len(out) != HeaderBytes {
			t.Fatalf("%s: %d records in %d bytes, %v", CodecName(codec), kept, len(out), err)
		}
		e, _, err := Parse(out)
		if err != nil || !e.CheckCRC() || e.LastOffset() != 104 || e.Codec() != None || r.Reset(&e) != nil || r.Next(&rec) || r.Err() != nil {
			t.Fatalf("%s: empty batch %+v, %v", CodecName(codec), e, err)
		}
	}
}

func TestAnEmptyBatchHoldsThePlaceOfOffsets(t *testing.T) {
	var bu Builder
	bu.Codec = Zstd
	bu.Append(1, []byte("k"), nil, nil)
	b, _, _ := Parse(bu.Build())
	e, _, err := Parse(Empty(&b, 9))
	if err != nil || !e.CheckCRC() || e.LastOffset() != 9 || e.NumRecords != 0 || e.Codec() != None {
		t.Fatalf("%+v, %v", e, err)
	}
}
