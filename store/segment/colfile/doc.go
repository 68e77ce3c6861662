// Package colfile writes and reads files of columns: Parquet files that others (DuckDB, Spark,
// pandas) read as they lie, with a footer of ours inside that says which offsets of which
// partitions the row groups hold, and where their columns lie. docs/format/columns.md has the bytes.
//
// Our own reader goes by our footer alone, and checks every piece that it reads. Files are
// derived data: whoever finds one damaged throws it away.
//
// Of Parquet the package knows what it writes: one flat schema of optional columns, data
// pages of version 1, the encodings PLAIN, RLE_DICTIONARY, DELTA_BINARY_PACKED and
// DELTA_LENGTH_BYTE_ARRAY, and zstd or no compression.
package colfile
