package exec

// Few groups mean that rows of one group follow closely, and that adding one up waits for the one before to be stored. So
// counts and sums of few groups are kept eight times, in lanes that rows take in turn, and added up at the end of a batch.

// laneGroups is how many groups have lanes: eight times eight bytes of each stay in the first cache level.
const laneGroups = 256

const lanes = 8

// laned says whether n rows of so many groups are worth the adding up.
func laned(groups, n int) bool { return groups <= laneGroups && lanes*groups <= n }

// countLanes counts rows of few groups.
type countLanes [lanes][laneGroups]uint32

func (l *countLanes) add(counts []int64, gids []uint32) {
	for len(gids) >= lanes {
		g := (*[lanes]uint32)(gids)
		l[0][g[0]%laneGroups]++
		l[1][g[1]%laneGroups]++
		l[2][g[2]%laneGroups]++
		l[3][g[3]%laneGroups]++
		l[4][g[4]%laneGroups]++
		l[5][g[5]%laneGroups]++
		l[6][g[6]%laneGroups]++
		l[7][g[7]%laneGroups]++
		gids = gids[lanes:]
	}
	for _, g := range gids {
		l[0][g%laneGroups]++
	}
	for k := range l {
		lane := l[k][:len(counts)]
		for g, n := range lane {
			counts[g] += int64(n)
		}
		clear(lane)
	}
}

// sumLanes counts and sums up slots of up to 32 bits of few groups: a cell has the count in its upper 16 bits, and the sum of the
// slots, made unsigned, below; both have room for the rows of a batch.
type sumLanes [lanes][laneGroups]uint64

const (
	laneOne  = 1 << 48
	laneBias = 1 << 31
)

func addLanes[T int8 | int16 | int32](l *sumLanes, cells []sumCell, slots []T, base int64, gids []uint32) {
	for len(slots) >= lanes && len(gids) >= lanes {
		x, g := (*[lanes]T)(slots), (*[lanes]uint32)(gids)
		l[0][g[0]%laneGroups] += uint64(int64(x[0]) + (laneOne + laneBias))
		l[1][g[1]%laneGroups] += uint64(int64(x[1]) + (laneOne + laneBias))
		l[2][g[2]%laneGroups] += uint64(int64(x[2]) + (laneOne + laneBias))
		l[3][g[3]%laneGroups] += uint64(int64(x[3]) + (laneOne + laneBias))
		l[4][g[4]%laneGroups] += uint64(int64(x[4]) + (laneOne + laneBias))
		l[5][g[5]%laneGroups] += uint64(int64(x[5]) + (laneOne + laneBias))
		l[6][g[6]%laneGroups] += uint64(int64(x[6]) + (laneOne + laneBias))
		l[7][g[7]%laneGroups] += uint64(int64(x[7]) + (laneOne + laneBias))
		slots, gids = slots[lanes:], gids[lanes:]
	}
	for i, x := range slots {
		l[0][gids[i]%laneGroups] += uint64(int64(x) + (laneOne + laneBias))
	}
	for k := range l {
		lane := l[k][:len(cells)]
		for g, x := range lane {
			n := int64(x >> 48)
			cells[g].n += n
			cells[g].sum += int64(x&(laneOne-1)) + n*(base-laneBias)
		}
		clear(lane)
	}
}
