package state

// State is the whole state. It is not safe for concurrent use; the store owns
// two: decided (ahead of the disk) and published (what readers see).
type State struct{}

// New returns the empty state.
func New() *State { panic("todo") }

// Decide checks intent against s at time now (Unix ms) and returns the entry
// that carries it out, or nil when nothing is to be appended (refused, duplicate
// or no-op), and the intent's result type as documented at the intent. It does
// not change s. buf is an optional scratch buffer that entry may be built in.
func (s *State) Decide(now Millis, intent Intent, buf []byte) (entry []byte, result any) {
	panic("todo")
}

// Apply carries out an entry that Decide made. An error means a corrupt or
// unknown entry: the state is then unusable.
func (s *State) Apply(entry []byte) error { panic("todo") }

// AppliedBatch is one record batch of an applied produce entry.
type AppliedBatch struct {
	Batch
	BaseOffset int64
	AppendTime Millis
}

// Batches decodes the record batches that entry appends, in payload order,
// appending to dst; none for other entries.
func Batches(entry []byte, dst []AppliedBatch) ([]AppliedBatch, error) { panic("todo") }

// Hash is equal for two states to which the same entries were applied.
func (s *State) Hash() uint64 { panic("todo") }

// Clone returns an independent copy.
func (s *State) Clone() *State { panic("todo") }

// Encode appends a self-contained, versioned snapshot of s to dst; Decode reads it back.
func (s *State) Encode(dst []byte) []byte { panic("todo") }

// Decode returns the state that Encode wrote.
func Decode(b []byte) (*State, error) { panic("todo") }
