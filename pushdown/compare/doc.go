// Package compare compares values row by row as MySQL does, and makes keys: bytes that are the same for equal values. The
// engine knows one weight a character of a collation, and takes numbers of different Go types for different.
package compare
