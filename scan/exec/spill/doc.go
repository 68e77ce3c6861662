// Package spill sorts rows by keys whose bytes have their order: in memory, and where that is not enough in runs, files of
// sorted rows that are merged. What the rows are it does not know.
package spill
