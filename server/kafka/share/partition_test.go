package share

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var zeroTime = time.Unix(1_700_000_000, 0)

// one batch of one record for each offset.
func singles(first, last int64) []extent {
	var e []extent
	for o := first; o <= last; o++ {
		e = append(e, extent{first: o, last: o})
	}
	return e
}

func TestTheLastBatchIsTakenWholeUnlessTheLimitIsStrict(t *testing.T) {
	batches := []extent{{first: 0, last: 9}, {first: 10, last: 19}}
	p := &partition{}
	got := p.acquire("a", zeroTime, batches, 12, false, 2000)
	if len(got) != 1 || got[0] != (acquisition{0, 19, 1}) {
		t.Errorf("acquired %v", got)
	}
	p = &partition{}
	got = p.acquire("a", zeroTime, batches, 12, true, 2000)
	if len(got) != 1 || got[0] != (acquisition{0, 11, 1}) {
		t.Errorf("strictly acquired %v", got)
	}
}

func TestHolesOfCompactionBelongToTheRangeAroundThem(t *testing.T) {
	p := &partition{}
	got := p.acquire("a", zeroTime, []extent{{first: 0, last: 1}, {first: 5, last: 6}}, 100, false, 2000)
	if len(got) != 1 || got[0] != (acquisition{0, 6, 1}) {
		t.Errorf("acquired %v", got)
	}
}

func TestRecordsOfAbortedTransactionsAreArchivedAndNeverDelivered(t *testing.T) {
	p := &partition{}
	got := p.acquire("a", zeroTime, []extent{{first: 0, last: 4, skip: true}, {first: 5, last: 6}}, 100, false, 2000)
	if len(got) != 1 || got[0] != (acquisition{5, 6, 1}) || p.start != 5 {
		t.Errorf("acquired %v, start %d", got, p.start)
	}
}

func TestNothingNewIsAcquiredBeyondTheLimitOfLocks(t *testing.T) {
	p := &partition{}
	p.acquire("a", zeroTime, singles(0, 9), 100, false, 10)
	if got := p.acquire("b", zeroTime, singles(10, 19), 100, false, 10); got != nil {
		t.Errorf("acquired %v", got)
	}
	// What comes back may be had all the same.
	if err := p.acknowledge("a", []AckBatch{{3, 3, []Ack{Release}}}, zeroTime.Add(-1), zeroTime, 5); err != nil {
		t.Fatal(err)
	}
	if got := p.acquire("b", zeroTime, singles(3, 19), 100, false, 10); len(got) != 1 || got[0] != (acquisition{3, 3, 2}) {
		t.Errorf("acquired %v", got)
	}
}

func TestAnAcknowledgementThatIsWrongInOneRecordChangesNone(t *testing.T) {
	p := &partition{}
	p.acquire("a", zeroTime, singles(0, 4), 100, false, 2000)
	p.acquire("b", zeroTime, singles(5, 9), 100, false, 2000)
	before := p.encode()
	err := p.acknowledge("a", []AckBatch{{0, 5, []Ack{Accept}}}, zeroTime.Add(-1), zeroTime, 5)
	if !errors.Is(err, ErrInvalidRecordState) || p.encode() != before || p.start != 0 {
		t.Errorf("%v, start %d", err, p.start)
	}
}

func TestBatchesOfAcknowledgementsAreChecked(t *testing.T) {
	for name, b := range map[string][]AckBatch{
		"backwards":     {{5, 4, []Ack{Accept}}},
		"overlapping":   {{0, 4, []Ack{Accept}}, {4, 5, []Ack{Accept}}},
		"without kinds": {{0, 4, nil}},
		"too few kinds": {{0, 4, []Ack{Accept, Accept}}},
		"unknown kind":  {{0, 4, []Ack{9}}},
		"renewing":      {{0, 4, []Ack{Renew}}},
	} {
		if err := checkAcks(b, false); !errors.Is(err, ErrInvalidRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNoRecordIsLostAndNoneIsDeliveredTooOften runs random members against one
// partition, restarts included, and keeps its own account of every record.
func TestNoRecordIsLostAndNoneIsDeliveredTooOften(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const limit, lock = 3, 30 * time.Second
		type record struct {
			state     recordState
			count     int
			member    string
			deadline  time.Time
			delivered int
		}
		p := &partition{}
		end := int64(rapid.IntRange(1, 40).Draw(t, "records"))
		model := make([]record, end)
		now := zeroTime
		members := rapid.SampledFrom([]string{"a", "b", "c"})
		back := func(r *record) {
			r.member = ""
			if r.state = available; r.count >= limit {
				r.state = archived
			}
		}
		expire := func() {
			p.expire(now, limit)
			for i := range model {
				if r := &model[i]; r.state == acquired && !r.deadline.After(now) {
					back(r)
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"acquire": func(t *rapid.T) {
				m, n := members.Draw(t, "member"), rapid.IntRange(1, 10).Draw(t, "n")
				from := p.next()
				if from >= end {
					return
				}
				for _, a := range p.acquire(m, now.Add(lock), singles(from, end-1), n, rapid.Bool().Draw(t, "strict"), 20) {
					for o := a.first; o <= a.last; o++ {
						r := &model[o]
						if r.state != available || r.delivered >= limit {
							t.Fatalf("record %d delivered in state %d after %d times", o, r.state, r.delivered)
						}
						r.state, r.member, r.deadline = acquired, m, now.Add(lock)
						r.count++
						r.delivered++
						if int(a.count) != r.count {
							t.Fatalf("record %d: count %d, want %d", o, a.count, r.count)
						}
					}
				}
			},
			"acknowledge": func(t *rapid.T) {
				m := members.Draw(t, "member")
				first := rapid.Int64Range(0, end-1).Draw(t, "first")
				last := rapid.Int64Range(first, min(end-1, first+5)).Draw(t, "last")
				b := AckBatch{First: first, Last: last}
				for range last - first + 1 {
					b.Kinds = append(b.Kinds, Ack(rapid.IntRange(0, 4).Draw(t, "kind")))
				}
				err := p.acknowledge(m, []AckBatch{b}, now, now.Add(lock), limit)
				ok := true
				for o := first; o <= last; o++ {
					r := &model[o]
					ok = ok && (o < p.start && err == nil || r.state == acquired && r.member == m)
				}
				if ok != (err == nil) && first >= p.start {
					t.Fatalf("acknowledge %d-%d by %s: %v", first, last, m, err)
				}
				if err != nil {
					return
				}
				for o := first; o <= last; o++ {
					r := &model[o]
					if r.state != acquired || r.member != m {
						continue // before the start
					}
					switch b.kind(o) {
					case Accept:
						r.state = acknowledged
					case Gap, Reject:
						r.state = archived
					case Release:
						back(r)
					case Renew:
						r.deadline = now.Add(lock)
					}
				}
			},
			"close": func(t *rapid.T) {
				m := members.Draw(t, "member")
				p.release(m)
				for i := range model {
					if r := &model[i]; r.state == acquired && r.member == m {
						r.state, r.member = available, ""
						r.count--
						r.delivered--
					}
				}
			},
			"wait": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 40).Draw(t, "s")) * time.Second)
				expire()
			},
			"restart": func(t *rapid.T) {
				q, err := decodePartition(p.start, p.epoch, p.encode())
				if err != nil {
					t.Fatal(err)
				}
				p = q
				for i := range model {
					if r := &model[i]; r.state == acquired {
						r.state, r.member = available, ""
						r.count--
						r.delivered--
					}
				}
			},
			"": func(t *rapid.T) {
				at := p.start
				for _, s := range p.spans {
					if s.first != at || s.last < s.first {
						t.Fatalf("spans %v from %d", p.spans, p.start)
					}
					at = s.last + 1
				}
				if at != p.end {
					t.Fatalf("spans end at %d, not %d", at, p.end)
				}
				for o := range end {
					var state recordState
					switch {
					case o < p.start:
						if s := model[o].state; s != acknowledged && s != archived {
							t.Fatalf("record %d is lost in state %d", o, s)
						}
						continue
					case o < p.end:
						state = p.spans[p.find(o)].state
					}
					if state != model[o].state {
						t.Fatalf("record %d: state %d, want %d", o, state, model[o].state)
					}
				}
			},
		})
	})
}
