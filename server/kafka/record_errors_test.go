package kafka

import (
	"fmt"
	"testing"
	"time"

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
			if p.ErrorCode != errInvalidRecord || p.BaseOffset != -1 {
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
