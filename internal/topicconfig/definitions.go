package topicconfig

import (
	"math"
	"slices"
	"strings"
)

// Definition describes one config for DescribeConfigs and documentation.
type Definition struct {
	Name    string
	Type    string // boolean, string, int, short, long, double, list
	Default string
	// BrokerSynonym is the broker config it defaults to ("log.retention.ms"); "" for millrace.*
	// and for the few Kafka configs that have none.
	BrokerSynonym string
	Doc           string

	parse parser
}

// Definitions are all topic configs in name order. The caller must not modify them.
func Definitions() []Definition { return definitions }

// Lookup finds one config by its exact name.
func Lookup(name string) (Definition, bool) {
	d, ok := find(name)
	if !ok {
		return Definition{}, false
	}
	return *d, true
}

func find(name string) (*Definition, bool) {
	i, ok := slices.BinarySearchFunc(definitions, name, func(d Definition, name string) int {
		return strings.Compare(d.Name, name)
	})
	if !ok {
		return nil, false
	}
	return &definitions[i], true
}

const (
	typeBoolean = "boolean"
	typeString  = "string"
	typeInt     = "int"
	typeLong    = "long"
	typeDouble  = "double"
	typeList    = "list"

	maxLong  = "9223372036854775807"
	ignored  = " Accepted and reported for compatibility; Millrace's store does not need it."
	maxInt32 = math.MaxInt32
)

// definitions is in name order (find searches it; a test holds it to that).
var definitions = []Definition{
	{
		Name: "cleanup.policy", Type: typeList, Default: "delete", BrokerSynonym: "log.cleanup.policy",
		Doc:   "What happens to old records: 'delete' drops what is beyond retention.ms or retention.bytes, 'compact' keeps the last record of every key, both do both, and the empty list keeps everything. Compaction runs by itself; CALL millrace.compact('topic') does it now.",
		parse: cleanupPolicy,
	},
	{
		Name: "compression.gzip.level", Type: typeInt, Default: "-1", BrokerSynonym: "compression.gzip.level",
		Doc:   "Level for compression.type gzip: 1 to 9, or -1 for the codec's default. Accepted and reported for compatibility; batches that the broker compresses itself get its own level.",
		parse: gzipLevel,
	},
	{
		Name: "compression.lz4.level", Type: typeInt, Default: "9", BrokerSynonym: "compression.lz4.level",
		Doc:   "Level for compression.type lz4: 1 to 17. Accepted and reported for compatibility; batches that the broker compresses itself get its own level.",
		parse: integer(1, 17, nil),
	},
	{
		Name: "compression.type", Type: typeString, Default: CompressionProducer, BrokerSynonym: "compression.type",
		Doc: "Codec that stored batches have: 'producer' keeps each batch as it was sent; 'uncompressed', 'gzip', 'snappy', 'lz4' and 'zstd' name one.",
		parse: oneOf(compressionTypes, func(c *Config, i int) {
			c.CompressionType = compressionTypes[i]
		}),
	},
	{
		Name: "compression.zstd.level", Type: typeInt, Default: "3", BrokerSynonym: "compression.zstd.level",
		Doc:   "Level for compression.type zstd: -131072 to 22. Accepted and reported for compatibility; batches that the broker compresses itself get its own level.",
		parse: integer(-131072, 22, nil),
	},
	{
		Name: "delete.retention.ms", Type: typeLong, Default: "86400000", BrokerSynonym: "log.cleaner.delete.retention.ms",
		Doc:   "How long a delete marker (a record without value) of a compacted topic is kept after compaction first came upon it, in milliseconds.",
		parse: long(0, func(c *Config) *int64 { return &c.DeleteRetentionMs }),
	},
	{
		Name: "file.delete.delay.ms", Type: typeLong, Default: "60000", BrokerSynonym: "log.segment.delete.delay.ms",
		Doc:   "How long a dropped file stays on disk, in milliseconds." + ignored,
		parse: long(0, nil),
	},
	{
		Name: "flush.messages", Type: typeLong, Default: maxLong, BrokerSynonym: "log.flush.interval.messages",
		Doc:   "Number of records after which the log is synced. Millrace syncs before every acknowledgement, whatever is set here.",
		parse: long(1, nil),
	},
	{
		Name: "flush.ms", Type: typeLong, Default: maxLong, BrokerSynonym: "log.flush.interval.ms",
		Doc:   "Time in milliseconds after which the log is synced. Millrace syncs before every acknowledgement, whatever is set here.",
		parse: long(0, nil),
	},
	{
		Name: "follower.replication.throttled.replicas", Type: typeList, Default: "",
		Doc:   "Replicas whose replication is throttled on the follower's side: '*' or partition:broker pairs." + ignored,
		parse: throttledReplicas,
	},
	{
		Name: "index.interval.bytes", Type: typeInt, Default: "4096", BrokerSynonym: "log.index.interval.bytes",
		Doc:   "Distance between two entries of the offset index, in bytes." + ignored,
		parse: integer(0, maxInt32, nil),
	},
	{
		Name: "leader.replication.throttled.replicas", Type: typeList, Default: "",
		Doc:   "Replicas whose replication is throttled on the leader's side: '*' or partition:broker pairs." + ignored,
		parse: throttledReplicas,
	},
	{
		Name: "local.retention.bytes", Type: typeLong, Default: "-2", BrokerSynonym: "log.local.retention.bytes",
		Doc:   "Size kept locally when tiered storage is on; -2 means retention.bytes. Without tiered storage it has no effect.",
		parse: long(-2, nil),
	},
	{
		Name: "local.retention.ms", Type: typeLong, Default: "-2", BrokerSynonym: "log.local.retention.ms",
		Doc:   "Time kept locally when tiered storage is on; -2 means retention.ms. Without tiered storage it has no effect.",
		parse: long(-2, nil),
	},
	{
		Name: "max.compaction.lag.ms", Type: typeLong, Default: maxLong, BrokerSynonym: "log.cleaner.max.compaction.lag.ms",
		Doc:   "Longest time in milliseconds that a record of a compacted topic may stay uncompacted.",
		parse: long(1, func(c *Config) *int64 { return &c.MaxCompactionLagMs }),
	},
	{
		Name: "max.message.bytes", Type: typeInt, Default: "1048588", BrokerSynonym: "message.max.bytes",
		Doc:   "Largest record batch accepted, in bytes, after compression.",
		parse: integer(0, maxInt32, func(c *Config, n int32) { c.MaxMessageBytes = n }),
	},
	{
		Name: "message.timestamp.after.max.ms", Type: typeLong, Default: "3600000", BrokerSynonym: "log.message.timestamp.after.max.ms",
		Doc:   "How far a record's timestamp may lie after the broker's clock, in milliseconds; records beyond are refused. Not used with LogAppendTime.",
		parse: long(0, func(c *Config) *int64 { return &c.TimestampAfterMaxMs }),
	},
	{
		Name: "message.timestamp.before.max.ms", Type: typeLong, Default: maxLong, BrokerSynonym: "log.message.timestamp.before.max.ms",
		Doc:   "How far a record's timestamp may lie before the broker's clock, in milliseconds; records beyond are refused. Not used with LogAppendTime.",
		parse: long(0, func(c *Config) *int64 { return &c.TimestampBeforeMaxMs }),
	},
	{
		Name: "message.timestamp.type", Type: typeString, Default: "CreateTime", BrokerSynonym: "log.message.timestamp.type",
		Doc:   "Which timestamp records carry: the producer's (CreateTime) or the broker's at the time of the append (LogAppendTime).",
		parse: oneOf([]string{"CreateTime", "LogAppendTime"}, func(c *Config, i int) { c.LogAppendTime = i == 1 }),
	},
	{
		Name: "millrace.collation", Type: typeString, Default: CollationBin,
		Doc: "Collation of the topic's text columns in SQL: utf8mb4_0900_bin compares case-sensitively, utf8mb4_0900_ai_ci ignores case and accents.",
		parse: oneOf([]string{CollationBin, CollationCaseInsensitive}, func(c *Config, i int) {
			c.Collation = [...]string{CollationBin, CollationCaseInsensitive}[i]
		}),
	},
	{
		Name: "millrace.columns", Type: typeString, Default: "",
		Doc: "Declared columns of the topic's table in MySQL syntax, for example: order_id BIGINT, amount DECIMAL(10,2) AS (_value->>'$.payment.amount').",
		parse: func(c *Config, value string) string {
			c.Columns = value
			return ""
		},
	},
	{
		Name: "millrace.columns.dropped", Type: typeString, Default: "",
		Doc: "Paths of members that are no columns, as a JSON array: ALTER TABLE … DROP COLUMN adds to it what it drops of inferred columns, for example [\"$.user.id\"].",
		parse: func(c *Config, value string) string {
			c.ColumnsDropped = value
			return ""
		},
	},
	{
		Name: "millrace.expand", Type: typeString, Default: "auto",
		Doc:   "How record values become columns: 'auto' infers columns from the data, 'pinned' keeps the types inferred so far, 'declared' takes only millrace.columns, 'off' makes none.",
		parse: oneOf(expandNames[:], func(c *Config, i int) { c.Expand = Expand(i) }),
	},
	{
		Name: "millrace.on_error", Type: typeString, Default: "null",
		Doc:   "What happens to a record that does not fit the declared columns: 'null' stores it, with NULL in the column and the reason in _error; 'reject' refuses the produce request with INVALID_RECORD.",
		parse: oneOf([]string{"null", "reject"}, func(c *Config, i int) { c.RejectErrors = i == 1 }),
	},
	{
		Name: "millrace.value.format", Type: typeString, Default: FormatJSON,
		Doc:   "Format of record values: 'json', 'csv' (columns in the order of millrace.columns), 'text' or 'binary'.",
		parse: oneOf(valueFormats, func(c *Config, i int) { c.ValueFormat = valueFormats[i] }),
	},
	{
		Name: "min.cleanable.dirty.ratio", Type: typeDouble, Default: "0.5", BrokerSynonym: "log.cleaner.min.cleanable.ratio",
		Doc:   "Share of a compacted log, 0 to 1, that must be uncompacted before compaction is worth its while.",
		parse: ratio,
	},
	{
		Name: "min.compaction.lag.ms", Type: typeLong, Default: "0", BrokerSynonym: "log.cleaner.min.compaction.lag.ms",
		Doc:   "Shortest time in milliseconds that a record of a compacted topic stays uncompacted.",
		parse: long(0, func(c *Config) *int64 { return &c.MinCompactionLagMs }),
	},
	{
		Name: "min.insync.replicas", Type: typeInt, Default: "1", BrokerSynonym: "min.insync.replicas",
		Doc:   "Number of replicas that must hold a record before acks=all is answered. Every partition has one replica here, which is always in sync; larger values are accepted and reported.",
		parse: integer(1, maxInt32, func(c *Config, n int32) { c.MinInsyncReplicas = n }),
	},
	{
		Name: "preallocate", Type: typeBoolean, Default: "false", BrokerSynonym: "log.preallocate",
		Doc:   "Whether files are allocated before they are written." + ignored,
		parse: boolean,
	},
	{
		Name: "remote.copy.lag.bytes", Type: typeLong, Default: "0",
		Doc:   "Bytes by which copying to tiered storage may lag. Without tiered storage it has no effect.",
		parse: long(-1, nil),
	},
	{
		Name: "remote.copy.lag.ms", Type: typeLong, Default: "0",
		Doc:   "Milliseconds by which copying to tiered storage may lag. Without tiered storage it has no effect.",
		parse: long(-1, nil),
	},
	{
		Name: "remote.log.copy.disable", Type: typeBoolean, Default: "false",
		Doc:   "Whether copying to tiered storage is stopped. Without tiered storage it has no effect.",
		parse: boolean,
	},
	{
		Name: "remote.log.delete.on.disable", Type: typeBoolean, Default: "false",
		Doc:   "Whether data in tiered storage is dropped when it is turned off. Without tiered storage it has no effect.",
		parse: boolean,
	},
	{
		Name: "remote.storage.enable", Type: typeBoolean, Default: "false",
		Doc:   "Whether the topic uses Kafka's tiered storage, which this broker does not have: only false is accepted.",
		parse: noRemoteStorage,
	},
	{
		Name: "retention.bytes", Type: typeLong, Default: "-1", BrokerSynonym: "log.retention.bytes",
		Doc:   "Size in bytes that a partition may reach before its oldest records are dropped (cleanup.policy with delete); negative: no limit.",
		parse: long(math.MinInt64, func(c *Config) *int64 { return &c.RetentionBytes }),
	},
	{
		Name: "retention.ms", Type: typeLong, Default: "604800000", BrokerSynonym: "log.retention.ms",
		Doc:   "Age in milliseconds at which records are dropped (cleanup.policy with delete); -1: never.",
		parse: long(-1, func(c *Config) *int64 { return &c.RetentionMs }),
	},
	{
		Name: "segment.bytes", Type: typeInt, Default: "1073741824", BrokerSynonym: "log.segment.bytes",
		Doc: "Size in bytes at which a new segment begins. Retention works on whole segments in Kafka; Millrace seals by its own sizes and drops records exactly. A partition of a compacted topic is sealed, and so may be compacted, at this size at the latest.",
		parse: integer(1<<20, maxInt32, func(c *Config, n int32) {
			c.SegmentBytes = int64(n)
		}),
	},
	{
		Name: "segment.index.bytes", Type: typeInt, Default: "10485760", BrokerSynonym: "log.index.size.max.bytes",
		Doc:   "Size of a segment's offset index in bytes." + ignored,
		parse: integer(4, maxInt32, nil),
	},
	{
		Name: "segment.jitter.ms", Type: typeLong, Default: "0", BrokerSynonym: "log.roll.jitter.ms",
		Doc:   "Largest random amount taken off segment.ms, in milliseconds." + ignored,
		parse: long(0, nil),
	},
	{
		Name: "segment.ms", Type: typeLong, Default: "604800000", BrokerSynonym: "log.roll.ms",
		Doc:   "Age in milliseconds at which a new segment begins. Millrace seals by its own ages and drops records exactly. A compacted topic is sealed, and so may be compacted, at this age at the latest.",
		parse: long(1, func(c *Config) *int64 { return &c.SegmentMs }),
	},
	{
		Name: "unclean.leader.election.enable", Type: typeBoolean, Default: "false", BrokerSynonym: "unclean.leader.election.enable",
		Doc:   "Whether a replica that is not in sync may become leader." + ignored,
		parse: boolean,
	},
}

var (
	compressionTypes = []string{CompressionUncompressed, "zstd", "lz4", "snappy", "gzip", CompressionProducer}
	valueFormats     = []string{FormatJSON, FormatCSV, FormatText, FormatBinary}
)
