package cluster

import (
	"encoding/json"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// feature is one of Kafka's cluster features: clients choose protocols by the level that
// is finalized, whatever API versions are advertised.
type feature struct {
	name      string
	min, max  int16                  // supported levels
	finalized int16                  // 0: off
	served    func(h *Handlers) bool // nil: always
	fixed     bool                   // its level cannot be changed
}

// features are Kafka 4.1's names and levels, as far as what they stand for is served.
var features = []feature{
	// Nothing of ours depends on it; Kafka's tools want to know which Kafka this is.
	{name: metadataVersion, min: 7, max: 27, finalized: 27, fixed: true}, // 3.3-IV3 to 4.1-IV1
	{name: "transaction.version", min: 0, max: 2, finalized: 2},          // 2: KIP-890
	{name: groupVersion, min: 0, max: 1, finalized: 1, served: func(h *Handlers) bool { return h.ConsumerGroups }},
	{name: shareVersion, min: 0, max: 1, finalized: 1, served: func(h *Handlers) bool { return h.ShareGroups }},
}

const (
	metadataVersion = "metadata.version"
	groupVersion    = "group.version"
	shareVersion    = "share.version"
)

// featureOfAPI names the features without which requests are refused whose response has
// one code for all of it.
var featureOfAPI = map[int16]string{68: groupVersion, 76: shareVersion, 78: shareVersion, 79: shareVersion}

// feature is the served feature of that name.
func (h *Handlers) feature(name string) (feature, bool) {
	for _, f := range features {
		if f.name == name && (f.served == nil || f.served(h)) {
			return f, true
		}
	}
	return feature{}, false
}

// featureLevels are the levels that somebody chose, and their document's version.
func (h *Handlers) featureLevels() (featureLevels, uint64) {
	d, ok := h.Store.Document(featureKind, featureKey)
	if !ok {
		return featureLevels{Epoch: 1}, 0
	}
	var l featureLevels
	if err := json.Unmarshal(d.Data, &l); err != nil || l.Format != featureFormat {
		h.Rare.Warn("features", "the levels of features cannot be read; the defaults are in force", slog.Any("error", err))
		return featureLevels{Epoch: 1}, d.Version
	}
	return l, d.Version
}

// featureLevel is the level of f that is finalized; 0: it is off.
func (h *Handlers) featureLevel(f feature) int16 {
	l, _ := h.featureLevels()
	return l.of(f)
}

func (l featureLevels) of(f feature) int16 {
	if level, chosen := l.Levels[f.name]; chosen && !f.fixed && level <= f.max {
		return level
	}
	return f.finalized
}

// IsOff says whether an API is refused because its feature is turned off.
func (h *Handlers) IsOff(key int16) bool {
	name, gated := featureOfAPI[key]
	if !gated {
		return false
	}
	f, served := h.feature(name)
	return served && h.featureLevel(f) == 0
}

// PutFeatures tells them in an ApiVersions response. Up to version 3 a supported
// feature whose lowest level is 0 is left out: Java clients before 3.9 refuse to
// connect over one (KAFKA-17011).
func (h *Handlers) PutFeatures(resp *kmsg.ApiVersionsResponse) {
	levels, _ := h.featureLevels()
	for _, f := range features {
		if f.served != nil && !f.served(h) {
			continue
		}
		if resp.Version >= 4 || f.min > 0 {
			k := kmsg.NewApiVersionsResponseSupportedFeature()
			k.Name, k.MinVersion, k.MaxVersion = f.name, f.min, f.max
			resp.SupportedFeatures = append(resp.SupportedFeatures, k)
		}
		if level := levels.of(f); level > 0 {
			k := kmsg.NewApiVersionsResponseFinalizedFeature()
			k.Name, k.MinVersionLevel, k.MaxVersionLevel = f.name, level, level
			resp.FinalizedFeatures = append(resp.FinalizedFeatures, k)
		}
	}
	resp.FinalizedFeaturesEpoch = levels.Epoch
}
