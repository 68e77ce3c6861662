package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"millrace/internal/vfs"
	"millrace/store/segment"
	"millrace/store/state"
	"millrace/store/wal"
)

// Verify checks every checksum of the closed data directory and writes one line per
// finding to w; problems is their number. It changes nothing. err is for what
// kept it from looking: no such directory, one in use, one of a newer format.
func Verify(ctx context.Context, fs vfs.FS, dir string, w io.Writer) (problems int, err error) {
	if fs == nil {
		fs = vfs.OS{}
	}
	version, err := readFormat(fs, dir)
	switch {
	case err != nil:
		return 0, fmt.Errorf("store: %s is no data directory: %w", dir, err)
	case version > formatVersion:
		return 0, newerFormat(dir, version)
	}
	lock, err := fs.Lock(filepath.Join(dir, lockName))
	if err != nil {
		return 0, fmt.Errorf("store: data directory %s is in use: %w", dir, err)
	}
	v := &verifier{fs: fs, dir: dir, w: w}
	err = v.run(ctx)
	return v.problems, errors.Join(err, v.writeErr, lock.Close())
}

type verifier struct {
	fs       vfs.FS
	dir      string
	w        io.Writer
	problems int
	writeErr error

	checkpoint checkpointData
	state      *state.State
	segs       []*segment.Reader

	table   []byte
	data    []byte
	batches []segment.Batch
}

func (v *verifier) problem(format string, args ...any) {
	v.problems++
	if _, err := fmt.Fprintf(v.w, format+"\n", args...); err != nil && v.writeErr == nil {
		v.writeErr = err
	}
}

func (v *verifier) run(ctx context.Context) error {
	logPath := filepath.Join(v.dir, logDir)
	logged, err := wal.Verify(ctx, v.fs, logPath, func(err error) { v.problem("%v", err) })
	if err != nil {
		return err
	}
	v.state = state.New()
	found, err := wal.ReadSnapshot(v.fs, logPath, func(r io.Reader) error { return v.checkpoint.read(r) })
	if err == nil && found {
		v.state, err = state.Decode(v.checkpoint.state)
	}
	if err != nil {
		// Without the list of segments there is nothing more to look at.
		v.problem("%s: checkpoint: %v", logPath, err)
		return nil
	}
	if logged.Files == 0 {
		if left, err := v.fs.ReadDir(filepath.Join(v.dir, segmentsDir)); err == nil && len(left) > 0 && !found {
			v.problem("%s: there are segments, but the log is missing", logPath)
		}
	} else {
		if err := v.checkpoint.joins(logged.First); err != nil {
			v.problem("%s: %v", filepath.Join(logPath, "snapshot"), err)
		}
	}
	defer func() {
		for _, r := range v.segs {
			_ = r.Close() // read only
		}
	}()
	for _, id := range v.checkpoint.segments {
		name := filepath.Join(v.dir, segmentsDir, segmentName(id))
		r, err := segment.Open(v.fs, name, nil)
		switch {
		case errors.Is(err, segment.ErrVersion):
			return err
		case errors.Is(err, fs.ErrNotExist):
			v.problem("%s: missing", name)
			continue
		case err != nil:
			v.problem("%s: %v", name, err)
			continue
		case r.ID != id:
			v.problem("%s: it is segment %d", name, r.ID)
			if err := r.Close(); err != nil {
				return err
			}
			continue
		}
		v.segs = append(v.segs, r)
		if err := v.segment(ctx, r); err != nil {
			return err
		}
	}
	v.holes()
	return nil
}

// segment reads every byte of a segment.
func (v *verifier) segment(ctx context.Context, r *segment.Reader) error {
	for i := range r.Partitions() {
		p := &r.Partitions()[i]
		blocks, err := r.Blocks(p)
		if err != nil {
			v.unreadable(r, p, p.FirstOffset, p.EndOffset-1, err)
			continue
		}
		if _, err := r.Transactions(p); err != nil {
			v.unreadable(r, p, p.FirstOffset, p.EndOffset-1, err)
		}
		for j := range blocks {
			if err := ctx.Err(); err != nil {
				return err
			}
			v.block(r, p, &blocks[j])
		}
	}
	return nil
}

func (v *verifier) block(r *segment.Reader, p *segment.Partition, b *segment.Block) {
	var err error
	v.batches, v.table, err = r.Batches(b, v.batches[:0], v.table)
	if err == nil {
		if cap(v.data) < int(b.DataBytes) {
			v.data = make([]byte, b.DataBytes)
		}
		err = r.ReadAt(v.data[:b.DataBytes], b.At)
	}
	if err != nil {
		v.unreadable(r, p, b.FirstOffset, b.EndOffset-1, err)
		return
	}
	for i := range v.batches {
		k := &v.batches[i]
		if err := checkBatch(v.data[k.At-b.At:][:k.SizeBytes], k.BaseOffset, k.LastOffset); err != nil {
			v.unreadable(r, p, k.BaseOffset, k.LastOffset, &segment.CorruptError{File: r.Name(), Offset: k.At, Reason: err.Error()})
		}
	}
}

func (v *verifier) unreadable(r *segment.Reader, p *segment.Partition, first, last int64, err error) {
	v.problem("topic %q partition %d offsets %d-%d: %s/%v", v.topicName(p.TopicPartition), p.Partition, first, last, segmentsDir, err)
}

func (v *verifier) topicName(tp state.TopicPartition) string {
	if t, ok := v.state.Topic(tp.Topic); ok {
		return t.Name
	}
	return tp.Topic.String()
}

// holes finds offsets between two segments that neither has.
func (v *verifier) holes() {
	ends := map[state.TopicPartition]int64{}
	for _, r := range v.segs {
		for i := range r.Partitions() {
			p := &r.Partitions()[i]
			if r.Level == segment.Compacted {
				// What it does not have is gone for good, and of older ones nothing counts.
				ends[p.TopicPartition] = p.EndOffset
				continue
			}
			b, err := v.state.Bounds(p.TopicPartition)
			if err != nil {
				continue // the topic is gone
			}
			end, seen := ends[p.TopicPartition]
			if !seen {
				end = b.LogStart
			}
			if end = max(end, b.LogStart); p.FirstOffset > end {
				v.problem("topic %q partition %d offsets %d-%d: in no segment", v.topicName(p.TopicPartition), p.Partition, end, p.FirstOffset-1)
			}
			ends[p.TopicPartition] = max(end, p.EndOffset)
		}
	}
}
