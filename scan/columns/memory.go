package columns

import (
	"os"
	"strconv"
	"strings"
)

const (
	maxDefaultCacheBytes = 1 << 30
	minDefaultCacheBytes = 64 << 20
)

// DefaultCacheBytes is 1 GiB, or a quarter of the machine's memory if that is less.
func DefaultCacheBytes() int64 {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return maxDefaultCacheBytes
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "MemTotal:" {
			continue
		}
		kib, err := strconv.ParseInt(f[1], 10, 64)
		if err != nil {
			break
		}
		return min(maxDefaultCacheBytes, max(minDefaultCacheBytes, kib<<10/4))
	}
	return maxDefaultCacheBytes
}
