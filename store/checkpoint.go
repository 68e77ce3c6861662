package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"millrace/store/commitlog"
	"millrace/store/state"
)

// A checkpoint, little endian; the log checksums it:
//
//	"MRCP" | version u32 | lsn u64 | sealed u64 | segments u32
//	per segment, in LSN order:  id u64
//	open transactions u32
//	per open transaction:  topic id 16 | partition u32 | producer id u64 | first offset u64
//	state length u64 | state (state.Encode)
//
// The open transactions are those that have batches up to sealed and are not decided there.
// Version 1 knew none and lacks their number.
// The state is as of lsn; batches up to sealed lie in the segments. Recovery
// replays the log from the lower of the two on.
const (
	checkpointMagic   = "MRCP"
	checkpointVersion = 2
	// maxCheckpointBytes bounds the state; more is taken for damage.
	maxCheckpointBytes = 8 << 30
)

type checkpointData struct {
	lsn, sealed commitlog.LSN
	segments    []uint64
	open        openTransactions // as of sealed
	state       []byte
}

// joins says whether the log, which begins at entry first, goes on where the
// checkpoint (or none, the zero value) ends.
func (c *checkpointData) joins(first commitlog.LSN) error {
	if need := min(c.lsn, c.sealed) + 1; first > need {
		return fmt.Errorf("%w: the last checkpoint is missing: the log begins at entry %d, and the checkpoint found needs it from %d on", ErrCorrupt, first, need)
	}
	return nil
}

func (c *checkpointData) write(w io.Writer) error {
	b := bufio.NewWriterSize(w, 1<<16)
	h := append([]byte(nil), checkpointMagic...)
	h = binary.LittleEndian.AppendUint32(h, checkpointVersion)
	h = binary.LittleEndian.AppendUint64(h, uint64(c.lsn))
	h = binary.LittleEndian.AppendUint64(h, uint64(c.sealed))
	h = binary.LittleEndian.AppendUint32(h, uint32(len(c.segments)))
	for _, id := range c.segments {
		h = binary.LittleEndian.AppendUint64(h, id)
	}
	h = c.open.appendTo(h)
	h = binary.LittleEndian.AppendUint64(h, uint64(len(c.state)))
	_, _ = b.Write(h) // a failure stays until Flush
	_, _ = b.Write(c.state)
	return b.Flush()
}

func (c *checkpointData) read(r io.Reader) error {
	var h [28]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return fmt.Errorf("%w: checkpoint: %w", ErrCorrupt, err)
	}
	if string(h[:4]) != checkpointMagic {
		return fmt.Errorf("%w: not a checkpoint", ErrCorrupt)
	}
	v := binary.LittleEndian.Uint32(h[4:])
	if v < 1 || v > checkpointVersion {
		return fmt.Errorf("store: checkpoint version %d, this Millrace reads up to %d", v, checkpointVersion)
	}
	c.lsn = commitlog.LSN(binary.LittleEndian.Uint64(h[8:]))
	c.sealed = commitlog.LSN(binary.LittleEndian.Uint64(h[16:]))
	var u [8]byte
	for n := binary.LittleEndian.Uint32(h[24:]); n > 0; n-- {
		if _, err := io.ReadFull(r, u[:]); err != nil {
			return fmt.Errorf("%w: checkpoint: %w", ErrCorrupt, err)
		}
		c.segments = append(c.segments, binary.LittleEndian.Uint64(u[:]))
	}
	if v >= 2 {
		if err := c.readOpen(r); err != nil {
			return fmt.Errorf("%w: checkpoint: %w", ErrCorrupt, err)
		}
	}
	if _, err := io.ReadFull(r, u[:]); err != nil {
		return fmt.Errorf("%w: checkpoint: %w", ErrCorrupt, err)
	}
	n := binary.LittleEndian.Uint64(u[:])
	if n > maxCheckpointBytes {
		return fmt.Errorf("%w: checkpoint state of %d bytes", ErrCorrupt, n)
	}
	// Grown as it is read: a damaged length allocates no more than there is.
	var state bytes.Buffer
	if _, err := io.CopyN(&state, r, int64(n)); err != nil {
		return fmt.Errorf("%w: checkpoint: %w", ErrCorrupt, err)
	}
	c.state = state.Bytes()
	return nil
}

const openTransactionBytes = 16 + 4 + 8 + 8

// appendTo encodes o, in no order: it is read back into a map.
func (o openTransactions) appendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(o)))
	for key, first := range o {
		b = append(b, key.Topic[:]...)
		b = binary.LittleEndian.AppendUint32(b, uint32(key.Partition))
		b = binary.LittleEndian.AppendUint64(b, uint64(key.producer))
		b = binary.LittleEndian.AppendUint64(b, uint64(first))
	}
	return b
}

func (c *checkpointData) readOpen(r io.Reader) error {
	var b [openTransactionBytes]byte
	if _, err := io.ReadFull(r, b[:4]); err != nil {
		return err
	}
	c.open = openTransactions{}
	for n := binary.LittleEndian.Uint32(b[:]); n > 0; n-- {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return err
		}
		tp := state.TopicPartition{Topic: state.TopicID(b[:16]), Partition: int32(binary.LittleEndian.Uint32(b[16:]))}
		c.open[openKey{tp, int64(binary.LittleEndian.Uint64(b[20:]))}] = int64(binary.LittleEndian.Uint64(b[28:]))
	}
	return nil
}

// Checkpoint saves the state so that the next start replays less.
func (s *Store) Checkpoint(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.checkpoint()
}

// checkpoint saves the published state and the present version's segment list,
// then gives up the log and the segments that nothing needs any more.
func (s *Store) checkpoint() error {
	k := &s.keeper
	k.checkpoints.Lock()
	defer k.checkpoints.Unlock()

	s.freeze(true)
	// Memory first: the lock keeps the publisher waiting.
	encoded := make([]byte, 0, k.stateBytes+k.stateBytes/8)
	s.pub.RLock()
	v := s.pub.version.ref()
	c := checkpointData{lsn: s.pub.lsn, sealed: v.sealed(), open: v.mems[0].open, state: s.pub.state.Encode(encoded)}
	s.pub.RUnlock()
	defer v.unref()
	k.stateBytes = len(c.state)
	for _, f := range v.segs {
		c.segments = append(c.segments, f.id)
	}
	if err := s.log.SaveSnapshot(c.write); err != nil {
		return err
	}
	s.metrics.checkpoints.Inc()
	// The saved list holds its segments until the next one is saved.
	for _, f := range v.segs {
		f.ref()
	}
	old := k.listed
	k.listed = v.segs
	for _, f := range old {
		if !slices.Contains(v.segs, f) {
			f.retired.Store(true)
		}
		f.unref()
	}
	k.saved = min(c.lsn, c.sealed)
	return s.truncateLog()
}

// truncateLog gives up what no living version reads and the saved checkpoint
// does not need. Under keeper.checkpoints.
func (s *Store) truncateLog() error {
	before := min(s.keeper.saved+1, s.versions.neededLSN())
	if before <= s.log.First() {
		return nil
	}
	return s.log.Truncate(before)
}

// decodeState reads a checkpoint's state.
func (s *Store) decodeState(b []byte) (*state.State, error) {
	return state.DecodeWithLimits(b, s.limits())
}

func (s *Store) limits() state.Limits {
	return state.Limits{MaxTopics: s.o.MaxTopics, MaxPartitions: s.o.MaxPartitions}
}
