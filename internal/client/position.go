package client

import (
	"context"
	"fmt"
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

// offsets resolves the position in every partition, within what exists there.
func (p Position) offsets(ctx context.Context, cl *kgo.Client, topics map[string][]int32, now time.Time) (partitionOffsets, error) {
	timestamp := int64(0)
	switch p.kind {
	case atEarliest:
		return listOffsets(ctx, cl, topics, earliestOffset)
	case atLatest:
		return listOffsets(ctx, cl, topics, latestOffset)
	case atTime:
		timestamp = p.value
	case atAge:
		timestamp = now.Add(-p.age).UnixMilli()
	case atOffset, beforeEnd:
		starts, err := listOffsets(ctx, cl, topics, earliestOffset)
		if err != nil {
			return nil, err
		}
		ends, err := listOffsets(ctx, cl, topics, latestOffset)
		if err != nil {
			return nil, err
		}
		for t, ps := range starts {
			for partition, start := range ps {
				end := ends[t][partition]
				want := p.value
				if p.kind == beforeEnd {
					want = end - p.value
				}
				ps[partition] = min(max(want, start), end)
			}
		}
		return starts, nil
	}
	return listOffsets(ctx, cl, topics, max(timestamp, 0))
}
