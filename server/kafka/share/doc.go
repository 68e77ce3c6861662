// Package share coordinates share groups (KIP-932), without sockets: members take
// records of the same partitions, a lock each, and acknowledge them one by one.
package share
