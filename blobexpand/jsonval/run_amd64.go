package jsonval

// plainRun returns the first place from i on whose byte needs a look inside a string: a quote, a
// backslash, a control character, or one that is not ASCII. It looks at 32 bytes at a time, and gives
// up at a place before which nothing needs a look once fewer than 32 are left. 0 ≤ i ≤ len(b).
//
//go:noescape
func plainRun(b []byte, i int) int
