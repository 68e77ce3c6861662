package vector

import "errors"

var (
	// ErrType says that vectors of different kinds or scales cannot be joined.
	ErrType = errors.New("vector: no such type")
	// ErrTextSize says that a column holds more text than 32-bit offsets reach.
	ErrTextSize = errors.New("vector: too much text for one vector")
)
