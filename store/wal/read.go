package wal

import (
	"errors"
	"fmt"
	"io"
	"sort"

	"millrace/store/commitlog"
)

// Read calls fn for every durable entry from from on; see commitlog.Log.
// Payloads are not compared with their batches' CRCs here: damage to one batch
// concerns its reader only.
func (l *Log) Read(from commitlog.LSN, fn func(commitlog.Replayed) error) error {
	return l.read(from, true, fn)
}

// ReadMeta is Read without payloads, of which only the batch headers are read.
func (l *Log) ReadMeta(from commitlog.LSN, fn func(commitlog.Replayed) error) error {
	return l.read(from, false, fn)
}

// span is a file and the last entry that counts in it.
type span struct {
	file *logFile
	last commitlog.LSN
}

// hold returns the files that hold the entries from from to upto, with a
// reference on each.
func (l *Log) hold(from, upto commitlog.LSN) ([]span, error) {
	l.filesMu.RLock()
	defer l.filesMu.RUnlock()
	if l.closed {
		return nil, commitlog.ErrClosed
	}
	if first := l.files[0].prev + 1; from < first {
		return nil, fmt.Errorf("%w: %d is gone, the first is %d", commitlog.ErrTruncated, from, first)
	}
	var out []span
	for i, f := range l.files {
		last := upto
		if i+1 < len(l.files) {
			last = min(last, l.files[i+1].prev)
		}
		if last >= from && last > f.prev {
			f.refs.Add(1)
			out = append(out, span{f, last})
		}
	}
	return out, nil
}

func (l *Log) read(from commitlog.LSN, payload bool, fn func(commitlog.Replayed) error) (err error) {
	spans, err := l.hold(from, l.Last())
	if err != nil {
		return err
	}
	defer func() {
		for _, s := range spans {
			err = errors.Join(err, s.file.release())
		}
	}()
	var body []byte
	for _, s := range spans {
		sc := &scanner{f: s.file.f, size: s.file.size, seed: s.file.seed}
		off := int64(fileDataStart)
		for lsn := s.file.prev; lsn < s.last; {
			f, ok, err := sc.frame(off)
			if err != nil {
				return storageError("read", s.file.name, err)
			}
			bad := func(reason string) error {
				return &CorruptError{File: s.file.name, Offset: off, LSN: lsn + 1, Synced: s.last, Reason: reason}
			}
			switch {
			case !ok:
				return bad("frame header does not match its checksum")
			case f.typ == frameEntry && f.lsn == lsn+1:
			case f.typ == frameSyncPoint && f.lsn == lsn, f.typ == frameEpoch && f.lsn == lsn:
				off += f.bytes()
				continue
			default:
				return bad(fmt.Sprintf("frame of type %d and entry %d out of order", f.typ, f.lsn))
			}
			if lsn++; lsn < from {
				off += f.bytes()
				continue
			}
			ok, err = sc.checkBody(off, &f)
			if err != nil {
				return storageError("read", s.file.name, err)
			}
			if !ok {
				lsn--
				return bad("frame body does not match its checksum")
			}
			n := int64(f.metaLen)
			if payload {
				n += int64(f.payloadLen)
			}
			if int64(cap(body)) < n {
				body = make([]byte, n)
			}
			body = body[:n]
			if k, err := s.file.f.ReadAt(body, off+frameHeader); int64(k) < n {
				return storageError("read", s.file.name, err)
			}
			r := commitlog.Replayed{
				LSN:      lsn,
				Meta:     body[:f.metaLen:f.metaLen],
				Location: commitlog.Location{File: s.file.id, Offset: uint32(off + frameHeader + int64(f.metaLen))},
			}
			if payload {
				r.Payload = body[f.metaLen:]
			}
			if err := fn(r); err != nil {
				return err
			}
			off += f.bytes()
		}
	}
	return nil
}

// ReadAt fills p from loc on; see commitlog.Log.
func (l *Log) ReadAt(p []byte, loc commitlog.Location) error {
	f, err := l.holdFile(loc.File)
	if err != nil {
		return err
	}
	n, err := f.f.ReadAt(p, int64(loc.Offset))
	if n == len(p) {
		return f.release()
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return errors.Join(storageError("read", f.name, err), f.release())
}

func (l *Log) holdFile(id uint32) (*logFile, error) {
	l.filesMu.RLock()
	defer l.filesMu.RUnlock()
	if l.closed {
		return nil, commitlog.ErrClosed
	}
	i := sort.Search(len(l.files), func(i int) bool { return l.files[i].id >= id })
	switch {
	case i < len(l.files) && l.files[i].id == id:
		l.files[i].refs.Add(1)
		return l.files[i], nil
	case i == 0:
		return nil, fmt.Errorf("%w: log file %d", commitlog.ErrTruncated, id)
	}
	return nil, fmt.Errorf("commit log: there is no log file %d", id)
}
