package catalog

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"millrace/blobexpand"
	"millrace/blobexpand/jsonval"
	"millrace/internal/topicconfig"
	"millrace/store/commitlog"
	"millrace/store/state"
)

// schema is what is known of one topic. The fields up to the atomics belong to
// whoever has entered.
type schema struct {
	id     state.TopicID
	inside chan struct{} // one token; a channel so that waiting ends with the context

	loaded  bool
	version uint64 // of the saved document; 0: none

	conf      topicconfig.Config
	confSet   bool
	confOf    uint64 // topic's ConfigVersion conf was read from
	declared  []blobexpand.Column
	inf       *blobexpand.Inference // nil: nothing is inferred in this mode
	longKey   bool
	pinned    bool // the switch to pinned has been carried out
	ends      []int64
	columns   []blobexpand.Column // as of the last change, for the log
	rest      bool                // there is a _rest, and the log has it
	unsaved   bool                // columns changed since the last save
	freshness int64               // bytes inferred since the last save

	waiting atomic.Int32 // who would like to enter

	used  atomic.Uint64 // number of the sweep during which it was last written or named
	table atomic.Pointer[Table]
	upTo  atomic.Uint64 // every record of entries up to this LSN is in table; stored after it
}

func newSchema(id state.TopicID) *schema {
	s := &schema{id: id, inside: make(chan struct{}, 1)}
	s.inside <- struct{}{}
	return s
}

func (s *schema) enter(ctx context.Context) error {
	if s.tryEnter() {
		return nil
	}
	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	select {
	case <-s.inside:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tryEnter enters if nobody is inside.
func (s *schema) tryEnter() bool {
	select {
	case <-s.inside:
		return true
	default:
		return false
	}
}

func (s *schema) leave() { s.inside <- struct{}{} }

// current returns the table if it is good for topic t as of lsn, without entering.
func (s *schema) current(lsn commitlog.LSN, t state.Topic) *Table {
	upTo := s.upTo.Load() // before the table: the table is at least as new
	table := s.table.Load()
	if table == nil || upTo < uint64(lsn) || table.Topic.ConfigVersion != t.ConfigVersion || table.Topic.Partitions != t.Partitions {
		return nil
	}
	return table
}

// tableFor returns the table for topic t as its snapshot has it, cached unless t
// is older than what others already saw.
func (s *schema) tableFor(t state.Topic) (*Table, error) {
	if t.ConfigVersion == s.confOf {
		if table := s.current(0, t); table != nil {
			return table, nil
		}
		table := s.build(t, s.conf, s.declared)
		s.table.Store(table)
		return table, nil
	}
	conf, declared, err := readConfig(t)
	if err != nil {
		return nil, err
	}
	table := s.build(t, conf, declared)
	if s.inf != nil {
		s.declare(s.conf, s.declared)
	}
	return table, nil
}

// declare has inference show columns under a config.
func (s *schema) declare(conf topicconfig.Config, declared []blobexpand.Column) {
	s.inf.Declare(declared)
	dropped, err := ParseDropped(conf.ColumnsDropped)
	if err != nil {
		dropped = nil // it is checked before it is stored
	}
	s.inf.Drop(dropped)
}

func (s *schema) build(t state.Topic, conf topicconfig.Config, declared []blobexpand.Column) *Table {
	table := &Table{Topic: t, Config: conf, LongKey: s.longKey}
	switch {
	case conf.Expand == topicconfig.ExpandOff:
	case conf.ValueFormat == topicconfig.FormatCSV:
		table.Expanded = fieldsOf(declared)
	case conf.ValueFormat != topicconfig.FormatJSON:
	case s.inf != nil && infers(conf):
		s.declare(conf, declared)
		table.Expanded = s.inf.Columns()
		table.Rest = s.inf.Rest()
		table.RestOf = restOf(s.inf)
	default:
		table.Expanded = declared
	}
	return table
}

// restObjects is how many objects with members in _rest a table names; a person needs no more.
const restObjects = 4

func restOf(inf *blobexpand.Inference) (paths []string) {
	for _, p := range inf.RestOf() {
		if len(paths) == restObjects {
			break
		}
		paths = append(paths, jsonval.MemberPath(p).String())
	}
	return paths
}

// fieldsOf makes the declared columns read a CSV record's fields, in their order.
func fieldsOf(declared []blobexpand.Column) []blobexpand.Column {
	cols := slices.Clone(declared)
	for i := range cols {
		cols[i].Field = i + 1
	}
	return cols
}

// infers says whether columns are inferred under this config.
func infers(conf topicconfig.Config) bool {
	return conf.ValueFormat == topicconfig.FormatJSON &&
		(conf.Expand == topicconfig.ExpandAuto || conf.Expand == topicconfig.ExpandPinned)
}

func readConfig(t state.Topic) (topicconfig.Config, []blobexpand.Column, error) {
	conf, err := topicconfig.Parse(t.Configs)
	if err != nil {
		return conf, nil, fmt.Errorf("topic %s: %w", t.Name, err)
	}
	declared, err := ParseColumns(conf.Columns)
	if err != nil {
		return conf, nil, fmt.Errorf("topic %s: millrace.columns: %w", t.Name, err)
	}
	return conf, declared, nil
}

// configure takes over the topic's config if it is newer than what is known.
func (s *schema) configure(t state.Topic) error {
	if s.confSet && t.ConfigVersion <= s.confOf {
		return nil
	}
	conf, declared, err := readConfig(t)
	if err != nil {
		return err
	}
	s.conf, s.declared, s.confSet, s.confOf = conf, declared, true, t.ConfigVersion
	s.table.Store(nil)
	switch {
	case infers(conf) && s.inf == nil:
		// Inference starts with the first record there is.
		s.restart(blobexpand.NewInference(nil, SystemColumns()))
		s.declare(conf, declared)
	case !infers(conf) && s.inf != nil:
		s.inf = nil
		s.unsaved = s.version != 0
	case s.inf != nil:
		s.declare(conf, declared)
	}
	if conf.Expand != topicconfig.ExpandPinned {
		s.pinned = false
	}
	if s.inf != nil {
		s.columns, s.rest = s.inf.Columns(), s.inf.Rest()
	}
	return nil
}

func (s *schema) restart(inf *blobexpand.Inference) {
	s.inf = inf
	s.ends = nil
	s.upTo.Store(0)
	s.unsaved = s.version != 0 // what is saved no longer holds
}

// unload drops from memory what the saved document has.
func (s *schema) unload() {
	s.loaded, s.confSet = false, false
	s.inf, s.ends, s.columns, s.declared = nil, nil, nil, nil
	s.longKey, s.pinned, s.version = false, false, 0
	s.table.Store(nil)
	s.upTo.Store(0)
}
