package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// place is where a record lies.
type place struct {
	topic     string
	partition int32
	offset    int64
}

// identity is which record it is: producer P's I-th.
type identity struct {
	P string `json:"p"`
	I int64  `json:"i"`
}

// history is what clients were told: acknowledged and consumed records.
type history struct {
	mu       sync.Mutex
	acked    map[place]identity
	seen     map[place]identity // by the live consumer
	problems []string

	// Where DeleteRecords was told to move a partition's beginning (in place's
	// offset-0 form), and where it acknowledged that it did.
	trimTried, trimmed map[place]int64
	created            bool // creating the topics was acknowledged
}

func newHistory() *history {
	return &history{acked: map[place]identity{}, seen: map[place]identity{}, trimTried: map[place]int64{}, trimmed: map[place]int64{}}
}

func (h *history) problem(format string, args ...any) {
	if len(h.problems) < 20 {
		h.problems = append(h.problems, fmt.Sprintf(format, args...))
	}
}

func (h *history) ack(r *kgo.Record, id identity) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := place{r.Topic, r.Partition, r.Offset}
	if other, ok := h.acked[at]; ok && other != id {
		h.problem("%v acknowledged twice: for %v and %v", at, other, id)
	}
	h.acked[at] = id
}

func (h *history) see(r *kgo.Record) {
	var id identity
	if err := json.Unmarshal(r.Value, &id); err != nil {
		h.mu.Lock()
		h.problem("unreadable record at %s/%d/%d: %q", r.Topic, r.Partition, r.Offset, r.Value)
		h.mu.Unlock()
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	at := place{r.Topic, r.Partition, r.Offset}
	if other, ok := h.seen[at]; ok && other != id {
		h.problem("%v was %v and is now %v: an offset was reused", at, other, id)
	}
	h.seen[at] = id
}

// verify reads everything over both wires and compares it with what was told.
// once names the topics in which each record must stand exactly once, in order.
func (h *history) verify(ctx context.Context, p *process, topics []string, once map[string]bool) error {
	read, err := readAll(ctx, p, topics)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	mayBeGone := func(at place) bool { return at.offset < h.trimTried[place{at.topic, at.partition, 0}] }
	for at, id := range h.acked {
		if got, ok := read[at]; !ok && mayBeGone(at) {
			continue
		} else if !ok {
			h.problem("acknowledged %v at %v is lost", id, at)
		} else if got != id {
			h.problem("acknowledged %v at %v reads %v", id, at, got)
		}
	}
	for at, id := range h.seen {
		if got, ok := read[at]; (!ok || got != id) && !mayBeGone(at) {
			h.problem("consumed %v at %v reads %v (there: %v)", id, at, got, ok)
		}
	}
	count := map[string]map[identity]int{}
	for at, id := range read {
		if at.offset < h.trimmed[place{at.topic, at.partition, 0}] {
			h.problem("%v at %v is back: it was deleted", id, at)
		}
		if count[at.topic] == nil {
			count[at.topic] = map[identity]int{}
		}
		count[at.topic][id]++
	}
	for topic := range once {
		for id, n := range count[topic] {
			if n != 1 {
				h.problem("%s: idempotent %v stands %d times", topic, id, n)
			}
		}
	}
	h.checkOrder(read, once)
	if err := h.compareSQL(p, topics, read); err != nil {
		return err
	}
	if len(h.problems) > 0 {
		return fmt.Errorf("%d acknowledged, %d read; %q", len(h.acked), len(read), h.problems)
	}
	verbosef("verified: %d acknowledged, %d consumed live, %d read over both wires\n", len(h.acked), len(h.seen), len(read))
	return nil
}

// checkOrder wants each partition of the topics in the order of production.
func (h *history) checkOrder(read map[place]identity, once map[string]bool) {
	type record struct{ offset, i int64 }
	parts := map[place][]record{}
	for at, id := range read {
		if once[at.topic] {
			tp := place{at.topic, at.partition, 0}
			parts[tp] = append(parts[tp], record{at.offset, id.I})
		}
	}
	for tp, rs := range parts {
		slices.SortFunc(rs, func(a, b record) int { return cmp.Compare(a.offset, b.offset) })
		for i := 1; i < len(rs); i++ {
			if rs[i].i <= rs[i-1].i {
				h.problem("%s/%d: record %d at offset %d stands behind record %d", tp.topic, tp.partition, rs[i].i, rs[i].offset, rs[i-1].i)
			}
		}
	}
}

// readAll consumes all topics from their beginning to their present end.
func readAll(ctx context.Context, p *process, topics []string) (map[place]identity, error) {
	starts, err := offsets(ctx, p, topics, earliest)
	if err != nil {
		return nil, err
	}
	ends, err := offsets(ctx, p, topics, latest)
	if err != nil {
		return nil, err
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(p.kafka), kgo.ConsumeTopics(topics...), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	read := map[place]identity{}
	last := map[place]int64{} // offset 0 of the key: by topic and partition
	missing := 0
	for tp, end := range ends {
		if end > starts[tp] {
			missing++
		}
	}
	for missing > 0 {
		fs := cl.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil, errors.New("could not read to the end offsets in time")
		}
		var bad error
		fs.EachRecord(func(r *kgo.Record) {
			tp := place{r.Topic, r.Partition, 0}
			prev, ok := last[tp]
			if !ok {
				prev = starts[tp] - 1
			}
			if r.Offset != prev+1 {
				bad = fmt.Errorf("%s/%d: offset %d follows %d", r.Topic, r.Partition, r.Offset, prev)
			}
			last[tp] = r.Offset
			var id identity
			if err := json.Unmarshal(r.Value, &id); err != nil {
				bad = fmt.Errorf("%s/%d/%d: %w", r.Topic, r.Partition, r.Offset, err)
			}
			read[place{r.Topic, r.Partition, r.Offset}] = id
			if r.Offset+1 == ends[tp] {
				missing--
			}
		})
		if bad != nil {
			return nil, bad
		}
	}
	return read, nil
}

// offsets by topic and partition (in place's offset-0 form): the earliest or latest.
func offsets(ctx context.Context, p *process, topics []string, which int64) (map[place]int64, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(p.kafka))
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	out := map[place]int64{}
	for _, t := range topics {
		for part := range int32(partitions) {
			at, err := listOffset(ctx, cl, t, part, which)
			if err != nil {
				return nil, err
			}
			out[place{t, part, 0}] = at
		}
	}
	return out, nil
}

// compareSQL checks that SQL has exactly the records that Kafka has.
func (h *history) compareSQL(p *process, topics []string, read map[place]identity) error {
	db, err := p.db()
	if err != nil {
		return err
	}
	defer db.Close()
	n := 0
	filled := map[string]bool{}
	for at := range read {
		filled[at.topic] = true
	}
	for _, t := range topics {
		if !filled[t] { // the columns come with the records
			var count int
			if err := db.QueryRow("SELECT COUNT(*) FROM `" + t + "`").Scan(&count); err != nil {
				return fmt.Errorf("SQL over %s: %w", t, err)
			}
			n += count
			continue
		}
		rows, err := db.Query("SELECT _partition, _offset, p, i FROM `" + t + "`")
		if err != nil {
			return fmt.Errorf("SQL over %s: %w", t, err)
		}
		for rows.Next() {
			at := place{topic: t}
			var id identity
			if err := rows.Scan(&at.partition, &at.offset, &id.P, &id.I); err != nil {
				return err
			}
			n++
			if read[at] != id {
				h.problem("SQL has %v at %v, Kafka %v", id, at, read[at])
			}
		}
		if err := rows.Close(); err != nil {
			return err
		}
		if err := rows.Err(); err != nil {
			return err
		}
	}
	if n != len(read) {
		h.problem("SQL has %d records, Kafka %d", n, len(read))
	}
	return nil
}
