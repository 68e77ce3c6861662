package recordbatch

import (
	"bytes"
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestAMarkerReadsBackAsItWasBuilt(t *testing.T) {
	for _, want := range []Marker{
		{ProducerID: 7, ProducerEpoch: 3, BaseOffset: 1 << 40, Timestamp: 1700000000123, Commit: true, CoordinatorEpoch: 9},
		{ProducerID: 1 << 60, ProducerEpoch: 32767, BaseOffset: 0, Timestamp: 0, CoordinatorEpoch: -1},
	} {
		raw := AppendMarker([]byte("before"), &want)[6:]
		if len(raw) != MarkerBytes {
			t.Fatalf("a marker of %d bytes, want %d", len(raw), MarkerBytes)
		}
		b, rest, err := Parse(raw)
		if err != nil || len(rest) != 0 || !b.CheckCRC() || !b.Control() || !b.Transactional() || b.NumRecords != 1 || b.BaseSequence != -1 {
			t.Fatalf("%+v, %v", b, err)
		}
		if got, err := ParseMarker(&b); err != nil || got != want {
			t.Fatalf("%+v, %v; want %+v", got, err, want)
		}
	}
}

func TestAMarkerIsWhatKafkasSchemasSay(t *testing.T) {
	raw := AppendMarker(nil, &Marker{ProducerID: 5, ProducerEpoch: 1, BaseOffset: 12, Timestamp: 99, Commit: true, CoordinatorEpoch: 4})
	var rb kmsg.RecordBatch
	if err := rb.ReadFrom(raw); err != nil {
		t.Fatal(err)
	}
	var rec kmsg.Record
	if err := rec.ReadFrom(rb.Records); err != nil {
		t.Fatal(err)
	}
	var key kmsg.ControlRecordKey
	var value kmsg.EndTxnMarker
	if err := errors.Join(key.ReadFrom(rec.Key), value.ReadFrom(rec.Value)); err != nil {
		t.Fatal(err)
	}
	if key.Type != kmsg.ControlRecordKeyTypeCommit || value.CoordinatorEpoch != 4 || rb.Attributes != 0x30 || rec.Length != markerBody-1 {
		t.Fatalf("%+v %+v %+v", key, value, rb)
	}
	if !bytes.Equal(key.AppendTo(nil), rec.Key) || !bytes.Equal(value.AppendTo(nil), rec.Value) {
		t.Fatal("key or value encode otherwise")
	}
}

func TestWhatIsNoMarkerIsRefused(t *testing.T) {
	var bu Builder
	bu.Append(1, nil, []byte("x"), nil)
	b, _, _ := Parse(bu.Build())
	if _, err := ParseMarker(&b); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("a data batch: %v", err)
	}
	raw := AppendMarker(nil, &Marker{})
	raw[HeaderBytes+8] = 6 // another kind of control record
	b, _, _ = Parse(raw)
	if _, err := ParseMarker(&b); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("another control record: %v", err)
	}
	raw = AppendMarker(nil, &Marker{})
	raw[60] = 0
	b, _, _ = Parse(raw)
	if _, err := ParseMarker(&b); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("no record: %v", err)
	}
}
