// Package meaning is how expressions of the SQL server say what they compute: interfaces that whoever carries them out
// in another way asks for, and what can be told of the engine's own expressions by looking at them.
package meaning
