package client

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Position is where reading begins: earliest, latest, an offset, -N (N before the end), a
// time (2026-01-31T12:00:00Z, 2026-01-31) or an age (90s, 2h: that long ago).
type Position struct {
	kind  positionKind
	value int64 // offset, count or Unix milliseconds
	age   time.Duration
}

type positionKind uint8

const (
	atEarliest positionKind = iota
	atLatest
	atOffset
	beforeEnd
	atTime
	atAge
)

func (p *Position) UnmarshalText(text []byte) error {
	s := string(text)
	switch s {
	case "earliest", "beginning", "start":
		*p = Position{kind: atEarliest}
		return nil
	case "latest", "end":
		*p = Position{kind: atLatest}
		return nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		if n < 0 || s[0] == '-' {
			*p = Position{kind: beforeEnd, value: -n}
		} else {
			*p = Position{kind: atOffset, value: n}
		}
		return nil
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		*p = Position{kind: atAge, age: d}
		return nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			*p = Position{kind: atTime, value: t.UnixMilli()}
			return nil
		}
	}
	return fmt.Errorf("%q is no position: earliest, latest, an offset, -N before the end, a time (2026-01-31T12:00:00Z) or an age (90s, 2h)", s)
}

// placed is a position in every partition, within what exists there.
type placed struct {
	offsets partitionOffsets
	notes   []string // where that is not what was asked for
}

// in resolves the position.
func (p Position) in(ctx context.Context, cl *kgo.Client, topics map[string][]int32, now time.Time) (to placed, err error) {
	timestamp := int64(0)
	switch p.kind {
	case atEarliest:
		to.offsets, err = listOffsets(ctx, cl, topics, earliestOffset)
		return to, err
	case atLatest:
		to.offsets, err = listOffsets(ctx, cl, topics, latestOffset)
		return to, err
	case atTime:
		timestamp = p.value
	case atAge:
		timestamp = now.Add(-p.age).UnixMilli()
	case atOffset, beforeEnd:
		if to.offsets, err = listOffsets(ctx, cl, topics, earliestOffset); err != nil {
			return to, err
		}
		ends, err := listOffsets(ctx, cl, topics, latestOffset)
		if err != nil {
			return to, err
		}
		for t, ps := range to.offsets {
			for partition, start := range ps {
				end := ends[t][partition]
				want := p.value
				if p.kind == beforeEnd {
					want = end - p.value
				}
				switch {
				case want < start:
					to.note(t, partition, "offset %d is before the first one: %d is taken", want, start)
				case want > end:
					to.note(t, partition, "offset %d is beyond the end: %d is taken", want, end)
				}
				ps[partition] = min(max(want, start), end)
			}
		}
		return to, nil
	}
	var late map[string][]int32
	if to.offsets, late, err = offsetsForTime(ctx, cl, topics, max(timestamp, 0)); err != nil {
		return to, err
	}
	for t, ps := range late {
		for _, partition := range ps {
			to.note(t, partition, "no record of that time or a later one: the end is taken")
		}
	}
	return to, nil
}

func (to *placed) note(topic string, partition int32, format string, args ...any) {
	to.notes = append(to.notes, fmt.Sprintf("topic %s partition %d: ", topic, partition)+fmt.Sprintf(format, args...))
	slices.Sort(to.notes)
}
