// Package exact corrects expressions of the engine in which numbers lose digits: comparisons of columns with constants, which
// it makes by way of doubles and narrow decimals, and choices among numbers (CASE, IF, COALESCE), which it cuts to the type
// of one of them. They are corrected whether or not pushdown is on, so that both give the same answer.
package exact
