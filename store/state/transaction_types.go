package state

// A transaction lives in the state machine alone: the log has one entry for each step,
// and its end is one entry that carries the markers of all partitions and makes all its
// offsets count. So there is no «prepared» state that a crash could leave behind, and
// nothing is ever to be resumed.

// TransactionStatus of a transactional id.
type TransactionStatus uint8

// The statuses, with Kafka's names. Numbers are part of the format.
const (
	TransactionEmpty          TransactionStatus = 0 // never had one, since its InitTransaction
	TransactionOngoing        TransactionStatus = 1 // has partitions or groups
	TransactionCompleteCommit TransactionStatus = 2 // the last one was committed
	TransactionCompleteAbort  TransactionStatus = 3 // the last one was aborted
)

// Transaction describes one transactional id.
type Transaction struct {
	TransactionalID string
	ProducerID      int64
	ProducerEpoch   int16
	TimeoutMillis   int32
	Status          TransactionStatus
	StartedAt       Millis // of the ongoing transaction; -1 when there is none
	UpdatedAt       Millis
	Partitions      []TopicPartition // of the ongoing transaction, sorted
	Groups          []string         // groups whose offsets the ongoing transaction commits, sorted
}

// InitTransaction gives a transactional id its producer id and the next epoch,
// fencing all earlier ones; an ongoing transaction is aborted in the same entry.
// With ProducerID >= 0 (KIP-360) only if the id still has that producer and epoch, or has it
// by a repeat of this very request; otherwise ErrInvalidProducerEpoch. Answer: ProducerIDResult.
type InitTransaction struct {
	TransactionalID string
	TimeoutMillis   int32
	ProducerID      int64 // -1: whatever it has
	ProducerEpoch   int16
}

// TransactionRef names a producer's claim to a transactional id. A claim that does
// not hold is ErrInvalidProducerID (another producer id or an unknown transactional id)
// or ErrInvalidProducerEpoch.
type TransactionRef struct {
	TransactionalID string
	ProducerID      int64
	ProducerEpoch   int16
}

// AddPartitionsToTransaction begins a transaction where there is none, and adds partitions
// to it, all or none. Answer: AddPartitionsResult.
type AddPartitionsToTransaction struct {
	TransactionRef
	Partitions []TopicPartition
	VerifyOnly bool // changes nothing; ErrNoTransaction for those not in it
}

// AddPartitionsResult has one error (or nil) per partition, in order; Err concerns
// the request as a whole.
type AddPartitionsResult struct {
	Err  error
	Errs []error
}

// AddGroupToTransaction says that the transaction will commit offsets of Group.
// Answer: TransactionResult.
type AddGroupToTransaction struct {
	TransactionRef
	Group string
}

// CommitTransactionOffsets holds offsets of a group until the transaction ends. AddGroup
// adds the group on the way (transactions version 2); without it a group that was not
// added is ErrNoTransaction. DeleteGroup and DeleteOffsets concern such offsets as well.
// Member and generation checks are the coordinator's.
// Answer: CommitOffsetsResult, with Err where the claim does not hold.
type CommitTransactionOffsets struct {
	TransactionRef
	Group    string
	Offsets  []OffsetCommit
	AddGroup bool
}

// EndTransaction commits or aborts. A repeat of what was just done is answered as it was
// then (Flink commits from another process, clients retry); the opposite of what was done
// is ErrNoTransaction. BumpEpoch (transactions version 2) raises the epoch with every end,
// so that nothing late can join the next transaction; the result has the epoch to go on with.
// Answer: ProducerIDResult.
type EndTransaction struct {
	TransactionRef
	Commit    bool
	BumpEpoch bool
}

// OpenTransaction is an ongoing transaction and how long it may take.
type OpenTransaction struct {
	TransactionRef
	StartedAt     Millis
	TimeoutMillis int32
}

// ExpireTransaction aborts a transaction that has been open for longer than its timeout, by
// the clock of whoever proposes it (a wall clock may jump), and fences its producer.
// If it has ended meanwhile nothing happens. Answer: TransactionResult.
type ExpireTransaction struct{ OpenTransaction }

// ExpireTransactionalIDs forgets the ids without an ongoing transaction that nothing
// happened to for IdleMillis. Answer: nil.
type ExpireTransactionalIDs struct{ IdleMillis int64 }

// TransactionResult answers with what became of it.
type TransactionResult struct{ Err error }

// AbortedTransaction is one aborted transaction in one partition: what ProducerID wrote in
// [FirstOffset, LastOffset] does not count, LastOffset being the marker.
type AbortedTransaction struct {
	ProducerID  int64
	FirstOffset int64
	LastOffset  int64
}

// Marker says that a batch is a transaction marker (a control batch).
type Marker uint8

// The markers; numbers are part of the format.
const (
	NoMarker     Marker = 0
	AbortMarker  Marker = 1
	CommitMarker Marker = 2
)

func (InitTransaction) intent()            {}
func (AddPartitionsToTransaction) intent() {}
func (AddGroupToTransaction) intent()      {}
func (CommitTransactionOffsets) intent()   {}
func (EndTransaction) intent()             {}
func (ExpireTransaction) intent()          {}
func (ExpireTransactionalIDs) intent()     {}
