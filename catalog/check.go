package catalog

import (
	"fmt"
	"sync"

	"millrace/blobexpand"
	"millrace/internal/recordbatch"
	"millrace/internal/topicconfig"
	"millrace/store/state"
)

// CheckConfigs says whether a topic can have these explicitly set configs: they are
// well formed, and millrace.columns can be read. Called before they are stored.
func CheckConfigs(configs map[string]string) error {
	conf, err := topicconfig.Parse(configs)
	if err != nil {
		return err
	}
	if _, err := ParseColumns(conf.Columns); err != nil {
		return fmt.Errorf("%s: %w", ConfigColumns, err)
	}
	if _, err := ParseDropped(conf.ColumnsDropped); err != nil {
		return fmt.Errorf("%s: %w", droppedConfig, err)
	}
	return nil
}

// checkers are what CheckBatch uses for one topic under one config.
type checkers struct {
	confOf uint64
	pool   sync.Pool // *checker
}

type checker struct {
	*blobexpand.Checker
	records recordbatch.Reader
}

// MisfitError says which records of a batch do not fit the declared columns.
type MisfitError struct {
	Total int // so many do not
	// Index are their places in the batch, from 0, ascending, at most maxMisfits of
	// them; Reasons is what _error would say of each.
	Index   []int32
	Reasons []string
}

// maxMisfits bounds what a MisfitError names: a producer that mends them learns of the
// next ones.
const maxMisfits = 100

func (e *MisfitError) Error() string {
	return fmt.Sprintf("record %d of the batch: %s", e.Index[0], e.Reasons[0])
}

// CheckBatch says whether every record's value fits the declared columns of topic t
// (millrace.on_error=reject); the error is a *MisfitError, or why the batch cannot be read.
func (c *Catalog) CheckBatch(t state.Topic, b *recordbatch.Batch) error {
	var cs *checkers
	if v, ok := c.checkers.Load(t.ID); ok {
		cs = v.(*checkers)
	}
	if cs == nil || cs.confOf != t.ConfigVersion {
		conf, declared, err := readConfig(t)
		if err != nil {
			return err
		}
		cs = &checkers{confOf: t.ConfigVersion}
		switch {
		case conf.Expand == topicconfig.ExpandOff:
			declared = nil
		case conf.ValueFormat == topicconfig.FormatCSV:
			declared = fieldsOf(declared)
		case conf.ValueFormat != topicconfig.FormatJSON:
			declared = nil
		}
		if len(declared) > 0 {
			cs.pool.New = func() any { return &checker{Checker: blobexpand.NewChecker(declared)} }
		}
		c.checkers.Store(t.ID, cs)
	}
	if cs.pool.New == nil {
		return nil // nothing is expected
	}
	k := cs.pool.Get().(*checker)
	defer cs.pool.Put(k)
	if err := k.records.Reset(b); err != nil {
		return err
	}
	var rec recordbatch.Record
	var bad MisfitError
	for i := int32(0); k.records.Next(&rec); i++ {
		if err := k.Check(rec.Value); err != nil {
			if bad.Total++; bad.Total <= maxMisfits {
				bad.Index, bad.Reasons = append(bad.Index, i), append(bad.Reasons, err.Error())
			}
		}
	}
	if err := k.records.Err(); err != nil {
		return err
	}
	if bad.Total > 0 {
		return &bad
	}
	return nil
}
