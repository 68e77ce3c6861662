package client

import (
	"bytes"
	"context"
	be "encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// refusals are the words in which brokers refused batches. The client library hands on the code of a refusal alone, so
// connections that are dialled by way of dial listen to the answers that pass through them.
type refusals struct {
	mu    sync.Mutex
	first map[refusedAt]refused // the first one of each code
}

type refusedAt struct {
	partition int32
	code      int16
}

type refused struct {
	message string
	records map[int32]string // what is wrong with single records of the batch, by their place in it
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

func (r *refusals) dial(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		h := &heardConn{Conn: c, r: r}
		h.out.done, h.out.most = h.request, requestHeader
		h.in.done, h.in.most = h.answer, maxAnswer
		return h, nil
	}
}

// of adds to err, with which the n-th record of a batch failed (from 0), what the broker said. named says that it spoke of
// this very record.
func (r *refusals) of(err error, partition int32, n int32) (_ error, named bool) {
	var code *kerr.Error
	if !errors.As(err, &code) {
		return err, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	said := r.first[refusedAt{partition, code.Code}]
	if why := said.records[n]; why != "" {
		return brokerError{err, why}, true
	}
	if said.message == "" {
		return err, false
	}
	return brokerError{err, said.message}, false
}

// note takes in an answer to a produce request. The topic is not looked at: a sink has one.
func (r *refusals) note(resp *kmsg.ProduceResponse) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			at := refusedAt{p.Partition, p.ErrorCode}
			if _, known := r.first[at]; known || p.ErrorCode == 0 {
				continue
			}
			said := refused{records: map[int32]string{}}
			if p.ErrorMessage != nil {
				said.message = *p.ErrorMessage
			}
			for _, bad := range p.ErrorRecords {
				if bad.ErrorMessage != nil {
					said.records[bad.RelativeOffset] = *bad.ErrorMessage
				}
			}
			if r.first == nil {
				r.first = map[refusedAt]refused{}
			}
			r.first[at] = said
		}
	}
}

const (
	requestHeader = 8       // bytes of a request that are looked at: API key, version, correlation id
	maxAnswer     = 1 << 20 // of an answer; a longer one is not listened to
	maxPending    = 1000    // answers that may be outstanding; with acks=0 none ever comes
)

// heardConn is a connection whose produce requests' answers are listened to.
type heardConn struct {
	net.Conn
	r       *refusals
	in, out frames

	mu      sync.Mutex
	pending []pendingAnswer // in the order of the requests, which is that of the answers
}

type pendingAnswer struct {
	correlation uint32
	version     int16
}

func (c *heardConn) Write(b []byte) (int, error) {
	c.out.add(b) // before the answer can come
	return c.Conn.Write(b)
}

func (c *heardConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.in.add(b[:n])
	return n, err
}

func (c *heardConn) request(b []byte) {
	if len(b) < requestHeader || kmsg.Key(be.BigEndian.Uint16(b)) != kmsg.Produce {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) < maxPending {
		c.pending = append(c.pending, pendingAnswer{be.BigEndian.Uint32(b[4:]), int16(be.BigEndian.Uint16(b[2:]))})
	}
}

func (c *heardConn) answer(b []byte) {
	if len(b) < 4 {
		return
	}
	correlation := be.BigEndian.Uint32(b)
	c.mu.Lock()
	mine := len(c.pending) > 0 && c.pending[0].correlation == correlation
	resp := kmsg.NewPtrProduceResponse()
	if mine {
		resp.Version = c.pending[0].version
		c.pending = c.pending[1:]
	}
	c.mu.Unlock()
	if !mine {
		return
	}
	b = b[4:]
	if resp.IsFlexible() {
		if len(b) == 0 || b[0] != 0 {
			return // tags of the header, of which there are none so far
		}
		b = b[1:]
	}
	if resp.ReadFrom(bytes.Clone(b)) == nil {
		c.r.note(resp)
	}
}

// frames cuts what is added to it into frames: a length of four bytes, and as many bytes.
type frames struct {
	most int            // bytes of a frame that are kept
	done func(b []byte) // is called with each frame's; they are valid during the call

	kept   []byte
	length [4]byte
	have   int // of length
	left   uint32
}

func (f *frames) add(b []byte) {
	for len(b) > 0 {
		if f.have < len(f.length) {
			n := copy(f.length[f.have:], b)
			f.have, b = f.have+n, b[n:]
			if f.left = be.BigEndian.Uint32(f.length[:]); f.have < len(f.length) || f.left > 0 {
				continue
			}
		}
		part := b[:min(uint64(len(b)), uint64(f.left))]
		f.kept = append(f.kept, part[:min(len(part), f.most-len(f.kept))]...)
		f.left, b = f.left-uint32(len(part)), b[len(part):]
		if f.left == 0 {
			f.done(f.kept)
			f.kept, f.have = f.kept[:0], 0
		}
	}
}

// recordError is what is wrong with one record.
type recordError struct {
	number int64 // from 1, in the order in which they were sent
	err    error
}

func (e recordError) Error() string { return fmt.Sprintf("record %d: %v", e.number, e.err) }
func (e recordError) Unwrap() error { return e.err }
