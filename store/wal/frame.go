package wal

import (
	"encoding/binary"
	"hash/crc32"

	"millrace/store/commitlog"
)

// A frame, little-endian, at a multiple of 8 bytes in its file:
//
//	 0        4        8        12   13    14    16              24
//	+--------+--------+--------+----+-----+-----+---------------+---------------+
//	| magic  | head   | body   |type|flags|  0  | LSN           | synced LSN    |
//	|        | CRC    | CRC    |    |     |     |               |               |
//	+--------+--------+--------+----+-----+-----+---------------+---------------+
//	 32       36       40       44       48
//	+--------+--------+--------+--------+------ ... ------+---- ... ----+------+
//	| epoch  | meta   |payload | aux    | meta            | payload     | zero |
//	|        | length | length |        |                 |             | pad  |
//	+--------+--------+--------+--------+------ ... ------+---- ... ----+------+
//
// head CRC: CRC32C over bytes 8 to 47, begun with a CRC of the log's random id and
// the file's number. Bytes that a recycled file still holds from its earlier
// life, and bytes that a producer sends to look like a frame, do not match it.
//
// body CRC: CRC32C over meta and, with flagDelegated, the 61-byte header of each
// batch in the payload (which holds that batch's own CRC over the rest of it);
// without the flag over meta and the whole payload. So no payload is summed twice.
//
// synced LSN: the highest LSN that was known to be synced when the frame was
// written. It tells a torn frame from a corrupt one.
//
// aux: the number of batches of a delegated payload; of frameEnd the number of the
// file that follows.
const (
	frameMagic  = 0x3146524d // "MRF1"
	frameHeader = 48
	frameAlign  = 8

	// maxEntryBytes bounds meta and payload of one entry. Location.Offset has
	// 32 bits, and an entry's file is allocated whole.
	maxEntryBytes = 1 << 30
)

type frameType uint8

const (
	// frameEntry is one commitlog.Entry, with the LSN after the one before it.
	frameEntry frameType = 1
	// frameSyncPoint only tells the synced LSN. It and all below bear the LSN of the entry before them.
	frameSyncPoint frameType = 2
	// frameEpoch starts a new epoch within a file, after a restart.
	frameEpoch frameType = 3
	// frameEnd is the last frame of a file: the log goes on in file aux.
	frameEnd frameType = 4
)

// flagDelegated: payload bytes are covered by the CRCs of the batches they are.
const flagDelegated = 1

// A Kafka record batch of format v2, as far as the log must know it.
const (
	batchHeader    = 61
	batchLengthAt  = 8 // big-endian int32: bytes that follow the length field
	batchLengthEnd = 12
	batchMagicAt   = 16
	batchCRCAt     = 17 // over everything from batchSummedAt on
	batchSummedAt  = 21
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type frame struct {
	typ        frameType
	flags      uint8
	lsn        commitlog.LSN
	synced     commitlog.LSN
	epoch      uint32
	metaLen    uint32
	payloadLen uint32
	aux        uint32
	bodyCRC    uint32
}

// bytes is the frame's length in the file.
func (f *frame) bytes() int64 { return frameBytes(int64(f.metaLen), int64(f.payloadLen)) }

func frameBytes(meta, payload int64) int64 {
	return (frameHeader + meta + payload + frameAlign - 1) &^ (frameAlign - 1)
}

// frameSeed begins the head CRC of all frames of one file.
func frameSeed(logID uint64, file uint32) uint32 {
	var b [12]byte
	binary.LittleEndian.PutUint64(b[:], logID)
	binary.LittleEndian.PutUint32(b[8:], file)
	return crc32.Checksum(b[:], castagnoli)
}

// appendFrame appends the header of f.
func appendFrame(dst []byte, f *frame, seed uint32) []byte {
	n := len(dst)
	dst = append(dst, make([]byte, frameHeader)...)
	b := dst[n:]
	le := binary.LittleEndian
	le.PutUint32(b, frameMagic)
	le.PutUint32(b[8:], f.bodyCRC)
	b[12] = byte(f.typ)
	b[13] = f.flags
	le.PutUint64(b[16:], uint64(f.lsn))
	le.PutUint64(b[24:], uint64(f.synced))
	le.PutUint32(b[32:], f.epoch)
	le.PutUint32(b[36:], f.metaLen)
	le.PutUint32(b[40:], f.payloadLen)
	le.PutUint32(b[44:], f.aux)
	le.PutUint32(b[4:], crc32.Update(seed, castagnoli, b[8:]))
	return dst
}

// parseFrame reads a header; false when b holds none of this file.
func parseFrame(b []byte, seed uint32) (f frame, ok bool) {
	le := binary.LittleEndian
	if len(b) < frameHeader || le.Uint32(b) != frameMagic || le.Uint32(b[4:]) != crc32.Update(seed, castagnoli, b[8:frameHeader]) {
		return frame{}, false
	}
	f = frame{
		bodyCRC:    le.Uint32(b[8:]),
		typ:        frameType(b[12]),
		flags:      b[13],
		lsn:        commitlog.LSN(le.Uint64(b[16:])),
		synced:     commitlog.LSN(le.Uint64(b[24:])),
		epoch:      le.Uint32(b[32:]),
		metaLen:    le.Uint32(b[36:]),
		payloadLen: le.Uint32(b[40:]),
		aux:        le.Uint32(b[44:]),
	}
	if f.typ < frameEntry || f.typ > frameEnd || f.flags&^flagDelegated != 0 || b[14]|b[15] != 0 ||
		uint64(f.metaLen)+uint64(f.payloadLen) > maxEntryBytes || f.lsn < f.synced {
		return frame{}, false
	}
	if f.typ != frameEntry && (f.metaLen|f.payloadLen|uint32(f.flags) != 0) {
		return frame{}, false
	}
	return f, true
}

// sumBody returns the body CRC of an entry, and with how many batches its
// payload is delegated; flags is 0 when it is not made of v2 batches, one or
// several to a slice, and is summed whole.
func sumBody(e *commitlog.Entry) (crc uint32, flags uint8, batches uint32) {
	crc = crc32.Update(0, castagnoli, e.Meta)
	delegated := crc
	for _, p := range e.Payload {
		for len(p) > 0 {
			n, ok := batchBytes(p)
			if !ok {
				for _, p := range e.Payload {
					crc = crc32.Update(crc, castagnoli, p)
				}
				return crc, 0, 0
			}
			delegated = crc32.Update(delegated, castagnoli, p[:batchHeader])
			batches++
			p = p[n:]
		}
	}
	return delegated, flagDelegated, batches
}

// batchBytes is the length of the v2 batch at the front of b, all of which must
// be there.
func batchBytes(b []byte) (n int, ok bool) {
	if len(b) < batchHeader || b[batchMagicAt] != 2 {
		return 0, false
	}
	l := int64(int32(binary.BigEndian.Uint32(b[batchLengthAt:]))) + batchLengthEnd
	if l < batchHeader || l > int64(len(b)) {
		return 0, false
	}
	return int(l), true
}

// claim is what a header found anywhere proves: an LSN that was synced, and an
// epoch that was in use.
type claim struct {
	synced commitlog.LSN
	epoch  uint32
}

func (c *claim) add(synced commitlog.LSN, epoch uint32) {
	c.synced = max(c.synced, synced)
	c.epoch = max(c.epoch, epoch)
}
