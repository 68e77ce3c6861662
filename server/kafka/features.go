package kafka

import "github.com/twmb/franz-go/pkg/kmsg"

// feature is one of Kafka's cluster features: clients choose protocols by the level that
// is finalized, whatever API versions are advertised.
type feature struct {
	name      string
	min, max  int16                // supported levels
	finalized int16                // 0: off
	served    func(s *Server) bool // nil: always
}

// features are Kafka 4.1's names and levels, as far as what they stand for is served.
var features = []feature{
	{name: "transaction.version", min: 0, max: 2, finalized: 2}, // 2: KIP-890
	{name: "share.version", min: 0, max: 1, finalized: 1, served: func(s *Server) bool { return s.o.Admin.Share != nil }},
}

// putFeatures tells them in an ApiVersions response. Up to version 3 a supported
// feature whose lowest level is 0 is left out: Java clients before 3.9 refuse to
// connect over one (KAFKA-17011).
func (s *Server) putFeatures(resp *kmsg.ApiVersionsResponse) {
	for _, f := range features {
		if f.served != nil && !f.served(s) {
			continue
		}
		if resp.Version >= 4 || f.min > 0 {
			k := kmsg.NewApiVersionsResponseSupportedFeature()
			k.Name, k.MinVersion, k.MaxVersion = f.name, f.min, f.max
			resp.SupportedFeatures = append(resp.SupportedFeatures, k)
		}
		if f.finalized > 0 {
			k := kmsg.NewApiVersionsResponseFinalizedFeature()
			k.Name, k.MinVersionLevel, k.MaxVersionLevel = f.name, f.finalized, f.finalized
			resp.FinalizedFeatures = append(resp.FinalizedFeatures, k)
		}
	}
	resp.FinalizedFeaturesEpoch = 1
}
