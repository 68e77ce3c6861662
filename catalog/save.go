package catalog

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"millrace/blobexpand"
	"millrace/store/commitlog"
	"millrace/store/state"

	"github.com/google/uuid"
)

// columnsKind is the kind of the documents that keep inference across restarts,
// keyed by topic id:
//
//	version = 1, flags, uvarint LSN, uvarint n, n × uvarint end offset by
//	partition, then blobexpand's own bytes (with flagInfers)
//
// Every record below the end offsets and every record of an entry up to the LSN is in.
//
// Columns and position are of one instant, and inference goes in log order: so
// reading on from the position after a crash gives every column the name it had.
const (
	columnsKind    = "columns"
	columnsVersion = 1

	flagLongKey = 1 << 0
	flagInfers  = 1 << 1
	flagPinned  = 1 << 2
)

var errBadColumns = errors.New("saved columns are damaged")

func (s *schema) encode() []byte {
	var flags byte
	if s.longKey {
		flags |= flagLongKey
	}
	if s.pinned {
		flags |= flagPinned
	}
	if s.inf != nil {
		flags |= flagInfers
	}
	b := binary.AppendUvarint([]byte{columnsVersion, flags}, s.upTo.Load())
	b = binary.AppendUvarint(b, uint64(len(s.ends)))
	for _, end := range s.ends {
		b = binary.AppendUvarint(b, uint64(max(end, 0)))
	}
	if s.inf != nil {
		b = append(b, s.inf.Encode()...)
	}
	return b
}

func (s *schema) decode(b []byte) error {
	lsn, ends, rest, err := decodePosition(b)
	if err != nil {
		return err
	}
	flags := b[1]
	if flags&flagInfers != 0 {
		inf, err := blobexpand.DecodeInference(rest)
		if err != nil {
			return err
		}
		s.inf = inf
	}
	s.longKey = flags&flagLongKey != 0
	s.pinned = flags&flagPinned != 0
	s.ends = ends
	s.upTo.Store(uint64(lsn))
	return nil
}

// decodePosition reads a document up to what was inferred.
func decodePosition(b []byte) (lsn commitlog.LSN, ends []int64, rest []byte, err error) {
	if len(b) < 3 || b[0] != columnsVersion {
		return 0, nil, nil, errBadColumns
	}
	b = b[2:]
	next := func() (v uint64) {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			err = errBadColumns
			return 0
		}
		b = b[n:]
		return v
	}
	lsn = commitlog.LSN(next())
	count := next()
	if err != nil || count > uint64(len(b)) {
		return 0, nil, nil, errBadColumns
	}
	ends = make([]int64, count)
	for i := range ends {
		ends[i] = int64(next())
	}
	return lsn, ends, b, err
}

// prepare loads what was saved of s, which the caller has entered, and takes over
// the topic's config.
func (c *Catalog) prepare(s *schema, t state.Topic) error {
	if !s.loaded {
		if doc, ok := c.st.Document(columnsKind, s.id.String()); ok {
			s.version = doc.Version
			if err := s.decode(doc.Data); err != nil {
				// All of it is derived: begin anew.
				c.log.Warn("saved columns not used", "topic", t.Name, "error", err)
				s.inf = nil
				s.upTo.Store(0)
				s.unsaved = true
			}
		}
		s.loaded = true
	}
	return s.configure(t)
}

// save writes s, which the caller has entered, if it has news; all says that
// progress without changes counts too.
func (c *Catalog) save(ctx context.Context, s *schema, progress int64) error {
	if !s.loaded || !s.unsaved && s.freshness < progress {
		return nil
	}
	doc := state.PutDocument{Kind: columnsKind, Key: s.id.String(), ExpectVersion: s.version, Data: s.encode()}
	res, err := c.st.Commit(ctx, doc)
	if err != nil {
		return err
	}
	r, ok := res.(state.DocumentResult)
	if !ok {
		return fmt.Errorf("saving columns: unexpected result %T", res)
	}
	if errors.Is(r.Err, state.ErrVersionMismatch) {
		// Only the catalog writes these; take the number and try at the next sweep.
		s.version = r.Version
		return nil
	}
	if r.Err != nil {
		return r.Err
	}
	c.m.saves.Inc()
	s.version = r.Version
	s.unsaved, s.freshness = false, 0
	return nil
}

// closeSaveBytes is how much progress without changes is worth a commit at Close: the first statement of the next run waits
// some 4 ms for each MiB that is read again.
const closeSaveBytes = 64 << 10

func (c *Catalog) saveAll(ctx context.Context) error {
	c.schemas.Lock()
	all := make([]*schema, 0, len(c.schemas.byTopic))
	for _, s := range c.schemas.byTopic {
		all = append(all, s)
	}
	c.schemas.Unlock()
	topics := c.st.Topics()
	for _, s := range all {
		if _, ok := topics.ByID(s.id); !ok {
			continue
		}
		if err := s.enter(ctx); err != nil {
			return err
		}
		err := c.save(ctx, s, min(closeSaveBytes, c.o.SaveBytes))
		s.leave()
		if err != nil {
			return fmt.Errorf("saving columns: %w", err)
		}
	}
	return nil
}

// forgetDeleted drops what is kept of topics that are gone.
func (c *Catalog) forgetDeleted(ctx context.Context) error {
	topics := c.st.Topics()
	c.schemas.Lock()
	for id := range c.schemas.byTopic {
		if _, ok := topics.ByID(id); !ok {
			delete(c.schemas.byTopic, id)
			delete(c.swept.ends, id)
		}
	}
	c.schemas.Unlock()
	c.checkers.Range(func(id, _ any) bool {
		if _, ok := topics.ByID(id.(state.TopicID)); !ok {
			c.checkers.Delete(id)
		}
		return true
	})
	for _, doc := range c.st.Documents(columnsKind) {
		id, err := uuid.Parse(doc.Key)
		if err == nil {
			if _, ok := topics.ByID(id); ok {
				continue
			}
		}
		if _, err := c.st.Commit(ctx, state.PutDocument{Kind: columnsKind, Key: doc.Key, ExpectVersion: doc.Version}); err != nil {
			return err
		}
	}
	return nil
}
