package vfs

import (
	"errors"
	"syscall"
)

const (
	// streamBufferBytes is one write of a Stream. Less costs calls; more makes a sync of
	// another file wait longer for the disk.
	streamBufferBytes = 1 << 20
	// streamPushBytes spreads the disk traffic of a stream through the page cache: a sync of
	// another file that comes meanwhile waits for so much at most, and the one at the
	// end has little left to do. Less makes writing slower.
	streamPushBytes = 8 << 20
)

// Stream writes a new file from front to back. Where the file system lets it, that goes past
// the page cache: large files that are written once and perhaps never read cost a fraction
// of the CPU so, and push nothing out that somebody reads. What was written may be
// read after Flush. A Stream is used by one goroutine; after an error it is of no use.
type Stream struct {
	f      File
	buf    []byte // aligned
	at     int64  // file position of the start of buf
	direct director

	pushed int64 // through the page cache: the disk was told to begin with what lies before,
	waited int64 // and is done with what lies before this
}

// NewStream begins at the start of f, which must be empty.
func NewStream(f File) *Stream {
	s := &Stream{f: f, buf: alignedPart(make([]byte, streamBufferBytes+directAlign))[:0]}
	if d, ok := f.(director); ok && d.setDirect(true) == nil {
		s.direct = d
	}
	return s
}

// Len is how many bytes were written so far.
func (s *Stream) Len() int64 { return s.at + int64(len(s.buf)) }

// Write appends p, of which it keeps nothing.
func (s *Stream) Write(p []byte) error {
	for len(p) > 0 {
		n := min(len(p), cap(s.buf)-len(s.buf))
		s.buf = append(s.buf, p[:n]...)
		p = p[n:]
		if len(s.buf) == cap(s.buf) {
			if err := s.writeOut(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Flush hands everything to the file. It is the last call.
func (s *Stream) Flush() error {
	if s.direct != nil {
		// The rest is no multiple of what the disk takes.
		if err := s.direct.setDirect(false); err != nil {
			return err
		}
		s.direct = nil
		s.pushed, s.waited = s.at, s.at
	}
	if err := s.writeOut(); err != nil {
		return err
	}
	return Push(s.f, s.waited, s.at-s.waited, true)
}

func (s *Stream) writeOut() error {
	_, err := s.f.WriteAt(s.buf, s.at)
	if err != nil && s.direct != nil && errors.Is(err, syscall.EINVAL) {
		// Some file systems refuse only now.
		if err = s.direct.setDirect(false); err != nil {
			return err
		}
		s.direct = nil
		_, err = s.f.WriteAt(s.buf, s.at)
	}
	if err != nil {
		return err
	}
	s.at += int64(len(s.buf))
	s.buf = s.buf[:0]
	if s.direct != nil || s.at-s.pushed < streamPushBytes {
		return nil
	}
	// The disk works on one step while the next one is gathered.
	if err := Push(s.f, s.pushed, s.at-s.pushed, false); err != nil {
		return err
	}
	if err := Push(s.f, s.waited, s.pushed-s.waited, true); err != nil {
		return err
	}
	s.waited, s.pushed = s.pushed, s.at
	return nil
}
