package wal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"

	"millrace/internal/vfs"
	"millrace/store/commitlog"
)

// The file "snapshot", little-endian:
//
//	0             8        12       16            24           32      36     40
//	+-------------+--------+--------+-------------+------------+-------+------+
//	| "MILLSNAP"  | version|   0    | log id      | synced LSN | CRC32C|  0   |
//	|             |        |        |             |            |of 0-31|      |
//	+-------------+--------+--------+-------------+------------+-------+------+
//
// then chunks, the last one empty:
//
//	+--------+--------+---- ... ----+
//	| length | CRC32C | data        |   the CRC covers the chunk's place (u64,
//	+--------+--------+---- ... ----+   counted in data bytes), length and data
//
// Nothing follows the empty chunk. synced LSN is the log's when the snapshot was
// saved: a log that ends before it has lost files.
const (
	snapshotName       = "snapshot"
	snapshotMagic      = "MILLSNAP"
	snapshotVersion    = 1
	snapshotHeader     = 40
	snapshotChunk      = 256 << 10
	snapshotChunkLimit = 16 << 20 // what a reader accepts
	chunkHeader        = 8
)

// SaveSnapshot replaces the snapshot; see commitlog.Log. On a full disk it uses up the reserve.
func (l *Log) SaveSnapshot(write func(io.Writer) error) error {
	l.snapshotMu.Lock()
	defer l.snapshotMu.Unlock()
	l.mu.Lock()
	closing := l.closing
	l.mu.Unlock()
	if closing {
		return commitlog.ErrClosed
	}
	name := filepath.Join(l.o.Dir, snapshotName)
	tmp := name + tmpSuffix
	f, err := l.o.FS.Create(tmp)
	if err != nil {
		return storageError("snapshot", tmp, err)
	}
	w := &snapshotWriter{f: f, name: tmp, log: l}
	err = w.begin(l.logID, l.Last())
	if err == nil {
		err = write(w)
	}
	if err == nil {
		err = w.end()
	}
	if err == nil {
		err = storageError("snapshot", tmp, f.Sync())
	}
	if cerr := f.Close(); err == nil {
		err = storageError("snapshot", tmp, cerr)
	}
	if err == nil {
		err = storageError("snapshot", name, l.o.FS.Rename(tmp, name))
	}
	if err != nil {
		if rerr := l.o.FS.Remove(tmp); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			l.logger.Warn("cannot remove a half-written snapshot", "file", tmp, "error", rerr)
		}
		return err
	}
	return storageError("snapshot", l.o.Dir, l.o.FS.SyncDir(l.o.Dir))
}

type snapshotWriter struct {
	f    vfs.File
	name string
	log  *Log
	off  int64
	data uint64 // bytes of data before the chunk
	buf  []byte // chunk header and data
	err  error
}

func (w *snapshotWriter) begin(logID uint64, synced commitlog.LSN) error {
	var b [snapshotHeader]byte
	le := binary.LittleEndian
	copy(b[:], snapshotMagic)
	le.PutUint32(b[8:], snapshotVersion)
	le.PutUint64(b[16:], logID)
	le.PutUint64(b[24:], uint64(synced))
	le.PutUint32(b[32:], crc32.Checksum(b[:32], castagnoli))
	w.buf = make([]byte, chunkHeader, chunkHeader+snapshotChunk)
	return w.put(b[:])
}

// put writes b; when the disk is full it gives up the reserve and tries again.
func (w *snapshotWriter) put(b []byte) error {
	if w.err != nil {
		return w.err
	}
	for len(b) > 0 {
		n, err := w.f.WriteAt(b, w.off)
		w.off += int64(n)
		b = b[n:]
		if err != nil && !(noSpace(err) && w.log.spares.giveReserve()) {
			w.err = storageError("snapshot", w.name, err)
			return w.err
		}
	}
	return nil
}

func (w *snapshotWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		k := min(len(p), chunkHeader+snapshotChunk-len(w.buf))
		w.buf = append(w.buf, p[:k]...)
		p = p[k:]
		if len(w.buf) == chunkHeader+snapshotChunk {
			if err := w.flush(); err != nil {
				return n - len(p), err
			}
		}
	}
	return n, nil
}

func (w *snapshotWriter) flush() error {
	n := len(w.buf) - chunkHeader
	binary.LittleEndian.PutUint32(w.buf, uint32(n))
	binary.LittleEndian.PutUint32(w.buf[4:], chunkSum(w.data, w.buf[:4], w.buf[chunkHeader:]))
	err := w.put(w.buf)
	w.data += uint64(n)
	w.buf = w.buf[:chunkHeader]
	return err
}

func (w *snapshotWriter) end() error {
	if len(w.buf) > chunkHeader {
		if err := w.flush(); err != nil {
			return err
		}
	}
	return w.flush()
}

func chunkSum(at uint64, length, data []byte) uint32 {
	crc := crc32.Checksum(binary.LittleEndian.AppendUint64(nil, at), castagnoli)
	return crc32.Update(crc32.Update(crc, castagnoli, length), castagnoli, data)
}

// LoadSnapshot hands the snapshot to read; see commitlog.Log. Every byte that
// read gets was compared with its checksum before.
func (l *Log) LoadSnapshot(read func(io.Reader) error) (bool, error) {
	l.snapshotMu.Lock()
	defer l.snapshotMu.Unlock()
	name := filepath.Join(l.o.Dir, snapshotName)
	f, err := l.o.FS.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, storageError("snapshot", name, err)
	}
	defer f.Close() // read only
	r := &snapshotReader{f: f, name: name}
	if _, _, err := r.begin(); err != nil {
		return false, err
	}
	if err := read(r); err != nil {
		if r.err != nil && !errors.Is(r.err, io.EOF) {
			err = errors.Join(err, r.err)
		}
		return false, err
	}
	// What read did not ask for counts as well.
	if _, err := io.Copy(io.Discard, r); err != nil {
		return false, err
	}
	return true, nil
}

type snapshotReader struct {
	f    vfs.File
	name string
	off  int64
	size int64
	data uint64
	buf  []byte
	rest []byte // of buf
	err  error
}

func (r *snapshotReader) corrupt(reason string) error {
	return &CorruptError{File: r.name, Offset: r.off, Reason: "snapshot: " + reason}
}

// begin reads the header.
func (r *snapshotReader) begin() (logID uint64, synced commitlog.LSN, err error) {
	if r.size, err = r.f.Size(); err != nil {
		return 0, 0, storageError("snapshot", r.name, err)
	}
	b, err := r.get(snapshotHeader)
	if err != nil {
		return 0, 0, err
	}
	le := binary.LittleEndian
	if string(b[:8]) != snapshotMagic || crc32.Checksum(b[:32], castagnoli) != le.Uint32(b[32:]) || le.Uint32(b[36:]) != 0 {
		r.off = 0
		return 0, 0, r.corrupt("header does not match its checksum")
	}
	if v := le.Uint32(b[8:]); v != snapshotVersion {
		return 0, 0, &VersionError{File: r.name, Version: v, Known: snapshotVersion}
	}
	return le.Uint64(b[16:]), commitlog.LSN(le.Uint64(b[24:])), nil
}

// get reads the next n bytes, valid until the next call.
func (r *snapshotReader) get(n int) ([]byte, error) {
	if int64(n) > r.size-r.off {
		return nil, r.corrupt("file is too short")
	}
	if cap(r.buf) < n {
		r.buf = make([]byte, n)
	}
	r.buf = r.buf[:n]
	if k, err := r.f.ReadAt(r.buf, r.off); k < n {
		return nil, storageError("snapshot", r.name, err)
	}
	r.off += int64(n)
	return r.buf, nil
}

func (r *snapshotReader) Read(p []byte) (int, error) {
	if r.err == nil && len(r.rest) == 0 {
		r.err = r.next()
	}
	if r.err != nil {
		return 0, r.err
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// next reads a chunk; io.EOF behind the last.
func (r *snapshotReader) next() error {
	head, err := r.get(chunkHeader)
	if err != nil {
		return err
	}
	length := binary.LittleEndian.AppendUint32(nil, binary.LittleEndian.Uint32(head))
	sum := binary.LittleEndian.Uint32(head[4:])
	n := binary.LittleEndian.Uint32(head)
	if n > snapshotChunkLimit {
		return r.corrupt("chunk length")
	}
	data, err := r.get(int(n))
	if err != nil {
		return err
	}
	if chunkSum(r.data, length, data) != sum {
		return r.corrupt("chunk does not match its checksum")
	}
	r.data += uint64(n)
	if n == 0 {
		if r.off != r.size {
			return r.corrupt("bytes behind the end")
		}
		return io.EOF
	}
	r.rest = data
	return nil
}
