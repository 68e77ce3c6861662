// Package scan answers a Request over one snapshot of a topic: it prunes
// partitions and batches, decodes only what was asked for, filters with kernels
// over column vectors, and hands back Arrow record batches.
//
// It knows nothing of SQL's planner. What it claims to filter it filters
// exactly, by SQL's three-valued logic; pruning only saves work: unknown means
// keep.
//
// Memory: a record batch belongs to the caller, who releases it. All vectors lie
// on Go's heap, so strings taken from them stay valid after the release.
package scan
