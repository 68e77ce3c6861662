package kafka

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"millrace/server/kafka/kafkaerr"

	"millrace/ingest"
	"millrace/internal/recordbatch"
)

func TestARefusedBatchNamesItsBadRecordsFromVersion8(t *testing.T) {
	e := start(t)
	id := e.topic("compacted", 1, "cleanup.policy", "compact")
	r := e.raw()
	now := time.Now().UnixMilli()
	for _, codec := range []int{recordbatch.None, recordbatch.LZ4} {
		b := recordbatch.Builder{Codec: codec}
		for i := range 12 {
			key := fmt.Appendf(nil, "k%d", i)
			if i == 3 || i == 11 {
				key = nil
			}
			b.Append(now, key, []byte("v"), nil)
		}
		raw := b.Build()
		for version := int16(3); version <= 13; version++ {
			p := onlyPart(t, r.ask(produceRequest(version, "compacted", id, 0, raw)))
			if p.ErrorCode != kafkaerr.InvalidRecord || p.BaseOffset != -1 {
				t.Errorf("version %d: %+v", version, p)
			}
			var bad []int32
			for _, re := range p.ErrorRecords {
				bad = append(bad, re.RelativeOffset)
				if re.ErrorMessage == nil {
					t.Errorf("version %d: no reason", version)
				}
			}
			want := "[3 11]"
			if version < 8 {
				want = "[]"
			} else if p.ErrorMessage == nil {
				t.Errorf("version %d: no message", version)
			}
			if fmt.Sprint(bad) != want {
				t.Errorf("version %d: records %v, want %s", version, bad, want)
			}
		}
	}
	if got := e.end(id, 0); got != 0 {
		t.Errorf("%d records stored", got)
	}
}

func TestABatchThatDoesNotFitTheColumnsSaysWhy(t *testing.T) {
	var lines bytes.Buffer
	reasons := []string{"a: found 999, expected TINYINT", `a: found "x", expected TINYINT`}
	e := start(t, func(o *Options) {
		o.Logger = slog.New(slog.NewTextHandler(&lines, nil))
		o.Ingest = ingest.New(o.Store, ingest.Options{Check: func(*ingest.Topic, *recordbatch.Batch) error {
			return &ingest.RecordsError{Reason: reasons[0], Total: 2, Index: []int32{1, 2}, Reasons: reasons}
		}})
	})
	id := e.topic("strict", 1, "millrace.columns", "a TINYINT", "millrace.on_error", "reject")
	r := e.raw()
	var b recordbatch.Builder
	for _, v := range []string{`{"a":1}`, `{"a":999}`, `{"a":"x"}`} {
		b.Append(time.Now().UnixMilli(), nil, []byte(v), nil)
	}
	raw := b.Build()
	for range 3 {
		p := onlyPart(t, r.ask(produceRequest(8, "strict", id, 0, raw)))
		if p.ErrorCode != kafkaerr.InvalidRecord || p.ErrorMessage == nil || !strings.Contains(*p.ErrorMessage, reasons[0]) || len(p.ErrorRecords) != 2 {
			t.Fatalf("%+v", p)
		}
		for i, re := range p.ErrorRecords {
			if re.RelativeOffset != int32(i+1) || re.ErrorMessage == nil || *re.ErrorMessage != reasons[i] {
				t.Errorf("%+v", re)
			}
		}
	}
	e.close() // nobody writes lines any more
	got := lines.String()
	if n := strings.Count(got, "records refused"); n != 1 || !strings.Contains(got, "topic=strict partition=0 records=2") || !strings.Contains(got, "found 999") {
		t.Errorf("%d lines: %s", n, got)
	}
}
