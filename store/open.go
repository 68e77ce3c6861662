package store

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"

	"millrace/internal/budget"
	"millrace/store/commitlog"
	"millrace/store/segment"
	"millrace/store/state"
)

// Names inside the data directory.
const (
	lockName    = "LOCK"
	formatName  = "FORMAT"
	logDir      = "log"
	segmentsDir = "segments"
)

// Open locks dir, recovers and starts the background work.
func Open(ctx context.Context, o Options) (*Store, error) {
	o = o.withDefaults()
	if o.Dir == "" {
		return nil, errors.New("store: no data directory given")
	}
	if err := o.FS.MkdirAll(o.Dir); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	lock, err := o.FS.Lock(filepath.Join(o.Dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("store: data directory %s is in use: %w", o.Dir, err)
	}
	s, err := openLocked(ctx, o)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	s.closers = append(s.closers, lock.Close)
	return s, nil
}

func openLocked(ctx context.Context, o Options) (*Store, error) {
	if err := checkFormat(o.FS, o.Dir); err != nil {
		return nil, err
	}
	log, err := openLog(o)
	if err != nil {
		return nil, err
	}
	s, err := openWith(ctx, o, log)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return s, nil
}

// openWith opens a store over log, which it closes in Close. Segments go under o.Dir.
func openWith(ctx context.Context, o Options, log commitlog.Log) (*Store, error) {
	o = o.withDefaults()
	s := &Store{
		o:             o,
		log:           log,
		budget:        budget.New(o.InFlightBytes),
		queue:         newQueue(),
		tail:          &tailCache{limit: o.TailCacheBytes},
		versions:      &versionSet{},
		cache:         segment.NewCache(segmentCacheBytes),
		healWanted:    make(chan struct{}, 1),
		stop:          make(chan struct{}),
		stopPublisher: make(chan struct{}),
	}
	s.keeper.init()
	s.metrics = newMetrics(o.Registry, s)
	if err := s.recover(ctx); err != nil {
		s.releaseAll()
		return nil, err
	}
	s.versions.dropped = s.wakeMaintenance
	s.wg.Add(5)
	go s.publisher()
	go s.healer()
	go s.maintenance()
	go s.retention()
	go s.compaction()
	if err := s.ensureClusterID(ctx); err != nil {
		return nil, errors.Join(err, s.shutdown(false))
	}
	return s, nil
}

// The document that holds the cluster id.
const (
	storeKind    = "store"
	clusterIDKey = "cluster-id"
)

// clusterIDBytes of randomness give 22 characters, the form of Kafka's ids.
const clusterIDBytes = 16

func (s *Store) ensureClusterID(ctx context.Context) error {
	if _, ok := s.Document(storeKind, clusterIDKey); !ok {
		var id [clusterIDBytes]byte
		rand.Read(id[:]) // never fails
		res, err := s.Commit(ctx, state.PutDocument{Kind: storeKind, Key: clusterIDKey, Data: []byte(base64.RawURLEncoding.EncodeToString(id[:]))})
		if err != nil {
			return fmt.Errorf("store: cluster id: %w", err)
		}
		if err := res.(state.DocumentResult).Err; err != nil {
			return fmt.Errorf("store: cluster id: %w", err)
		}
	}
	d, _ := s.Document(storeKind, clusterIDKey)
	s.clusterID = string(d.Data)
	return nil
}

// Close drains queued submissions, checkpoints, and releases everything.
// Snapshots must have been released; later calls return the first one's error.
func (s *Store) Close() error {
	s.closeOnce.Do(func() { s.closeErr = s.shutdown(true) })
	return s.closeErr
}

// shutdown ends in this order: submissions, background work, publisher,
// checkpoint, log, segments, lock.
func (s *Store) shutdown(checkpoint bool) error {
	s.seq.Lock()
	s.seq.closed = true
	s.seq.Unlock()
	s.budget.Block(false)
	s.queue.drain()
	close(s.stop)
	s.keeper.end()
	close(s.stopPublisher)
	s.wg.Wait()
	s.budget.Block(false) // the last entries may have filled the log: whoever waits learns that it is closed
	var errs []error
	if checkpoint {
		if err := s.checkpoint(); err != nil {
			errs = append(errs, fmt.Errorf("store: checkpoint at close: %w", err))
		}
	}
	errs = append(errs, s.log.Close())
	s.releaseAll()
	for _, c := range s.closers {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// releaseAll gives up the present version and the checkpoint's segments. What is
// called afterwards finds no topics.
func (s *Store) releaseAll() {
	s.pub.Lock()
	v := s.pub.version
	s.pub.closed = true
	s.pub.topics = &TopicSet{}
	s.pub.parts = nil
	s.topics.Store(s.pub.topics)
	s.pub.version = s.versions.add(nil, []*memtable{newMemtable(s.pub.lsn+1, nil)})
	s.pub.Unlock()
	if v != nil {
		v.unref()
	}
	for _, f := range s.keeper.listed {
		f.unref()
	}
	s.keeper.listed = nil
	s.metrics.unregister()
}
