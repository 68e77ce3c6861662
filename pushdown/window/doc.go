// Package window has the window functions, and carries windows out row by row. The engine looks at the first ORDER BY key only
// to find a frame by values, takes equal decimals for different ones, gives MIN and MAX the whole partition, hides the
// arguments of its functions, and keeps its input without asking whether there is memory.
package window
