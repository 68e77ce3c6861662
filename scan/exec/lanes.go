package exec

// Few groups mean that rows of one group follow closely, and that adding one up waits for the one before to be stored. So
// counts and sums of few groups are kept four times, in lanes that rows take in turn, and added up at the end of a batch.

// laneGroups is how many groups have lanes: four times eight bytes of each stay in the first cache level.
const laneGroups = 256

const lanes = 4

// laned says whether n rows of so many groups are worth the adding up.
func laned(groups, n int) bool { return groups <= laneGroups && 4*groups <= n }

// countLanes counts rows of few groups.
type countLanes [lanes][laneGroups]uint32

func (l *countLanes) add(counts []int64, gids []uint32) {
	l0, l1, l2, l3 := &l[0], &l[1], &l[2], &l[3]
	for len(gids) >= lanes {
		l0[gids[0]%laneGroups]++
		l1[gids[1]%laneGroups]++
		l2[gids[2]%laneGroups]++
		l3[gids[3]%laneGroups]++
		gids = gids[lanes:]
	}
	for _, g := range gids {
		l0[g%laneGroups]++
	}
	for g := range counts {
		g %= laneGroups
		counts[g] += int64(l0[g]) + int64(l1[g]) + int64(l2[g]) + int64(l3[g])
		l0[g], l1[g], l2[g], l3[g] = 0, 0, 0, 0
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
	l0, l1, l2, l3 := &l[0], &l[1], &l[2], &l[3]
	gids = gids[:len(slots)]
	for len(slots) >= lanes && len(gids) >= lanes {
		l0[gids[0]%laneGroups] += uint64(int64(slots[0]) + (laneOne + laneBias))
		l1[gids[1]%laneGroups] += uint64(int64(slots[1]) + (laneOne + laneBias))
		l2[gids[2]%laneGroups] += uint64(int64(slots[2]) + (laneOne + laneBias))
		l3[gids[3]%laneGroups] += uint64(int64(slots[3]) + (laneOne + laneBias))
		slots, gids = slots[lanes:], gids[lanes:]
	}
	for i, x := range slots {
		l0[gids[i]%laneGroups] += uint64(int64(x) + (laneOne + laneBias))
	}
	for g := range cells {
		c := &cells[g]
		g %= laneGroups
		for _, x := range [lanes]uint64{l0[g], l1[g], l2[g], l3[g]} {
			n := int64(x >> 48)
			c.n += n
			c.sum += int64(x&(laneOne-1)) + n*(base-laneBias)
		}
		l0[g], l1[g], l2[g], l3[g] = 0, 0, 0, 0
	}
}
