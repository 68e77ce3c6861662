package state

// Limits bound what peers can make the state hold; beyond them Decide answers
// ErrTooMany. They are the operator's, not part of the state: lowering one
// refuses new things and keeps the old. A field that is zero takes its default.
type Limits struct {
	MaxTopics     int // default 10,000; about 0.5 KiB of memory each
	MaxPartitions int // over all topics; default 100,000; about 64 B each
	MaxGroups     int // default 100,000
	MaxOffsets    int // committed offsets over all groups; default 2,000,000; about 150 B each
	MaxProducers  int // (partition, producer) pairs; default 1,000,000; about 200 B each
	MaxDocuments  int // default 100,000
	// MaxTransactions bounds the transactional ids; default 100,000; about 300 B each,
	// and 30 B for each partition of an open transaction.
	MaxTransactions int
}

// Bounds of single things. They are part of the entry format: Apply and Decode
// refuse what lies beyond, so that a corrupt entry cannot allocate without bound.
const (
	maxTopicPartitions = 1 << 17 // partitions of one topic
	maxNameBytes       = 1 << 15 // group names, document kinds and keys, config names
	maxConfigBytes     = 1 << 20 // one config value
	maxConfigs         = 1 << 10 // explicitly set configs of one topic
	maxDataBytes       = 1 << 26 // group data, document data, offset metadata
)

func (l Limits) withDefaults() Limits {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&l.MaxTopics, 10_000)
	def(&l.MaxPartitions, 100_000)
	def(&l.MaxGroups, 100_000)
	def(&l.MaxOffsets, 2_000_000)
	def(&l.MaxProducers, 1_000_000)
	def(&l.MaxDocuments, 100_000)
	def(&l.MaxTransactions, 100_000)
	return l
}
