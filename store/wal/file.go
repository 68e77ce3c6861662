package wal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"sync/atomic"

	"millrace/internal/vfs"
	"millrace/store/commitlog"
)

// A log file, little-endian. Its name is its number in ten digits and ".wal".
//
//	0       64        2048     2112      4096
//	+-------+---------+--------+---------+-------+-------+- ... -+-----+--------+
//	| header| zero    | header | zero    | frame | frame |       | end | unused |
//	|       |         | (copy) |         |       |       |       |frame|        |
//	+-------+---------+--------+---------+-------+-------+- ... -+-----+--------+
//
// The header is there twice, since a damaged one would hide a whole file of good frames:
//
//	 0               8        12       16              24
//	+---------------+--------+--------+---------------+---------------+
//	| "MILLRWAL"    | version| file   | log id        | previous LSN  |
//	|               |        | number |               |               |
//	+---------------+--------+--------+---------------+---------------+
//	 32              40       44       48       52       56       60
//	+---------------+--------+--------+--------+--------+--------+----+
//	| synced LSN    | epoch  | kind   | prev.  | prev.  | CRC32C | 0  |
//	|               |        |        | file   | end    | of 0-55|    |
//	+---------------+--------+--------+--------+--------+--------+----+
//
// previous LSN: the last entry before this file. kind 0: the log runs on in the
// same epoch. kind 1 (fence): a new epoch begins here, previous LSN was synced, and
// whatever earlier files hold beyond it was given up and never comes back.
//
// A file is filled with zeroes and synced before it gets its name, so writing
// into it changes no metadata. A file that is no longer needed becomes
// NUMBER.free and later gets another number; a file whose header bears another
// number than its name is waiting to be used.
const (
	fileMagic      = "MILLRWAL"
	formatVersion  = 1
	fileHeader     = 64
	fileHeaderCopy = 2048
	fileDataStart  = 4096

	walSuffix  = ".wal"
	freeSuffix = ".free"
	tmpSuffix  = ".tmp"

	pageBytes = 4096
)

const (
	kindContinue uint32 = 0
	kindFence    uint32 = 1
)

type header struct {
	version  uint32
	file     uint32
	logID    uint64
	prev     commitlog.LSN
	synced   commitlog.LSN
	epoch    uint32
	kind     uint32
	prevFile uint32
	prevEnd  uint32
}

// appendHeader appends the whole header block, fileDataStart bytes.
func appendHeader(dst []byte, h *header) []byte {
	n := len(dst)
	dst = append(dst, make([]byte, fileDataStart)...)
	block := dst[n:]
	b := block[:fileHeader]
	le := binary.LittleEndian
	copy(b, fileMagic)
	le.PutUint32(b[8:], h.version)
	le.PutUint32(b[12:], h.file)
	le.PutUint64(b[16:], h.logID)
	le.PutUint64(b[24:], uint64(h.prev))
	le.PutUint64(b[32:], uint64(h.synced))
	le.PutUint32(b[40:], h.epoch)
	le.PutUint32(b[44:], h.kind)
	le.PutUint32(b[48:], h.prevFile)
	le.PutUint32(b[52:], h.prevEnd)
	le.PutUint32(b[56:], crc32.Checksum(b[:56], castagnoli))
	copy(block[fileHeaderCopy:], b)
	return dst
}

// parseHeader reads either copy; false when neither is whole or when it is of
// another number, from before the file was recycled.
func parseHeader(block []byte, file uint32) (h header, ok bool) {
	for _, at := range []int{0, fileHeaderCopy} {
		if len(block) < at+fileHeader {
			return header{}, false
		}
		b := block[at : at+fileHeader]
		le := binary.LittleEndian
		if string(b[:8]) != fileMagic || crc32.Checksum(b[:56], castagnoli) != le.Uint32(b[56:]) || le.Uint32(b[12:]) != file {
			continue
		}
		return header{
			version:  le.Uint32(b[8:]),
			file:     file,
			logID:    le.Uint64(b[16:]),
			prev:     commitlog.LSN(le.Uint64(b[24:])),
			synced:   commitlog.LSN(le.Uint64(b[32:])),
			epoch:    le.Uint32(b[40:]),
			kind:     le.Uint32(b[44:]),
			prevFile: le.Uint32(b[48:]),
			prevEnd:  le.Uint32(b[52:]),
		}, true
	}
	return header{}, false
}

func fileName(id uint32, suffix string) string { return fmt.Sprintf("%010d%s", id, suffix) }

// parseName is the reverse of fileName.
func parseName(name, suffix string) (id uint32, ok bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	if !ok || len(digits) != 10 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	return uint32(n), err == nil && n > 0
}

// logFile is an open log file. Everything but the atomics is fixed once the file
// is in Log.files.
type logFile struct {
	id   uint32
	name string
	f    vfs.File
	size int64
	seed uint32

	prev commitlog.LSN // last entry before this file

	// used is where the durable frames end.
	used atomic.Int64
	// tainted: a write or sync failed. It is never written again, nor recycled.
	tainted atomic.Bool
	// refs counts the log itself (1) and the readers; the last one closes f.
	refs atomic.Int64
}

func newLogFile(sp *spare, h header) *logFile {
	lf := &logFile{id: sp.id, name: sp.name, f: sp.f, size: sp.size, seed: frameSeed(h.logID, sp.id), prev: h.prev}
	lf.refs.Store(1)
	lf.used.Store(fileDataStart)
	return lf
}

// release gives up one reference.
func (lf *logFile) release() error {
	if lf.refs.Add(-1) == 0 {
		return lf.f.Close()
	}
	return nil
}

// room is how many bytes of frames fit from pos on; the end frame always does.
func (lf *logFile) room(pos int64) int64 { return lf.size - frameHeader - pos }

// fits says whether an entry's frame of n bytes may go to pos: a sync point fits
// behind it, so that none ever needs a new file.
func (lf *logFile) fits(pos, n int64) bool { return n+frameHeader <= lf.room(pos) }

// sizeFor is the file size that holds one entry frame of n bytes, the frames of
// a restart beside it, and the end.
func sizeFor(n int64) int64 {
	return (fileDataStart + n + 4*frameHeader + pageBytes - 1) &^ (pageBytes - 1)
}
