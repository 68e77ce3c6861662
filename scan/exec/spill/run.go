package spill

import (
	"bytes"
	"container/heap"
	"encoding/binary"
	"fmt"
)

// Run is a file of records (see Buffer), in their order.
type Run struct {
	file File
	Size int64 // bytes
}

// BufferBytes is how much is written or read at once; a merge holds one for each run.
const BufferBytes = 256 << 10

// Write writes the rows of a sorted buffer.
func Write(s Files, b *Buffer) (*Run, error) {
	f, err := s.Create()
	if err != nil {
		return nil, fmt.Errorf("spill: %w", err)
	}
	r := &Run{file: f}
	buf := make([]byte, 0, BufferBytes)
	flush := func() error {
		if _, err := f.Write(buf); err != nil {
			_ = f.Close() // the write's error is the one to tell
			return fmt.Errorf("spill: %w", err)
		}
		r.Size += int64(len(buf))
		buf = buf[:0]
		return nil
	}
	for _, it := range b.Items {
		record := b.Record(it)
		_, _, rest := Split(record)
		record = record[:len(record)-len(rest)]
		if len(buf) > 0 && len(buf)+len(record) > cap(buf) {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		buf = append(buf, record...)
	}
	return r, flush()
}

// Close gives the file back.
func (r *Run) Close() error { return r.file.Close() }

// runReader reads a run from its beginning.
type runReader struct {
	*Run
	at       int64 // read so far
	buf      []byte
	rest     []byte // of buf
	key, row []byte // of the present record
	order    int    // of runs: equal keys come from the earlier one first
}

// next moves to the next record; false at the end.
func (r *runReader) next() (bool, error) {
	for {
		if key, row, rest, ok := wholeRecord(r.rest); ok {
			r.key, r.row, r.rest = key, row, rest
			return true, nil
		}
		left := r.Size - r.at
		if left == 0 {
			if len(r.rest) > 0 {
				return false, fmt.Errorf("spill: %d bytes behind the last row", len(r.rest))
			}
			return false, nil
		}
		if len(r.rest) == cap(r.buf) || r.buf == nil { // a record larger than the buffer
			bigger := make([]byte, len(r.rest), max(BufferBytes, 2*cap(r.buf)))
			copy(bigger, r.rest)
			r.buf = bigger
		} else {
			r.buf = r.buf[:copy(r.buf[:cap(r.buf)], r.rest)]
		}
		n := int(min(int64(cap(r.buf)-len(r.buf)), left))
		from := len(r.buf)
		r.buf = r.buf[:from+n]
		if _, err := r.file.ReadAt(r.buf[from:], r.at); err != nil {
			return false, fmt.Errorf("spill: %w", err)
		}
		r.at += int64(n)
		r.rest = r.buf
	}
}

// wholeRecord cuts the first record off b if all of it is there.
func wholeRecord(b []byte) (key, row, rest []byte, ok bool) {
	k, n := binary.Uvarint(b)
	if n <= 0 {
		return nil, nil, nil, false
	}
	r, m := binary.Uvarint(b[n:])
	if m <= 0 || uint64(len(b)-n-m) < k+r {
		return nil, nil, nil, false
	}
	b = b[n+m:]
	return b[:k:k], b[k : k+r : k+r], b[k+r:], true
}

// Merge yields the records of several runs in order.
type Merge struct{ runs []*runReader }

// NewMerge begins at the first row of all runs; of rows with equal keys those of earlier runs come first.
func NewMerge(runs []*Run) (*Merge, error) {
	m := &Merge{}
	for i, run := range runs {
		r := &runReader{Run: run, order: i}
		ok, err := r.next()
		if err != nil {
			return nil, err
		}
		if ok {
			m.runs = append(m.runs, r)
		}
	}
	heap.Init(m)
	return m, nil
}

// Row is the present row, nil at the end; valid until Advance.
func (m *Merge) Row() []byte {
	if len(m.runs) == 0 {
		return nil
	}
	return m.runs[0].row
}

// Advance goes to the next row.
func (m *Merge) Advance() error {
	ok, err := m.runs[0].next()
	switch {
	case err != nil:
		return err
	case ok:
		heap.Fix(m, 0)
	default:
		heap.Pop(m)
	}
	return nil
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (m *Merge) Len() int { return len(m.runs) }

func (m *Merge) Less(i, j int) bool {
	if c := bytes.Compare(m.runs[i].key, m.runs[j].key); c != 0 {
		return c < 0
	}
	return m.runs[i].order < m.runs[j].order
}
func (m *Merge) Swap(i, j int) { m.runs[i], m.runs[j] = m.runs[j], m.runs[i] }
func (m *Merge) Push(x any)    { m.runs = append(m.runs, x.(*runReader)) }
func (m *Merge) Pop() any {
	last := m.runs[len(m.runs)-1]
	m.runs = m.runs[:len(m.runs)-1]
	return last
}
