// Package topicconfig knows every topic config: Kafka's own and Millrace's
// millrace.* ones, with types, defaults, bounds and documentation.
package topicconfig

// Expand is millrace.expand.
type Expand uint8

const (
	ExpandAuto Expand = iota
	ExpandPinned
	ExpandDeclared
	ExpandOff
)

// Config is a topic's effective configuration. Times in ms, sizes in bytes, -1 unlimited.
type Config struct {
	CleanupDelete, CleanupCompact             bool
	RetentionMs, RetentionBytes               int64
	SegmentBytes, SegmentMs                   int64
	DeleteRetentionMs                         int64
	MinCompactionLagMs, MaxCompactionLagMs    int64
	MaxMessageBytes                           int32
	LogAppendTime                             bool
	TimestampBeforeMaxMs, TimestampAfterMaxMs int64
	CompressionType                           string // "producer" or a codec
	MinInsyncReplicas                         int32

	Expand       Expand
	Columns      string // millrace.columns: column declarations in MySQL syntax
	RejectErrors bool   // millrace.on_error=reject
	ValueFormat  string // json, csv, text, binary
	Collation    string // millrace.collation
}

// Parse returns the effective configuration of explicitly set configs over the
// broker's defaults; the error names the config and why its value is refused.
func Parse(set map[string]string) (Config, error) { panic("todo") }

// Definition describes one config for DescribeConfigs and documentation.
type Definition struct {
	Name    string
	Type    string // boolean, string, int, short, long, double, list
	Default string
	// BrokerSynonym is the broker config it defaults to ("log.retention.ms"); "" for millrace.*.
	BrokerSynonym string
	Doc           string
}

// Definitions are all topic configs in name order.
func Definitions() []Definition { panic("todo") }
