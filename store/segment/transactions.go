package segment

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"sort"
)

// Transaction is one decided transaction in one partition: what ProducerID wrote in
// [First, Marker) with its transactional flag became visible, or was given up, with
// entry LSN, which holds the marker.
type Transaction struct {
	ProducerID int64
	First      int64
	Marker     int64
	LSN        uint64
	Committed  bool
}

const (
	// maxTransactions bounds a partition's list in one segment, whatever it says of itself.
	maxTransactions = 8 << 20
	// minTransaction is the least bytes of an encoded transaction.
	minTransaction = 4
	// transactionMemory is what a cached one takes.
	transactionMemory = 48
)

// appendTransactions encodes a list, in the order of markers, each relative to the one before:
//
//	marker − previous, marker − first, (LSN − previous) × 2 + 1 if committed   unsigned
//	producer id − previous                                                     zigzag
func appendTransactions(b []byte, list []Transaction) []byte {
	var last Transaction
	for i := range list {
		t := &list[i]
		b = binary.AppendUvarint(b, uint64(t.Marker-last.Marker))
		b = binary.AppendUvarint(b, uint64(t.Marker-t.First))
		lsn := (t.LSN - last.LSN) << 1
		if t.Committed {
			lsn |= 1
		}
		b = binary.AppendUvarint(b, lsn)
		b = binary.AppendVarint(b, t.ProducerID-last.ProducerID)
		last = *t
	}
	return b
}

// decodeTransactions decodes n; false if b holds something else.
func decodeTransactions(b []byte, n int) ([]Transaction, bool) {
	list := make([]Transaction, 0, n)
	var last Transaction
	for range n {
		var u [3]uint64
		for i := range u {
			v, k := binary.Uvarint(b)
			if k <= 0 {
				return nil, false
			}
			u[i], b = v, b[k:]
		}
		producer, k := binary.Varint(b)
		if k <= 0 {
			return nil, false
		}
		b = b[k:]
		t := Transaction{
			ProducerID: last.ProducerID + producer,
			Marker:     last.Marker + int64(u[0]),
			LSN:        last.LSN + u[2]>>1,
			Committed:  u[2]&1 != 0,
		}
		t.First = t.Marker - int64(u[1])
		if t.First < 0 || t.First > t.Marker || t.Marker < last.Marker || len(list) > 0 && t.Marker == last.Marker {
			return nil, false
		}
		list = append(list, t)
		last = t
	}
	return list, len(b) == 0
}

// abortedRun is how many neighbouring transactions share one entry of the index that
// tells runs apart in which none matters.
const abortedRun = 256

// Transactions is a list that finds what it is asked for in logarithmic time (or close
// to it). Immutable.
type Transactions struct {
	list       []Transaction // by marker
	byProducer []int32       // positions in list, by (producer id, marker)
	minFirst   []int64       // least first offset of an aborted one, per run of abortedRun
}

func newTransactions(list []Transaction) *Transactions {
	t := &Transactions{list: list, byProducer: make([]int32, len(list))}
	for i := range t.byProducer {
		t.byProducer[i] = int32(i)
	}
	slices.SortFunc(t.byProducer, func(a, b int32) int {
		if c := cmp.Compare(list[a].ProducerID, list[b].ProducerID); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	for i := 0; i < len(list); i += abortedRun {
		t.minFirst = append(t.minFirst, minAborted(list[i:min(i+abortedRun, len(list))]))
	}
	return t
}

func minAborted(list []Transaction) int64 {
	first := int64(math.MaxInt64)
	for i := range list {
		if !list[i].Committed {
			first = min(first, list[i].First)
		}
	}
	return first
}

// All of them in the order of markers; read-only.
func (t *Transactions) All() []Transaction { return t.list }

// Find returns the first transaction of the producer whose marker lies behind offset: the
// one that a batch at offset belongs to, if its marker is in this list.
func (t *Transactions) Find(producer, offset int64) (Transaction, bool) {
	i := sort.Search(len(t.byProducer), func(i int) bool {
		x := &t.list[t.byProducer[i]]
		return x.ProducerID > producer || x.ProducerID == producer && x.Marker > offset
	})
	if i == len(t.byProducer) || t.list[t.byProducer[i]].ProducerID != producer {
		return Transaction{}, false
	}
	return t.list[t.byProducer[i]], true
}

// Aborted appends the aborted transactions that reach to from or behind and begin before to.
func (t *Transactions) Aborted(from, to int64, dst []Transaction) []Transaction {
	return AppendAborted(dst, t.list, t.minFirst, from, to)
}

// AppendAborted is Transactions.Aborted over a list and the least first offsets of its runs
// (AbortedRun each, the last one possibly shorter or missing).
func AppendAborted(dst, list []Transaction, minFirst []int64, from, to int64) []Transaction {
	i := sort.Search(len(list), func(i int) bool { return list[i].Marker >= from })
	for i < len(list) {
		run := i / abortedRun
		end := min((run+1)*abortedRun, len(list))
		if run >= len(minFirst) || minFirst[run] < to {
			for ; i < end; i++ {
				if x := &list[i]; !x.Committed && x.First < to {
					dst = append(dst, *x)
				}
			}
		}
		i = end
	}
	return dst
}

// AbortedRun is the length of AppendAborted's runs.
const AbortedRun = abortedRun

// Transactions returns p's transactions. A *CorruptError concerns all of p that
// is transactional.
func (r *Reader) Transactions(p *Partition) (*Transactions, error) {
	if p.Transactions == 0 {
		return &Transactions{}, nil
	}
	key := cacheKey{r: r, directory: p.directory, transactions: true}
	if e := r.cache.get(key); e != nil {
		return e.transactions, nil
	}
	raw := make([]byte, p.transactionsBytes)
	if err := r.ReadAt(raw, p.transactionsAt); err != nil {
		return nil, err
	}
	if sum(raw) != p.transactionsCRC {
		return nil, r.corrupt(p.transactionsAt, "transaction list checksum mismatch")
	}
	list, ok := decodeTransactions(raw, int(p.Transactions))
	if !ok {
		return nil, r.corrupt(p.transactionsAt, "transaction list makes no sense")
	}
	t := newTransactions(list)
	r.cache.put(&cacheEntry{key: key, transactions: t})
	return t, nil
}
