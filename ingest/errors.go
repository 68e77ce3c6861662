package ingest

import (
	"errors"
	"fmt"
)

// Why a batch is refused, besides the errors of recordbatch and store/state.
var (
	ErrMessageTooLarge  = errors.New("batch larger than max.message.bytes")
	ErrInvalidTimestamp = errors.New("timestamp out of the topic's range")
	ErrInvalidRecord    = errors.New("invalid record")
	ErrTransactional    = errors.New("transactional batch in a request without a transactional id, or one the client may not write with")
)

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalidRecord, fmt.Sprintf(format, args...))
}

// maxRecordErrors bounds the records that a RecordsError names: a client learns
// that there are more when it sends the rest again.
const maxRecordErrors = 1000

// RecordsError refuses a whole batch for the fault of some of its records. It is an
// ErrInvalidRecord.
type RecordsError struct {
	Reason string  // what is wrong with each of them, or with the first, if Reasons has more
	Total  int     // so many records have the fault
	Index  []int32 // their places in the batch, from 0, ascending; at most maxRecordErrors
	// Reasons are what is wrong with each record of Index; nil: Reason.
	Reasons []string
}

func (e *RecordsError) Error() string {
	if e.Reasons != nil && len(e.Index) > 0 {
		return fmt.Sprintf("%s: %d of the batch's records, first record %d: %s", ErrInvalidRecord, e.Total, e.Index[0], e.Reason)
	}
	return fmt.Sprintf("%s: %d of the batch's records: %s", ErrInvalidRecord, e.Total, e.Reason)
}

func (e *RecordsError) Unwrap() error { return ErrInvalidRecord }
