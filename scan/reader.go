package scan

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"millrace/blobexpand"
	"millrace/catalog"
	"millrace/internal/recordbatch"
	"millrace/store/state"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Stats say what a scan did.
type Stats struct {
	PartitionsRead int64
	BatchesRead    int64 // raw batches
	RowsRead       int64 // records looked at
	ValuesExpanded int64 // values shredded into columns
	RowsReturned   int64
}

// Reader iterates over a request's record batches. Used by one goroutine.
type Reader struct {
	req    Request
	schema *arrow.Schema
	ranges []Range
	early  Expr
	late   Expr

	part     int // index in ranges of the present partition
	iter     BatchIter
	bounds   state.Bounds // of the present partition
	keeps    recordFilter // of the present partition; nil: all records count
	taken    int64        // rows returned of the present partition
	decoder  decoder
	chunk    chunk
	reversed []recordbatch.Record
	open     bool // decoder has a batch
	done     bool

	ev       evaluator
	builders []builder // one per gathered system column
	gathered []Column  // system columns, then expanded and derived ones
	expander *blobexpand.Expander
	expanded []Column // what the expander yields, in its order
	faults   map[int]string
	rows     int
	bytes    int
	target   int
	headers  []recordbatch.Header
	scratch  []byte

	stats Stats
}

// Open plans the request. Nothing is read before the first Next.
func Open(req Request) (*Reader, error) {
	r := &Reader{req: req, target: firstBatchRows}
	r.early, r.late = stages(req.Filter)
	fields := make([]arrow.Field, len(req.Columns))
	for i, c := range req.Columns {
		typ, err := c.Type(req.Table)
		if err != nil {
			return nil, err
		}
		fields[i] = arrow.Field{Name: c.Name(req.Table), Type: typ, Nullable: true}
	}
	r.schema = arrow.NewSchema(fields, nil)
	for _, c := range columnsOf(req.Filter, nil) {
		if _, err := c.Type(req.Table); err != nil {
			return nil, err
		}
	}
	r.ranges = Ranges(&req)

	need := slices.Clone(req.Columns)
	need = columnsOf(r.late, need)
	var cols []blobexpand.Column
	wantErrors, wantRest := false, false
	shaped := isShaped(req.Table)
	for _, c := range need {
		if slices.Contains(r.gathered, c) || slices.Contains(r.expanded, c) {
			continue
		}
		switch c.Kind {
		case Expanded:
			cols = append(cols, req.Table.Expanded[c.Index])
			r.expanded = append(r.expanded, c)
		case Error:
			if shaped {
				wantErrors = true
			} else {
				r.gathered = append(r.gathered, c)
				r.builders = append(r.builders, newBuilder(c))
			}
		case Rest:
			wantRest = true
		default:
			r.gathered = append(r.gathered, c)
			r.builders = append(r.builders, newBuilder(c))
		}
	}
	if len(cols) > 0 || wantErrors || wantRest {
		r.expander = blobexpand.NewExpander(cols, blobexpand.ExpanderOptions{
			Errors: wantErrors, Rest: wantRest, All: req.Table.Expanded,
		})
		if wantErrors {
			r.expanded = append(r.expanded, Column{Kind: Error})
		}
		if wantRest {
			r.expanded = append(r.expanded, Column{Kind: Rest})
		}
	}
	for _, c := range columnsOf(r.early, need) {
		if needsRecords(c) {
			r.decoder.records = true
		}
		switch c.Kind {
		case RawKey, RawValue, RawHeaders, TimestampProducer, TimestampType:
			r.decoder.raw = true
		}
	}
	return r, nil
}

// isShaped says whether the table's values are expected to have a form that they can
// fail: JSON, or CSV with declared columns. Otherwise _error is null.
func isShaped(t *catalog.Table) bool {
	switch {
	case t.Config.Expand.String() == "off":
		return false
	case t.Config.ValueFormat == "" || t.Config.ValueFormat == "json":
		return true
	}
	return t.Config.ValueFormat == "csv" && len(t.Expanded) > 0
}

// Schema of the record batches.
func (r *Reader) Schema() *arrow.Schema { return r.schema }

// Stats so far.
func (r *Reader) Stats() Stats { return r.stats }

// Next returns the next record batch of 1 to MaxBatchRows rows, which the caller
// releases, or io.EOF. ctx is looked at before every raw batch.
func (r *Reader) Next(ctx context.Context) (arrow.RecordBatch, error) {
	for {
		if r.req.Limit > 0 && r.stats.RowsReturned >= r.req.Limit {
			r.done = true
		}
		if r.done {
			return nil, io.EOF
		}
		last, err := r.gather(ctx)
		if err != nil {
			r.reset()
			return nil, err
		}
		if last == partitionsEnd {
			r.done = true
		}
		r.target = min(2*r.target, MaxBatchRows)
		if r.rows > 0 {
			rec := r.finish()
			if rec != nil {
				n := rec.NumRows()
				r.stats.RowsReturned += n
				r.taken += n
			}
			switch {
			case last == partitionEnd:
				r.taken = 0
			case r.req.PartitionLimit > 0 && r.taken >= r.req.PartitionLimit:
				r.nextPartition()
				r.taken = 0
			}
			if rec != nil {
				return rec, nil
			}
		} else if last == partitionEnd {
			r.taken = 0
		}
	}
}

// Close releases what the reader holds. Idempotent.
func (r *Reader) Close() {
	r.done = true
	if r.iter != nil {
		r.iter.Close()
		r.iter = nil
	}
	r.reset()
}

// reset drops gathered rows.
func (r *Reader) reset() {
	if r.rows == 0 {
		return
	}
	for _, b := range r.builders {
		b.take().Release()
	}
	if r.expander != nil {
		for _, a := range r.expander.Take() {
			a.Release()
		}
	}
	r.rows, r.bytes, r.faults = 0, 0, nil
}

type gatherEnd uint8

const (
	batchFull gatherEnd = iota
	partitionEnd
	partitionsEnd
)

// remaining is how many rows may still be gathered now.
func (r *Reader) remaining() int {
	n := int64(r.target - r.rows)
	if r.late == nil { // every gathered row will be returned
		if r.req.Limit > 0 {
			n = min(n, r.req.Limit-r.stats.RowsReturned-int64(r.rows))
		}
		if r.req.PartitionLimit > 0 {
			n = min(n, r.req.PartitionLimit-r.taken-int64(r.rows))
		}
	}
	return int(n)
}

// gather collects rows that pass the early filter, up to the target. With a
// PartitionLimit it stops at the end of each partition, so that rows of two
// partitions are never in one record batch.
func (r *Reader) gather(ctx context.Context) (gatherEnd, error) {
	for r.remaining() > 0 && r.bytes < maxBatchBytes {
		if r.open {
			if !r.decode() {
				r.open = false
			}
			continue
		}
		if err := ctx.Err(); err != nil {
			return 0, context.Cause(ctx)
		}
		if r.iter == nil {
			if r.part >= len(r.ranges) {
				return partitionsEnd, nil
			}
			if err := r.openPartition(ctx); err != nil {
				return 0, err
			}
		}
		if !r.iter.Next() {
			err := r.iter.Err()
			r.nextPartition()
			if err != nil {
				return 0, err
			}
			if r.req.PartitionLimit > 0 {
				return partitionEnd, nil
			}
			continue
		}
		raw, err := r.iter.Bytes()
		if err != nil {
			return 0, err
		}
		r.stats.BatchesRead++
		if err := r.decoder.open(raw, r.iter.Info()); err != nil {
			return 0, err
		}
		r.open = true
		r.reversed = nil
		r.chunk.partition = r.ranges[r.part].Partition
	}
	return batchFull, nil
}

func (r *Reader) openPartition(ctx context.Context) error {
	rng := r.ranges[r.part]
	br := rng.Batches()
	br.Reverse = r.req.Reverse
	tp := state.TopicPartition{Topic: r.req.Table.Topic.ID, Partition: rng.Partition}
	bounds, err := r.req.Source.Bounds(tp)
	if err != nil {
		return fmt.Errorf("scan: %s-%d: %w", r.req.Table.Topic.Name, rng.Partition, err)
	}
	it, err := r.req.Source.Batches(ctx, tp, br)
	if err != nil {
		return fmt.Errorf("scan: %s-%d: %w", r.req.Table.Topic.Name, rng.Partition, err)
	}
	r.stats.PartitionsRead++
	r.iter, r.bounds = it, bounds
	r.keeps, _ = it.(recordFilter)
	return nil
}

func (r *Reader) nextPartition() {
	if r.iter != nil {
		r.iter.Close()
		r.iter = nil
	}
	r.open, r.reversed = false, nil
	r.part++
}

// decode takes the next chunk of the open batch; false when it has none left.
func (r *Reader) decode() bool {
	c := &r.chunk
	if !r.req.Reverse {
		if !r.decoder.next(c, max(1, min(r.remaining(), MaxBatchRows))) {
			return false
		}
		r.append(c)
		return true
	}
	// Backwards the whole batch is decoded first, then handed out from its end.
	if r.reversed == nil {
		if !r.decoder.next(c, math.MaxInt) {
			return false
		}
		r.reversed = slices.Clone(c.recs)
		for rest := (chunk{}); r.decoder.next(&rest, math.MaxInt); {
			r.reversed = append(r.reversed, rest.recs...)
			c.fault = rest.fault // from a fault on, the rest has offsets only
		}
		slices.Reverse(r.reversed)
	}
	if len(r.reversed) == 0 {
		return false
	}
	n, bytes := 0, 0
	for most := max(1, min(r.remaining(), MaxBatchRows)); n < min(most, len(r.reversed)) && bytes < maxBatchBytes; n++ {
		bytes += len(r.reversed[n].Key) + len(r.reversed[n].Value)
	}
	fault := c.fault
	c.reset()
	c.fault = fault
	c.recs = append(c.recs, r.reversed[:n]...)
	r.reversed = r.reversed[n:]
	r.append(c)
	return true
}

// append filters a chunk and gathers the rows that are left.
func (r *Reader) append(c *chunk) {
	c.clip(r.bounds, r.keeps)
	r.stats.RowsRead += int64(len(c.recs))
	var pass []Tri
	if r.early != nil {
		pass = r.ev.eval(r.early, c)
		defer r.ev.put(pass)
	}
	for i := range c.recs {
		if pass != nil && pass[i] != True {
			continue
		}
		rec := &c.recs[i]
		for _, b := range r.builders {
			r.bytes += b.append(r, c, rec)
		}
		if r.expander != nil {
			r.expander.Append(rec.Value)
			r.bytes += len(rec.Value)
			r.stats.ValuesExpanded++
			if c.fault != "" {
				if r.faults == nil {
					r.faults = make(map[int]string)
				}
				r.faults[r.rows] = c.fault
			}
		}
		r.rows++
	}
}

// gatheredRows are the vectors of the late filter.
type gatheredRows struct {
	n    int
	cols map[Column]arrow.Array
	vecs map[Column]*vector
}

func (g *gatheredRows) rows() int { return g.n }

func (g *gatheredRows) vector(c Column) *vector {
	if v := g.vecs[c]; v != nil {
		return v
	}
	v := vectorOf(g.cols[c])
	if g.vecs == nil {
		g.vecs = make(map[Column]*vector)
	}
	g.vecs[c] = v
	return v
}

// finish makes a record batch of the gathered rows; nil when none passes the late filter.
func (r *Reader) finish() arrow.RecordBatch {
	g := gatheredRows{n: r.rows, cols: make(map[Column]arrow.Array, len(r.gathered)+len(r.expanded))}
	for i, b := range r.builders {
		g.cols[r.gathered[i]] = b.take()
	}
	if r.expander != nil {
		for i, a := range r.expander.Take() {
			if r.expanded[i].Kind == Error && r.faults != nil {
				a = withFaults(a, r.faults)
			}
			g.cols[r.expanded[i]] = a
		}
	}
	defer func() {
		for _, a := range g.cols {
			a.Release()
		}
	}()
	r.rows, r.bytes, r.faults = 0, 0, nil

	n := g.n
	var sel []int32
	if r.late != nil {
		pass := r.ev.eval(r.late, &g)
		sel = make([]int32, 0, n)
		for i, t := range pass {
			if t == True {
				sel = append(sel, int32(i))
			}
		}
		r.ev.put(pass)
		if r.req.Limit > 0 {
			sel = sel[:min(int64(len(sel)), r.req.Limit-r.stats.RowsReturned)]
		}
		if r.req.PartitionLimit > 0 {
			sel = sel[:min(int64(len(sel)), r.req.PartitionLimit-r.taken)]
		}
		if len(sel) == 0 {
			return nil
		}
		if len(sel) == n {
			sel = nil
		} else {
			n = len(sel)
		}
	}
	cols := make([]arrow.Array, len(r.req.Columns))
	for i, c := range r.req.Columns {
		if sel == nil {
			cols[i] = g.cols[c]
			cols[i].Retain()
		} else {
			cols[i] = take(g.cols[c], sel)
		}
	}
	rec := array.NewRecordBatch(r.schema, cols, int64(n))
	for _, c := range cols {
		c.Release()
	}
	return rec
}

// withFaults puts the reasons why whole batches could not be decoded into the error
// vector.
func withFaults(a arrow.Array, faults map[int]string) arrow.Array {
	defer a.Release()
	errs := a.(*array.String)
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for i := range errs.Len() {
		switch f, ok := faults[i]; {
		case ok:
			b.Append(f)
		case errs.IsNull(i):
			b.AppendNull()
		default:
			b.Append(errs.Value(i))
		}
	}
	return b.NewArray()
}
