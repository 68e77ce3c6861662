package groupconfig

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"millrace/internal/vfs"
	"millrace/store"
	"millrace/store/state"
)

func TestConfigsAreCheckedByKafkasBounds(t *testing.T) {
	for _, tt := range []struct {
		name, value string
		ok          bool
	}{
		{ConsumerSessionTimeout, "45000", true},
		{ConsumerSessionTimeout, "60000", true},
		{ConsumerSessionTimeout, "44999", false},
		{ConsumerSessionTimeout, "60001", false},
		{ConsumerHeartbeatInterval, "5000", true},
		{ConsumerHeartbeatInterval, "15001", false},
		{ShareSessionTimeout, " 50000 ", true},
		{ShareSessionTimeout, "", false},
		{ShareHeartbeatInterval, "4999", false},
		{ShareRecordLockDuration, "15000", true},
		{ShareRecordLockDuration, "14999", false},
		{ShareRecordLockDuration, "1e4", false},
		{ShareRecordLockDuration, "99999999999999999999", false},
		{ShareAutoOffsetReset, "earliest", true},
		{ShareAutoOffsetReset, "by_duration:PT1H", true},
		{ShareAutoOffsetReset, "by_duration:", false},
		{ShareAutoOffsetReset, "by_duration:-PT1H", false},
		{ShareAutoOffsetReset, "none", false},
		{ShareIsolationLevel, "read_committed", true},
		{ShareIsolationLevel, "READ_COMMITTED", false},
		{"retention.ms", "1", false},
	} {
		err := Check(map[string]string{tt.name: tt.value})
		if tt.ok != (err == nil) || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("%s=%q: %v", tt.name, tt.value, err)
		}
	}
	for _, d := range Definitions() {
		if err := Check(map[string]string{d.Name: d.Default}); err != nil {
			t.Errorf("a default is refused: %v", err)
		}
	}
}

func TestISODurationsAreReadWithoutOverflow(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"P1D": 24 * time.Hour, "PT1H30M": 90 * time.Minute, "pt0.5s": 500 * time.Millisecond, "P2DT1S": 48*time.Hour + time.Second,
	} {
		if got, err := ParseDuration(s); err != nil || got != want {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	if d, err := ParseDuration("P99999DT99999H999999M99999999.999999999S"); err != nil || d <= 0 {
		t.Errorf("the longest: %v, %v", d, err)
	}
	for _, s := range []string{"", "P", "PT", "P1DT", "1H", "PT1", "PT1MS", "P1M", "PT-1H", "PT1M1H", "P100000D"} {
		if d, err := ParseDuration(s); err == nil {
			t.Errorf("%q is read as %v", s, d)
		}
	}
}

func TestWhatWasSetForAGroupSurvivesARestartAndIsComparedAndSet(t *testing.T) {
	ctx, fs := context.Background(), vfs.NewMem()
	open := func() (*store.Store, *Configs) {
		st, err := store.Open(ctx, store.Options{Dir: "data", FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		return st, New(st)
	}
	st, c := open()
	if c.Of("g") != nil {
		t.Error("something is set")
	}
	if err := c.Put(ctx, "g", 0, map[string]string{ShareIsolationLevel: "read_committed"}); err != nil {
		t.Fatal(err)
	}
	if err := c.Put(ctx, "g", 0, nil); !errors.Is(err, state.ErrVersionMismatch) {
		t.Errorf("got %v", err)
	}
	c.max = 1
	if err := c.Put(ctx, "h", 0, map[string]string{ShareIsolationLevel: "read_committed"}); !errors.Is(err, state.ErrTooMany) {
		t.Errorf("one group too many: %v", err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st, c = open()
	defer func() { _ = st.Close() }()
	set, version := c.Version("g")
	if fmt.Sprint(set, c.Groups()) != "map[share.isolation.level:read_committed] [g]" {
		t.Errorf("got %v", set)
	}
	if err := c.Put(ctx, "g", version, nil); err != nil {
		t.Fatal(err)
	}
	if c.Of("g") != nil || c.Groups() != nil || len(c.parsed) != 0 {
		t.Errorf("left: %v, %v, %v", c.Of("g"), c.Groups(), c.parsed)
	}
}
