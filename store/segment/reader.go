package segment

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sort"

	"millrace/internal/vfs"
	"millrace/store/state"
)

// Reader reads one segment. It holds the directory in memory and reads the rest
// on demand. Safe for concurrent use until Close.
type Reader struct {
	Header
	name  string // base name, for errors
	f     vfs.File
	size  int64
	cache *Cache

	directory []Partition
	batches   int64

	transactions int64

	// DeleteHorizon is the writer's.
	DeleteHorizon state.Millis
}

// Open opens a segment and checks its header, footer and directory. Nothing
// else is read. cache may be nil.
func Open(fs vfs.FS, name string, cache *Cache) (*Reader, error) {
	f, err := fs.Open(name)
	if err != nil {
		return nil, err
	}
	r := &Reader{name: filepath.Base(name), f: f, cache: cache}
	if err := r.open(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

// Damaged stands in for a segment whose directory cannot be read: it knows of no partition.
func Damaged(name string) *Reader { return &Reader{name: filepath.Base(name)} }

func (r *Reader) corrupt(at int64, format string, args ...any) error {
	return &CorruptError{File: r.name, Offset: at, Reason: fmt.Sprintf(format, args...)}
}

func (r *Reader) open() error {
	size, err := r.f.Size()
	if err != nil {
		return err
	}
	r.size = size
	if size < headerBytes+footerFixed+trailerBytes {
		return r.corrupt(0, "%d bytes are too few for a segment", size)
	}
	head := make([]byte, headerBytes)
	if err := r.ReadAt(head, 0); err != nil {
		return err
	}
	if string(head[:8]) != magic {
		return r.corrupt(0, "not a segment")
	}
	// The version comes before the checksum: a newer one may have moved it.
	if v := le.Uint32(head[8:]); v > version {
		return fmt.Errorf("%s: %w %d; this Millrace reads up to %d", r.name, ErrVersion, v, version)
	}
	if sum(head[:headerBytes-4]) != le.Uint32(head[headerBytes-4:]) {
		return r.corrupt(0, "header checksum mismatch")
	}
	r.Header = decodeHeader(head)

	trailerAt := size - trailerBytes
	t := make([]byte, trailerBytes)
	if err := r.ReadAt(t, trailerAt); err != nil {
		return err
	}
	if string(t[32:]) != magic || sum(t[:28]) != le.Uint32(t[28:]) || le.Uint32(t[20:]) != le.Uint32(head[8:]) {
		return r.corrupt(trailerAt, "trailer damaged")
	}
	footerAt, footerLen := le.Uint64(t), le.Uint64(t[8:])
	if footerAt < headerBytes || footerLen < footerFixed || footerAt > uint64(trailerAt) || footerLen != uint64(trailerAt)-footerAt {
		return r.corrupt(trailerAt, "footer of %d bytes at %d", footerLen, footerAt)
	}
	footer := make([]byte, footerLen)
	if err := r.ReadAt(footer, int64(footerAt)); err != nil {
		return err
	}
	if sum(footer) != le.Uint32(t[16:]) {
		return r.corrupt(int64(footerAt), "footer checksum mismatch")
	}
	return r.decodeFooter(footer, int64(footerAt))
}

func (r *Reader) decodeFooter(footer []byte, at int64) error {
	n := int(le.Uint32(footer))
	r.batches = int64(le.Uint64(footer[8:]))
	r.DeleteHorizon = int64(le.Uint64(footer[40:]))
	entries := footer[footerFixed:]
	if len(entries) != n*directoryBytes {
		return r.corrupt(at, "directory of %d bytes for %d partitions", len(entries), n)
	}
	r.directory = make([]Partition, n)
	for i := range r.directory {
		p := decodeDirectory(entries[i*directoryBytes:])
		p.directory = i
		where := at + footerFixed + int64(i)*directoryBytes
		if i > 0 && r.directory[i-1].TopicPartition.Compare(p.TopicPartition) >= 0 {
			return r.corrupt(where, "partitions out of order")
		}
		if p.Partition < 0 || p.FirstOffset < 0 || p.EndOffset <= p.FirstOffset || p.blocks == 0 ||
			p.indexAt < headerBytes || p.indexAt > at || int64(p.blocks)*blockBytes > at-p.indexAt ||
			p.Transactions > 0 && (p.transactionsAt < headerBytes || p.transactionsAt > at || int64(p.transactionsBytes) > at-p.transactionsAt ||
				p.Transactions > maxTransactions || int64(p.Transactions)*minTransaction > int64(p.transactionsBytes)) {
			return r.corrupt(where, "directory entry makes no sense")
		}
		r.directory[i] = p
		r.transactions += int64(p.Transactions)
	}
	return nil
}

// Name is the file's base name.
func (r *Reader) Name() string { return r.name }

// Size of the file in bytes.
func (r *Reader) Size() int64 { return r.size }

// TransactionCount is how many transactions have their marker in the segment, over all
// partitions.
func (r *Reader) TransactionCount() int64 { return r.transactions }

// Partitions is the directory in (topic id, partition) order; read-only.
func (r *Reader) Partitions() []Partition { return r.directory }

// Find returns tp's directory entry, or nil.
func (r *Reader) Find(tp state.TopicPartition) *Partition {
	i, ok := sort.Find(len(r.directory), func(i int) int { return tp.Compare(r.directory[i].TopicPartition) })
	if !ok {
		return nil
	}
	return &r.directory[i]
}

// Blocks returns p's sparse index, in offset order; read-only. A *CorruptError
// concerns all of p.
func (r *Reader) Blocks(p *Partition) ([]Block, error) {
	key := cacheKey{r: r, directory: p.directory}
	if e := r.cache.get(key); e != nil {
		return e.blocks, nil
	}
	raw := make([]byte, int(p.blocks)*blockBytes)
	if err := r.ReadAt(raw, p.indexAt); err != nil {
		return nil, err
	}
	if sum(raw) != p.indexCRC {
		return nil, r.corrupt(p.indexAt, "block index checksum mismatch")
	}
	blocks := make([]Block, p.blocks)
	end := p.FirstOffset
	for i := range blocks {
		b := decodeBlock(raw[i*blockBytes:])
		if b.FirstOffset < end || b.EndOffset <= b.FirstOffset || b.EndOffset > p.EndOffset ||
			b.At < headerBytes || b.At+int64(b.DataBytes) > r.size || b.tableAt < headerBytes || b.tableAt+int64(b.tableBytes) > r.size ||
			b.Batches == 0 || b.Batches > maxBlockBatches || int64(b.Batches)*minTableEntry > int64(b.tableBytes) {
			return nil, r.corrupt(p.indexAt+int64(i)*blockBytes, "block index entry makes no sense")
		}
		end = b.EndOffset
		blocks[i] = b
	}
	r.cache.put(&cacheEntry{key: key, blocks: blocks})
	return blocks, nil
}

// Batches appends the batches of a block to dst. scratch is working memory,
// returned for the next call. A *CorruptError concerns that block.
func (r *Reader) Batches(b *Block, dst []Batch, scratch []byte) ([]Batch, []byte, error) {
	if cap(scratch) < int(b.tableBytes) {
		scratch = make([]byte, b.tableBytes)
	}
	raw := scratch[:b.tableBytes]
	if err := r.ReadAt(raw, b.tableAt); err != nil {
		return dst, scratch, err
	}
	if sum(raw) != b.tableCRC {
		return dst, scratch, r.corrupt(b.tableAt, "batch table checksum mismatch")
	}
	n := len(dst)
	t := table{end: b.FirstOffset, lsn: b.FirstLSN}
	dst, ok := t.decode(raw, int(b.Batches), b.At, dst)
	if ok {
		last := &dst[len(dst)-1]
		ok = last.At+int64(last.SizeBytes) == b.At+int64(b.DataBytes) && last.LastOffset+1 == b.EndOffset
	}
	if !ok {
		return dst[:n], scratch, r.corrupt(b.tableAt, "batch table does not match its block")
	}
	return dst, scratch, nil
}

// ReadAt fills p from byte at on; a file that ends before is corrupt.
func (r *Reader) ReadAt(p []byte, at int64) error {
	n, err := r.f.ReadAt(p, at)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return r.corrupt(at, "the file ends after %d of %d bytes", n, len(p))
	}
	return err
}

// Close closes the file; no call may be running or follow.
func (r *Reader) Close() error {
	if r.f == nil {
		return nil
	}
	r.cache.forget(r)
	return r.f.Close()
}
