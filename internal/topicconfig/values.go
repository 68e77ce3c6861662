package topicconfig

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A parser checks a trimmed value and stores it in the field of Config that it
// belongs to, if there is one. It returns why it refuses the value, or "".
type parser func(c *Config, value string) (reason string)

func long(lo int64, field func(*Config) *int64) parser {
	return func(c *Config, value string) string {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return "Not a number of type LONG"
		}
		if reason := outside(n, lo, math.MaxInt64); reason != "" {
			return reason
		}
		if field != nil {
			*field(c) = n
		}
		return ""
	}
}

func integer(lo, hi int64, store func(*Config, int32)) parser {
	return func(c *Config, value string) string {
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return "Not a number of type INT"
		}
		if reason := outside(n, lo, hi); reason != "" {
			return reason
		}
		if store != nil {
			store(c, int32(n))
		}
		return ""
	}
}

func outside(n, lo, hi int64) string {
	switch {
	case n < lo:
		return fmt.Sprintf("Value must be at least %d", lo)
	case n > hi:
		return fmt.Sprintf("Value must be no more than %d", hi)
	}
	return ""
}

// gzipLevel takes -1 (the codec's default) or 1 to 9.
func gzipLevel(_ *Config, value string) string {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil {
		return "Not a number of type INT"
	}
	if n != -1 && (n < 1 || n > 9) {
		return "Value must be between 1 and 9 or equal to -1"
	}
	return ""
}

func ratio(c *Config, value string) string {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(f) {
		return "Not a number of type DOUBLE"
	}
	switch {
	case f < 0:
		return "Value must be at least 0"
	case f > 1:
		return "Value must be no more than 1"
	}
	c.MinCleanableDirtyRatio = f
	return ""
}

func boolean(_ *Config, value string) string {
	if !strings.EqualFold(value, "true") && !strings.EqualFold(value, "false") {
		return "Expected value to be either true or false"
	}
	return ""
}

// noRemoteStorage refuses to turn tiered storage on, as a Kafka broker without
// it does: accepting it would promise a copy that nobody makes.
func noRemoteStorage(c *Config, value string) string {
	if reason := boolean(c, value); reason != "" {
		return reason
	}
	if strings.EqualFold(value, "true") {
		return "Tiered storage is not available in this broker"
	}
	return ""
}

func oneOf(names []string, store func(c *Config, i int)) parser {
	return func(c *Config, value string) string {
		i := slices.Index(names, value)
		if i < 0 {
			return "String must be one of: " + strings.Join(names, ", ")
		}
		store(c, i)
		return ""
	}
}

func cleanupPolicy(c *Config, value string) string {
	var del, compact bool
	for _, p := range SplitList(value) {
		var seen *bool
		switch p {
		case "delete":
			seen = &del
		case "compact":
			seen = &compact
		default:
			return "String must be one of: compact, delete"
		}
		if *seen {
			return "Value must not contain duplicates"
		}
		*seen = true
	}
	c.CleanupDelete, c.CleanupCompact = del, compact
	return ""
}

// throttledReplicas takes "*", or "partition:broker" pairs.
func throttledReplicas(_ *Config, value string) string {
	const reason = "Value must be the literal '*' or a list of replicas in the form [partition]:[broker]"
	items := SplitList(value)
	if len(items) == 1 && items[0] == "*" {
		return ""
	}
	for _, item := range items {
		p, b, ok := strings.Cut(item, ":")
		if !ok {
			return reason
		}
		for _, n := range [...]string{p, b} {
			if _, err := strconv.ParseUint(strings.TrimSpace(n), 10, 31); err != nil {
				return reason
			}
		}
	}
	return ""
}

// SplitList splits a value of type list at its commas; items are trimmed, and
// the empty value is the empty list.
func SplitList(value string) []string {
	value = strings.TrimSpace(value)
	if value == "" {
		return nil
	}
	items := strings.Split(value, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return items
}
