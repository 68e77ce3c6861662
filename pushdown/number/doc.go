// Package number reads the values that the SQL engine has for numbers, of a dozen Go types, as integers, decimals and
// doubles, without loss where it says so.
package number
