package scan

import (
	"unicode/utf8"

	"millrace/internal/recordbatch"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// builder gathers one system column and tells how many bytes of payload a row took.
type builder interface {
	append(r *Reader, c *chunk, rec *recordbatch.Record) int
	take() arrow.Array
}

func newBuilder(c Column) builder {
	mem := memory.DefaultAllocator
	switch c.Kind {
	case Partition, LeaderEpoch:
		return &int32Builder{array.NewInt32Builder(mem), c.Kind}
	case Offset, TimestampProducer, TimestampBroker, ProducerID:
		return &int64Builder{array.NewInt64Builder(mem), c.Kind}
	case Timestamp:
		return &timestampBuilder{array.NewTimestampBuilder(mem, timestampMillis)}
	case RawKey, RawValue:
		return &binaryBuilder{array.NewBinaryBuilder(mem, arrow.BinaryTypes.Binary), c.Kind}
	case Key, Headers, Value, Error, RawHeaders, TimestampType:
		return &textBuilder{array.NewStringBuilder(mem), c.Kind}
	}
	panic("scan: not a system column")
}

type int32Builder struct {
	*array.Int32Builder
	kind ColumnKind
}

func (b *int32Builder) append(_ *Reader, c *chunk, _ *recordbatch.Record) int {
	if b.kind == Partition {
		b.Append(c.partition)
	} else {
		b.Append(c.batch.LeaderEpoch)
	}
	return 0
}

func (b *int32Builder) take() arrow.Array { return b.NewArray() }

type int64Builder struct {
	*array.Int64Builder
	kind ColumnKind
}

func (b *int64Builder) append(_ *Reader, c *chunk, rec *recordbatch.Record) int {
	x, ok := rec.Offset, true
	switch b.kind {
	case TimestampProducer:
		x = rec.Timestamp
	case TimestampBroker:
		x = c.info.AppendTime
		ok = x >= 0
	case ProducerID:
		x = c.batch.ProducerID
		ok = x >= 0
	}
	if ok {
		b.Append(x)
	} else {
		b.AppendNull()
	}
	return 0
}

func (b *int64Builder) take() arrow.Array { return b.NewArray() }

type timestampBuilder struct{ *array.TimestampBuilder }

func (b *timestampBuilder) append(_ *Reader, _ *chunk, rec *recordbatch.Record) int {
	if validTimestamp(rec.Timestamp) {
		b.Append(arrow.Timestamp(rec.Timestamp))
	} else {
		b.AppendNull()
	}
	return 0
}

func (b *timestampBuilder) take() arrow.Array { return b.NewArray() }

type binaryBuilder struct {
	*array.BinaryBuilder
	kind ColumnKind
}

func (b *binaryBuilder) append(_ *Reader, _ *chunk, rec *recordbatch.Record) int {
	x := rec.Key
	if b.kind == RawValue {
		x = rec.Value
	}
	if x == nil {
		b.AppendNull()
	} else {
		b.Append(x)
	}
	return len(x)
}

func (b *binaryBuilder) take() arrow.Array { return b.NewArray() }

type textBuilder struct {
	*array.StringBuilder
	kind ColumnKind
}

func (b *textBuilder) append(r *Reader, c *chunk, rec *recordbatch.Record) int {
	x := rec.Key
	switch b.kind {
	case Value:
		x = rec.Value
	case TimestampType:
		b.Append(timestampType(&c.batch))
		return 0
	case Headers, RawHeaders:
		return b.appendHeaders(r, c, rec)
	case Error: // of values without a form: only a batch can fail
		if c.fault == "" {
			b.AppendNull()
		} else {
			b.Append(c.fault)
		}
		return 0
	}
	switch {
	case x == nil:
		b.AppendNull()
	case utf8.Valid(x):
		b.BinaryBuilder.Append(x)
	default:
		r.scratch = appendText(r.scratch[:0], x)
		b.BinaryBuilder.Append(r.scratch)
	}
	return len(x)
}

func (b *textBuilder) appendHeaders(r *Reader, c *chunk, rec *recordbatch.Record) int {
	var err error
	r.headers = r.headers[:0]
	if c.fault == "" {
		r.headers, err = rec.Headers(r.headers)
	}
	if err != nil || c.fault != "" {
		b.AppendNull() // not decodable: unknown, not empty
		return 0
	}
	if b.kind == Headers {
		r.scratch = appendHeadersObject(r.scratch[:0], r.headers)
	} else {
		r.scratch = appendHeadersPairs(r.scratch[:0], r.headers)
	}
	b.BinaryBuilder.Append(r.scratch)
	return len(r.scratch)
}

func (b *textBuilder) take() arrow.Array { return b.NewArray() }
