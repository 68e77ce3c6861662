package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"millrace/ingest"
	"millrace/server/auth"
	"millrace/server/kafka/quota"
	"millrace/store/state"
)

// produceServedFrom is the first version whose batches we store. Older ones carry
// older formats. They are advertised all the same, and refused: librdkafka before 2.12
// takes their absence for a broker that knows no compression.
const produceServedFrom = 3

// produceCall is one Produce request on its way: decoded, checked and submitted by
// the connection's goroutine, completed by the store's publisher, encoded by the
// connection's writer.
type produceCall struct {
	s             *Server
	c             *conn
	clientID      string
	throttle      int32
	version       int16
	headerVersion int
	correlationID int32
	acks          int16
	mode          ingest.Mode
	topics        []produceTopic
	parts         []producePart  // of all topics, in the order of the request
	entries       []ingest.Entry // of the parts that reached ingest, in the same order

	// Room for the commonest request: one batch.
	oneTopic [1]produceTopic
	onePart  [1]producePart
	oneEntry [1]ingest.Entry
}

type produceTopic struct {
	name  string
	id    state.TopicID
	parts int           // so many of produceCall.parts
	topic *ingest.Topic // nil when code is set
	code  int16         // for all its partitions, unless 0
}

type producePart struct {
	index int32
	code  int16 // why it did not reach ingest; 0 when it did
}

// produce decodes by hand: a request's cost is its records, which are neither
// copied nor looked at here.
func (s *Server) produce(ctx context.Context, c *conn, h header, body []byte) error {
	call := &produceCall{
		s: s, c: c, clientID: c.lastClientID, version: h.version, correlationID: h.correlationID,
		headerVersion: s.table[keyProduce].responseHeaderVersion(h.version),
	}
	if err := call.decode(c, body); err != nil {
		return err
	}
	call.throttle = c.throttle(quota.ProducerByteRate, call.clientID, len(body))
	c.startWriter()
	if !c.pipe.push(call) {
		return errHangUp
	}
	done := func() { c.pipe.complete(call) }
	if s.o.ProduceAllOrNothing && len(call.entries) < len(call.parts) {
		for i := range call.entries {
			call.entries[i].Result = ingest.Result{Err: state.ErrRequestRefused, BaseOffset: -1, AppendTime: -1, LogStart: -1}
		}
		done()
		return nil
	}
	if len(call.entries) == 0 {
		done()
		return nil
	}
	call.mode.AllOrNothing = s.o.ProduceAllOrNothing
	s.o.Ingest.Produce(ctx, call.entries, call.mode, done)
	return nil
}

// decode reads the request and resolves its topics. Errors are for what is no request;
// what is merely refused gets a code.
func (call *produceCall) decode(c *conn, body []byte) error {
	err := call.scan(body, func(t *produceTopic) { call.resolve(c, t) })
	if id := call.mode.TransactionalID; id != "" && !call.s.o.Auth.Authorize(c.principal, auth.Write, transactionResource(id)) {
		call.mode.TransactionalID = ""
	}
	return err
}

func (call *produceCall) scan(body []byte, resolve func(*produceTopic)) error {
	flexible := call.version >= 9
	d := decoder{b: body}
	if call.version >= 3 {
		id, _ := d.string(flexible)
		call.mode.TransactionalID = strings.Clone(id) // it must not hold the request's memory
		call.mode.AddPartitions = call.version >= 12
	}
	call.acks = d.int16()
	d.int32()       // timeout: we answer when the records are durable, however soon
	topicBytes := 2 // a name's length and a count
	if !flexible {
		topicBytes = 6
	}
	n := d.array(flexible, topicBytes)
	call.topics, call.parts, call.entries = call.oneTopic[:0], call.onePart[:0], call.oneEntry[:0]
	if n > 1 {
		call.topics = make([]produceTopic, 0, n)
	}
	for range n {
		var t produceTopic
		if call.version >= 13 {
			t.id = d.uuid()
		} else {
			t.name, _ = d.string(flexible)
		}
		if d.bad {
			break
		}
		resolve(&t)
		t.parts = max(d.array(flexible, 5), 0)
		for range t.parts {
			index := d.int32()
			records := d.bytes(flexible)
			d.skipTags(flexible)
			if d.bad {
				break
			}
			code := t.code
			switch {
			case code != errNone:
			case index < 0 || index >= t.topic.Partitions:
				code = errUnknownTopicOrPartition
			default:
				call.entries = append(call.entries, ingest.Entry{Topic: t.topic, Partition: index, Batch: records})
			}
			call.parts = append(call.parts, producePart{index: index, code: code})
		}
		d.skipTags(flexible)
		call.topics = append(call.topics, t)
	}
	d.skipTags(flexible)
	if d.bad || len(d.b) != 0 {
		return fmt.Errorf("%w: Produce version %d", errBadRequest, call.version)
	}
	return nil
}

// resolve finds t's topic, or the code that all its partitions get.
func (call *produceCall) resolve(c *conn, t *produceTopic) {
	s := call.s
	topics := s.o.Store.Topics()
	var topic state.Topic
	var known bool
	unknown := errUnknownTopicOrPartition
	if call.version >= 13 {
		topic, known = topics.ByID(t.id)
		unknown = errUnknownTopicID
	} else {
		topic, known = topics.ByName(t.name)
	}
	// The answer may wait for long, and must not hold the request's memory meanwhile.
	name := topic.Name
	if !known {
		name = strings.Clone(t.name)
	}
	t.name = name
	switch {
	case call.version < produceServedFrom:
		t.code = errUnsupportedVersion
	case call.acks < -1 || call.acks > 1:
		t.code = errInvalidRequiredAcks
	case call.version >= 13 && !known:
		t.code = errUnknownTopicID
	case !s.o.Auth.Authorize(c.principal, auth.Write, topicResource(name)):
		t.code = errTopicAuthorizationFailed
		if call.version >= 13 {
			t.code = errUnknownTopicID // an id must not tell that its topic exists
			if s.o.Auth.Authorize(c.principal, auth.Describe, topicResource(name)) {
				t.code = errTopicAuthorizationFailed
			}
		}
	case !known:
		t.code = unknown
	case internalTopic(name):
		t.code = errInvalidTopic // as in Kafka, they are the broker's alone
	default:
		var err error
		if t.topic, err = s.o.Ingest.Topic(topic); err != nil {
			t.code = s.code(err)
		}
	}
}

// appendAnswer encodes the response. Without acks there is none; an error then closes
// the connection, the only sign that such a client can get.
func (call *produceCall) appendAnswer(dst []byte) (out []byte, hangUp bool) {
	if call.acks == 0 {
		for i := range call.parts {
			hangUp = hangUp || call.parts[i].code != errNone
		}
		parts, entries := call.parts, call.entries
		for i := range call.topics {
			t := &call.topics[i]
			for range t.parts {
				p := &parts[0]
				parts = parts[1:]
				if p.code != errNone {
					call.note(t, p.code, "", false)
					continue
				}
				err := entries[0].Result.Err
				entries = entries[1:]
				if err == nil {
					continue
				}
				if code := call.s.code(err); code != errDuplicateSequenceNumber {
					call.refused(t, p, err, code) // the client is not told why
					hangUp = true
				}
			}
		}
		return dst, hangUp
	}
	v := call.version
	flexible := v >= 9
	start := len(dst)
	dst = beginResponse(dst, call.correlationID, call.headerVersion)
	dst = putArrayLen(dst, len(call.topics), flexible)
	parts, entries := call.parts, call.entries
	for i := range call.topics {
		t := &call.topics[i]
		if v >= 13 {
			dst = append(dst, t.id[:]...)
		} else {
			dst = putString(dst, t.name, flexible)
		}
		dst = putArrayLen(dst, t.parts, flexible)
		for range t.parts {
			p := &parts[0]
			parts = parts[1:]
			r := ingest.Result{BaseOffset: -1, AppendTime: -1, LogStart: -1}
			code := p.code
			message := ""
			if code == errNone {
				r = entries[0].Result
				entries = entries[1:]
				if r.Err != nil {
					if code = call.s.code(r.Err); code == errInvalidTxnState && call.mode.TransactionalID != "" {
						code = notInTransaction(v, 11)
					}
					message = call.refused(t, p, r.Err, code)
				}
			} else {
				call.note(t, code, "", false)
			}
			dst = putInt32(dst, p.index)
			dst = putInt16(dst, code)
			dst = putInt64(dst, r.BaseOffset)
			if v >= 2 {
				dst = putInt64(dst, r.AppendTime)
			}
			if v >= 5 {
				dst = putInt64(dst, r.LogStart)
			}
			if v >= 8 {
				dst = putRecordErrors(dst, r.Err, flexible)
				dst = putNullableString(dst, message, flexible)
			}
			dst = putNoTags(dst, flexible)
		}
		dst = putNoTags(dst, flexible)
	}
	if v >= 1 {
		dst = putInt32(dst, call.throttle)
	}
	dst = putNoTags(dst, flexible)
	endResponse(dst, start, 0)
	return dst, false
}

// putRecordErrors encodes the records that err finds fault with. Clients may send the
// batch's other records again without them.
func putRecordErrors(dst []byte, err error, flexible bool) []byte {
	var bad *ingest.RecordsError
	if err == nil || !errors.As(err, &bad) {
		return putArrayLen(dst, 0, flexible)
	}
	dst = putArrayLen(dst, len(bad.Index), flexible)
	for i, index := range bad.Index {
		reason := bad.Reason
		if i < len(bad.Reasons) {
			reason = bad.Reasons[i]
		}
		dst = putInt32(dst, index)
		dst = putNullableString(dst, cut(reason), flexible)
		dst = putNoTags(dst, flexible)
	}
	return dst
}

// refused notes a refusal where someone may look for it, and returns the message
// for the client.
func (call *produceCall) refused(t *produceTopic, p *producePart, err error, code int16) string {
	if code == errUnknownServerError || code == errKafkaStorageError {
		call.s.rare.warn(call.s.log, "produce failed "+t.topic.Name, "produce failed",
			slog.String("topic", t.topic.Name), slog.Int("partition", int(p.index)), slog.Any("error", err))
		call.note(t, code, "", true)
		return "" // ours, not the client's to know
	}
	message := cut(err.Error())
	bad := (*ingest.RecordsError)(nil)
	isRecords := errors.As(err, &bad)
	call.note(t, code, message, isRecords)
	if isRecords {
		// Many clients show the code alone, so that the reason must be found here.
		call.s.rare.warn(call.s.log, "records refused "+t.topic.Name, "records refused",
			slog.String("topic", t.topic.Name), slog.Int("partition", int(p.index)),
			slog.Int("records", bad.Total), slog.String("reason", message))
	}
	return message
}

// note notes a refusal for millrace.client_errors. logged: the log has a line about it.
func (call *produceCall) note(t *produceTopic, code int16, message string, logged bool) {
	if call.s.isNormal(keyProduce, code) {
		return
	}
	name := t.name
	if name == "" {
		name = call.s.topicNamed(t.id)
	}
	h := header{key: keyProduce, version: call.version, clientID: call.clientID}
	call.c.refuse(call.s.table[keyProduce], h, Refused{Topic: name, TransactionalID: call.mode.TransactionalID, Code: code}, message, logged)
}
