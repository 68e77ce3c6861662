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
	ErrTransactional    = errors.New("transactional batch without a transaction")
)

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalidRecord, fmt.Sprintf(format, args...))
}
