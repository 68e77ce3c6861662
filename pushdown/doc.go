// Package pushdown decides, where the SQL engine builds a node's iterator, who carries it out: the vectorised engine, if all
// below converts (package columnar), else the engine itself, whose scans are given what they can do (package rowscan) and
// whose wrong answers are corrected (package rows). It says what it decided, in EXPLAIN and in a statement's trace.
//
// What is taken over gives the same rows as the engine would; millrace_pushdown=0 switches all of it off but the
// corrections, so that both give the same, exact answer.
package pushdown
