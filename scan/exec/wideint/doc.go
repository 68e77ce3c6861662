// Package wideint has exact integers beyond 64 bits, in two's complement: Int128 for sums of integers, Int256 for sums of
// decimals and for results. 2^64 BIGINTs fit an Int128, 10^11 of the largest DECIMAL(65) an Int256, so sums cannot overflow.
package wideint
