// Package rows builds the nodes of a plan that the engine, which carries them out row by row, would get wrong, or whose rows it
// keeps without asking whether there is memory.
package rows
