package client

import (
	"bytes"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestImportWarnsOfRecordsThatRetentionWillDelete(t *testing.T) {
	now := time.Date(2026, 5, 10, 0, 0, 0, 0, time.UTC)
	week := map[string]string{"retention.ms": "604800000", "cleanup.policy": "delete", "message.timestamp.type": "CreateTime"}
	with := func(k, v string) map[string]string {
		m := map[string]string{k: v}
		for name, value := range week {
			if name != k {
				m[name] = value
			}
		}
		return m
	}
	old, fresh := now.Add(-30*24*time.Hour), now.Add(-time.Hour)
	const tail = " to keep them, now: millrace topic alter quakes --set retention.ms=-1\n"
	for _, c := range []struct {
		name    string
		configs map[string]string
		times   []time.Time
		want    string
	}{
		{"some", week, []time.Time{old, fresh, old.Add(time.Hour), {}}, "warning: 2 records of 4 are older than retention.ms of quakes (7 days; the oldest is of 2026-04-10) and will be deleted soon;" + tail},
		{"one", with("retention.ms", "7200000"), []time.Time{old, fresh}, "warning: 1 record of 2 is older than retention.ms of quakes (2h0m0s; the oldest is of 2026-04-10) and will be deleted soon;" + tail},
		{"none", week, []time.Time{fresh, {}}, ""},
		{"no limit", with("retention.ms", "-1"), []time.Time{old}, ""},
		{"longer than times go", with("retention.ms", "9223372036854775807"), []time.Time{old}, ""},
		{"compacted only", with("cleanup.policy", "compact"), []time.Time{old}, ""},
		{"times of the server", with("message.timestamp.type", "LogAppendTime"), []time.Time{old}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newAgeCheck("quakes", c.configs, now)
			for _, at := range c.times {
				a.look(&kgo.Record{Timestamp: at})
			}
			var out bytes.Buffer
			a.warn(&IO{Err: &out})
			if out.String() != c.want {
				t.Fatalf("%q, want %q", out.String(), c.want)
			}
		})
	}
}
