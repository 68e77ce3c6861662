package refusal

import (
	"fmt"

	"millrace/server/kafka/kafkaerr"
)

// endHints are about connections that ended without an answer.
var endHints = map[string]string{
	EndRefused:        "There are as many connections as the server, or one address, may have. Clients that open one for every request do this.",
	EndTLSOnPlaintext: "The client speaks TLS and this port does not. Set security.protocol=PLAINTEXT (or SASL_PLAINTEXT), or use the TLS port. Such a client only sees disconnects and timeouts.",
	EndPlaintextOnTLS: "The client does not speak TLS and this port wants it. Set security.protocol=SSL (or SASL_SSL), or use the plaintext port. Such a client only sees disconnects and timeouts.",
	EndHTTP:           "This is HTTP on the Kafka port. The HTTP port is another one.",
	EndTLSFailed:      "The TLS handshake failed. Does the client trust the server's certificate (ssl.truststore, ssl.ca.location), and is the name it connects to in that certificate?",
	EndBeforeLogin:    "This port wants a login first. Set security.protocol=SASL_PLAINTEXT or SASL_SSL, sasl.mechanism and a user with a password.",
	EndTooLarge:       "The request is larger than this server reads. Lower max.request.size (message.max.bytes in librdkafka) and batch sizes, or log in first.",
	EndMalformed:      "This is no request of the Kafka protocol, or one cut in pieces by something between.",
	EndUnservedAPI:    "The client asks for something that this server does not advertise. Does it skip ApiVersions (api.version.request=false)?",
}

// codeHints are about codes, whatever the request.
var codeHints = map[int16]string{
	kafkaerr.OffsetOutOfRange:           "The offset asked for is not there any more (retention, DeleteRecords) or not there yet. The consumer goes on as auto.offset.reset says.",
	kafkaerr.CorruptMessage:             "The batch's checksum is wrong: it was damaged on the way, or the client computes it wrongly.",
	kafkaerr.UnknownTopicID:             "No topic has that id, or the client may not see it: it was deleted, perhaps made again. Clients refresh their metadata and go on.",
	kafkaerr.MessageTooLarge:            "The batch is larger than the topic takes. Raise the topic's max.message.bytes, or lower the producer's batch.size and max.request.size (message.max.bytes in librdkafka).",
	kafkaerr.InvalidRequiredAcks:        "acks must be 0, 1 or all (-1).",
	kafkaerr.TopicAuthorizationFailed:   "The user has no right to do that with the topic. See who it is in the column principal; give rights with `millrace acl` or kafka-acls.",
	kafkaerr.GroupAuthorizationFailed:   "The user has no right to use that consumer group. It needs READ on the group; give rights with `millrace acl` or kafka-acls.",
	kafkaerr.ClusterAuthorizationFailed: "That is for administrators, or for who has the right on the cluster. Idempotent producers need WRITE on a topic.",
	kafkaerr.TransactionalIDAuthorization: "The user has no right to use that transactional id, or the producer writes transactional records without one. " +
		"It needs WRITE on the transactional id.",
	kafkaerr.UnsupportedVersion:         "The client is older, or newer, than what this server speaks with it. Records of clients before Kafka 0.11 (message formats 0 and 1) are not taken.",
	kafkaerr.UnsupportedSASLMechanism:   "Choose another sasl.mechanism: SCRAM-SHA-256 or SCRAM-SHA-512, or PLAIN over TLS or from the machine itself.",
	kafkaerr.IllegalSASLState:           "The client logs in where no login is possible (no user exists yet) or logs in twice. Set security.protocol without SASL, or make a user.",
	kafkaerr.SASLAuthenticationFailed:   "The user does not exist or the password is wrong. `millrace user` lists and makes users.",
	kafkaerr.OutOfOrderSequenceNumber:   "Batches of an idempotent producer came in another order than it numbered them, or some were lost. After this the producer starts anew or gives up; more than 5 requests in flight do this.",
	kafkaerr.UnknownProducerID:          "What was known of this producer has expired or was deleted with its records. Producers take a new id by themselves.",
	kafkaerr.InvalidProducerEpoch:       "Another producer has begun with the same transactional.id, or the transaction ran into its timeout: this one is fenced off. Every running instance needs its own transactional.id.",
	kafkaerr.ProducerFenced:             "Another producer has begun with the same transactional.id, or the transaction ran into its timeout: this one is fenced off. Every running instance needs its own transactional.id.",
	kafkaerr.InvalidProducerIDMapping:   "The transactional.id is not the producer's, or expired unused. The producer must call initTransactions again.",
	kafkaerr.InvalidTxnState:            "The producer has no transaction in the state that this needs: it was ended or aborted already, perhaps by its timeout (transaction.timeout.ms).",
	kafkaerr.InvalidTransactionTimeout:  "transaction.timeout.ms must be more than 0 and at most the server's limit (transaction.max.timeout.ms).",
	kafkaerr.UnknownMemberID:            "The group does not know that member: it was silent longer than session.timeout.ms, or did not poll within max.poll.interval.ms, and was taken out. It joins again.",
	kafkaerr.IllegalGeneration:          "The group has rebalanced meanwhile; the offset commit of the generation before is not taken. Poll more often or process less per poll (max.poll.records).",
	kafkaerr.FencedMemberEpoch:          "The group has moved on without that member: it was silent too long. It joins again.",
	kafkaerr.FencedInstanceID:           "Another consumer has joined with the same group.instance.id. Every instance needs its own.",
	kafkaerr.InconsistentGroupProtocol:  "The consumer shares no assignment strategy with the group's other members (partition.assignment.strategy), or the group is of another type.",
	kafkaerr.InvalidSessionTimeout:      "session.timeout.ms is outside of what the server allows.",
	kafkaerr.GroupMaxSizeReached:        "The group has as many members as the server allows.",
	kafkaerr.UnsupportedCompressionType: "The compression is unknown, or the client's requests are too old for it (zstd needs Fetch 10). Use another compression.type or a newer client.",
	kafkaerr.InvalidRecord:              "A record does not fit the topic: one without a key in a topic with cleanup.policy=compact, one that the topic's columns refuse (millrace.on_error=reject), or a damaged batch. The message says which.",
	kafkaerr.InvalidTimestamp:           "A record's time is too far from the server's, as message.timestamp.before.max.ms and after.max.ms of the topic have it.",
	kafkaerr.KafkaStorageError:          "The server cannot write or read its files now: see its log and /health. A full disk does this.",
	kafkaerr.NotLeaderOrFollower:        "The server is stopping, or the write did not come through; clients try again.",
	kafkaerr.RequestTimedOut:            "The server did not finish in time: see its log and /health.",
	kafkaerr.InvalidTopic:               "The topic's name is not allowed: 1 to 249 of a-z, A-Z, 0-9, '.', '_' and '-'; names that begin with __ are the server's.",
	kafkaerr.TopicAlreadyExists:         "There is such a topic already; leave the creation out, or take it for done.",
	kafkaerr.InvalidReplicationFactor:   "There is one server, which holds the only copy. Leave the replication factor at -1 or 1.",
	kafkaerr.PolicyViolation:            "A limit of the server is reached; the message says which.",
	kafkaerr.GroupIDNotFound:            "There is no such group: it never committed or its offsets have expired.",
	kafkaerr.NonEmptyGroup:              "The group has members; stop its consumers first.",
	kafkaerr.GroupSubscribedToTopic:     "The group's members subscribe to that topic; stop them first.",
	kafkaerr.UnknownServerError:         "A fault of the server; its log says more.",
	kafkaerr.TransactionalIDNotFound:    "No producer has used that transactional.id, or not for a long time (transactional.id.expiration.ms).",
	kafkaerr.ThrottlingQuotaExceeded:    "More than the client's quota allows; it is to wait for the throttle time.",
	kafkaerr.FeatureUpdateFailed:        "The feature cannot have that level here.",
	kafkaerr.InvalidUpdateVersion:       "The feature cannot have that level here; kafka-features describe shows which it can.",
	kafkaerr.InvalidPartitions:          "The number of partitions must be positive, and can only grow.",
	kafkaerr.InvalidConfig:              "The config does not exist or the value is not one of it; the message says which.",
}

// Hint says in plain words what to do about a refusal; "" when the code says all there is to
// say. autoCreate: topics are created when a client asks for them.
func Hint(r Refused, autoCreate bool) string {
	if r.Code == kafkaerr.None {
		return endHints[r.Name]
	}
	if r.Code == kafkaerr.UnknownTopicOrPartition {
		create := "Topics are not created by themselves here (auto-create is off): create it first."
		if autoCreate {
			create = "Topics are created when a client asks for their metadata and allows it (allow.auto.create.topics)."
		}
		if r.Topic == "" {
			return "The topic or the partition does not exist. " + create
		}
		return fmt.Sprintf("Topic %q, or that partition of it, does not exist. %s Producers wait for it until they time out (max.block.ms, delivery.timeout.ms).", r.Topic, create)
	}
	return codeHints[r.Code]
}
