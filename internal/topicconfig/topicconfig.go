// Package topicconfig knows every topic config: Kafka's own and Millrace's
// millrace.* ones, with types, defaults, bounds and documentation.
package topicconfig

import (
	"fmt"
	"slices"
	"strings"
)

// Expand is millrace.expand.
type Expand uint8

const (
	ExpandAuto     Expand = iota // columns inferred from the data
	ExpandPinned                 // inferred types are kept; misfits become NULL with _error
	ExpandDeclared               // only declared columns
	ExpandOff                    // no expanded columns at all
)

// String returns the config's value for e.
func (e Expand) String() string {
	if int(e) < len(expandNames) {
		return expandNames[e]
	}
	return fmt.Sprintf("Expand(%d)", uint8(e))
}

var expandNames = [...]string{ExpandAuto: "auto", ExpandPinned: "pinned", ExpandDeclared: "declared", ExpandOff: "off"}

// Values of configs that are compared elsewhere.
const (
	CompressionProducer      = "producer"     // store batches as they were sent
	CompressionUncompressed  = "uncompressed" // compression.type's name for no codec
	FormatJSON               = "json"
	FormatCSV                = "csv"
	FormatText               = "text"
	FormatBinary             = "binary"
	CollationBin             = "utf8mb4_0900_bin"
	CollationCaseInsensitive = "utf8mb4_0900_ai_ci"
)

// Config is a topic's effective configuration. Times in ms, sizes in bytes, -1 unlimited.
type Config struct {
	CleanupDelete, CleanupCompact             bool
	RetentionMs, RetentionBytes               int64
	SegmentBytes, SegmentMs                   int64
	DeleteRetentionMs                         int64
	MinCompactionLagMs, MaxCompactionLagMs    int64
	MinCleanableDirtyRatio                    float64
	MaxMessageBytes                           int32
	LogAppendTime                             bool
	TimestampBeforeMaxMs, TimestampAfterMaxMs int64
	CompressionType                           string // "producer", "uncompressed" or a codec
	MinInsyncReplicas                         int32

	Expand       Expand
	Columns      string // millrace.columns: column declarations in MySQL syntax
	RejectErrors bool   // millrace.on_error=reject
	// ColumnsDropped is millrace.columns.dropped: a JSON array of paths.
	ColumnsDropped string
	ValueFormat    string // json, csv, text, binary
	Collation      string // millrace.collation
}

// Error says which config was refused and why.
type Error struct {
	Name   string
	Value  string
	Reason string // a sentence without full stop; "" for an unknown name
}

func (e *Error) Error() string {
	if e.Reason == "" {
		return "Unknown topic config name: " + e.Name
	}
	return fmt.Sprintf("Invalid value %s for configuration %s: %s", e.Value, e.Name, e.Reason)
}

// defaults is the configuration with nothing set, computed once from the table.
var defaults = func() Config {
	var c Config
	for i := range definitions {
		if err := definitions[i].set(&c, definitions[i].Default); err != nil {
			panic(err) // the table contradicts itself
		}
	}
	return c
}()

// Default returns the configuration of a topic that sets nothing.
func Default() Config { return defaults }

// Parse returns the effective configuration of explicitly set configs over the
// broker's defaults; the error (an *Error) names the config and why its value is
// refused. With several faults the first in name order is reported.
func Parse(set map[string]string) (Config, error) {
	c := defaults
	if len(set) == 0 {
		return c, nil
	}
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		d, ok := find(name)
		if !ok {
			return Config{}, &Error{Name: name, Value: set[name]}
		}
		if err := d.set(&c, set[name]); err != nil {
			return Config{}, err
		}
	}
	if c.MinCompactionLagMs > c.MaxCompactionLagMs {
		return Config{}, &Error{
			Name: "min.compaction.lag.ms", Value: fmt.Sprint(c.MinCompactionLagMs),
			Reason: fmt.Sprintf("Value must not be more than max.compaction.lag.ms (%d)", c.MaxCompactionLagMs),
		}
	}
	return c, nil
}

// set checks value and, where a field of Config holds it, puts it there.
func (d *Definition) set(c *Config, value string) error {
	value = strings.TrimSpace(value)
	if reason := d.parse(c, value); reason != "" {
		return &Error{Name: d.Name, Value: value, Reason: reason}
	}
	return nil
}
