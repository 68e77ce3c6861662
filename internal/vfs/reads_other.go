//go:build !linux

package vfs

// descriptor is nothing's.
type descriptor interface{ never() }

// readQueue takes nothing.
type readQueue struct{}

func (readQueue) submit(descriptor, *Ahead) bool { return false }
func (readQueue) wait(*Ahead)                    {}
func (readQueue) settled(*Ahead) bool            { return true }
func (readQueue) close()                         {}
