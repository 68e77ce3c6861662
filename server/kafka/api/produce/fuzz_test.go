package produce

import (
	"testing"

	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The door for Produce: whatever comes in, no panic, and what is taken the general decoder takes, too.
func FuzzRequest(f *testing.F) {
	for v := int16(0); v <= 13; v++ {
		req := kmsg.NewPtrProduceRequest()
		req.Version = v
		t := kmsg.NewProduceRequestTopic()
		t.Topic, t.TopicID = "t", [16]byte{1}
		p := kmsg.NewProduceRequestTopicPartition()
		p.Records = []byte("some records")
		t.Partitions = append(t.Partitions, p, p)
		req.Topics = append(req.Topics, t)
		f.Add(v, req.AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, version int16, body []byte) {
		if version < 0 || version > 13 {
			return
		}
		req := kmsg.NewPtrProduceRequest()
		req.Version = version
		general := req.ReadFrom(body)
		c := &call{version: version}
		refuse := func(t *topic) { t.code = kafkaerr.UnknownTopicOrPartition }
		if err := c.scan(body, refuse); err == nil && general != nil {
			t.Fatalf("version %d: only the general decoder fails: %v", version, general)
		}
	})
}
