package topicconfig

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestDefinitionsAreInNameOrderAndComplete(t *testing.T) {
	for i, d := range Definitions() {
		if i > 0 && Definitions()[i-1].Name >= d.Name {
			t.Errorf("%s stands after %s", d.Name, Definitions()[i-1].Name)
		}
		if d.Doc == "" || d.Type == "" {
			t.Errorf("%s lacks documentation or type", d.Name)
		}
		if got, ok := Lookup(d.Name); !ok || got.Name != d.Name {
			t.Errorf("Lookup does not find %s", d.Name)
		}
		if _, err := Parse(map[string]string{d.Name: d.Default}); err != nil {
			t.Errorf("the default of %s is refused: %v", d.Name, err)
		}
	}
}

func TestNothingSetGivesKafkasDefaults(t *testing.T) {
	c, err := Parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		CleanupDelete: true, RetentionMs: 604800000, RetentionBytes: -1,
		SegmentBytes: 1 << 30, SegmentMs: 604800000, DeleteRetentionMs: 86400000, MinCleanableDirtyRatio: 0.5,
		MaxCompactionLagMs: 9223372036854775807, MaxMessageBytes: 1048588,
		TimestampBeforeMaxMs: 9223372036854775807, TimestampAfterMaxMs: 3600000,
		CompressionType: "producer", MinInsyncReplicas: 1,
		ValueFormat: "json", Collation: "utf8mb4_0900_bin",
	}
	if c != want {
		t.Errorf("got %+v\nwant %+v", c, want)
	}
	if c != Default() {
		t.Error("Default differs from Parse(nil)")
	}
}

func TestSetValuesReachTheConfig(t *testing.T) {
	c, err := Parse(map[string]string{
		"cleanup.policy": " compact , delete ", "retention.ms": " -1 ", "max.message.bytes": "4096",
		"message.timestamp.type": "LogAppendTime", "compression.type": "zstd", "millrace.expand": "declared",
		"millrace.on_error": "reject", "millrace.columns": "a BIGINT, b TEXT", "millrace.value.format": "csv",
		"millrace.collation": "utf8mb4_0900_ai_ci",
	})
	if err != nil {
		t.Fatal(err)
	}
	if !c.CleanupCompact || !c.CleanupDelete || c.RetentionMs != -1 || c.MaxMessageBytes != 4096 || !c.LogAppendTime ||
		c.CompressionType != "zstd" || c.Expand != ExpandDeclared || !c.RejectErrors || c.Columns != "a BIGINT, b TEXT" ||
		c.ValueFormat != "csv" || c.Collation != "utf8mb4_0900_ai_ci" {
		t.Errorf("got %+v", c)
	}
}

func TestEmptyCleanupPolicyKeepsEverything(t *testing.T) {
	c, err := Parse(map[string]string{"cleanup.policy": ""})
	if err != nil || c.CleanupDelete || c.CleanupCompact {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestFaultyValuesAreRefusedByName(t *testing.T) {
	for _, tt := range []struct{ name, value, reason string }{
		{"retention.ms", "abc", "LONG"},
		{"retention.ms", "", "LONG"},
		{"retention.ms", "-2", "at least -1"},
		{"retention.ms", "9223372036854775808", "LONG"},
		{"max.message.bytes", "-1", "at least 0"},
		{"max.message.bytes", "2147483648", "INT"},
		{"segment.bytes", "14", "at least 1048576"},
		{"min.insync.replicas", "0", "at least 1"},
		{"cleanup.policy", "shred", "one of"},
		{"cleanup.policy", "delete,delete", "duplicates"},
		{"cleanup.policy", "delete,", "one of"},
		{"compression.type", "brotli", "one of"},
		{"compression.type", "none", "one of"},
		{"compression.gzip.level", "0", "between"},
		{"compression.lz4.level", "18", "no more than 17"},
		{"compression.zstd.level", "23", "no more than 22"},
		{"min.cleanable.dirty.ratio", "1.5", "no more than 1"},
		{"min.cleanable.dirty.ratio", "NaN", "DOUBLE"},
		{"preallocate", "maybe", "true or false"},
		{"remote.storage.enable", "true", "Tiered storage"},
		{"leader.replication.throttled.replicas", "1", "partition"},
		{"message.timestamp.type", "createtime", "one of"},
		{"millrace.expand", "sometimes", "one of"},
		{"millrace.value.format", "avro", "one of"},
	} {
		_, err := Parse(map[string]string{tt.name: tt.value})
		var e *Error
		if !errors.As(err, &e) || e.Name != tt.name || !strings.Contains(e.Reason, tt.reason) {
			t.Errorf("%s=%q: got %v", tt.name, tt.value, err)
		}
	}
}

func TestUnknownNamesAreRefused(t *testing.T) {
	for _, name := range []string{"no.such.config", "message.format.version", "Retention.ms", ""} {
		_, err := Parse(map[string]string{name: "1"})
		var e *Error
		if !errors.As(err, &e) || e.Name != name || e.Reason != "" {
			t.Errorf("%q: got %v", name, err)
		}
	}
}

func TestCompactionLagsMustNotCross(t *testing.T) {
	if _, err := Parse(map[string]string{"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"}); err == nil {
		t.Error("crossed lags are accepted")
	}
}

func TestSplitListTrimsItems(t *testing.T) {
	if got := SplitList(" a, b ,c "); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("got %q", got)
	}
	if got := SplitList("  "); got != nil {
		t.Errorf("got %q", got)
	}
}
