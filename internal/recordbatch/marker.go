package recordbatch

import (
	"encoding/binary"
	"fmt"
)

// Marker is the content of a control batch: how a producer's transaction ended.
type Marker struct {
	Commit           bool
	BaseOffset       int64
	ProducerID       int64
	ProducerEpoch    int16
	Timestamp        int64
	CoordinatorEpoch int32
}

const (
	// MarkerBytes is the size of a control batch with a marker.
	MarkerBytes = HeaderBytes + markerBody
	markerBody  = 17 // its record
)

// The record of a marker: key (version, type) and value (version, coordinator epoch).
const (
	markerAbort  = 0
	markerCommit = 1
)

// AppendMarker appends m as a control batch, as Kafka's coordinators write them.
func AppendMarker(dst []byte, m *Marker) []byte {
	var b [MarkerBytes]byte
	be := binary.BigEndian
	be.PutUint64(b[0:], uint64(m.BaseOffset))
	be.PutUint32(b[8:], MarkerBytes-12)
	b[16] = 2
	be.PutUint16(b[21:], attrTransactional|attrControl)
	be.PutUint64(b[27:], uint64(m.Timestamp))
	be.PutUint64(b[35:], uint64(m.Timestamp))
	be.PutUint64(b[43:], uint64(m.ProducerID))
	be.PutUint16(b[51:], uint16(m.ProducerEpoch))
	be.PutUint32(b[53:], ^uint32(0)) // no sequence
	be.PutUint32(b[57:], 1)
	r := b[HeaderBytes:]
	r[0] = 16 << 1 // length
	r[4] = 4 << 1  // key
	if m.Commit {
		r[8] = markerCommit
	}
	r[9] = 6 << 1 // value: version 0, then the epoch
	be.PutUint32(r[12:], uint32(m.CoordinatorEpoch))
	sum(b[:])
	return append(dst, b[:]...)
}

// ParseMarker reads the marker of a control batch; ErrCorrupt for anything else.
func ParseMarker(b *Batch) (Marker, error) {
	var r Reader
	var rec Record
	if !b.Control() || r.Reset(b) != nil || !r.Next(&rec) || len(rec.Key) < 4 || len(rec.Value) < 6 ||
		binary.BigEndian.Uint16(rec.Key[2:]) > markerCommit {
		return Marker{}, fmt.Errorf("%w: no transaction marker", ErrCorrupt)
	}
	return Marker{
		Commit:     binary.BigEndian.Uint16(rec.Key[2:]) == markerCommit,
		BaseOffset: rec.Offset, ProducerID: b.ProducerID, ProducerEpoch: b.ProducerEpoch, Timestamp: rec.Timestamp,
		CoordinatorEpoch: int32(binary.BigEndian.Uint32(rec.Value[2:])),
	}, nil
}
