package store

import (
	"log/slog"
	"time"

	"millrace/internal/vfs"

	"github.com/prometheus/client_golang/prometheus"
)

// Options configure a store. Zero values take the defaults named here.
type Options struct {
	Dir      string
	FS       vfs.FS           // default: the operating system's
	Now      func() time.Time // default: time.Now
	Logger   *slog.Logger
	Registry prometheus.Registerer // nil: no metrics

	LogFileBytes    int64         // largest log file; default 128 MiB
	UnsealedBytes   int64         // bound of the unsealed log; produce is throttled beyond; default 4 GiB
	SealBytes       int64         // an unsealed range this large is sealed; default 256 MiB
	SealAge         time.Duration // ... or this old; default 10 min
	TailCacheBytes  int64         // recent payload kept in memory; default 64 MiB
	InFlightBytes   int64         // queued, unsynced payload bytes; Submit waits beyond; default 64 MiB
	RetentionEvery  time.Duration // retention check interval; default 5 min (Kafka's)
	CompactKeyBytes int64         // memory for the keys of one compaction pass; a partition with more is compacted piece by piece; default 128 MiB
	CompactEvery    time.Duration // how often compaction looks for something to do; default 1 s
	MaxTopics       int           // default 10,000
	MaxPartitions   int           // default 100,000
}

// DefaultOptions are what Open takes for zero values.
func DefaultOptions() Options {
	o := Options{}.withDefaults()
	o.FS, o.Now, o.Logger = nil, nil, nil // Open's own
	return o
}

// withDefaults returns o with every zero value replaced.
func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.OS{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	bytes := func(v *int64, d int64) {
		if *v <= 0 {
			*v = d
		}
	}
	bytes(&o.LogFileBytes, 128<<20)
	bytes(&o.UnsealedBytes, 4<<30)
	bytes(&o.SealBytes, 256<<20)
	bytes(&o.TailCacheBytes, 64<<20)
	bytes(&o.InFlightBytes, 64<<20)
	bytes(&o.CompactKeyBytes, 128<<20)
	if o.SealAge <= 0 {
		o.SealAge = 10 * time.Minute
	}
	if o.RetentionEvery <= 0 {
		o.RetentionEvery = 5 * time.Minute
	}
	if o.CompactEvery <= 0 {
		o.CompactEvery = time.Second
	}
	if o.MaxTopics <= 0 {
		o.MaxTopics = 10_000
	}
	if o.MaxPartitions <= 0 {
		o.MaxPartitions = 100_000
	}
	return o
}
