package kafkaerr

// Fenced is the code for a producer whose epoch has passed, which versions of an API before
// since know under the older name only.
func Fenced(version, since int16) int16 {
	if version < since {
		return InvalidProducerEpoch
	}
	return ProducerFenced
}

// NotInTransaction is the code for what its transaction does not hold: versions from since on
// know one that tells the producer to abort, where the older one stops it for good (KIP-890).
func NotInTransaction(version, since int16) int16 {
	if version < since {
		return InvalidTxnState
	}
	return TransactionAbortable
}
