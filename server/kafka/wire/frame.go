// Package wire is Kafka's protocol byte by byte: frames, headers and fields. It knows no
// API; what is in a body is its users' business.
package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A request frame: 4 bytes of size, then the header (API key, version,
// correlation id, client id and, in version 2, tags) and the body.
const (
	// SizeBytes is what comes before a frame: its size.
	SizeBytes = 4
	// ProgressBytes is what must arrive, or be taken, within one timeout.
	ProgressBytes = 1 << 20
	// minFrameBytes is key, version and correlation id.
	minFrameBytes = 8
	// firstReadBytes is what a size field alone can make us allocate; the rest
	// only once this much has arrived, in steps that grow by growRead.
	firstReadBytes = 64 << 10
	growRead       = 16
	// trustedReadBytes is what a size field alone can make us allocate for a peer that has
	// already sent a frame of that size whole: growing in steps copies most of a frame.
	trustedReadBytes = 4 << 20
)

// Bytes that are no request: of a frame or its header, and of the body in it.
var (
	ErrFrame = errors.New("malformed request")
	ErrBody  = errors.New("bad request")
)

// Header is a request's header.
type Header struct {
	Key           int16
	Version       int16
	CorrelationID int32
	ClientID      string // empty when null; it aliases the frame
}

// PeekFrame waits for the next frame's size, key and version without consuming them.
func PeekFrame(br *bufio.Reader) (size int, key, version int16, err error) {
	b, err := br.Peek(SizeBytes)
	if err != nil {
		if len(b) > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, 0, 0, err
	}
	n := int32(binary.BigEndian.Uint32(b))
	if n < minFrameBytes {
		return 0, 0, 0, fmt.Errorf("%w: frame of %d bytes", ErrFrame, n)
	}
	if b, err = br.Peek(SizeBytes + 4); err != nil {
		return 0, 0, 0, NoEOF(err)
	}
	return int(n), int16(binary.BigEndian.Uint16(b[4:])), int16(binary.BigEndian.Uint16(b[6:])), nil
}

// ReadFrame reads the frame of size bytes whose size field is next. The memory is
// new, of the exact size, and never used for another frame: record batches in it
// are handed on without copying. reserve is asked before each allocation for so
// many more bytes than so far, and may wait; progress is called before each MiB that
// is waited for. trust is the size of the largest frame that came whole from this peer.
func ReadFrame(br *bufio.Reader, size, trust int, reserve func(more int) error, progress func() error) ([]byte, error) {
	if _, err := br.Discard(SizeBytes); err != nil {
		return nil, NoEOF(err)
	}
	have := 0
	reserved := 0
	step := min(size, firstReadBytes)
	var frame []byte
	for {
		if err := reserve(step - reserved); err != nil {
			return nil, err
		}
		reserved = step
		if trusted := min(size, trust, trustedReadBytes); step < trusted {
			// The first bytes are asked for alone: they may be taken from elsewhere.
			step = trusted
			continue
		}
		grown := make([]byte, step)
		copy(grown, frame)
		frame = grown
		for have < step {
			if err := progress(); err != nil {
				return nil, err
			}
			n, err := io.ReadFull(br, frame[have:min(step, have+ProgressBytes)])
			if have += n; err != nil {
				return nil, NoEOF(err)
			}
		}
		if have == size {
			return frame, nil
		}
		step = min(size, step*growRead)
	}
}

// NoEOF: an end inside a frame is not an orderly one.
func NoEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// ParseHeader reads the header at the front of a frame; body is what follows.
func ParseHeader(frame []byte, tagged bool) (h Header, body []byte, err error) {
	d := NewDecoder(frame)
	h.Key = d.Int16()
	h.Version = d.Int16()
	h.CorrelationID = d.Int32()
	h.ClientID, _ = d.String(false)
	d.SkipTags(tagged)
	if d.bad {
		return h, nil, fmt.Errorf("%w: header", ErrFrame)
	}
	return h, d.b, nil
}

// BeginResponse appends space for the size, the correlation id and the header's tags.
func BeginResponse(dst []byte, correlationID int32, tagged bool) []byte {
	dst = append(dst, 0, 0, 0, 0)
	dst = PutInt32(dst, correlationID)
	if tagged {
		dst = append(dst, 0)
	}
	return dst
}

// EndResponse fills in the size of the response that begins at dst[start:], to which
// elsewhere bytes belong that are sent from other memory.
func EndResponse(dst []byte, start, elsewhere int) {
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-SizeBytes+elsewhere))
}
