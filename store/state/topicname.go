package state

// MaxTopicNameBytes is Kafka's bound on the length of a topic name.
const MaxTopicNameBytes = 249

// ValidTopicName says whether name may be a topic's: 1 to 249 of a-z A-Z 0-9 . _ -
// and neither "." nor "..". Names that differ only in . and _ may exist side by
// side: Kafka refuses that only because its metric names would clash.
func ValidTopicName(name string) bool {
	if name == "" || name == "." || name == ".." || len(name) > MaxTopicNameBytes {
		return false
	}
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
