package scan

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
	"unsafe"

	"millrace/internal/recordbatch"
	"millrace/store"
	"millrace/store/state"
)

// MySQL's TIMESTAMP range in Unix ms; outside it, and for Kafka's -1, _timestamp is
// NULL.
const (
	minTimestampMillis = 1000
	maxTimestampMillis = math.MaxInt32*1000 + 999
)

// chunk is a run of records of one raw batch, before filtering.
type chunk struct {
	partition int32
	batch     recordbatch.Batch
	info      store.BatchInfo
	recs      []recordbatch.Record
	fault     string // why the batch could not be decoded; its records then have offsets only

	ints  [2][]int64 // scratch of vector
	nulls [2][]bool
	keys  []string
	slots map[Column]*vector
}

// clip drops the records that do not count: a batch may begin before the log start
// (DeleteRecords and retention may cut through it), and keeps may leave some out.
func (c *chunk) clip(b state.Bounds, keeps recordFilter) {
	if keeps != nil {
		c.recs = slices.DeleteFunc(c.recs, func(r recordbatch.Record) bool { return !keeps.Keeps(r.Offset) })
	}
	if c.batch.BaseOffset >= b.LogStart && c.batch.LastOffset() < b.End {
		return
	}
	c.recs = slices.DeleteFunc(c.recs, func(r recordbatch.Record) bool { return r.Offset < b.LogStart || r.Offset >= b.End })
}

func (c *chunk) reset() {
	c.recs = c.recs[:0]
	c.fault = ""
	clear(c.slots)
}

func (c *chunk) rows() int { return len(c.recs) }

type boolNulls []bool

func (b boolNulls) IsNull(i int) bool { return b[i] }

type stringSlice []string

func (s stringSlice) Value(i int) string { return s[i] }

type constString string

func (s constString) Value(int) string { return string(s) }

type allNull struct{}

func (allNull) IsNull(int) bool { return true }

// vector makes the system column's vector; several uses of one column share it.
func (c *chunk) vector(col Column) *vector {
	if v := c.slots[col]; v != nil {
		return v
	}
	if c.slots == nil {
		c.slots = make(map[Column]*vector)
	}
	v := c.build(col)
	c.slots[col] = v
	return v
}

func (c *chunk) build(col Column) *vector {
	n := len(c.recs)
	v := &vector{n: n}
	switch col.Kind {
	case Partition:
		v.ints = repeat(int64(c.partition), n)
	case LeaderEpoch:
		v.ints = repeat(int64(c.batch.LeaderEpoch), n)
	case ProducerID:
		v.ints = repeat(c.batch.ProducerID, n)
		if c.batch.ProducerID < 0 {
			v.nulls = allNull{}
		}
	case TimestampBroker:
		v.ints = repeat(c.info.AppendTime, n)
		if c.info.AppendTime < 0 {
			v.nulls = allNull{}
		}
	case Offset:
		c.ints[0] = grow(c.ints[0], n)
		for i := range c.recs {
			c.ints[0][i] = c.recs[i].Offset
		}
		v.ints = c.ints[0]
	case Timestamp, TimestampProducer:
		c.ints[1] = grow(c.ints[1], n)
		c.nulls[1] = grow(c.nulls[1], n)
		any := false
		for i := range c.recs {
			ts := c.recs[i].Timestamp
			c.ints[1][i] = ts
			null := col.Kind == Timestamp && !validTimestamp(ts)
			c.nulls[1][i] = null
			any = any || null
		}
		v.ints = c.ints[1]
		if any {
			v.nulls = boolNulls(c.nulls[1])
		}
	case Key:
		c.keys = grow(c.keys, n)
		c.nulls[0] = grow(c.nulls[0], n)
		for i := range c.recs {
			c.nulls[0][i] = c.recs[i].Key == nil
			c.keys[i] = viewText(c.recs[i].Key)
		}
		v.strings = stringSlice(c.keys)
		v.nulls = boolNulls(c.nulls[0])
	case TimestampType:
		v.strings = constString(timestampType(&c.batch))
	case RawKey:
		v.nulls = absent(c.recs, func(r *recordbatch.Record) bool { return r.Key == nil })
	case Value, RawValue:
		v.nulls = absent(c.recs, func(r *recordbatch.Record) bool { return r.Value == nil })
	case Headers, RawHeaders:
		if c.fault != "" {
			v.nulls = allNull{}
		}
	default:
		panic("scan: not a system column")
	}
	return v
}

func absent(recs []recordbatch.Record, null func(*recordbatch.Record) bool) boolNulls {
	out := make(boolNulls, len(recs))
	for i := range recs {
		out[i] = null(&recs[i])
	}
	return out
}

func validTimestamp(ms int64) bool { return ms >= minTimestampMillis && ms <= maxTimestampMillis }

func timestampType(b *recordbatch.Batch) string {
	if b.LogAppendTime() {
		return "LogAppendTime"
	}
	return "CreateTime"
}

// viewText is b as text, aliasing b when it is valid UTF-8.
func viewText(b []byte) string {
	if utf8.Valid(b) {
		return unsafe.String(unsafe.SliceData(b), len(b))
	}
	return string(appendText(nil, b))
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, max(n, MaxBatchRows))
	}
	return s[:n]
}

func repeat(x int64, n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = x
	}
	return out
}

// decoder turns raw batches into chunks.
type decoder struct {
	reader  recordbatch.Reader
	records bool // keys, values, headers or timestamps are needed: the records are decoded
	raw     bool // timestamps as the producer wrote them
	partial bool // the present batch has records left

	batch      recordbatch.Batch
	info       store.BatchInfo
	nextOffset int64 // of the next record of the present batch, at least
	fault      string
}

// open starts on a raw batch. An undecodable batch is not an error: its records
// come as rows that say so.
func (d *decoder) open(raw []byte, info store.BatchInfo) error {
	b, _, err := recordbatch.Parse(raw)
	if err != nil {
		return fmt.Errorf("scan: batch at offset %d: %w", info.BaseOffset, err)
	}
	d.batch, d.info, d.fault = b, info, ""
	d.nextOffset = b.BaseOffset
	d.partial = !b.Control()
	if !d.partial || !d.mustDecode() {
		return nil
	}
	view := b
	if d.raw {
		// Without the append-time bit the reader gives each record its own time.
		view.Attributes &^= 8
	}
	if err := d.reader.Reset(&view); err != nil {
		d.fault = err.Error()
	}
	return nil
}

// mustDecode: offsets of a batch without holes follow from its header.
func (d *decoder) mustDecode() bool {
	return d.records || int64(d.batch.NumRecords) != int64(d.batch.LastOffsetDelta)+1
}

// next fills c with up to limit records (at least one) of the present batch, and stops
// once they hold maxBatchBytes; false when it has no more.
func (d *decoder) next(c *chunk, limit int) bool {
	if !d.partial {
		return false
	}
	c.reset()
	c.batch, c.info = d.batch, d.info
	if d.fault == "" && d.mustDecode() {
		for bytes := 0; len(c.recs) < limit && bytes < maxBatchBytes; {
			if len(c.recs) < cap(c.recs) {
				c.recs = c.recs[:len(c.recs)+1]
			} else {
				c.recs = append(c.recs, recordbatch.Record{})
			}
			rec := &c.recs[len(c.recs)-1]
			if !d.reader.Next(rec) {
				c.recs = c.recs[:len(c.recs)-1]
				d.partial = false
				if err := d.reader.Err(); err != nil {
					d.fault = err.Error()
					d.partial = true // the rest follows as faulty rows
				}
				break
			}
			d.nextOffset = rec.Offset + 1
			bytes += len(rec.Key) + len(rec.Value)
		}
		if len(c.recs) > 0 {
			return true
		}
		if d.fault == "" {
			return false
		}
	}
	// From the header alone.
	last := d.batch.LastOffset()
	for len(c.recs) < limit && d.nextOffset <= last {
		c.recs = append(c.recs, recordbatch.Record{Offset: d.nextOffset, Timestamp: recordbatch.NoTimestamp})
		d.nextOffset++
	}
	c.fault = d.fault
	d.partial = d.nextOffset <= last
	return len(c.recs) > 0
}

// needsRecords says whether col can only be had by decoding records.
func needsRecords(col Column) bool {
	switch col.Kind {
	case Partition, Offset, LeaderEpoch, ProducerID, TimestampBroker, TimestampType:
		return false
	}
	return true
}
