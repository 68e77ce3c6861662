package share

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"millrace/internal/recordbatch"
	"millrace/server/kafka/groupconfig"
	"millrace/store"
	"millrace/store/state"
)

// Session is one member's share session: the partitions it fetches. Its epoch ties the
// requests of a member together.
type Session struct {
	g      *group
	member string
	epoch  int32 // that the next request must have
	parts  []state.TopicPartition
	open   bool
}

// maxSessionPartitions bounds a session's memory: clients may name partitions that there are not.
const maxSessionPartitions = 50_000

// Epochs of requests.
const (
	EpochFinal   int32 = -1
	EpochInitial int32 = 0
)

// FetchRequest is one ShareFetch, of which acknowledgements are handled apart.
type FetchRequest struct {
	MaxWait    time.Duration
	MinBytes   int // worth an answer before MaxWait; at most MaxBytes
	MaxBytes   int // none: no records; else the first batch comes, whatever its size
	MaxRecords int
	BatchSize  int
	Strict     bool // no more than MaxRecords, though a batch is cut

	// May says why a partition is not read, or nil.
	May func(state.TopicPartition) error
	// Reserve asks for memory for records and says how much there is; Unreserve gives
	// some back. What the answer's results hold is the caller's to give back.
	Reserve   func(ctx context.Context, bytes int) (int, error)
	Unreserve func(bytes int)
	// Idle is called before Fetch waits for records, and what it returns after; nil: nobody wants to know.
	Idle func() (over func())
}

// Fetched is what a fetch has of one partition. Result's batches are the caller's until Release.
type Fetched struct {
	state.TopicPartition
	Err      error
	Result   store.FetchResult
	Acquired []Acquired
}

// Acquired is a range of offsets that the member holds now.
type Acquired struct {
	First, Last   int64
	DeliveryCount int16
}

// Open begins a session (in the place of the member's last one).
func (c *Coordinator) Open(name, memberID string, parts []state.TopicPartition) (*Session, error) {
	g := c.lookup(name)
	switch {
	case g == nil:
		return nil, ErrGroupNotFound
	case len(parts) > maxSessionPartitions:
		return nil, ErrSessionLimit
	}
	g.mu.Lock()
	defer g.unlock()
	if old := g.sessions[memberID]; old != nil {
		g.drop(old)
	}
	if c.sessions.Add(1) > int64(c.o.MaxSessions) {
		c.sessions.Add(-1)
		return nil, ErrSessionLimit
	}
	s := &Session{g: g, member: memberID, epoch: 1, open: true}
	s.add(parts)
	g.sessions[memberID] = s
	return s, nil
}

// Continue finds the session of a request that says it is the epoch's, and counts it on.
func (c *Coordinator) Continue(name, memberID string, epoch int32) (*Session, error) {
	g := c.lookup(name)
	if g == nil {
		return nil, ErrSessionNotFound
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.sessions[memberID]
	switch {
	case s == nil:
		return nil, ErrSessionNotFound
	case epoch == EpochFinal:
	case epoch != s.epoch:
		return nil, ErrInvalidSessionEpoch
	default:
		if s.epoch++; s.epoch < 1 {
			s.epoch = 1
		}
	}
	return s, nil
}

// Update adds partitions to the session and takes some out. ErrSessionLimit: they could be too many, and nothing changed.
func (s *Session) Update(add, forget []state.TopicPartition) error {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	if len(s.parts) > maxSessionPartitions-len(add) {
		have := map[state.TopicPartition]struct{}{}
		for _, tp := range slices.Concat(s.parts, add) {
			have[tp] = struct{}{}
		}
		if len(have) > maxSessionPartitions {
			return ErrSessionLimit
		}
	}
	s.add(add)
	if len(forget) > 0 {
		gone := map[state.TopicPartition]struct{}{}
		for _, tp := range forget {
			gone[tp] = struct{}{}
		}
		kept := s.parts[:0]
		for _, tp := range s.parts {
			if _, ok := gone[tp]; !ok {
				kept = append(kept, tp)
			}
		}
		s.parts = kept
	}
	return nil
}

func (s *Session) add(parts []state.TopicPartition) {
	have := make(map[state.TopicPartition]struct{}, len(s.parts))
	for _, tp := range s.parts {
		have[tp] = struct{}{}
	}
	for _, tp := range parts {
		if _, ok := have[tp]; !ok {
			have[tp] = struct{}{}
			s.parts = append(s.parts, tp)
		}
	}
}

// Ended says whether the session is over: closed, or replaced by another of its member.
func (s *Session) Ended() bool {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	return !s.open
}

// Close gives back what the member holds and ends the session; a second time does nothing.
func (s *Session) Close() {
	s.g.mu.Lock()
	defer s.g.unlock()
	if !s.open {
		return
	}
	s.g.drop(s)
	back := false
	for tp, p := range s.g.parts {
		if p.release(s.member) {
			s.g.dirty[tp] = struct{}{}
			back = true
		}
	}
	if back {
		s.g.wake()
	}
}

func (g *group) drop(s *Session) {
	if s.open {
		s.open = false
		g.c.sessions.Add(-1)
		if g.sessions[s.member] == s {
			delete(g.sessions, s.member)
		}
	}
}

// Acknowledge carries out a member's acknowledgements of one partition. done is called once,
// maybe at once, when what was said is durable.
func (s *Session) Acknowledge(tp state.TopicPartition, batches []AckBatch, renew bool, done func(error)) {
	if err := checkAcks(batches, renew); err != nil {
		done(err)
		return
	}
	g := s.g
	g.mu.Lock()
	g.load()
	p := g.parts[tp]
	if p == nil || !p.ready {
		g.mu.Unlock()
		done(ErrInvalidRecordState)
		return
	}
	cfg := g.config()
	now := g.c.o.Now()
	err := p.acknowledge(s.member, batches, now, now.Add(cfg.lock), g.c.o.DeliveryLimit)
	if err != nil {
		g.mu.Unlock()
		done(err)
		return
	}
	g.c.metrics.counted(batches)
	g.dirty[tp] = struct{}{}
	g.stable(done)
	g.armLocks(now.Add(cfg.lock))
	g.wake()
	g.unlock()
}

// config of a group.
type config struct {
	lock          time.Duration
	readCommitted bool
	reset         string
}

func (g *group) config() config {
	set := g.c.o.GroupConfig(g.name)
	cfg := config{lock: groupconfig.Millis(set, groupconfig.ShareRecordLockDuration, g.c.o.LockDuration), reset: "latest"}
	cfg.readCommitted = set[groupconfig.ShareIsolationLevel] == "read_committed"
	if r := set[groupconfig.ShareAutoOffsetReset]; r != "" {
		cfg.reset = r
	}
	return cfg
}

// LockDuration is how long a member of the group may hold a record.
func (c *Coordinator) LockDuration(name string) time.Duration {
	if g := c.lookup(name); g != nil {
		return g.config().lock
	}
	return c.o.LockDuration
}

// waited is how a wait for records ended: somebody wrote or gave back, its time is over, or nobody wants them any more.
type waited uint8

const (
	waitWoken waited = iota
	waitOver
	waitEnded
)

func (r *FetchRequest) await(ctx, server context.Context, written, back <-chan struct{}, deadline <-chan time.Time) waited {
	if r.Idle != nil {
		defer r.Idle()()
	}
	select {
	case <-written:
	case <-back:
	case <-deadline:
		return waitOver
	case <-ctx.Done():
		return waitEnded
	case <-server.Done():
		return waitEnded
	}
	return waitWoken
}

// Fetch acquires records for the session's member; it waits for some until MaxWait or ctx's end.
// The answer has only partitions with records or an error.
func (s *Session) Fetch(ctx context.Context, req FetchRequest) []Fetched {
	if req.MaxBytes <= 0 {
		return nil
	}
	g := s.g
	deadline := time.NewTimer(req.MaxWait)
	defer deadline.Stop()
	back := make(chan struct{}, 1)
	g.mu.Lock()
	parts := append([]state.TopicPartition(nil), s.parts...)
	start := 0
	if len(parts) > 0 {
		start = int(s.epoch) % len(parts) // another one comes first each time
	}
	g.waiters[back] = struct{}{}
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		delete(g.waiters, back)
		g.mu.Unlock()
	}()
	req.MinBytes = min(req.MinBytes, req.MaxBytes)
	late := false
	enough := req.MinBytes <= 1 || req.MaxWait <= 0
	var w *store.Watcher
	for {
		out, bytes, records := []Fetched(nil), 0, 0
		for i := range parts {
			if !enough && i == 0 && s.pending(ctx, parts, req) < req.MinBytes {
				break
			}
			if records >= req.MaxRecords || bytes >= req.MaxBytes && bytes > 0 {
				break
			}
			f := s.fetchPartition(ctx, parts[(start+i)%len(parts)], req, req.MaxBytes-bytes, req.MaxRecords-records)
			if f.Err != nil || len(f.Acquired) > 0 {
				for _, a := range f.Acquired {
					records += int(a.Last - a.First + 1)
				}
				bytes += f.Result.Bytes
				out = append(out, f)
			}
		}
		if len(out) > 0 || req.MaxWait <= 0 || len(parts) == 0 || late {
			return out
		}
		if w == nil { // watch first, then look again
			w = g.c.store.Watch(parts)
			defer w.Close()
			continue
		}
		switch req.await(ctx, g.c.ctx, w.C, back, deadline.C) {
		case waitOver:
			if enough {
				return nil
			}
			enough, late = true, true // what little there is
		case waitEnded:
			return nil
		case waitWoken:
		}
		g.mu.Lock()
		open := s.open
		g.mu.Unlock()
		if !open {
			return nil
		}
	}
}

// pending is roughly how many bytes a fetch would find now, counted up to MinBytes; that many, too, when a
// partition has an error to tell.
func (s *Session) pending(ctx context.Context, parts []state.TopicPartition, req FetchRequest) int {
	n := 0
	for _, tp := range parts {
		if n >= req.MinBytes {
			break
		}
		if req.May(tp) != nil {
			return req.MinBytes
		}
		size, err := s.pendingIn(ctx, tp, req, req.MinBytes-n)
		if err != nil {
			return req.MinBytes
		}
		n += size
	}
	return n
}

func (s *Session) pendingIn(ctx context.Context, tp state.TopicPartition, req FetchRequest, most int) (int, error) {
	g := s.g
	bounds, err := g.c.store.Bounds(tp)
	if err != nil {
		return 0, err
	}
	cfg := g.config()
	p, err := s.prepare(ctx, tp, bounds, cfg)
	if err != nil {
		return 0, err
	}
	iso, end := store.ReadUncommitted, bounds.End
	if cfg.readCommitted {
		iso, end = store.ReadCommitted, bounds.LastStable
	}
	g.mu.Lock()
	from := max(p.next(), bounds.LogStart)
	full := from == p.end && p.inFlight() >= g.c.o.MaxRecordLocks
	g.mu.Unlock()
	if full || from >= end {
		return 0, nil
	}
	granted, err := req.Reserve(ctx, most)
	if err != nil {
		return 0, err
	}
	res, err := g.c.store.Fetch(tp, from, granted, true, iso)
	size := res.Bytes
	if read := extents(&res); len(read) > 0 && read[len(read)-1].last+1 < end {
		size = most // the next batch did not fit
	}
	res.Release()
	req.Unreserve(granted)
	if errors.Is(err, state.ErrOffsetOutOfRange) {
		return 0, nil
	}
	return size, err
}

func (s *Session) fetchPartition(ctx context.Context, tp state.TopicPartition, req FetchRequest, maxBytes, maxRecords int) Fetched {
	f := Fetched{TopicPartition: tp}
	g := s.g
	if f.Err = req.May(tp); f.Err != nil {
		return f
	}
	bounds, err := g.c.store.Bounds(tp)
	if err != nil {
		f.Err = err
		return f
	}
	cfg := g.config()
	iso := store.ReadUncommitted
	if cfg.readCommitted {
		iso = store.ReadCommitted
	}
	p, err := s.prepare(ctx, tp, bounds, cfg)
	if err != nil {
		f.Err = err
		return f
	}
	g.mu.Lock()
	if g.parts[tp] != p || p.fetching || !s.open {
		g.mu.Unlock()
		return f
	}
	if p.trim(bounds.LogStart) {
		g.dirty[tp] = struct{}{}
	}
	from := p.next()
	if from == p.end && p.inFlight() >= g.c.o.MaxRecordLocks {
		g.unlock()
		return f
	}
	if end := bounds.End; from >= end || cfg.readCommitted && from >= bounds.LastStable {
		g.unlock()
		return f
	}
	p.fetching = true
	reset := p.reset
	g.unlock()

	var res store.FetchResult
	granted, err := req.Reserve(ctx, maxBytes)
	if err == nil {
		res, err = g.c.store.Fetch(tp, from, granted, true, iso)
	}

	g.mu.Lock()
	p.fetching = false
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, state.ErrOffsetOutOfRange):
		// The log's start moved meanwhile, or the start was set beyond the end: wait.
	case err != nil:
		f.Err = err
	case g.parts[tp] == p && p.reset == reset && s.open:
		now := g.c.o.Now()
		until := now.Add(cfg.lock)
		batches := extents(&res)
		before := p.start
		for _, a := range p.acquire(s.member, until, batches, maxRecords, req.Strict, g.c.o.MaxRecordLocks) {
			g.c.metrics.acquired.Add(float64(a.last - a.first + 1))
			f.Acquired = split(f.Acquired, a, batches, int64(req.BatchSize))
		}
		if p.start != before {
			g.dirty[tp] = struct{}{} // aborted records were passed over
		}
		if len(f.Acquired) > 0 {
			g.armLocks(until)
			f.Result = res
		}
	}
	if len(f.Acquired) == 0 {
		res.Release()
		req.Unreserve(granted)
	} else {
		req.Unreserve(granted - f.Result.Bytes)
	}
	g.wake() // others passed the partition by
	g.unlock()
	return f
}

// prepare returns the share partition; where there is none yet, its start is decided, and durable
// before anything is delivered: with `latest` a restart would decide otherwise.
func (s *Session) prepare(ctx context.Context, tp state.TopicPartition, bounds state.Bounds, cfg config) (*partition, error) {
	g := s.g
	g.mu.Lock()
	g.load()
	p := g.parts[tp]
	if p != nil && p.ready {
		g.mu.Unlock()
		return p, nil
	}
	if p == nil {
		start := bounds.End
		switch {
		case cfg.reset == "earliest":
			start = bounds.LogStart
		case strings.HasPrefix(cfg.reset, "by_duration:"):
			g.mu.Unlock()
			d, err := groupconfig.ParseDuration(strings.TrimPrefix(cfg.reset, "by_duration:"))
			if err != nil {
				return nil, err
			}
			offset, _, found, err := g.c.store.OffsetForTime(tp, g.c.o.Now().Add(-d).UnixMilli(), store.ReadUncommitted)
			if err != nil {
				return nil, err
			}
			if found {
				start = offset
			}
			g.mu.Lock()
		}
		if p = g.parts[tp]; p == nil {
			p = &partition{start: start, end: start}
			g.parts[tp] = p
		}
	}
	g.dirty[tp] = struct{}{}
	done := make(chan error, 1)
	g.stable(func(err error) { done <- err })
	g.unlock()
	select {
	case err := <-done:
		if err != nil {
			return nil, err
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	g.mu.Lock()
	p.ready = true
	g.mu.Unlock()
	return p, nil
}

// extents lists what was fetched.
func extents(res *store.FetchResult) []extent {
	var list []extent
	for _, run := range res.Batches {
		for len(run) > 0 {
			b, rest, err := recordbatch.Parse(run)
			if err != nil {
				return list
			}
			e := extent{first: b.BaseOffset, last: b.LastOffset()}
			if b.Transactional() && !b.Control() {
				for _, a := range res.Aborted {
					if a.ProducerID == b.ProducerID && e.first >= a.FirstOffset && e.last <= a.LastOffset {
						e.skip = true
					}
				}
			}
			list = append(list, e)
			run = rest
		}
	}
	return list
}

// split appends an acquisition in ranges of at least size offsets that end where record batches do.
func split(dst []Acquired, a acquisition, batches []extent, size int64) []Acquired {
	first := a.first
	if size > 0 {
		for _, b := range batches {
			if b.last >= first && b.last < a.last && b.last-first+1 >= size {
				dst = append(dst, Acquired{first, b.last, a.count})
				first = b.last + 1
			}
		}
	}
	return append(dst, Acquired{first, a.last, a.count})
}
