package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"millrace/internal/recordbatch"
	"millrace/server/auth"
	"millrace/server/kafka/quota"
	"millrace/store"
	"millrace/store/state"
)

const (
	// maxFetchBytes bounds one answer whatever the client asks for (Kafka's fetch.max.bytes).
	maxFetchBytes = 55 << 20
	// minFetchGrant is what an answer may hold at least when memory is short.
	minFetchGrant = 1 << 20
	// maxFetchWait bounds a long poll; no client asks for more in earnest.
	maxFetchWait = 10 * time.Minute
	// zstdFetchFrom is the first version whose clients know zstd.
	zstdFetchFrom = 10
)

// fetch answers at once with what there is, or waits for minBytes, a failed partition,
// or the end of the client's patience. Only its own connection waits with it.
func (s *Server) fetch(ctx context.Context, c *conn, h header, body []byte) error {
	req, err := decodeFetch(h.version, body)
	if err != nil {
		return err
	}
	f := &fetchCall{s: s, c: c, req: req, header: h}
	if f.code = c.beginFetch(f); f.code != errNone {
		f.parts = nil
		return f.respond()
	}
	defer func() {
		s.fetches.Release(f.held)
		for _, p := range f.parts { // a session lives on; its last answer must not
			p.batches, p.aborted = nil, nil
		}
		for i := range f.results {
			f.results[i].Release()
		}
	}()
	f.gather(ctx)
	return f.respond()
}

// fetchCall is one Fetch being answered.
type fetchCall struct {
	s      *Server
	c      *conn
	header header
	req    *fetchRequest

	code      int16 // of the whole request
	sessionID int32
	// incremental: partitions with nothing new are left out of the answer.
	incremental bool
	parts       []*fetchPartition

	total  int   // bytes gathered
	failed bool  // a partition has an error: answer at once
	short  bool  // memory was short: answer with what there is
	held   int64 // of the server's fetch budget

	results []store.FetchResult // whose batches the parts have
}

// fetchPartition is one partition of a fetch, and of a session between fetches.
type fetchPartition struct {
	fetchKey
	offset      int64
	maxBytes    int
	leaderEpoch int32

	// What the client was last told; only for sessions.
	told       bool
	toldEnd    int64
	toldStable int64
	toldLogLow int64

	// The answer so far.
	tp      state.TopicPartition
	code    int16
	bounds  state.Bounds
	batches [][]byte
	aborted []state.AbortedTransaction // that reach into the batches; read_committed only
	bytes   int
	next    int64 // offset to go on from
}

func (p *fetchPartition) begin() {
	p.code, p.bounds, p.batches, p.aborted, p.bytes, p.next = errNone, state.Bounds{}, nil, nil, 0, p.offset
}

// gather fills the partitions' answers.
func (f *fetchCall) gather(ctx context.Context) {
	f.resolve()
	deadline := time.Now().Add(f.req.maxWait)
	if !f.read(ctx, deadline) || f.enough() {
		return
	}
	// Nothing more until somebody writes. Watch first, then look again, so that
	// nothing is missed between.
	tps := make([]state.TopicPartition, 0, len(f.parts))
	for _, p := range f.parts {
		tps = append(tps, p.tp)
	}
	w := f.s.o.Store.Watch(tps)
	defer w.Close()
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	ctx, stop := f.c.watch(ctx)
	defer stop()
	for f.read(ctx, deadline) && !f.enough() {
		resume := f.c.work.pause()
		select {
		case <-w.C:
			resume()
		case <-timer.C:
			resume()
			return
		case <-ctx.Done():
			resume()
			return
		}
	}
}

// enough says whether waiting is over.
func (f *fetchCall) enough() bool {
	return f.total >= f.req.minBytes || f.failed || f.short && f.total > 0 || f.req.maxWait <= 0 || len(f.parts) == 0
}

// resolve finds the partitions' topics and checks that the client may read them.
func (f *fetchCall) resolve() {
	topics := f.s.o.Store.Topics()
	byID := f.header.version >= 13
	r := &request{header: f.header, conn: f.c}
	var last fetchKey
	var topic state.Topic
	var code int16
	for i, p := range f.parts {
		p.begin()
		// Partitions of one topic stand together.
		if i == 0 || p.name != last.name || p.id != last.id {
			topic, code = f.s.resolve(r, topics, topicRef{name: p.name, id: p.id}, byID, auth.Read)
			last = p.fetchKey
		}
		switch {
		case code != errNone:
			p.code = code
		case p.partition < 0 || p.partition >= topic.Partitions:
			p.code = errUnknownTopicOrPartition
		default:
			p.tp = state.TopicPartition{Topic: topic.ID, Partition: p.partition}
			p.code = checkLeaderEpoch(p.leaderEpoch)
		}
		f.failed = f.failed || p.code != errNone
	}
}

// read makes one pass over the partitions, going on where the last one ended; false
// when memory did not come free in time. Whoever has something already waits for memory no
// longer than for records: all of them holding some and wanting more would wait for
// each other.
func (f *fetchCall) read(ctx context.Context, deadline time.Time) bool {
	want := 0
	for _, p := range f.parts {
		if p.code == errNone {
			want += max(p.maxBytes-p.bytes, 0)
		}
	}
	room := min(want, f.req.maxBytes-f.total)
	granted := 0
	if room > 0 {
		if f.req.maxWait > 0 {
			if f.total == 0 {
				deadline = deadline.Add(f.s.o.WriteTimeout)
			}
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, deadline)
			defer cancel()
		}
		n, err := f.s.fetches.AcquireSome(ctx, int64(room), minFetchGrant)
		if err != nil {
			f.look()
			return false
		}
		granted = int(n)
		f.short = granted < room
	}
	before := f.total
	limit := f.total + min(granted, max(room, 0))
	for _, p := range f.parts {
		f.readPartition(p, limit)
	}
	// The first batch may be larger than was granted; then less is given back.
	f.held += int64(f.total - before)
	f.s.fetches.Release(int64(granted - (f.total - before)))
	return true
}

// look reads where the partitions begin and end, for an answer without records: a
// high watermark of 0 would be an answer, too, and a wrong one.
func (f *fetchCall) look() {
	for _, p := range f.parts {
		if p.code != errNone {
			continue
		}
		b, err := f.s.o.Store.Bounds(p.tp)
		if err != nil && p.bytes == 0 {
			p.code = f.partitionCode(p, err)
		} else if err == nil && p.bytes == 0 {
			p.bounds = b
		}
	}
}

func (f *fetchCall) readPartition(p *fetchPartition, limit int) {
	if p.code != errNone {
		return
	}
	iso := store.ReadUncommitted
	if f.req.readCommitted {
		iso = store.ReadCommitted
	}
	n := min(limit-f.total, p.maxBytes-p.bytes)
	// Somebody gets a whole batch whatever the limits, or a consumer behind a
	// large one would never come past it.
	minOne := f.total == 0
	res, err := f.s.o.Store.Fetch(p.tp, p.next, max(n, 0), minOne, iso)
	if err != nil {
		// What was read before the trouble is still good; the next fetch meets it.
		if p.bytes == 0 {
			p.code = f.partitionCode(p, err)
			f.failed = true
		}
		return
	}
	p.bounds = res.Bounds
	if res.Bytes == 0 {
		return
	}
	f.results = append(f.results, res)
	if f.header.version < zstdFetchFrom && hasCodec(res.Batches, recordbatch.Zstd) {
		p.code, p.batches, p.aborted, p.bytes = errUnsupportedCompressionType, nil, nil, 0
		f.failed = true
		return
	}
	for _, t := range res.Aborted {
		// What began before this pass reaches into the one before, which knew of it: until
		// a transaction has ended nobody reads beyond its begin.
		if p.bytes == 0 || t.FirstOffset >= p.next {
			p.aborted = append(p.aborted, t)
		}
	}
	p.batches = append(p.batches, res.Batches...)
	p.bytes += res.Bytes
	f.total += res.Bytes
	p.next = offsetAfter(res.Batches, p.next)
}

// partitionCode is the code for a failed read. A topic deleted while it was being read
// by its id is unknown by its id.
func (f *fetchCall) partitionCode(p *fetchPartition, err error) int16 {
	if errors.Is(err, state.ErrUnknownTopic) && f.header.version >= 13 {
		return errUnknownTopicID
	}
	code := f.s.code(err)
	if code == errCorruptMessage || code == errKafkaStorageError {
		f.s.rare.warn(f.s.log, fmt.Sprint("fetch ", p.tp), "fetch failed",
			slog.String("topic", p.tp.Topic.String()), slog.Int("partition", int(p.tp.Partition)), slog.Any("error", err))
	}
	return code
}

// offsetAfter is the offset behind the last of some batches.
func offsetAfter(batches [][]byte, next int64) int64 {
	eachBatch(batches, func(b *recordbatch.Batch) bool {
		next = b.LastOffset() + 1
		return true
	})
	return next
}

func hasCodec(batches [][]byte, codec int) (found bool) {
	eachBatch(batches, func(b *recordbatch.Batch) bool {
		found = b.Codec() == codec
		return !found
	})
	return found
}

// eachBatch walks the headers of back to back batches until fn returns false.
func eachBatch(batches [][]byte, fn func(*recordbatch.Batch) bool) {
	for _, run := range batches {
		for len(run) > 0 {
			b, rest, err := recordbatch.Parse(run)
			if err != nil || !fn(&b) {
				return // the store hands out whole batches only
			}
			run = rest
		}
	}
}

// respond encodes and sends the answer: everything but the record batches in one
// buffer, the batches from where the store keeps them.
func (f *fetchCall) respond() error {
	v := f.header.version
	flexible := v >= 12
	answered := f.answered()
	if f.failed {
		f.noteErrors(answered)
	}

	a := f.s.table[keyFetch]
	buf := beginResponse(f.c.scratch[:0], f.header.correlationID, a.responseHeaderVersion(v))
	buf = putInt32(buf, f.c.throttle(quota.ConsumerByteRate, f.c.lastClientID, f.total))
	if v >= 7 {
		buf = putInt16(buf, f.code)
		buf = putInt32(buf, f.sessionID)
	}
	type cut struct {
		at      int // in buf: here come the batches
		batches [][]byte
	}
	var cuts []cut
	pieces, elsewhere := 1, 0

	buf = putArrayLen(buf, countTopics(answered), flexible)
	for i := 0; i < len(answered); {
		n := sameTopic(answered[i:])
		if v >= 13 {
			id := answered[i].id
			buf = append(buf, id[:]...)
		} else {
			buf = putString(buf, answered[i].name, flexible)
		}
		buf = putArrayLen(buf, n, flexible)
		for _, p := range answered[i : i+n] {
			end, stable, low := p.bounds.End, p.bounds.LastStable, p.bounds.LogStart
			if p.code != errNone {
				end, stable, low = -1, -1, -1
			}
			buf = putInt32(buf, p.partition)
			buf = putInt16(buf, p.code)
			buf = putInt64(buf, end)
			buf = putInt64(buf, stable)
			if v >= 5 {
				buf = putInt64(buf, low)
			}
			// Aborted transactions. Null, not empty, is what Kafka sends to whoever
			// reads uncommitted.
			switch {
			case f.req.readCommitted:
				buf = putArrayLen(buf, len(p.aborted), flexible)
				for _, t := range p.aborted {
					buf = putInt64(buf, t.ProducerID)
					buf = putInt64(buf, t.FirstOffset)
					buf = putNoTags(buf, flexible)
				}
			case flexible:
				buf = append(buf, 0)
			default:
				buf = putInt32(buf, -1)
			}
			if v >= 11 {
				buf = putInt32(buf, -1) // preferred read replica
			}
			// Records are empty, never null: null breaks librdkafka (KAFKA-18646).
			if flexible {
				buf = putUvarint(buf, uint32(p.bytes+1))
			} else {
				buf = putInt32(buf, int32(p.bytes))
			}
			if p.bytes > 0 {
				cuts = append(cuts, cut{len(buf), p.batches})
				pieces += len(p.batches) + 1
				elsewhere += p.bytes
			}
			buf = putNoTags(buf, flexible)
		}
		buf = putNoTags(buf, flexible)
		i += n
	}
	buf = putNoTags(buf, flexible)
	endResponse(buf, 0, elsewhere)
	f.c.keepScratch(buf)
	if len(cuts) == 0 {
		return f.c.write(buf)
	}
	bufs := make(net.Buffers, 0, pieces)
	at := 0
	for _, k := range cuts {
		bufs = append(bufs, buf[at:k.at])
		bufs = append(bufs, k.batches...)
		at = k.at
	}
	if at < len(buf) {
		bufs = append(bufs, buf[at:])
	}
	return f.c.writev(bufs)
}

// noteErrors notes the refusals among some partitions for millrace.client_errors.
func (f *fetchCall) noteErrors(parts []*fetchPartition) {
	for _, p := range parts {
		if f.s.isNormal(keyFetch, p.code) {
			continue
		}
		name := p.name
		if name == "" {
			name = f.s.topicNamed(p.id)
		}
		f.c.refuse(f.s.table[keyFetch], f.header, Refused{Topic: name, Code: p.code}, "", false)
	}
}

// answered is the partitions that the answer contains: all, or, in an incremental one,
// those with something to tell.
func (f *fetchCall) answered() []*fetchPartition {
	if f.c.session == nil || f.sessionID == 0 {
		return f.parts
	}
	var list []*fetchPartition
	for _, p := range f.parts {
		news := !f.incremental || p.bytes > 0 || p.code != errNone || !p.told ||
			p.toldEnd != p.bounds.End || p.toldStable != p.bounds.LastStable || p.toldLogLow != p.bounds.LogStart
		if !news {
			continue
		}
		list = append(list, p)
		// After an error everything is news again.
		p.told = p.code == errNone
		p.toldEnd, p.toldStable, p.toldLogLow = p.bounds.End, p.bounds.LastStable, p.bounds.LogStart
	}
	f.c.session.rotate()
	return list
}

func countTopics(parts []*fetchPartition) int {
	n := 0
	for i := 0; i < len(parts); i += sameTopic(parts[i:]) {
		n++
	}
	return n
}

// sameTopic is how many partitions at the front belong to the first one's topic.
func sameTopic(parts []*fetchPartition) int {
	n := 1
	for n < len(parts) && parts[n].name == parts[0].name && parts[n].id == parts[0].id {
		n++
	}
	return n
}
