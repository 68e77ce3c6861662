// Package groupconfig is the configs of single groups: which there are, what they may be, and what was
// set. It knows nothing of sockets. What was set for a group is one document in the store.
package groupconfig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"millrace/store/state"
)

// Kafka's names.
const (
	ConsumerSessionTimeout    = "consumer.session.timeout.ms"
	ConsumerHeartbeatInterval = "consumer.heartbeat.interval.ms"
	ShareSessionTimeout       = "share.session.timeout.ms"
	ShareHeartbeatInterval    = "share.heartbeat.interval.ms"
	ShareRecordLockDuration   = "share.record.lock.duration.ms"
	ShareAutoOffsetReset      = "share.auto.offset.reset"
	ShareIsolationLevel       = "share.isolation.level"
)

// Definition is one config as Kafka 4.1 has it.
type Definition struct {
	Name, Type, Default, Doc string
	// Min and Max are the bounds of an int: Kafka's own at the defaults of its broker
	// configs, such as group.share.max.session.timeout.ms.
	Min, Max int
	valid    func(value string) bool
}

var definitions = []Definition{
	{Name: ConsumerHeartbeatInterval, Type: "int", Default: "5000", Min: 5000, Max: 15_000, Doc: "How often members of the consumer protocol send a heartbeat, in milliseconds."},
	{Name: ConsumerSessionTimeout, Type: "int", Default: "45000", Min: 45_000, Max: 60_000, Doc: "How long a member of the consumer protocol may be silent, in milliseconds."},
	{Name: ShareAutoOffsetReset, Type: "string", Default: "latest", valid: validReset, Doc: "Where a share group begins in a partition that is new to it: latest, earliest, or by_duration: and an ISO 8601 duration."},
	{Name: ShareHeartbeatInterval, Type: "int", Default: "5000", Min: 5000, Max: 15_000, Doc: "How often members of a share group send a heartbeat, in milliseconds."},
	{Name: ShareIsolationLevel, Type: "string", Default: "read_uncommitted", valid: validIsolation, Doc: "Which records a share group gets: read_uncommitted or read_committed."},
	{Name: ShareRecordLockDuration, Type: "int", Default: "30000", Min: 15_000, Max: 60_000, Doc: "How long a member of a share group may hold a record, in milliseconds."},
	{Name: ShareSessionTimeout, Type: "int", Default: "45000", Min: 45_000, Max: 60_000, Doc: "How long a member of a share group may be silent, in milliseconds."},
}

// Definitions in name order, in a new slice.
func Definitions() []Definition { return slices.Clone(definitions) }

func validReset(v string) bool {
	if d, ok := strings.CutPrefix(v, "by_duration:"); ok {
		_, err := ParseDuration(d)
		return err == nil
	}
	return v == "latest" || v == "earliest"
}

func validIsolation(v string) bool { return v == "read_uncommitted" || v == "read_committed" }

// ErrInvalid is why configs cannot be set; the text says which one.
var ErrInvalid = errors.New("invalid group config")

// Check says whether configs may be set together.
func Check(configs map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(configs)) {
		value := configs[name]
		at := slices.IndexFunc(definitions, func(d Definition) bool { return d.Name == name })
		if at < 0 {
			return fmt.Errorf("%w: unknown group config name: %s", ErrInvalid, cut(name))
		}
		d := definitions[at]
		if d.valid != nil {
			if !d.valid(value) {
				return fmt.Errorf("%w: value %s for configuration %s", ErrInvalid, cut(value), name)
			}
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil {
			return fmt.Errorf("%w: value %s for configuration %s: not a number of type INT", ErrInvalid, cut(value), name)
		}
		if n < d.Min || n > d.Max {
			return fmt.Errorf("%w: %s must be from %d to %d", ErrInvalid, name, d.Min, d.Max)
		}
	}
	return nil
}

// cut keeps what a peer sent from filling an answer.
func cut(s string) string {
	if len(s) > 200 {
		return s[:200] + "..."
	}
	return s
}

// The digits are bounded so that no sum overflows.
var isoDuration = regexp.MustCompile(`^P(?:([0-9]{1,5})D)?(?:T((?:[0-9]{1,5}H)?(?:[0-9]{1,6}M)?(?:[0-9]{1,8}(?:\.[0-9]{1,9})?S)?))?$`)

// ParseDuration reads an ISO 8601 duration as share.auto.offset.reset has it: days, hours,
// minutes and seconds, none negative, 99,999 days at most.
func ParseDuration(s string) (time.Duration, error) {
	up := strings.ToUpper(s)
	m := isoDuration.FindStringSubmatch(up)
	if m == nil || up == "P" || strings.HasSuffix(up, "T") {
		return 0, fmt.Errorf("%w: duration %s", ErrInvalid, cut(s))
	}
	var sum time.Duration
	if m[1] != "" {
		days, err := strconv.Atoi(m[1])
		if err != nil {
			return 0, err
		}
		sum = time.Duration(days) * 24 * time.Hour
	}
	if m[2] != "" {
		d, err := time.ParseDuration(strings.ToLower(m[2]))
		if err != nil {
			return 0, err
		}
		sum += d
	}
	return sum, nil
}

// Millis is the config's value as a duration, and fallback where none was set.
func Millis(set map[string]string, name string, fallback time.Duration) time.Duration {
	if v, ok := set[name]; ok {
		if ms, err := strconv.Atoi(strings.TrimSpace(v)); err == nil && ms > 0 {
			return time.Duration(ms) * time.Millisecond
		}
	}
	return fallback
}

const (
	kind   = "group-config"
	format = 1
	// MaxGroups with configs: they share the store's room for documents with users and quotas.
	MaxGroups = 10_000
)

// Documents is what Configs needs of the store; *store.Store has it.
type Documents interface {
	Document(kind, key string) (state.Document, bool)
	Documents(kind string) []state.Document
	Commit(ctx context.Context, intent state.Intent) (any, error)
}

// Configs is safe for concurrent use and sees changes at once.
type Configs struct {
	docs Documents
	max  int // MaxGroups; less in tests

	mu     sync.RWMutex      // a leaf; guards parsed
	parsed map[string]parsed // of groups that have a document
}

type parsed struct {
	version uint64
	set     map[string]string
}

// New reads configs from the documents.
func New(docs Documents) *Configs {
	return &Configs{docs: docs, max: MaxGroups, parsed: map[string]parsed{}}
}

type stored struct {
	Format  int               `json:"format"`
	Configs map[string]string `json:"configs"`
}

// Of is what was set for the group, not to be modified; nil: nothing.
func (c *Configs) Of(group string) map[string]string {
	set, _ := c.Version(group)
	return set
}

// Version is the same with the version for Put.
func (c *Configs) Version(group string) (set map[string]string, version uint64) {
	d, ok := c.docs.Document(kind, group)
	c.mu.RLock()
	p, known := c.parsed[group]
	c.mu.RUnlock()
	switch {
	case ok && known && p.version == d.Version:
		return p.set, p.version
	case !ok && !known:
		return nil, 0
	}
	p = parsed{version: d.Version}
	var s stored
	if ok && json.Unmarshal(d.Data, &s) == nil && s.Format == format {
		p.set = s.Configs // of a later format: the defaults do no harm
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if ok {
		c.parsed[group] = p
	} else {
		delete(c.parsed, group)
	}
	return p.set, p.version
}

// Put replaces what was set for the group, unless that changed since version, which is
// state.ErrVersionMismatch. The configs were checked. One group too many is state.ErrTooMany.
func (c *Configs) Put(ctx context.Context, group string, version uint64, configs map[string]string) error {
	in := state.PutDocument{Kind: kind, Key: group, ExpectVersion: version}
	if len(configs) > 0 {
		if version == 0 && len(c.docs.Documents(kind)) >= c.max {
			return fmt.Errorf("%w: configs of %d groups", state.ErrTooMany, c.max)
		}
		data, err := json.Marshal(stored{format, configs})
		if err != nil {
			return err
		}
		in.Data = data
	}
	res, err := c.docs.Commit(ctx, in)
	if err != nil {
		return err
	}
	r, ok := res.(state.DocumentResult)
	if !ok {
		return fmt.Errorf("group configs: unexpected answer %T", res)
	}
	return r.Err
}

// Groups are the names of the groups for which something was set, in order.
func (c *Configs) Groups() []string {
	var names []string
	for _, d := range c.docs.Documents(kind) {
		names = append(names, d.Key)
	}
	return names
}
