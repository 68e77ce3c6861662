//go:build !amd64

package jsonval

// plainRun leaves all of it to the eight bytes at a time of String.
func plainRun(_ []byte, i int) int { return i }
