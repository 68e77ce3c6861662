// Package fetch serves Fetch: sessions, long polls, and answers whose records are sent from where
// the store keeps them.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"millrace/internal/budget"
	"millrace/internal/recordbatch"
	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/server/kafka/quota"
	"millrace/server/kafka/refusal"
	"millrace/server/kafka/wire"
	"millrace/store"
	"millrace/store/state"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// MaxBytes bounds one answer whatever the client asks for (Kafka's fetch.max.bytes).
	MaxBytes = 55 << 20
	// MinGrant is what an answer may hold at least when memory is short.
	MinGrant = 1 << 20
	// MaxWait bounds a long poll; no client asks for more in earnest.
	MaxWait = 10 * time.Minute
	// zstdFrom is the first version whose clients know zstd.
	zstdFrom = 10
)

// Handlers serve them, a method each.
type Handlers struct {
	*api.Node
	Memory       *budget.Budget // answers being gathered or sent
	WriteTimeout time.Duration  // that answers of others may take until there is memory again
	Sessions     prometheus.Gauge
}

// Conn is the connection of a Fetch.
type Conn interface {
	Client() *api.Client
	// Watch returns a context that ends when the client goes away, too, and stop, which
	// must be called before anything else is done with the connection.
	Watch(ctx context.Context) (_ context.Context, stop func())
	// Throttle charges the client's quota for bytes; what comes out is the answer's throttle time.
	Throttle(limit string, bytes int) (millis int32)
	// Scratch is an empty buffer to encode into, the handler's until Send.
	Scratch() []byte
	// Send sends the answer that was encoded into head, or the pieces that it was cut into.
	Send(head []byte, pieces net.Buffers) error
	// Refuse notes a refusal for millrace.client_errors, unless it is one of ordinary work.
	Refuse(h wire.Header, what refusal.Refused, message string, logged bool)
}

// Fetch answers at once with what there is, or waits for minBytes, a failed partition,
// or the end of the client's patience. Only its own connection, whose session ss is, waits with it.
func (h *Handlers) Fetch(ctx context.Context, c Conn, ss *Session, head wire.Header, body []byte) error {
	req, err := decode(head.Version, body)
	if err != nil {
		return err
	}
	f := &call{h: h, c: c, session: ss, req: req, header: head}
	if f.code = f.begin(); f.code != kafkaerr.None {
		f.parts = nil
		return f.respond()
	}
	defer func() {
		h.Memory.Release(f.held)
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

// call is one Fetch being answered.
type call struct {
	h       *Handlers
	c       Conn
	session *Session
	header  wire.Header
	req     *request

	code      int16 // of the whole request
	sessionID int32
	// incremental: partitions with nothing new are left out of the answer.
	incremental bool
	parts       []*partition

	total  int   // bytes gathered
	failed bool  // a partition has an error: answer at once
	short  bool  // memory was short: answer with what there is
	held   int64 // of the server's fetch budget

	results []store.FetchResult // whose batches the parts have
}

// partition is one partition of a fetch, and of a session between fetches.
type partition struct {
	key
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

func (p *partition) begin() {
	p.code, p.bounds, p.batches, p.aborted, p.bytes, p.next = kafkaerr.None, state.Bounds{}, nil, nil, 0, p.offset
}

// gather fills the partitions' answers.
func (f *call) gather(ctx context.Context) {
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
	w := f.h.Store.Watch(tps)
	defer w.Close()
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	ctx, stop := f.c.Watch(ctx)
	defer stop()
	for f.read(ctx, deadline) && !f.enough() {
		resume := api.Waiting(ctx)
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
func (f *call) enough() bool {
	return f.total >= f.req.minBytes || f.failed || f.short && f.total > 0 || f.req.maxWait <= 0 || len(f.parts) == 0
}

// resolve finds the partitions' topics and checks that the client may read them.
func (f *call) resolve() {
	topics := f.h.Store.Topics()
	byID := f.header.Version >= 13
	r := &api.Request{Header: f.header, Client: f.c.Client()}
	var last key
	var topic state.Topic
	var code int16
	for i, p := range f.parts {
		p.begin()
		// Partitions of one topic stand together.
		if i == 0 || p.name != last.name || p.id != last.id {
			topic, code = f.h.Resolve(r, topics, api.TopicRef{Name: p.name, ID: p.id}, byID, auth.Read)
			last = p.key
		}
		switch {
		case code != kafkaerr.None:
			p.code = code
		case p.partition < 0 || p.partition >= topic.Partitions:
			p.code = kafkaerr.UnknownTopicOrPartition
		default:
			p.tp = state.TopicPartition{Topic: topic.ID, Partition: p.partition}
			p.code = api.CheckLeaderEpoch(p.leaderEpoch)
		}
		f.failed = f.failed || p.code != kafkaerr.None
	}
}

// read makes one pass over the partitions, going on where the last one ended; false
// when memory did not come free in time. Whoever has something already waits for memory no
// longer than for records: all of them holding some and wanting more would wait for
// each other.
func (f *call) read(ctx context.Context, deadline time.Time) bool {
	want := 0
	for _, p := range f.parts {
		if p.code == kafkaerr.None {
			want += max(p.maxBytes-p.bytes, 0)
		}
	}
	room := min(want, f.req.maxBytes-f.total)
	granted := 0
	if room > 0 {
		if f.req.maxWait > 0 {
			if f.total == 0 {
				deadline = deadline.Add(f.h.WriteTimeout)
			}
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, deadline)
			defer cancel()
		}
		n, err := f.h.Memory.AcquireSome(ctx, int64(room), MinGrant)
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
	f.h.Memory.Release(int64(granted - (f.total - before)))
	return true
}

// look reads where the partitions begin and end, for an answer without records: a
// high watermark of 0 would be an answer, too, and a wrong one.
func (f *call) look() {
	for _, p := range f.parts {
		if p.code != kafkaerr.None {
			continue
		}
		b, err := f.h.Store.Bounds(p.tp)
		if err != nil && p.bytes == 0 {
			p.code = f.partitionCode(p, err)
		} else if err == nil && p.bytes == 0 {
			p.bounds = b
		}
	}
}

func (f *call) readPartition(p *partition, limit int) {
	if p.code != kafkaerr.None {
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
	res, err := f.h.Store.Fetch(p.tp, p.next, max(n, 0), minOne, iso)
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
	if f.header.Version < zstdFrom && hasCodec(res.Batches, recordbatch.Zstd) {
		p.code, p.batches, p.aborted, p.bytes = kafkaerr.UnsupportedCompressionType, nil, nil, 0
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
func (f *call) partitionCode(p *partition, err error) int16 {
	if errors.Is(err, state.ErrUnknownTopic) && f.header.Version >= 13 {
		return kafkaerr.UnknownTopicID
	}
	code := f.h.Code(err)
	if code == kafkaerr.CorruptMessage || code == kafkaerr.KafkaStorageError {
		f.h.Rare.Warn(fmt.Sprint("fetch ", p.tp), "fetch failed",
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
func (f *call) respond() error {
	v := f.header.Version
	flexible := v >= 12
	answered := f.answered()
	if f.failed {
		f.noteErrors(answered)
	}

	buf := wire.BeginResponse(f.c.Scratch(), f.header.CorrelationID, flexible)
	buf = wire.PutInt32(buf, f.c.Throttle(quota.ConsumerByteRate, f.total))
	if v >= 7 {
		buf = wire.PutInt16(buf, f.code)
		buf = wire.PutInt32(buf, f.sessionID)
	}
	type cut struct {
		at      int // in buf: here come the batches
		batches [][]byte
	}
	var cuts []cut
	pieces, elsewhere := 1, 0

	buf = wire.PutArrayLen(buf, countTopics(answered), flexible)
	for i := 0; i < len(answered); {
		n := sameTopic(answered[i:])
		if v >= 13 {
			id := answered[i].id
			buf = append(buf, id[:]...)
		} else {
			buf = wire.PutString(buf, answered[i].name, flexible)
		}
		buf = wire.PutArrayLen(buf, n, flexible)
		for _, p := range answered[i : i+n] {
			end, stable, low := p.bounds.End, p.bounds.LastStable, p.bounds.LogStart
			if p.code != kafkaerr.None {
				end, stable, low = -1, -1, -1
			}
			buf = wire.PutInt32(buf, p.partition)
			buf = wire.PutInt16(buf, p.code)
			buf = wire.PutInt64(buf, end)
			buf = wire.PutInt64(buf, stable)
			if v >= 5 {
				buf = wire.PutInt64(buf, low)
			}
			// Aborted transactions. Null, not empty, is what Kafka sends to whoever
			// reads uncommitted.
			switch {
			case f.req.readCommitted:
				buf = wire.PutArrayLen(buf, len(p.aborted), flexible)
				for _, t := range p.aborted {
					buf = wire.PutInt64(buf, t.ProducerID)
					buf = wire.PutInt64(buf, t.FirstOffset)
					buf = wire.PutNoTags(buf, flexible)
				}
			case flexible:
				buf = append(buf, 0)
			default:
				buf = wire.PutInt32(buf, -1)
			}
			if v >= 11 {
				buf = wire.PutInt32(buf, -1) // preferred read replica
			}
			// Records are empty, never null: null breaks librdkafka (KAFKA-18646).
			if flexible {
				buf = wire.PutUvarint(buf, uint32(p.bytes+1))
			} else {
				buf = wire.PutInt32(buf, int32(p.bytes))
			}
			if p.bytes > 0 {
				cuts = append(cuts, cut{len(buf), p.batches})
				pieces += len(p.batches) + 1
				elsewhere += p.bytes
			}
			buf = wire.PutNoTags(buf, flexible)
		}
		buf = wire.PutNoTags(buf, flexible)
		i += n
	}
	buf = wire.PutNoTags(buf, flexible)
	wire.EndResponse(buf, 0, elsewhere)
	if len(cuts) == 0 {
		return f.c.Send(buf, nil)
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
	return f.c.Send(buf, bufs)
}

// noteErrors notes the refusals among some partitions for millrace.client_errors.
func (f *call) noteErrors(parts []*partition) {
	for _, p := range parts {
		if p.code == kafkaerr.None {
			continue
		}
		name := p.name
		if name == "" {
			name = f.h.TopicNamed(p.id)
		}
		f.c.Refuse(f.header, refusal.Refused{Topic: name, Code: p.code}, "", false)
	}
}

// answered is the partitions that the answer contains: all, or, in an incremental one,
// those with something to tell.
func (f *call) answered() []*partition {
	if !f.session.open() || f.sessionID == 0 {
		return f.parts
	}
	var list []*partition
	for _, p := range f.parts {
		news := !f.incremental || p.bytes > 0 || p.code != kafkaerr.None || !p.told ||
			p.toldEnd != p.bounds.End || p.toldStable != p.bounds.LastStable || p.toldLogLow != p.bounds.LogStart
		if !news {
			continue
		}
		list = append(list, p)
		// After an error everything is news again.
		p.told = p.code == kafkaerr.None
		p.toldEnd, p.toldStable, p.toldLogLow = p.bounds.End, p.bounds.LastStable, p.bounds.LogStart
	}
	f.session.rotate()
	return list
}

func countTopics(parts []*partition) int {
	n := 0
	for i := 0; i < len(parts); i += sameTopic(parts[i:]) {
		n++
	}
	return n
}

// sameTopic is how many partitions at the front belong to the first one's topic.
func sameTopic(parts []*partition) int {
	n := 1
	for n < len(parts) && parts[n].name == parts[0].name && parts[n].id == parts[0].id {
		n++
	}
	return n
}
