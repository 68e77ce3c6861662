// Package pushdown moves work of a SQL plan into scans: filters, limits, the newest
// or oldest rows, and aggregates.
//
// It stands where the engine builds a node's iterator. A rule matches a subtree by
// its numbered preconditions and answers «mine», «not mine» (the engine goes on as
// if it had not been asked) or «failed» (an error of the statement); these are
// different answers. What a rule takes over gives the same rows as the engine
// would; millrace_pushdown=0 switches all of it off.
//
// Comparisons of a column with a constant are first brought to the column's own
// type, where that loses nothing (exact.go). That is a correction of the engine, which
// would compare by way of doubles and narrow decimals; it happens whether or
// not pushdown is on, so that both give the same, exact answer.
package pushdown
