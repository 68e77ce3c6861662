// Package enginemirror asks topics what the SQL engine's own tests ask its tables.
//
// go-mysql-server has lists of queries with their answers, over tables that its set-up scripts make. The
// tests here run those scripts on the engine as it comes, over tables in memory, and turn every
// table into a topic: its rows are JSON records, its columns are declared. Then the queries go
// over the wire to a whole server. Carried out in columns or by rows, from the tail, sealed, or after a restart, from the topic or
// through a view of it, each must have one answer; and it must be the list's.
//
// Nothing of the lists is copied: they are read from the module. exceptions.txt names, by a hash, the
// queries whose answer is another one for good, and why.
package enginemirror
