package exec

// Few groups mean that rows of one group follow closely, and that adding one up waits for the one before to be stored. So
// counts and sums of few groups are kept eight times, in lanes that rows take in turn, and added up at the end of a batch.

// laneGroups is how many groups have lanes: eight times eight bytes of each stay in the first cache level.
const laneGroups = 256

const lanes = 8

// Lanes do not lie a power of two apart: the processor takes a load for that of what was stored at the same place of another
// page.
const (
	countLane = laneGroups + 17
	sumLane   = laneGroups + 9
)

// laned says whether n rows of so many groups are worth the adding up.
func laned(groups, n int) bool { return groups <= laneGroups && lanes*groups <= n }

// countLanes counts rows of few groups.
type countLanes [lanes][countLane]uint32

// number is how groups come: as numbers, or as codes of one byte.
type number interface{ uint8 | uint32 }

// add counts rows by group; to is the group that a number stands for, nil: itself.
func addCounts[G number](l *countLanes, counts []int64, gids []G, to []uint32) {
	for len(gids) >= lanes {
		g := (*[lanes]G)(gids)
		l[0][uint32(g[0])%laneGroups]++
		l[1][uint32(g[1])%laneGroups]++
		l[2][uint32(g[2])%laneGroups]++
		l[3][uint32(g[3])%laneGroups]++
		l[4][uint32(g[4])%laneGroups]++
		l[5][uint32(g[5])%laneGroups]++
		l[6][uint32(g[6])%laneGroups]++
		l[7][uint32(g[7])%laneGroups]++
		gids = gids[lanes:]
	}
	for _, g := range gids {
		l[0][uint32(g)%laneGroups]++
	}
	groups := len(counts)
	if to != nil {
		groups = len(to)
	}
	for k := range l {
		lane := l[k][:groups]
		for g, n := range lane {
			if to != nil {
				g = int(to[g])
			}
			counts[g] += int64(n)
		}
		clear(lane)
	}
}

// sumLanes counts and sums up slots of up to 32 bits of few groups: a cell has the count in its upper 16 bits, and the sum of the
// slots, made unsigned, below; both have room for the rows of a batch.
type sumLanes [lanes][sumLane]uint64

const (
	laneOne  = 1 << 48
	laneBias = 1 << 31
)

// addSums is addCounts with the slots of the values, whose base is added to each.
func addSums[T int8 | int16 | int32, G number](l *sumLanes, cells []sumCell, slots []T, base int64, gids []G, to []uint32) {
	for len(slots) >= lanes && len(gids) >= lanes {
		x, g := (*[lanes]T)(slots), (*[lanes]G)(gids)
		l[0][uint32(g[0])%laneGroups] += uint64(int64(x[0]) + (laneOne + laneBias))
		l[1][uint32(g[1])%laneGroups] += uint64(int64(x[1]) + (laneOne + laneBias))
		l[2][uint32(g[2])%laneGroups] += uint64(int64(x[2]) + (laneOne + laneBias))
		l[3][uint32(g[3])%laneGroups] += uint64(int64(x[3]) + (laneOne + laneBias))
		l[4][uint32(g[4])%laneGroups] += uint64(int64(x[4]) + (laneOne + laneBias))
		l[5][uint32(g[5])%laneGroups] += uint64(int64(x[5]) + (laneOne + laneBias))
		l[6][uint32(g[6])%laneGroups] += uint64(int64(x[6]) + (laneOne + laneBias))
		l[7][uint32(g[7])%laneGroups] += uint64(int64(x[7]) + (laneOne + laneBias))
		slots, gids = slots[lanes:], gids[lanes:]
	}
	for i, x := range slots {
		l[0][uint32(gids[i])%laneGroups] += uint64(int64(x) + (laneOne + laneBias))
	}
	groups := len(cells)
	if to != nil {
		groups = len(to)
	}
	for k := range l {
		lane := l[k][:groups]
		for g, x := range lane {
			if to != nil {
				g = int(to[g])
			}
			n := int64(x >> 48)
			cells[g].n += n
			cells[g].sum += int64(x&(laneOne-1)) + n*(base-laneBias)
		}
		clear(lane)
	}
}
