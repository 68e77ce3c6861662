// Package rowscan moves work of a plan that is carried out row by row into the scan of a topic's table: filters, limits, the
// newest or oldest rows.
//
// A rule matches a subtree by its numbered preconditions. It answers «mine», «not mine» (the engine goes on as if it had not
// been asked) or «failed» (an error of the statement): these are different answers.
package rowscan
