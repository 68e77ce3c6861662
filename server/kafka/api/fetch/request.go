package fetch

import (
	"fmt"
	"time"

	"millrace/server/kafka/wire"
	"millrace/store/state"
)

// key names a partition as the client does: by id from version 13 on, else by name.
type key struct {
	name      string
	id        state.TopicID
	partition int32
}

// request is a decoded Fetch. Its strings alias the request's frame.
type request struct {
	maxWait       time.Duration
	minBytes      int
	maxBytes      int
	readCommitted bool
	sessionID     int32
	sessionEpoch  int32
	parts         []*partition
	forgotten     []key
}

// decode decodes versions 4 to 18 by hand: consumers send little else, and
// a request of a thousand partitions is nothing that needs a thousand objects of
// a general kind.
func decode(version int16, body []byte) (*request, error) {
	flexible := version >= 12
	d := wire.NewDecoder(body)
	req := &request{sessionEpoch: -1}
	if version <= 14 {
		d.Int32() // replica id
	}
	req.maxWait = min(max(time.Duration(d.Int32())*time.Millisecond, 0), MaxWait)
	minBytes := int(d.Int32())
	req.maxBytes = min(max(int(d.Int32()), 0), MaxBytes)
	req.minBytes = min(minBytes, req.maxBytes) // more will never come
	req.readCommitted = d.Int8() == 1
	if version >= 7 {
		req.sessionID = d.Int32()
		req.sessionEpoch = d.Int32()
	}
	topicBytes := 6 // a name's length and a count
	if version >= 13 {
		topicBytes = 17
	} else if flexible {
		topicBytes = 2
	}
	n := d.Array(flexible, topicBytes)
	for range n {
		k := topicKey(&d, version, flexible)
		// partition, offset, max bytes at least
		m := d.Array(flexible, 16)
		if m > 0 {
			block := make([]partition, m)
			for i := range block {
				p := &block[i]
				p.key = k
				p.partition = d.Int32()
				p.leaderEpoch = -1
				if version >= 9 {
					p.leaderEpoch = d.Int32()
				}
				p.offset = d.Int64()
				if version >= 12 {
					d.Int32() // last fetched epoch: logs do not diverge here
				}
				if version >= 5 {
					d.Int64() // log start of a follower
				}
				p.maxBytes = max(int(d.Int32()), 0)
				d.SkipTags(flexible)
				req.parts = append(req.parts, p)
			}
		}
		d.SkipTags(flexible)
		if d.Bad() {
			break
		}
	}
	if version >= 7 {
		n := d.Array(flexible, topicBytes)
		for range n {
			k := topicKey(&d, version, flexible)
			m := d.Array(flexible, 4)
			for range m {
				k.partition = d.Int32()
				req.forgotten = append(req.forgotten, k)
			}
			d.SkipTags(flexible)
			if d.Bad() {
				break
			}
		}
	}
	if version >= 11 {
		d.String(flexible) // rack
	}
	d.SkipTags(flexible)
	if !d.Done() {
		return nil, fmt.Errorf("%w: Fetch version %d", wire.ErrBody, version)
	}
	return req, nil
}

func topicKey(d *wire.Decoder, version int16, flexible bool) (k key) {
	if version >= 13 {
		k.id = d.UUID()
	} else {
		k.name, _ = d.String(flexible)
	}
	return k
}
