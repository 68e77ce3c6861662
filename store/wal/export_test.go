package wal

import (
	"encoding/binary"
	"hash/crc32"
)

// SumHeader sums a file header anew.
func SumHeader(b []byte) {
	binary.LittleEndian.PutUint32(b[56:], crc32.Checksum(b[:56], castagnoli))
}

// WalName is the base name of a log file.
func WalName(id uint32) string { return fileName(id, walSuffix) }
