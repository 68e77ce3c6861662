package segment

import (
	"errors"
	"fmt"

	"millrace/internal/vfs"
	"millrace/store/state"
)

const (
	// tableBufferBytes bounds the memory of batch tables: beyond, they are
	// written out between two blocks.
	tableBufferBytes = 1 << 20
)

// Writer writes one segment. A failed call leaves it fit for Abort only.
type Writer struct {
	fs   vfs.FS
	name string
	f    vfs.File

	out     *vfs.Stream
	written int64 // batches

	directory []Partition

	// The open partition and block.
	part     *Partition
	partSpan span
	blocks   []Block
	tables   []byte // of closed blocks not yet written; their tableAt is relative to its start
	pending  int    // blocks whose table is in tables
	block    *Block
	span     span
	table    table
	entries  []byte // the open block's table
	txn      producers

	transactions []Transaction // of the open partition

	// DeleteHorizon of compacted copies, to be set before Finish: when the first of their delete markers may go;
	// 0 if there are none.
	DeleteHorizon state.Millis
}

// Create begins a new segment file, which must not exist.
func Create(fs vfs.FS, name string, h Header) (*Writer, error) {
	f, err := fs.Create(name)
	if err != nil {
		return nil, err
	}
	w := &Writer{fs: fs, name: name, f: f, out: vfs.NewStream(f)}
	if err := w.out.Write(encodeHeader(h)); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// Add appends a batch. Partitions come in (topic id, partition) order, the
// batches of each with rising offsets and LSNs. raw is not kept.
func (w *Writer) Add(tp state.TopicPartition, m Batch, raw []byte) error {
	if int(m.SizeBytes) != len(raw) || m.LastOffset < m.BaseOffset {
		return fmt.Errorf("segment: batch of %d bytes described as %+v", len(raw), m)
	}
	if w.part == nil || w.part.TopicPartition != tp {
		if err := w.begin(tp, &m); err != nil {
			return err
		}
	}
	p := w.part
	if m.BaseOffset < p.EndOffset || m.LSN < p.LastLSN {
		return fmt.Errorf("segment: %v: batch at offset %d (entry %d) after offset %d (entry %d)", tp, m.BaseOffset, m.LSN, p.EndOffset, p.LastLSN)
	}
	if w.block != nil && (int(w.block.DataBytes)+len(raw) > BlockBytes || w.block.Batches >= maxBlockBatches) {
		if err := w.closeBlock(); err != nil {
			return err
		}
	}
	if w.block == nil {
		w.blocks = append(w.blocks, Block{At: w.out.Len(), FirstOffset: m.BaseOffset, FirstLSN: m.LSN})
		w.block = &w.blocks[len(w.blocks)-1]
		w.span = span{}
		w.table = table{end: m.BaseOffset, lsn: m.LSN}
		w.entries = w.entries[:0]
		w.txn.reset()
	}
	w.entries = w.table.append(w.entries, &m)
	w.txn.add(int(w.block.Batches), &m)
	w.span.add(m.MinTimestamp, m.MaxTimestamp)
	w.block.EndOffset = m.LastOffset + 1
	w.block.LastLSN = m.LSN
	w.block.DataBytes += uint32(len(raw))
	w.block.Batches++

	w.partSpan.add(m.MinTimestamp, m.MaxTimestamp)
	p.EndOffset = m.LastOffset + 1
	p.LastLSN = m.LSN
	p.Batches++
	p.DataBytes += int64(len(raw))
	p.MinAppendTime = min(p.MinAppendTime, m.AppendTime)
	p.MaxAppendTime = max(p.MaxAppendTime, m.AppendTime)
	w.written++
	return w.out.Write(raw)
}

// AddTransaction adds a transaction of the partition of the last Add, which has its
// marker among the batches added; in the order of markers.
func (w *Writer) AddTransaction(t Transaction) error {
	if n := len(w.transactions); w.part == nil || t.Marker >= w.part.EndOffset || t.Marker < w.part.FirstOffset || t.First > t.Marker ||
		n > 0 && w.transactions[n-1].Marker >= t.Marker {
		return fmt.Errorf("segment: transaction %+v out of place", t)
	}
	w.transactions = append(w.transactions, t)
	return nil
}

func (w *Writer) writeTransactions(p *Partition) error {
	if len(w.transactions) > maxTransactions {
		return fmt.Errorf("segment: %d transactions of one partition", len(w.transactions))
	}
	b := appendTransactions(nil, w.transactions)
	p.Transactions = uint32(len(w.transactions))
	p.MinAborted = minAborted(w.transactions)
	p.transactionsAt = w.out.Len()
	p.transactionsBytes = uint32(len(b))
	p.transactionsCRC = sum(b)
	w.transactions = w.transactions[:0]
	return w.out.Write(b)
}

func (w *Writer) begin(tp state.TopicPartition, m *Batch) error {
	if err := w.closePartition(); err != nil {
		return err
	}
	if n := len(w.directory); n > 0 && w.directory[n-1].TopicPartition.Compare(tp) >= 0 {
		return fmt.Errorf("segment: partition %v after %v", tp, w.directory[n-1].TopicPartition)
	}
	w.directory = append(w.directory, Partition{
		TopicPartition: tp, FirstOffset: m.BaseOffset, EndOffset: m.BaseOffset,
		FirstLSN: m.LSN, LastLSN: m.LSN, MinAppendTime: m.AppendTime, MaxAppendTime: m.AppendTime,
	})
	w.part = &w.directory[len(w.directory)-1]
	w.partSpan = span{}
	return nil
}

func (w *Writer) closeBlock() error {
	if w.block == nil {
		return nil
	}
	b := w.block
	w.block = nil
	w.entries = append(w.entries, w.txn.b...)
	b.MinTimestamp, b.MaxTimestamp = w.span.min, w.span.max
	b.tableAt = int64(len(w.tables))
	b.tableBytes = uint32(len(w.entries))
	b.tableCRC = sum(w.entries)
	w.tables = append(w.tables, w.entries...)
	w.pending++
	if len(w.tables) >= tableBufferBytes {
		return w.writeTables()
	}
	return nil
}

func (w *Writer) writeTables() error {
	for i := len(w.blocks) - w.pending; i < len(w.blocks); i++ {
		w.blocks[i].tableAt += w.out.Len()
	}
	w.pending = 0
	err := w.out.Write(w.tables)
	w.tables = w.tables[:0]
	return err
}

func (w *Writer) closePartition() error {
	if w.part == nil {
		return nil
	}
	if err := w.closeBlock(); err != nil {
		return err
	}
	if err := w.writeTables(); err != nil {
		return err
	}
	p := w.part
	w.part = nil
	p.MinTimestamp, p.MaxTimestamp = w.partSpan.min, w.partSpan.max
	list := make([]byte, 0, len(w.blocks)*blockBytes)
	for i := range w.blocks {
		list = appendBlock(list, &w.blocks[i])
	}
	if len(w.transactions) > 0 {
		if err := w.writeTransactions(p); err != nil {
			return err
		}
	}
	p.blocks = uint32(len(w.blocks))
	p.indexAt = w.out.Len()
	p.indexCRC = sum(list)
	w.blocks = w.blocks[:0]
	return w.out.Write(list)
}

// Finish writes the index, syncs and closes the file. The caller syncs the
// directory. It returns the file's size.
func (w *Writer) Finish() (size int64, err error) {
	if err := w.closePartition(); err != nil {
		return 0, err
	}
	footer := make([]byte, 0, footerFixed+len(w.directory)*directoryBytes)
	footer = le.AppendUint32(footer, uint32(len(w.directory)))
	footer = le.AppendUint32(footer, 0)
	footer = le.AppendUint64(footer, uint64(w.written))
	// The columnar part: offset, length, format, checksum. Level 0 has none.
	footer = append(footer, make([]byte, footerFixed-8-len(footer))...)
	footer = le.AppendUint64(footer, uint64(w.DeleteHorizon))
	for i := range w.directory {
		footer = appendDirectory(footer, &w.directory[i])
	}
	at := w.out.Len()
	trailer := make([]byte, 0, trailerBytes)
	trailer = le.AppendUint64(trailer, uint64(at))
	trailer = le.AppendUint64(trailer, uint64(len(footer)))
	trailer = le.AppendUint32(trailer, sum(footer))
	trailer = le.AppendUint32(trailer, version)
	trailer = le.AppendUint32(trailer, 0)
	trailer = le.AppendUint32(trailer, sum(trailer))
	trailer = append(trailer, magic...)
	if err := w.out.Write(footer); err != nil {
		return 0, err
	}
	if err := w.out.Write(trailer); err != nil {
		return 0, err
	}
	// The data first: the log's syncs may have to wait for the commit of the file
	// system's journal, and that for all data of the files in it.
	if err := w.out.Flush(); err != nil {
		return 0, err
	}
	if err := w.f.Sync(); err != nil {
		return 0, err
	}
	f := w.f
	w.f = nil
	return w.out.Len(), f.Close()
}

// Batches is how many were added so far.
func (w *Writer) Batches() int64 { return w.written }

// Abort closes and removes the file.
func (w *Writer) Abort() error {
	var err error
	if w.f != nil {
		err = w.f.Close()
		w.f = nil
	}
	return errors.Join(err, w.fs.Remove(w.name))
}
