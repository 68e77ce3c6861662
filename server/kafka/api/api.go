// Package api is what the handlers of Kafka's APIs have in common: what a request is to them,
// and the node that they answer for. The handlers themselves are in the packages below, an API
// a file, named after its key (topics/19_create_topics.go); which are served, and in which
// versions, is server/kafka's list.
package api

import (
	"context"
	"errors"
	"time"

	"millrace/server/kafka/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// A Handler answers one request whose body kmsg has decoded.
//
// It runs on its connection's goroutine: requests of one connection are handled
// strictly one after the other, so a handler may block, and blocks nobody else.
// ctx ends when the server stops and, for an API marked blocking, also when the
// client goes away.
//
// Every failure that the protocol can express belongs into the response, in the
// code that kafkaerr gives it. An error is only for what has no answer: the
// connection is closed. A nil response is no response (and no error).
type Handler func(ctx context.Context, r *Request) (kmsg.Response, error)

// Request is one decoded request and who sent it.
type Request struct {
	wire.Header
	Body kmsg.Request
	*Client

	HangUp bool          // set by a handler: close the connection after the response
	Wait   time.Duration // set by a handler: the client is to wait, by a quota
}

// ErrHangUp ends a connection in an orderly way, without a log line.
var ErrHangUp = errors.New("hang up")

// Pipelined is an answer that is ready later, on another goroutine.
type Pipelined interface {
	// AppendAnswer appends the whole response frame to dst, or nothing when
	// there is no answer; hangUp closes the connection after it.
	AppendAnswer(dst []byte) (out []byte, hangUp bool)
}
