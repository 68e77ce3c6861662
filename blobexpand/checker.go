package blobexpand

import "errors"

// Checker says whether values fit a table's columns, without making vectors. Not safe
// for concurrent use.
type Checker struct{ e *Expander }

// NewChecker for columns cols.
func NewChecker(cols []Column) *Checker {
	c := &Checker{e: NewExpander(nil, ExpanderOptions{Errors: true, All: cols})}
	c.e.errs.reserve(1)
	c.e.room = 1
	return c
}

// Check returns what _error would say of value, or nil; nil (a tombstone) always fits.
func (c *Checker) Check(value []byte) error {
	e := c.e
	e.rows, e.bytes = 0, 0
	e.errs.data = e.errs.data[:0]
	e.errs.valid[0] = 0
	e.Append(value)
	if e.errs.valid[0]&1 == 0 {
		return nil
	}
	return errors.New(string(e.errs.data))
}
