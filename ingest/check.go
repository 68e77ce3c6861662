package ingest

import (
	"errors"

	"millrace/catalog"
	"millrace/internal/recordbatch"
)

// CheckColumns is an Options.Check that holds values against the columns that cat knows.
func CheckColumns(cat *catalog.Catalog) func(t *Topic, b *recordbatch.Batch) error {
	return func(t *Topic, b *recordbatch.Batch) error {
		err := cat.CheckBatch(t.Topic, b)
		if bad := (*catalog.MisfitError)(nil); errors.As(err, &bad) {
			return &RecordsError{Reason: bad.Reasons[0], Total: bad.Total, Index: bad.Index, Reasons: bad.Reasons}
		}
		return err
	}
}
