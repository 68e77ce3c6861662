package ingest

import (
	"errors"
	"fmt"

	"millrace/catalog"
	"millrace/internal/recordbatch"
	"millrace/store/state"
)

// accept checks one entry by the rules of Kafka, and returns what the store needs to
// know of its batch, with the bytes to store: the entry's own, patched where the
// topic wants it, or new ones when it was recompressed.
func (in *Ingest) accept(e *Entry) (state.Batch, []byte, error) {
	t := e.Topic
	cfg := &t.Config
	if e.Partition < 0 || e.Partition >= t.Partitions {
		return state.Batch{}, nil, state.ErrUnknownTopic
	}
	if len(e.Batch) == 0 {
		return state.Batch{}, nil, invalid("no batch")
	}
	b, rest, err := recordbatch.Parse(e.Batch)
	if err != nil {
		return state.Batch{}, nil, err
	}
	if len(rest) != 0 {
		return state.Batch{}, nil, invalid("%d bytes after the batch: want exactly one batch per partition", len(rest))
	}
	if len(b.Raw) > int(cfg.MaxMessageBytes) {
		return state.Batch{}, nil, fmt.Errorf("%w: %d bytes, at most %d", ErrMessageTooLarge, len(b.Raw), cfg.MaxMessageBytes)
	}
	if !b.CheckCRC() {
		return state.Batch{}, nil, fmt.Errorf("%w: checksum does not match", recordbatch.ErrCorrupt)
	}
	if err := checkHeader(&b); err != nil {
		return state.Batch{}, nil, err
	}
	if _, has := b.DeleteHorizon(); has {
		// Compaction alone says when delete markers may go. Kafka stores what a producer says of it, and
		// then drops the markers before any consumer sees them.
		recordbatch.ClearDeleteHorizon(b.Raw)
		if b, _, err = recordbatch.Parse(b.Raw); err != nil {
			return state.Batch{}, nil, err
		}
	}
	minTime, opaque, err := in.checkRecords(t, &b)
	if err != nil {
		return state.Batch{}, nil, err
	}
	now := in.o.Now().UnixMilli()
	if !cfg.LogAppendTime {
		if err := checkTimes(cfg.TimestampBeforeMaxMs, cfg.TimestampAfterMaxMs, now, minTime, b.MaxTimestamp); err != nil {
			return state.Batch{}, nil, err
		}
	}
	if cfg.RejectErrors && in.o.Check != nil {
		if err := in.o.Check(t, &b); err != nil {
			if bad := (*RecordsError)(nil); errors.As(err, &bad) {
				return state.Batch{}, nil, bad
			}
			return state.Batch{}, nil, invalid("%s", err)
		}
	}
	if t.recompress && b.Codec() != t.codec {
		raw, err := recordbatch.Recompress(&b, t.codec, in.expansionLimit(t))
		if err != nil {
			return state.Batch{}, nil, err
		}
		if len(raw) > int(cfg.MaxMessageBytes) {
			return state.Batch{}, nil, fmt.Errorf("%w: %d bytes as %s, at most %d", ErrMessageTooLarge, len(raw), recordbatch.CodecName(t.codec), cfg.MaxMessageBytes)
		}
		b.Raw = raw
	}
	if cfg.LogAppendTime {
		recordbatch.SetLogAppendTime(b.Raw, now)
		minTime, b.MaxTimestamp = now, now
	}
	return state.Batch{
		TopicPartition: state.TopicPartition{Topic: t.ID, Partition: e.Partition},
		Records:        b.NumRecords,
		SizeBytes:      int32(len(b.Raw)),
		MinTimestamp:   minTime,
		MaxTimestamp:   b.MaxTimestamp,
		ProducerID:     b.ProducerID,
		ProducerEpoch:  b.ProducerEpoch,
		FirstSequence:  b.BaseSequence,
		Transactional:  b.Transactional(),
		Opaque:         opaque,
	}, b.Raw, nil
}

// checkHeader is what the header alone must keep to.
func checkHeader(b *recordbatch.Batch) error {
	switch {
	case b.Control():
		return invalid("producers do not write control batches")
	case b.Codec() > recordbatch.Zstd:
		return fmt.Errorf("%w: %d", recordbatch.ErrCodec, b.Codec())
	case b.NumRecords < 1:
		return invalid("a batch of %d records", b.NumRecords)
	case b.LastOffsetDelta != b.NumRecords-1:
		return invalid("last offset delta %d in a batch of %d records", b.LastOffsetDelta, b.NumRecords)
	case b.LogAppendTime():
		return fmt.Errorf("%w: the topic sets log append time, not the producer", ErrInvalidTimestamp)
	case b.Transactional() && b.ProducerID < 0:
		return invalid("a transactional batch without a producer id")
	case b.ProducerID >= 0 && (b.ProducerEpoch < 0 || b.BaseSequence < 0):
		return invalid("producer id %d with epoch %d and sequence %d", b.ProducerID, b.ProducerEpoch, b.BaseSequence)
	case b.ProducerID < -1:
		return invalid("producer id %d", b.ProducerID)
	}
	return nil
}

// expansionLimit is what a compressed batch of t may decompress to.
func (in *Ingest) expansionLimit(t *Topic) int {
	return max(in.o.MaxDecompressedBytes, int(t.Config.MaxMessageBytes))
}

// checkRecords checks the records as far as that needs no decompression, and
// further where the topic asks for it anyway: a compacted topic needs keys. It
// returns the true minimum timestamp, or recordbatch.NoTimestamp when it is not
// known, and corrects a wrong maximum in an uncompressed batch's header. opaque is as in
// state.Batch.
//
// A compressed batch's records are not looked at on this path: decompressing costs
// more than all else together. Its size once decompressed is bounded all the
// same, from the block headers that every codec but gzip has.
func (in *Ingest) checkRecords(t *Topic, b *recordbatch.Batch) (minTime int64, opaque bool, err error) {
	compacted := t.Config.CleanupCompact
	limit := in.expansionLimit(t)
	if b.Codec() != recordbatch.None {
		bound, err := recordbatch.ExpansionBound(b.Codec(), b.Records(), limit)
		if err != nil {
			return 0, false, err
		}
		if int64(b.NumRecords) > int64(bound)/recordbatch.MinRecordBytes {
			return 0, false, invalid("%d records in at most %d bytes", b.NumRecords, bound)
		}
		if !compacted {
			return recordbatch.NoTimestamp, false, nil
		}
	}
	r := in.readers.Get().(*recordbatch.Reader)
	defer in.readers.Put(r)
	r.MaxDecompressedBytes = limit
	s, err := r.Verify(b)
	if err != nil {
		return 0, false, err
	}
	if compacted && s.NullKeys > 0 {
		return 0, false, withoutKey(r, b, s.NullKeys)
	}
	if s.MaxTimestamp != b.MaxTimestamp && !t.Config.LogAppendTime {
		recordbatch.SetCreateTime(b.Raw, s.MaxTimestamp)
		b.MaxTimestamp = s.MaxTimestamp
	}
	return s.MinTimestamp, catalog.Opaque(&s), nil
}

// withoutKey names the records that a compacted topic cannot take. It walks them
// again, so that the walk that finds nothing wrong need not remember any.
func withoutKey(r *recordbatch.Reader, b *recordbatch.Batch, total int) error {
	e := &RecordsError{Reason: "a compacted topic needs a key", Total: total}
	if err := r.Reset(b); err != nil {
		return err
	}
	var rec recordbatch.Record
	for i := int32(0); len(e.Index) < min(total, maxRecordErrors) && r.Next(&rec); i++ {
		if rec.Key == nil {
			e.Index = append(e.Index, i)
		}
	}
	return e
}

// checkTimes holds the timestamps against now. Kafka's "no timestamp" passes.
func checkTimes(beforeMax, afterMax, now, minTime, maxTime int64) error {
	low := minTime
	if low == recordbatch.NoTimestamp {
		low = maxTime
	}
	if low != recordbatch.NoTimestamp && now > low && beforeMax >= 0 && uint64(now)-uint64(low) > uint64(beforeMax) {
		return fmt.Errorf("%w: %d is more than %d ms before %d", ErrInvalidTimestamp, low, beforeMax, now)
	}
	if maxTime != recordbatch.NoTimestamp && maxTime > now && afterMax >= 0 && uint64(maxTime)-uint64(now) > uint64(afterMax) {
		return fmt.Errorf("%w: %d is more than %d ms after %d", ErrInvalidTimestamp, maxTime, afterMax, now)
	}
	if maxTime < recordbatch.NoTimestamp || low < recordbatch.NoTimestamp {
		return fmt.Errorf("%w: %d", ErrInvalidTimestamp, min(low, maxTime))
	}
	return nil
}
