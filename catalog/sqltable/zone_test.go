package sqltable

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func zone(t interface{ Fatal(...any) }, name string) *Zone {
	loc, err := ParseZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return &Zone{loc: loc}
}

func TestZonesAreReadAsMySQLWritesThem(t *testing.T) {
	for name, want := range map[string]string{
		"+00:00": "2023-07-01 12:00:00", "+05:30": "2023-07-01 17:30:00", "-08:00": "2023-07-01 04:00:00",
		"+14:00": "2023-07-02 02:00:00", "Europe/Berlin": "2023-07-01 14:00:00", "UTC": "2023-07-01 12:00:00",
	} {
		got := zone(t, name).Wall(time.Date(2023, 7, 1, 12, 0, 0, 0, time.UTC).UnixMicro()).Format(time.DateTime)
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"", "+25:00", "+1", "Mars/Olympus", "+05:99"} {
		if _, err := ParseZone(name); err == nil {
			t.Errorf("zone %q was accepted", name)
		}
	}
}

// Where Instant says exact, the order of instants is that of their wall times; and the
// bounds hold always.
func TestInstantIsTheInverseOfWall(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		z := zone(rt, rapid.SampledFrom([]string{"+00:00", "+05:30", "-11:00", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"}).Draw(rt, "zone"))
		at := rapid.Int64Range(0, 2147483647).Draw(rt, "at") * 1e6
		other := at + rapid.Int64Range(-200_000, 200_000).Draw(rt, "apart")*1e6
		wall := z.Wall(at)
		lo, hi, exact := z.Instant(wall)
		if at < lo || at > hi {
			rt.Fatalf("%d not in [%d, %d]", at, lo, hi)
		}
		if !exact {
			return
		}
		if lo != at {
			rt.Fatalf("instant %d, want %d", lo, at)
		}
		if z.Wall(other).Before(wall) != (other < at) {
			rt.Fatalf("wall times of %d and %d are in another order", other, at)
		}
	})
}

func TestAnOffsetIsFixedOnlyWithoutDaylightSaving(t *testing.T) {
	for name, want := range map[string]bool{"+00:00": true, "-03:30": true, "UTC": true, "Europe/Berlin": false} {
		if got := zone(t, name).Fixed(); got != want {
			t.Errorf("%s: fixed %v", name, got)
		}
	}
}
