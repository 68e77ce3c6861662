// Package sqltable shows topics, and the server's own state, as tables of the SQL
// engine.
//
// Times: a cell of a TIMESTAMP column is an instant in storage and the wall time
// of the session's time_zone in a row, carried as a time.Time whose UTC fields are
// that wall time. This is what the engine's NOW(), literals and date functions work
// with, so comparing, formatting and showing such a cell needs no further
// conversion; converting it again would be wrong. DATETIME cells are UTC wall time
// and the same in every session.
//
// Text is valid UTF-8; JSON cells are JSONText and keep every digit.
package sqltable
