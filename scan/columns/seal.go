package columns

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"millrace/blobexpand"
	"millrace/catalog"
	"millrace/internal/topicconfig"
	"millrace/internal/vector"
	"millrace/scan"
	"millrace/scan/exec"
	"millrace/store"
	"millrace/store/commitlog"
	"millrace/store/segment/colfile"
	"millrace/store/state"

	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/google/uuid"
)

// sealBlocks is how many blocks go into one file: about a million rows. More make larger files, of which more
// is written anew when something in them has changed.
const sealBlocks = 8

// reserveShare and reserveMax are what sealing leaves free of the disk, for producers: one part in so many, and no more
// than so many bytes.
const (
	reserveShare = 20
	reserveMax   = 1 << 30
)

// ErrNoRoom says that files of columns are not written because the disk is nearly full.
var ErrNoRoom = errors.New("columns: the disk is nearly full")

// Progress is what Seal did.
type Progress struct {
	Blocks, Rows int
	FileBytes    int64
	// Upto is, for each partition asked for, the offset below which nothing is left to seal; More says that there is
	// something above in one of them.
	Upto []int64
	More bool
}

// Seal writes blocks of partitions that are in no file yet into one: those that are full, or, with all, whatever
// is decided. At most sealBlocks; Progress.More says whether to come again. pace is called often, each 50 µs of work or so. The
// snapshot must be one that t was bound to.
func (s *Set) Seal(ctx context.Context, sn *store.Snapshot, t *catalog.Table, partitions []int32, all bool, pace func(context.Context) error) (Progress, error) {
	out := Progress{Upto: make([]int64, len(partitions))}
	if s.o.Dir == "" {
		return out, nil
	}
	src := &source{set: s, sn: sn}
	var chosen []*view
	for i, partition := range partitions {
		p := s.part(t.Topic, partition)
		v := &seen{sn: sn}
		var err error
		if v.bound, err = sn.Bounds(p.tp); err != nil {
			return out, fmt.Errorf("columns: %s-%d: %w", t.Topic.Name, partition, err)
		}
		v.copy = sn.Compacted(p.tp)
		blocks, upto, more, err := p.claim(ctx, v, all, sealBlocks-len(chosen))
		if err != nil {
			return out, err
		}
		for _, b := range blocks {
			chosen = append(chosen, &view{s: src, t: t, b: b, bound: v.bound})
		}
		out.Upto[i], out.More = upto, out.More || more
	}
	if len(chosen) == 0 {
		return out, nil
	}
	cols, fcols := fileColumns(t)
	tf := s.filesOf(t.Topic)
	if err := s.o.FS.MkdirAll(tf.dir); err != nil {
		return out, err
	}
	if err := s.room(chosen); err != nil {
		return out, err
	}
	tf.mu.Lock()
	tf.lastID++
	id := tf.lastID
	tf.mu.Unlock()
	info := colfile.Info{Topic: t.Topic.ID, TopicName: t.Topic.Name, ID: id, Created: s.o.Now().UnixMilli(), Columns: fcols}
	w, err := colfile.Create(s.o.FS, filepath.Join(tf.dir, fmt.Sprintf("%012d%s", id, colfile.Suffix)), info)
	if err != nil {
		return out, err
	}
	complete := knowsAll(t)
	work := s.workspace(pace)
	defer s.keepWorkspace(work)
	w.Pace = func() error { return pace(ctx) }
	var written []*block
	for _, c := range chosen {
		c.work = work
		if err = pace(ctx); err != nil {
			break
		}
		var rows int
		if rows, err = s.sealBlock(ctx, c, cols, w, complete); err != nil {
			break
		}
		if rows > 0 {
			written = append(written, c.b)
			out.Rows += rows
		}
	}
	if err == nil && len(written) > 0 {
		out.FileBytes = w.Bytes()
		err = w.Finish()
	}
	if err != nil || len(written) == 0 {
		return out, errors.Join(err, w.Abort())
	}
	out.Blocks = len(written)
	return out, s.adopt(tf, id, written)
}

// room is ErrNoRoom when files of the blocks might leave producers too little of the disk. Columns are rarely larger than the batches,
// unless those are compressed.
func (s *Set) room(chosen []*view) error {
	need := int64(0)
	for _, w := range chosen {
		need += 2 * w.b.bytes
	}
	return s.roomFor(need)
}

// roomFor is room for that many bytes.
func (s *Set) roomFor(need int64) error {
	total, free, err := s.o.FS.Free(s.o.Dir)
	if err != nil {
		return err
	}
	if free-need < min(total/reserveShare, reserveMax) {
		return fmt.Errorf("%w: %d bytes are free", ErrNoRoom, free)
	}
	return nil
}

// claim chooses blocks to seal, at most so many, and sees to it that nothing is joined to them. upto is the offset up to which
// all is sealed once they are.
func (p *part) claim(ctx context.Context, v *seen, all bool, most int) (chosen []*block, upto int64, more bool, err error) {
	list, err := p.cover(ctx, v)
	if err != nil {
		return nil, 0, false, err
	}
	if err := p.enter(ctx); err != nil {
		return nil, 0, false, err
	}
	defer p.leave()
	present := p.state.Load().list
	upto = v.bound.LogStart
	for _, b := range list {
		if b.end > v.bound.LastStable || !b.full && !all {
			break
		}
		if b.from < v.bound.LogStart || !slices.Contains(present, b) {
			break // changed since; the next snapshot sees it
		}
		if b.file.Load() == nil && b.maxRows > 0 {
			if len(chosen) == most {
				return chosen, upto, true, nil
			}
			b.full = true
			chosen = append(chosen, b)
		}
		upto = b.end
	}
	return chosen, upto, false, nil
}

// sealBlock adds one block to a file and returns its rows.
func (s *Set) sealBlock(ctx context.Context, w *view, cols []scan.Column, f *colfile.Writer, complete bool) (int, error) {
	vecs, from, to, release, err := w.open(ctx, cols, false)
	if err != nil {
		return 0, err
	}
	defer release()
	rows := to - from
	if rows == 0 {
		return 0, nil
	}
	if from != 0 || len(vecs) > 0 && to != vecs[0].Len {
		return 0, fmt.Errorf("%w: %v: rows [%d,%d)", errRows, w.b, from, to)
	}
	b := w.b
	blk := colfile.Block{
		Partition: b.p.tp.Partition, From: b.from, End: b.end, Rows: rows, Dense: b.dense, Complete: complete,
		Copy: b.copy, Committed: uint64(b.committed), RawBytes: b.bytes, MinTime: b.minTime, MaxTime: b.maxTime, Timed: b.timed,
	}
	tallies := make([]*exec.Tally, len(vecs))
	for i, v := range vecs {
		tallies[i] = tallyOf(v)
		if err := w.work.pace(ctx); err != nil {
			return 0, err
		}
	}
	sums, err := w.work.sums.block(ctx, w.work.pace, cols, vecs, tallies)
	if err != nil {
		return 0, err
	}
	return rows, f.AddColumns(blk, func(i int) (colfile.Content, error) {
		v := vecs[i]
		st, ok := s.cache.statsOf(b, w.key(cols[i]))
		if !ok || !st.Exact {
			st = statsOf(v)
		}
		return colfile.Content{Vec: v, Stats: toFile(v.Kind, st), Tally: tallyToFile(tallies[i]), Sums: sums[i]}, w.work.pace(ctx)
	})
}

// adopt makes a finished file the home of blocks.
func (s *Set) adopt(tf *topicFiles, id uint64, blocks []*block) error {
	path := filepath.Join(tf.dir, fmt.Sprintf("%012d%s", id, colfile.Suffix))
	r, err := colfile.Open(s.o.FS, path)
	if err != nil {
		return errors.Join(err, s.o.FS.Remove(path)) // nobody would look for it
	}
	f := &file{set: s, r: r}
	f.refs.Store(1)
	tf.mu.Lock()
	tf.files = slices.Insert(tf.files, 0, f)
	tf.mu.Unlock()
	for i, b := range blocks {
		if err := b.p.enter(context.Background()); err != nil {
			return err
		}
		b.file.Store(&sealed{f, i})
		b.p.sealed = replaceSealed(b.p.sealed, []sealed{{f, i}})
		b.p.leave()
	}
	return nil
}

// knowsAll says whether every member of the values in t has a column: then a column that comes later is NULL
// in all that there is now. Declared columns hide others, so with some nothing is said.
func knowsAll(t *catalog.Table) bool {
	if t.Rest || t.Config.ValueFormat != topicconfig.FormatJSON ||
		t.Config.Expand != topicconfig.ExpandAuto && t.Config.Expand != topicconfig.ExpandPinned {
		return false
	}
	return !slices.ContainsFunc(t.Expanded, func(c blobexpand.Column) bool { return c.Declared })
}

// fileColumns are the columns that a file of t has.
func fileColumns(t *catalog.Table) ([]scan.Column, []colfile.Column) {
	cols := []scan.Column{{Kind: scan.Partition}, {Kind: scan.Offset}, {Kind: scan.Timestamp}, {Kind: scan.Key}}
	for i := range t.Expanded {
		cols = append(cols, scan.Column{Kind: scan.Expanded, Index: i})
	}
	if t.Rest {
		cols = append(cols, scan.Column{Kind: scan.Rest})
	}
	out := make([]colfile.Column, len(cols))
	for i, c := range cols {
		typ := TypeOf(t, c)
		f := colfile.Column{Name: c.Name(t), Key: keyOf(t, c), Kind: typ.Kind, Scale: uint8(typ.Scale)}
		if f.Key == "" {
			f.Key = fmt.Sprintf("-%d", c.Kind) // for others only
		}
		switch c.Kind {
		case scan.Partition:
			f.Logical = colfile.Int32
		case scan.Timestamp:
			f.Logical = colfile.Millis
		case scan.Key, scan.Rest:
			f.Logical = colfile.Text
		case scan.Expanded:
			f.Logical, f.Precision = logicalOf(t.Expanded[c.Index].Type)
		}
		out[i] = f
	}
	return cols, out
}

// logicalOf is how a type is shown to others.
func logicalOf(t blobexpand.Type) (l colfile.Logical, precision uint8) {
	switch t.Kind {
	case blobexpand.Bool:
		return colfile.Bool, 0
	case blobexpand.Text, blobexpand.JSON: // JSON of ours may hold half surrogate pairs, which others refuse
		return colfile.Text, 0
	case blobexpand.Date:
		return colfile.Date, 0
	case blobexpand.DateTime:
		return colfile.Wall, 0
	case blobexpand.Timestamp:
		return colfile.Micros, 0
	case blobexpand.Decimal:
		return colfile.Number, t.Precision
	}
	return colfile.Plain, 0
}

func lsnOf(x uint64) commitlog.LSN { return commitlog.LSN(x) }

// toFile and fromFile translate bounds.
func toFile(k vector.Kind, st exec.Stats) colfile.Stats {
	out := colfile.Stats{Nulls: st.Nulls, HasMin: st.HasMin, HasMax: st.HasMax, Exact: st.Exact, HasSum: st.HasSum}
	if st.HasMin {
		out.Min = valueBytes(k, st.Min)
	}
	if st.HasMax {
		out.Max = valueBytes(k, st.Max)
	}
	if st.HasSum {
		out.Sum = valueBytes(vector.Decimal256, st.Sum)
	}
	return out
}

func valueBytes(k vector.Kind, c exec.Const) []byte {
	switch k {
	case vector.Int:
		return binary.LittleEndian.AppendUint64(nil, uint64(c.Int))
	case vector.Uint:
		return binary.LittleEndian.AppendUint64(nil, c.Uint)
	case vector.Float:
		return binary.LittleEndian.AppendUint64(nil, math.Float64bits(c.Float))
	case vector.String:
		return c.Bytes
	}
	var b []byte
	for _, w := range c.Dec.Array() {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

func fromFile(c *colfile.Column, st *colfile.Stats) exec.Stats {
	t := exec.Type{Kind: c.Kind, Scale: int32(c.Scale)}
	out := exec.Stats{Nulls: st.Nulls, HasMin: st.HasMin, HasMax: st.HasMax, Exact: st.Exact, HasSum: st.HasSum}
	if st.HasMin {
		out.Min = constOf(t, st.Min)
	}
	if st.HasMax {
		out.Max = constOf(t, st.Max)
	}
	if st.HasSum {
		out.Sum = constOf(exec.Type{Kind: vector.Decimal256, Scale: t.Scale}, st.Sum)
	}
	return out
}

func constOf(t exec.Type, b []byte) exec.Const {
	c := exec.Const{T: t}
	switch t.Kind {
	case vector.Int:
		c.Int = int64(binary.LittleEndian.Uint64(b))
	case vector.Uint:
		c.Uint = binary.LittleEndian.Uint64(b)
	case vector.Float:
		c.Float = math.Float64frombits(binary.LittleEndian.Uint64(b))
	case vector.String:
		c.Bytes = b
	default:
		w := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
		c.Dec = decimal256.New(w(3), w(2), w(1), w(0))
	}
	return c
}

// topicOfDir is the topic whose files lie in a directory of that name.
func topicOfDir(name string) (state.TopicID, bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return state.TopicID{}, false
	}
	id, err := uuid.Parse(name[i+1:])
	return id, err == nil
}
