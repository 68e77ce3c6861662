package kafka

import (
	"fmt"
	"time"

	"millrace/store/state"
)

// fetchKey names a partition as the client does: by id from version 13 on, else by name.
type fetchKey struct {
	name      string
	id        state.TopicID
	partition int32
}

// fetchRequest is a decoded Fetch. Its strings alias the request's frame.
type fetchRequest struct {
	maxWait       time.Duration
	minBytes      int
	maxBytes      int
	readCommitted bool
	sessionID     int32
	sessionEpoch  int32
	parts         []*fetchPartition
	forgotten     []fetchKey
}

// decodeFetch decodes versions 4 to 18 by hand: consumers send little else, and
// a request of a thousand partitions is nothing that needs a thousand objects of
// a general kind.
func decodeFetch(version int16, body []byte) (*fetchRequest, error) {
	flexible := version >= 12
	d := decoder{b: body}
	req := &fetchRequest{sessionEpoch: -1}
	if version <= 14 {
		d.int32() // replica id
	}
	req.maxWait = min(max(time.Duration(d.int32())*time.Millisecond, 0), maxFetchWait)
	minBytes := int(d.int32())
	req.maxBytes = min(max(int(d.int32()), 0), maxFetchBytes)
	req.minBytes = min(minBytes, req.maxBytes) // more will never come
	req.readCommitted = d.int8() == 1
	if version >= 7 {
		req.sessionID = d.int32()
		req.sessionEpoch = d.int32()
	}
	topicBytes := 6 // a name's length and a count
	if version >= 13 {
		topicBytes = 17
	} else if flexible {
		topicBytes = 2
	}
	n := d.array(flexible, topicBytes)
	for range n {
		key := d.fetchTopic(version, flexible)
		// partition, offset, max bytes at least
		m := d.array(flexible, 16)
		if m > 0 {
			block := make([]fetchPartition, m)
			for i := range block {
				p := &block[i]
				p.fetchKey = key
				p.partition = d.int32()
				p.leaderEpoch = -1
				if version >= 9 {
					p.leaderEpoch = d.int32()
				}
				p.offset = d.int64()
				if version >= 12 {
					d.int32() // last fetched epoch: logs do not diverge here
				}
				if version >= 5 {
					d.int64() // log start of a follower
				}
				p.maxBytes = max(int(d.int32()), 0)
				d.skipTags(flexible)
				req.parts = append(req.parts, p)
			}
		}
		d.skipTags(flexible)
		if d.bad {
			break
		}
	}
	if version >= 7 {
		n := d.array(flexible, topicBytes)
		for range n {
			key := d.fetchTopic(version, flexible)
			m := d.array(flexible, 4)
			for range m {
				key.partition = d.int32()
				req.forgotten = append(req.forgotten, key)
			}
			d.skipTags(flexible)
			if d.bad {
				break
			}
		}
	}
	if version >= 11 {
		d.string(flexible) // rack
	}
	d.skipTags(flexible)
	if d.bad || len(d.b) != 0 {
		return nil, fmt.Errorf("%w: Fetch version %d", errBadRequest, version)
	}
	return req, nil
}

func (d *decoder) fetchTopic(version int16, flexible bool) (key fetchKey) {
	if version >= 13 {
		key.id = d.uuid()
	} else {
		key.name, _ = d.string(flexible)
	}
	return key
}
