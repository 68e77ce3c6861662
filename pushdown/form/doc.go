// Package form says how values of SQL types lie in vectors, and reads vectors as the engine's values.
package form
