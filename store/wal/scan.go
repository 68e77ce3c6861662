package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"millrace/internal/vfs"
)

// windowBytes is how much a scanner reads at once; payloads are skipped, so more
// would be read for nothing.
const windowBytes = 64 << 10

// scanner reads a log file front to back through one buffer. Errors are those of
// reading; damage is a value, never an error.
type scanner struct {
	f    vfs.File
	size int64
	seed uint32
	buf  []byte
	off  int64 // of buf in the file
}

// at returns n bytes at off, valid until the next call; nil when the file is too short.
func (s *scanner) at(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off+n > s.size {
		return nil, nil
	}
	if off >= s.off && off+n <= s.off+int64(len(s.buf)) {
		return s.buf[off-s.off:][:n:n], nil
	}
	want := int(min(max(n, windowBytes), s.size-off))
	if cap(s.buf) < want {
		s.buf = make([]byte, want)
	}
	s.buf = s.buf[:want]
	k, err := s.f.ReadAt(s.buf, off)
	s.buf, s.off = s.buf[:k], off
	if err != nil && !errors.Is(err, io.EOF) {
		s.buf = s.buf[:0]
		return nil, err
	}
	if int64(k) < n {
		return nil, nil
	}
	return s.buf[:n:n], nil
}

// frame returns the header at off; ok is false when there is none or it does
// not fit the file.
func (s *scanner) frame(off int64) (f frame, ok bool, err error) {
	b, err := s.at(off, frameHeader)
	if err != nil || b == nil {
		return frame{}, false, err
	}
	f, ok = parseFrame(b, s.seed)
	return f, ok && off+f.bytes() <= s.size, nil
}

// checkBody compares the body CRC of the entry at off. Of a delegated payload
// only the batch headers are read.
func (s *scanner) checkBody(off int64, f *frame) (ok bool, err error) {
	meta, err := s.at(off+frameHeader, int64(f.metaLen))
	if err != nil || meta == nil {
		return false, err
	}
	crc := crc32.Update(0, castagnoli, meta)
	at := off + frameHeader + int64(f.metaLen)
	end := at + int64(f.payloadLen)
	if f.flags&flagDelegated == 0 {
		for at < end {
			b, err := s.at(at, min(windowBytes, end-at))
			if err != nil || b == nil {
				return false, err
			}
			crc = crc32.Update(crc, castagnoli, b)
			at += int64(len(b))
		}
		return crc == f.bodyCRC, nil
	}
	ok, err = s.batches(at, end, f.aux, func(_ int64, head []byte, _ int64) (bool, error) {
		crc = crc32.Update(crc, castagnoli, head)
		return true, nil
	})
	return ok && crc == f.bodyCRC, err
}

// checkBatches compares the CRC of each batch of a delegated payload, whose
// headers were found good.
func (s *scanner) checkBatches(off int64, f *frame) (ok bool, err error) {
	if f.flags&flagDelegated == 0 {
		return true, nil
	}
	at := off + frameHeader + int64(f.metaLen)
	return s.batches(at, at+int64(f.payloadLen), f.aux, func(at int64, head []byte, n int64) (bool, error) {
		want := binary.BigEndian.Uint32(head[batchCRCAt:])
		var crc uint32
		for p, end := at+batchSummedAt, at+n; p < end; {
			b, err := s.at(p, min(windowBytes, end-p))
			if err != nil || b == nil {
				return false, err
			}
			crc = crc32.Update(crc, castagnoli, b)
			p += int64(len(b))
		}
		return crc == want, nil
	})
}

// batches calls fn with place, header and length of each batch in [at,end); ok when
// there are exactly count, and fn agreed to all.
func (s *scanner) batches(at, end int64, count uint32, fn func(at int64, head []byte, n int64) (bool, error)) (ok bool, err error) {
	for ; count > 0; count-- {
		head, err := s.at(at, batchHeader)
		if err != nil || head == nil {
			return false, err
		}
		n := int64(int32(binary.BigEndian.Uint32(head[batchLengthAt:]))) + batchLengthEnd
		if n < batchHeader || n > end-at {
			return false, nil
		}
		if ok, err := fn(at, head, n); err != nil || !ok {
			return false, err
		}
		at += n
	}
	return at == end, nil
}

var frameMagicBytes = binary.LittleEndian.AppendUint32(nil, frameMagic)

// claims adds what all frame headers from off on prove, whether or not anything
// leads to them.
func (s *scanner) claims(off int64, c *claim) error {
	buf := make([]byte, 1<<20)
	for off+frameHeader <= s.size {
		n, err := s.f.ReadAt(buf[:min(int64(len(buf)), s.size-off)], off)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if n < frameHeader {
			return nil
		}
		b := buf[:n]
		for i := 0; ; {
			k := bytes.Index(b[i:], frameMagicBytes)
			if k < 0 {
				break
			}
			i += k
			if f, ok := parseFrame(b[i:], s.seed); ok && (off+int64(i))%frameAlign == 0 {
				c.add(f.synced, f.epoch)
			}
			i += len(frameMagicBytes)
		}
		if n < len(buf) {
			return nil
		}
		off += int64(n - frameHeader) // a header may straddle two chunks
		off -= off % frameAlign
	}
	return nil
}
