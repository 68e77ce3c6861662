package kafka

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
	sizeBytes = 4
	// minFrameBytes is key, version and correlation id.
	minFrameBytes = 8
	// preAuthFrameBytes bounds what anyone may send before having logged in.
	preAuthFrameBytes = 64 << 10
	// controlFrameBytes bounds requests that carry no records; the largest honest ones are
	// assignments of huge groups. What decoding them takes is bounded beside that (decodedPerByte).
	controlFrameBytes = 16 << 20
	// decodedPerByte is how many bytes decoding a byte may take: arrays of structures from
	// arrays of bytes.
	decodedPerByte = 16
	// fetchFrameBytes bounds a Fetch: some hundred thousand partitions.
	fetchFrameBytes = 4 << 20
	// firstReadBytes is what a size field alone can make us allocate; the rest
	// only once this much has arrived, in steps that grow by growRead.
	firstReadBytes = 64 << 10
	growRead       = 16
	// trustedReadBytes is what a size field alone can make us allocate for a peer that has
	// already sent a frame of that size whole: growing in steps copies most of a frame.
	trustedReadBytes = 4 << 20
)

var errFrame = errors.New("malformed request")

// header is a request's header.
type header struct {
	key           int16
	version       int16
	correlationID int32
	clientID      string // empty when null
}

// peekFrame waits for the next frame's size, key and version without consuming them.
func peekFrame(br *bufio.Reader) (size int, key, version int16, err error) {
	b, err := br.Peek(sizeBytes)
	if err != nil {
		if len(b) > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, 0, 0, err
	}
	n := int32(binary.BigEndian.Uint32(b))
	if n < minFrameBytes {
		return 0, 0, 0, fmt.Errorf("%w: frame of %d bytes", errFrame, n)
	}
	if b, err = br.Peek(sizeBytes + 4); err != nil {
		return 0, 0, 0, noEOF(err)
	}
	return int(n), int16(binary.BigEndian.Uint16(b[4:])), int16(binary.BigEndian.Uint16(b[6:])), nil
}

// readFrame reads the frame of size bytes whose size field is next. The memory is
// new, of the exact size, and never used for another frame: record batches in it
// are handed on without copying. reserve is asked before each allocation for so
// many more bytes than so far, and may wait; progress is called before each MiB that
// is waited for. trust is the size of the largest frame that came whole from this peer.
func readFrame(br *bufio.Reader, size, trust int, reserve func(more int) error, progress func() error) ([]byte, error) {
	if _, err := br.Discard(sizeBytes); err != nil {
		return nil, noEOF(err)
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
			n, err := io.ReadFull(br, frame[have:min(step, have+progressBytes)])
			if have += n; err != nil {
				return nil, noEOF(err)
			}
		}
		if have == size {
			return frame, nil
		}
		step = min(size, step*growRead)
	}
}

// noEOF: an end inside a frame is not an orderly one.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// parseHeader reads the header at the front of a frame; body is what follows.
func parseHeader(frame []byte, version int) (h header, body []byte, err error) {
	d := decoder{b: frame}
	h.key = d.int16()
	h.version = d.int16()
	h.correlationID = d.int32()
	if version >= 1 {
		h.clientID, _ = d.string(false)
	}
	d.skipTags(version >= 2)
	if d.bad {
		return h, nil, fmt.Errorf("%w: header", errFrame)
	}
	return h, d.b, nil
}

// beginResponse appends space for the size, the correlation id and the header's tags.
func beginResponse(dst []byte, correlationID int32, headerVersion int) []byte {
	dst = append(dst, 0, 0, 0, 0)
	dst = putInt32(dst, correlationID)
	if headerVersion >= 1 {
		dst = append(dst, 0)
	}
	return dst
}

// endResponse fills in the size of the response that begins at dst[start:], to which
// elsewhere bytes belong that are sent from other memory.
func endResponse(dst []byte, start, elsewhere int) {
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-sizeBytes+elsewhere))
}
