// Package execplan looks into plans of the vectorised engine, whoever made them: spells them, and leaves out columns that
// nobody reads. Plans are not changed: what differs is new.
package execplan
