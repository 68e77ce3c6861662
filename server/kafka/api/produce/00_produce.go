// Package produce serves Produce, without waiting for its records to be durable and without copying
// them.
package produce

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"millrace/ingest"
	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/server/kafka/quota"
	"millrace/server/kafka/rarelog"
	"millrace/server/kafka/refusal"
	"millrace/server/kafka/wire"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ServedFrom is the first version whose batches we store. Older ones carry
// older formats. They are advertised all the same, and refused: librdkafka before 2.12
// takes their absence for a broker that knows no compression.
const ServedFrom = 3

// Handlers serve them, a method each.
type Handlers struct {
	*api.Node
	Ingest *ingest.Ingest
	// AllOrNothing: all batches of a request are taken, or none.
	AllOrNothing bool
}

// Conn is the connection of a Produce, which goes on to its next request before this one is answered.
type Conn interface {
	Client() *api.Client
	// Throttle charges the client's quota for bytes; what comes out is the answer's throttle time.
	Throttle(limit string, bytes int) (millis int32)
	// Push takes the answer's place in line; false: the connection broke.
	Push(a api.Pipelined) bool
	// Complete says that the answer can be encoded. It never blocks.
	Complete(a api.Pipelined)
	// Refuse notes a refusal for millrace.client_errors, unless it is one of ordinary work.
	Refuse(h wire.Header, what refusal.Refused, message string, logged bool)
}

// call is one Produce request on its way: decoded, checked and submitted by
// the connection's goroutine, completed by the store's publisher, encoded by the
// connection's writer.
type call struct {
	h             *Handlers
	conn          Conn
	clientID      string
	throttle      int32
	version       int16
	correlationID int32
	acks          int16
	mode          ingest.Mode
	topics        []topic
	parts         []partition    // of all topics, in the order of the request
	entries       []ingest.Entry // of the parts that reached ingest, in the same order

	// Room for the commonest request: one batch.
	oneTopic [1]topic
	onePart  [1]partition
	oneEntry [1]ingest.Entry
}

type topic struct {
	name  string
	id    state.TopicID
	parts int           // so many of call.parts
	topic *ingest.Topic // nil when code is set
	code  int16         // for all its partitions, unless 0
}

type partition struct {
	index int32
	code  int16 // why it did not reach ingest; 0 when it did
}

// Produce decodes by hand: a request's cost is its records, which are neither
// copied nor looked at here.
func (h *Handlers) Produce(ctx context.Context, conn Conn, head wire.Header, body []byte) error {
	c := &call{h: h, conn: conn, clientID: conn.Client().QuotaID, version: head.Version, correlationID: head.CorrelationID}
	if err := c.decode(body); err != nil {
		return err
	}
	c.throttle = conn.Throttle(quota.ProducerByteRate, len(body))
	if !conn.Push(c) {
		return api.ErrHangUp
	}
	done := func() { conn.Complete(c) }
	if h.AllOrNothing && len(c.entries) < len(c.parts) {
		for i := range c.entries {
			c.entries[i].Result = ingest.Result{Err: state.ErrRequestRefused, BaseOffset: -1, AppendTime: -1, LogStart: -1}
		}
		done()
		return nil
	}
	if len(c.entries) == 0 {
		done()
		return nil
	}
	c.mode.AllOrNothing = h.AllOrNothing
	h.Ingest.Produce(ctx, c.entries, c.mode, done)
	return nil
}

// decode reads the request and resolves its topics. Errors are for what is no request;
// what is merely refused gets a code.
func (c *call) decode(body []byte) error {
	err := c.scan(body, c.resolve)
	if id := c.mode.TransactionalID; id != "" && !c.may(auth.Write, api.TransactionResource(id)) {
		c.mode.TransactionalID = ""
	}
	return err
}

func (c *call) may(op auth.Operation, res auth.Resource) bool {
	return c.h.Auth.Authorize(c.conn.Client().Principal, op, res)
}

func (c *call) scan(body []byte, resolve func(*topic)) error {
	flexible := c.version >= 9
	d := wire.NewDecoder(body)
	if c.version >= 3 {
		id, _ := d.String(flexible)
		c.mode.TransactionalID = strings.Clone(id) // it must not hold the request's memory
		c.mode.AddPartitions = c.version >= 12
	}
	c.acks = d.Int16()
	d.Int32()       // timeout: we answer when the records are durable, however soon
	topicBytes := 2 // a name's length and a count
	if !flexible {
		topicBytes = 6
	}
	n := d.Array(flexible, topicBytes)
	c.topics, c.parts, c.entries = c.oneTopic[:0], c.onePart[:0], c.oneEntry[:0]
	if n > 1 {
		c.topics = make([]topic, 0, n)
	}
	for range n {
		var t topic
		if c.version >= 13 {
			t.id = d.UUID()
		} else {
			t.name, _ = d.String(flexible)
		}
		if d.Bad() {
			break
		}
		resolve(&t)
		t.parts = max(d.Array(flexible, 5), 0)
		for range t.parts {
			index := d.Int32()
			records := d.Bytes(flexible)
			d.SkipTags(flexible)
			if d.Bad() {
				break
			}
			code := t.code
			switch {
			case code != kafkaerr.None:
			case index < 0 || index >= t.topic.Partitions:
				code = kafkaerr.UnknownTopicOrPartition
			default:
				c.entries = append(c.entries, ingest.Entry{Topic: t.topic, Partition: index, Batch: records})
			}
			c.parts = append(c.parts, partition{index: index, code: code})
		}
		d.SkipTags(flexible)
		c.topics = append(c.topics, t)
	}
	d.SkipTags(flexible)
	if !d.Done() {
		return fmt.Errorf("%w: Produce version %d", wire.ErrBody, c.version)
	}
	return nil
}

// resolve finds t's topic, or the code that all its partitions get.
func (c *call) resolve(t *topic) {
	topics := c.h.Store.Topics()
	var found state.Topic
	var known bool
	unknown := kafkaerr.UnknownTopicOrPartition
	if c.version >= 13 {
		found, known = topics.ByID(t.id)
		unknown = kafkaerr.UnknownTopicID
	} else {
		found, known = topics.ByName(t.name)
	}
	// The answer may wait for long, and must not hold the request's memory meanwhile.
	name := found.Name
	if !known {
		name = strings.Clone(t.name)
	}
	t.name = name
	switch {
	case c.version < ServedFrom:
		t.code = kafkaerr.UnsupportedVersion
	case c.acks < -1 || c.acks > 1:
		t.code = kafkaerr.InvalidRequiredAcks
	case c.version >= 13 && !known:
		t.code = kafkaerr.UnknownTopicID
	case !c.may(auth.Write, api.TopicResource(name)):
		t.code = kafkaerr.TopicAuthorizationFailed
		if c.version >= 13 {
			t.code = kafkaerr.UnknownTopicID // an id must not tell that its topic exists
			if c.may(auth.Describe, api.TopicResource(name)) {
				t.code = kafkaerr.TopicAuthorizationFailed
			}
		}
	case !known:
		t.code = unknown
	case api.InternalTopic(name):
		t.code = kafkaerr.InvalidTopic // as in Kafka, they are the broker's alone
	default:
		var err error
		if t.topic, err = c.h.Ingest.Topic(found); err != nil {
			t.code = c.h.Code(err)
		}
	}
}

// AppendAnswer encodes the response. Without acks there is none; an error then closes
// the connection, the only sign that such a client can get.
func (c *call) AppendAnswer(dst []byte) (out []byte, hangUp bool) {
	if c.acks == 0 {
		for i := range c.parts {
			hangUp = hangUp || c.parts[i].code != kafkaerr.None
		}
		parts, entries := c.parts, c.entries
		for i := range c.topics {
			t := &c.topics[i]
			for range t.parts {
				p := &parts[0]
				parts = parts[1:]
				if p.code != kafkaerr.None {
					c.note(t, p.code, "", false)
					continue
				}
				err := entries[0].Result.Err
				entries = entries[1:]
				if err == nil {
					continue
				}
				if code := c.h.Code(err); code != kafkaerr.DuplicateSequenceNumber {
					c.refused(t, p, err, code) // the client is not told why
					hangUp = true
				}
			}
		}
		return dst, hangUp
	}
	v := c.version
	flexible := v >= 9
	start := len(dst)
	dst = wire.BeginResponse(dst, c.correlationID, flexible)
	dst = wire.PutArrayLen(dst, len(c.topics), flexible)
	parts, entries := c.parts, c.entries
	for i := range c.topics {
		t := &c.topics[i]
		if v >= 13 {
			dst = append(dst, t.id[:]...)
		} else {
			dst = wire.PutString(dst, t.name, flexible)
		}
		dst = wire.PutArrayLen(dst, t.parts, flexible)
		for range t.parts {
			p := &parts[0]
			parts = parts[1:]
			r := ingest.Result{BaseOffset: -1, AppendTime: -1, LogStart: -1}
			code := p.code
			message := ""
			if code == kafkaerr.None {
				r = entries[0].Result
				entries = entries[1:]
				if r.Err != nil {
					if code = c.h.Code(r.Err); code == kafkaerr.InvalidTxnState && c.mode.TransactionalID != "" {
						code = kafkaerr.NotInTransaction(v, 11)
					}
					message = c.refused(t, p, r.Err, code)
				}
			} else {
				c.note(t, code, "", false)
			}
			dst = wire.PutInt32(dst, p.index)
			dst = wire.PutInt16(dst, code)
			dst = wire.PutInt64(dst, r.BaseOffset)
			if v >= 2 {
				dst = wire.PutInt64(dst, r.AppendTime)
			}
			if v >= 5 {
				dst = wire.PutInt64(dst, r.LogStart)
			}
			if v >= 8 {
				dst = putRecordErrors(dst, r.Err, flexible)
				dst = wire.PutNullableString(dst, message, flexible)
			}
			dst = wire.PutNoTags(dst, flexible)
		}
		dst = wire.PutNoTags(dst, flexible)
	}
	if v >= 1 {
		dst = wire.PutInt32(dst, c.throttle)
	}
	dst = wire.PutNoTags(dst, flexible)
	wire.EndResponse(dst, start, 0)
	return dst, false
}

// putRecordErrors encodes the records that err finds fault with. Clients may send the
// batch's other records again without them.
func putRecordErrors(dst []byte, err error, flexible bool) []byte {
	var bad *ingest.RecordsError
	if err == nil || !errors.As(err, &bad) {
		return wire.PutArrayLen(dst, 0, flexible)
	}
	dst = wire.PutArrayLen(dst, len(bad.Index), flexible)
	for i, index := range bad.Index {
		reason := bad.Reason
		if i < len(bad.Reasons) {
			reason = bad.Reasons[i]
		}
		dst = wire.PutInt32(dst, index)
		dst = wire.PutNullableString(dst, rarelog.Cut(reason), flexible)
		dst = wire.PutNoTags(dst, flexible)
	}
	return dst
}

// refused notes a refusal where someone may look for it, and returns the message
// for the client.
func (c *call) refused(t *topic, p *partition, err error, code int16) string {
	if code == kafkaerr.UnknownServerError || code == kafkaerr.KafkaStorageError {
		c.h.Rare.Warn("produce failed "+t.topic.Name, "produce failed",
			slog.String("topic", t.topic.Name), slog.Int("partition", int(p.index)), slog.Any("error", err))
		c.note(t, code, "", true)
		return "" // ours, not the client's to know
	}
	message := rarelog.Cut(err.Error())
	bad := (*ingest.RecordsError)(nil)
	isRecords := errors.As(err, &bad)
	c.note(t, code, message, isRecords)
	if isRecords {
		// Many clients show the code alone, so that the reason must be found here.
		c.h.Rare.Warn("records refused "+t.topic.Name, "records refused",
			slog.String("topic", t.topic.Name), slog.Int("partition", int(p.index)),
			slog.Int("records", bad.Total), slog.String("reason", message))
	}
	return message
}

// note notes a refusal for millrace.client_errors. logged: the log has a line about it.
func (c *call) note(t *topic, code int16, message string, logged bool) {
	name := t.name
	if name == "" {
		name = c.h.TopicNamed(t.id)
	}
	h := wire.Header{Key: int16(kmsg.Produce), Version: c.version, ClientID: c.clientID}
	c.conn.Refuse(h, refusal.Refused{Topic: name, TransactionalID: c.mode.TransactionalID, Code: code}, message, logged)
}
