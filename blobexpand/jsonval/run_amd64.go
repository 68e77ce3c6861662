package jsonval

// plainRun returns the first place from i on, of the n bytes at p, whose byte needs a look inside a
// string: a quote, a backslash, a control character, or one that is not ASCII. It looks at 32
// bytes at a time, and gives up at a place before which nothing needs a look once fewer
// than 32 are left.
//
//go:noescape
func plainRun(p *byte, i, n int) int

// plainString is just after the first place that plainRun would find if that is a quote, else -1.
//
//go:noescape
func plainString(p *byte, i, n int) int
