// Package ingest accepts record batches once: it checks them against their topic,
// and hands them to the store, which orders them and makes them durable. Both
// wires and the commands write through it.
//
// A batch is stored as it was sent. Only three things change it: the topic's
// timestamp type, its compression type, and a header whose maximum timestamp is
// not that of its records.
package ingest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"millrace/internal/recordbatch"
	"millrace/internal/topicconfig"
	"millrace/store/state"

	"github.com/prometheus/client_golang/prometheus"
)

// Store is what ingest needs of the partition store; *store.Store has it.
type Store interface {
	Submit(ctx context.Context, intent state.Intent, payload [][]byte, done func(result any, err error)) error
}

// Options of an Ingest. Zero values take the defaults.
type Options struct {
	Now func() time.Time // default time.Now

	// MaxDecompressedBytes bounds what a compressed batch may expand to; default
	// 64 MiB, or the topic's max.message.bytes where that is more. Readers
	// (SQL, clients) must be able to hold it.
	MaxDecompressedBytes int

	// Check is asked about the batches of topics with millrace.on_error=reject once
	// they are sound otherwise. Its error, if any, is why the batch is refused; a
	// *RecordsError tells the producer which records are to blame.
	Check func(t *Topic, b *recordbatch.Batch) error

	Registry prometheus.Registerer // nil: no metrics
}

// Ingest is safe for concurrent use.
type Ingest struct {
	store   Store
	o       Options
	metrics *metrics
	topics  sync.Map     // state.TopicID → *Topic
	parsed  atomic.Int64 // entries made in topics since it was last emptied
	readers sync.Pool
}

// New returns an Ingest over st.
func New(st Store, o Options) *Ingest {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxDecompressedBytes <= 0 {
		o.MaxDecompressedBytes = recordbatch.DefaultMaxDecompressedBytes
	}
	in := &Ingest{store: st, o: o, metrics: newMetrics(o.Registry)}
	in.readers.New = func() any { return new(recordbatch.Reader) }
	return in
}

// maxCachedTopics bounds the cache of parsed configurations, in which deleted topics
// stay: once so many were made it is emptied, and what lives is parsed again.
const maxCachedTopics = 20_000

// Topic is a topic with its parsed configuration. Immutable.
type Topic struct {
	state.Topic
	Config topicconfig.Config

	recompress bool // to codec, because compression.type is not "producer"
	codec      int
}

// Topic returns t with its configuration parsed, from a cache. An error means a
// stored configuration that this version does not understand.
func (in *Ingest) Topic(t state.Topic) (*Topic, error) {
	if v, ok := in.topics.Load(t.ID); ok {
		cached := v.(*Topic)
		if cached.ConfigVersion == t.ConfigVersion && cached.Partitions == t.Partitions {
			return cached, nil
		}
	}
	cfg, err := topicconfig.Parse(t.Configs)
	if err != nil {
		return nil, fmt.Errorf("topic %q: %w", t.Name, err)
	}
	parsed := &Topic{Topic: t, Config: cfg}
	if cfg.CompressionType != "producer" {
		codec, ok := recordbatch.CodecByName(cfg.CompressionType)
		if !ok {
			return nil, fmt.Errorf("topic %q: %w: compression.type %q", t.Name, state.ErrInvalidConfig, cfg.CompressionType)
		}
		parsed.recompress, parsed.codec = true, codec
	}
	if in.parsed.Add(1) > maxCachedTopics {
		in.parsed.Store(0)
		in.topics.Clear()
	}
	in.topics.Store(t.ID, parsed)
	return parsed, nil
}
