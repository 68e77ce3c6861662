// Package infoschema is the part of information_schema that tells of tables and their
// columns. The engine's own binds every table to show one, which ten thousand topics do
// not allow: here what a statement asks of names reaches the producer of rows (Narrow),
// tables are looked at one after another, and only as closely as the rows need.
package infoschema
