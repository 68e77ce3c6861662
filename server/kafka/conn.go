package kafka

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/api/fetch"
	"millrace/server/kafka/kafkaerr"
	"millrace/server/kafka/quota"
	"millrace/server/kafka/refusal"
	"millrace/server/kafka/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// readBufferBytes holds whole small requests; large ones go past it. Times
	// ten thousand connections it is what idle ones cost.
	readBufferBytes = 4 << 10
	// scratchBytes is the largest encoding buffer kept between requests.
	scratchBytes = 64 << 10

	// preAuthFrameBytes bounds what anyone may send before having logged in.
	preAuthFrameBytes = 64 << 10
	// controlFrameBytes bounds requests that carry no records; the largest honest ones are
	// assignments of huge groups. What decoding them takes is bounded beside that (decodedPerByte).
	controlFrameBytes = 16 << 20
	// decodedPerByte is how many bytes decoding a byte may take: arrays of structures from
	// arrays of bytes.
	decodedPerByte = 16
	// fetchFrameBytes bounds a Fetch: some hundred thousand partitions.
	fetchFrameBytes = 4 << 20
	// maxNotedErrors bounds what of one response is noted.
	maxNotedErrors = 100
)

// conn is one client connection. One goroutine (serve) reads requests and executes
// them strictly in order; all fields without a comment are its own. A second one
// (write) appears with the first Produce, whose answers come later; whoever writes
// otherwise first waits for the pipeline to be empty, so that there is one writer.
type conn struct {
	s          *Server
	l          *listener
	nc         net.Conn
	br         *bufio.Reader
	isLoopback bool

	ctx    context.Context // ends with the connection or the server
	cancel context.CancelFunc

	client    api.Client
	transport auth.Transport
	sasl      saslState
	session   fetch.Session
	software  string // the client library, as ApiVersions told it; "" unknown

	shown atomic.Pointer[Connection] // read from anywhere

	mute time.Duration // so long nothing is read: a quota was exceeded
	work api.Work

	greeted  bool      // a request was answered, logged in where required
	idleSet  time.Time // when the idle deadline was last set; zero: another one holds
	writeSet time.Time // when the write deadline was last set
	scratch  []byte
	largest  int // the largest frame that came whole

	pipe       pipeline
	writers    sync.WaitGroup
	hasWriter  bool
	abortOnce  sync.Once
	tlsFlusher *bufio.Writer // joins small pieces into TLS records; nil without TLS
}

func newConn(s *Server, l *listener, nc net.Conn, host string) *conn {
	c := &conn{s: s, l: l, nc: nc, client: api.Client{
		Principal: auth.Principal{Name: auth.Anonymous.Name, Host: host}, Host: host,
		Listener: l.Name, AdvertisedHost: l.host, AdvertisedPort: l.port,
	}}
	if l.host == "" {
		c.client.AdvertisedHost, _, _ = net.SplitHostPort(nc.LocalAddr().String())
	}
	if ip := net.ParseIP(host); ip != nil {
		c.isLoopback = ip.IsLoopback()
	}
	if l.TLS != nil {
		c.nc = tls.Server(nc, l.TLS)
		c.tlsFlusher = bufio.NewWriterSize(c.nc, 16<<10)
	}
	c.br = bufio.NewReaderSize(c.nc, readBufferBytes)
	c.work.Now = s.o.Now
	c.ctx, c.cancel = context.WithCancel(api.WithWork(s.ctx, &c.work))
	c.sasl.required = l.SASL
	c.pipe.init()
	c.shown.Store(&Connection{
		ID: s.accepted.Add(1), Listener: l.Name, User: auth.Anonymous.Name,
		Client: nc.RemoteAddr().String(), Since: s.o.Now(),
	})
	return c
}

// drain asks the connection to end after what it is doing. Called from outside.
func (c *conn) drain() { _ = c.nc.SetReadDeadline(aLongTimeAgo) }

// abort ends the connection at once. Called from outside, too.
func (c *conn) abort() {
	c.abortOnce.Do(func() {
		c.cancel()
		c.pipe.breakOff()
		_ = c.nc.Close()
	})
}

var aLongTimeAgo = time.Unix(1, 0)

// serve runs the connection to its end.
func (c *conn) serve() {
	defer c.s.forget(c)
	defer c.writers.Wait()
	defer c.abort()
	defer func() { c.s.fetching.Drop(&c.session) }()
	defer c.client.Release()
	defer c.recovered()
	err := c.requests()
	// What was accepted is answered, also when the client has closed its half.
	if c.hasWriter {
		c.pipe.wait()
	}
	c.logEnd(err)
}

func (c *conn) logEnd(err error) {
	switch {
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, api.ErrHangUp), errors.Is(err, net.ErrClosed), c.s.stopping.Load():
	case c.refusedConnection(err):
	default:
		c.s.log.Debug("kafka connection closed", slog.String("client", c.client.Host), slog.Any("error", err))
	}
}

// recovered turns a bug in one connection into that connection's end.
func (c *conn) recovered() {
	if p := recover(); p != nil {
		c.s.metrics.panics.Inc()
		c.s.log.Error("kafka connection panicked", slog.String("client", c.client.Host),
			slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
		c.abort()
	}
}

var errTooLong = errors.New("request too long")

func (c *conn) requests() error {
	if c.mute = c.s.quotas.ChargeConnection(c.client.Host); !c.unmute() {
		return api.ErrHangUp
	}
	if err := c.nc.SetDeadline(time.Now().Add(c.s.o.LoginTimeout)); err != nil {
		return err
	}
	if t, ok := c.nc.(*tls.Conn); ok {
		if err := t.HandshakeContext(c.ctx); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.Canceled) {
				return err
			}
			return fmt.Errorf("%w: %w", errTLSHandshake, err)
		}
		if err := c.takeCertificate(t); err != nil {
			return err
		}
	}
	for {
		if !c.unmute() {
			return api.ErrHangUp
		}
		if err := c.idle(); err != nil {
			return err
		}
		if c.sasl.rawTokens {
			if err := c.rawToken(); err != nil {
				return err
			}
			continue
		}
		size, key, version, err := wire.PeekFrame(c.br)
		if err != nil {
			return err
		}
		a, err := c.admitRequest(size, key, version)
		if err != nil {
			return err
		}
		if err := c.request(a, size, version); err != nil {
			return err
		}
	}
}

// idle sets the deadline for the next request's first bytes. Before the first
// answer that is the login deadline, already set.
func (c *conn) idle() error {
	if c.greeted {
		// Every so often is enough: timers are not free, and ten minutes need
		// no precision.
		if now := time.Now(); now.Sub(c.idleSet) > c.s.o.IdleTimeout/16 {
			if err := c.nc.SetReadDeadline(now.Add(c.s.o.IdleTimeout)); err != nil {
				return err
			}
			c.idleSet = now
		}
	}
	// drain sets a deadline in the past after stopping: whoever comes second sees
	// the other.
	if c.s.stopping.Load() {
		return api.ErrHangUp
	}
	return nil
}

// admitRequest decides by key, version and size alone whether a request is read.
func (c *conn) admitRequest(size int, key, version int16) (*endpoint, error) {
	a := c.s.table.find(key)
	if a == nil {
		return nil, c.refusal(nil, key, version, refusal.Refused{Name: refusal.EndUnservedAPI}, fmt.Errorf("%w: API %d is not served", wire.ErrBody, key))
	}
	// A newer ApiVersions is answered (in version 0), anything else is a client
	// that did not ask.
	if (version < a.min || version > a.max) && key != keyAPIVersions {
		return nil, c.refusal(a, key, version, refusal.Refused{Code: kafkaerr.UnsupportedVersion},
			fmt.Errorf("%w: %s version %d, served are %d to %d", wire.ErrBody, a.name, version, a.min, a.max))
	}
	if !c.sasl.mayProceed() && !a.preAuth {
		return nil, c.refusal(a, key, version, refusal.Refused{Name: refusal.EndBeforeLogin}, fmt.Errorf("%w: %s before login", wire.ErrBody, a.name))
	}
	limit := c.s.o.MaxRequestBytes
	switch {
	case !c.sasl.mayProceed(), size > preAuthFrameBytes && c.isStranger():
		limit = min(limit, preAuthFrameBytes)
	case key == keyFetch:
		limit = min(limit, fetchFrameBytes)
	case key != keyProduce:
		limit = min(limit, controlFrameBytes)
	}
	if size > limit {
		return nil, c.refusal(a, key, version, refusal.Refused{Name: refusal.EndTooLarge}, fmt.Errorf("%w: %s of %d bytes, at most %d", errTooLong, a.name, size, limit))
	}
	return a, nil
}

// isStranger says whether this is a peer that has not logged in and without that may do
// nothing: no memory is spent on its large requests.
func (c *conn) isStranger() bool {
	return c.client.Principal.Name == auth.Anonymous.Name && !c.s.o.Auth.AnonymousAllowed()
}

// request reads and executes one request.
func (c *conn) request(a *endpoint, size int, version int16) error {
	var small, large int64
	defer func() {
		c.s.smallRequests.Release(small)
		c.s.largeRequests.Release(large)
	}()
	reserve := func(more int) error {
		// Two budgets, so that whoever waits for the second one, holding a bit
		// of the first, waits only for those who need nothing more.
		if small == 0 {
			if err := c.s.smallRequests.Acquire(c.ctx, int64(more)); err != nil {
				return err
			}
			small = int64(more)
			return nil
		}
		if err := c.s.largeRequests.Acquire(c.ctx, int64(more)); err != nil {
			return err
		}
		large += int64(more)
		return nil
	}
	progress := func() error { return nil }
	if c.br.Buffered() < wire.SizeBytes+size && c.greeted {
		progress = func() error {
			c.idleSet = time.Time{}
			return c.nc.SetReadDeadline(time.Now().Add(c.s.o.RequestTimeout))
		}
	}
	frame, err := wire.ReadFrame(c.br, size, c.largest, reserve, progress)
	if err != nil {
		return err
	}
	c.largest = max(c.largest, size)
	c.s.metrics.bytesIn.Add(float64(wire.SizeBytes + size))
	a.requests.Inc()
	if version < a.min || version > a.max {
		return c.tooNewAPIVersions(frame)
	}
	h, body, err := wire.ParseHeader(frame, a.isFlexible(version))
	if err != nil {
		return fmt.Errorf("%s: %w", a.name, err)
	}
	if id := refusal.CutName(h.ClientID); id != c.client.QuotaID {
		c.client.QuotaID = strings.Clone(id)
	}
	// One request after the other, but for Produce: it may pass the sync of the
	// Produce before it.
	if !a.pipelined && c.hasWriter && !c.pipe.wait() {
		return api.ErrHangUp
	}
	if c.s.quotas.Limits(quota.RequestPercentage) {
		c.work.Begin()
	}
	defer c.work.End(a.pipelined) // its answer was made before the work was done
	ctx := c.ctx
	if a.blocking {
		var stop func()
		ctx, stop = c.Watch(ctx)
		defer stop()
	}
	if a.raw != nil {
		err = a.raw(c, ctx, h, body)
	} else {
		err = c.handle(ctx, a, h, body)
	}
	if err == nil && !c.greeted && c.sasl.mayProceed() {
		c.greeted = true
	}
	return err
}

// throttled is a response that can tell the client to wait.
type throttled interface {
	kmsg.ThrottleResponse
	kmsg.SetThrottleResponse
}

// handle decodes a request's body, has it answered, and writes the answer.
func (c *conn) handle(ctx context.Context, a *endpoint, h wire.Header, body []byte) error {
	reserved := int64(0)
	release := func() { c.s.decoding.Release(reserved); reserved = 0 }
	if len(body) > preAuthFrameBytes {
		// Who holds this budget waits for no other, so that it can be waited for with the others held.
		n := int64(len(body)) * decodedPerByte
		if err := c.s.decoding.Acquire(c.ctx, n); err != nil {
			return err
		}
		reserved = n
		defer func() { release() }()
	}
	req := kmsg.RequestForKey(h.Key)
	req.SetVersion(h.Version)
	err := req.ReadFrom(body)
	if a.blocking {
		release() // it may wait for the others that want it
	}
	if err != nil {
		return fmt.Errorf("%w: %s version %d: %w", wire.ErrBody, a.name, h.Version, err)
	}
	r := &api.Request{Header: h, Body: req, Client: &c.client}
	var resp kmsg.Response
	if c.s.cluster.IsOff(h.Key) {
		resp = req.ResponseKind()
		reflect.ValueOf(resp).Elem().FieldByName("ErrorCode").SetInt(int64(kafkaerr.UnsupportedVersion))
	} else {
		resp, err = a.answer(ctx, c, r)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", a.name, err)
	}
	if resp != nil {
		if t, ok := resp.(throttled); ok {
			t.SetThrottle(c.delay(max(r.Wait, c.worked())))
		}
		c.noteErrors(a, h, req, resp)
		if err := c.respond(a, h, resp); err != nil {
			return err
		}
	}
	if r.HangUp {
		return api.ErrHangUp
	}
	return nil
}

// respond encodes resp behind its header and writes it.
func (c *conn) respond(a *endpoint, h wire.Header, resp kmsg.Response) error {
	buf := wire.BeginResponse(c.Scratch(), h.CorrelationID, a.tagsResponses(resp.GetVersion()))
	buf = resp.AppendTo(buf)
	wire.EndResponse(buf, 0, 0)
	return c.Send(buf, nil)
}

// Scratch is an empty buffer to encode into, the caller's until Send.
func (c *conn) Scratch() []byte { return c.scratch[:0] }

// Send writes the answer that was encoded into head, or the pieces that it was cut into.
func (c *conn) Send(head []byte, pieces net.Buffers) error {
	if cap(head) <= scratchBytes {
		c.scratch = head[:0]
	}
	if len(pieces) > 0 {
		return c.writev(pieces)
	}
	return c.write(head)
}

// write sends one piece.
func (c *conn) write(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), wire.ProgressBytes)
		if err := c.writeDeadline(n == wire.ProgressBytes); err != nil {
			return err
		}
		if _, err := c.nc.Write(b[:n]); err != nil {
			return err
		}
		c.s.metrics.bytesOut.Add(float64(n))
		b = b[n:]
	}
	return nil
}

// writev sends pieces of different memory with few system calls, without joining
// them first. bufs is consumed.
func (c *conn) writev(bufs net.Buffers) error {
	for len(bufs) > 0 {
		n, k := 0, 0
		for k < len(bufs) && n < wire.ProgressBytes {
			n += len(bufs[k])
			k++
		}
		if err := c.writeDeadline(n >= wire.ProgressBytes); err != nil {
			return err
		}
		part := bufs[:k:k]
		bufs = bufs[k:]
		if c.tlsFlusher == nil {
			if _, err := part.WriteTo(c.nc); err != nil {
				return err
			}
		} else {
			for _, b := range part {
				if _, err := c.tlsFlusher.Write(b); err != nil {
					return err
				}
			}
			if err := c.tlsFlusher.Flush(); err != nil {
				return err
			}
		}
		c.s.metrics.bytesOut.Add(float64(n))
	}
	return nil
}

// writeDeadline gives the client WriteTimeout, or a little less, for what is written
// next: for small pieces it is not renewed every time.
func (c *conn) writeDeadline(large bool) error {
	now := time.Now()
	if !large && now.Sub(c.writeSet) < c.s.o.WriteTimeout/16 {
		return nil
	}
	c.writeSet = now
	return c.nc.SetWriteDeadline(now.Add(c.s.o.WriteTimeout))
}

// Client is who this is.
func (c *conn) Client() *api.Client { return &c.client }

func (c *conn) produce(ctx context.Context, h wire.Header, body []byte) error {
	return c.s.producing.Produce(ctx, c, h, body)
}

func (c *conn) fetch(ctx context.Context, h wire.Header, body []byte) error {
	return c.s.fetching.Fetch(ctx, c, &c.session, h, body)
}

// Push takes the next place in the order of answers, waiting for room; false: the connection broke.
func (c *conn) Push(a api.Pipelined) bool {
	c.startWriter()
	return c.pipe.push(a)
}

// Complete says that an answer that was pushed can be encoded. It comes from anywhere and never blocks.
func (c *conn) Complete(a api.Pipelined) { c.pipe.complete(a) }

// startWriter makes sure that answers in the pipeline are written.
func (c *conn) startWriter() {
	if c.hasWriter {
		return
	}
	c.hasWriter = true
	c.writers.Add(1)
	go func() {
		defer c.writers.Done()
		defer c.recovered()
		if err := c.writeAnswers(); err != nil {
			c.abort()
		}
	}()
}

// writeAnswers writes what becomes ready in the pipeline, everything that is ready at
// once in one go, until the connection ends.
func (c *conn) writeAnswers() error {
	var answers []api.Pipelined
	var buf []byte
	for {
		select {
		case <-c.pipe.ready:
		case <-c.pipe.ended:
			return nil
		}
		answers = c.pipe.take(answers[:0])
		if len(answers) == 0 {
			continue
		}
		buf = buf[:0]
		hangUp := false
		for _, a := range answers {
			var end bool
			if buf, end = a.AppendAnswer(buf); end {
				hangUp = true
				break
			}
		}
		if len(buf) > 0 {
			if err := c.write(buf); err != nil {
				return err
			}
		}
		if hangUp {
			return api.ErrHangUp
		}
		if cap(buf) > scratchBytes {
			buf = nil
		}
		c.pipe.free(len(answers))
		clear(answers)
	}
}

// Watch returns a context that also ends when the client closes the connection,
// and stop, which must be called before the connection is read again. It waits for
// more input without consuming any: a client that sends on is still there.
func (c *conn) Watch(ctx context.Context) (_ context.Context, stop func()) {
	n := c.br.Buffered() + 1
	if n > readBufferBytes {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	if c.nc.SetReadDeadline(time.Time{}) != nil {
		cancel()
		return ctx, func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := c.br.Peek(n); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			cancel()
		}
	}()
	return ctx, func() {
		_ = c.nc.SetReadDeadline(aLongTimeAgo)
		<-done
		cancel()
		c.idleSet = time.Time{}
		if !c.greeted {
			_ = c.nc.SetReadDeadline(time.Now().Add(c.s.o.LoginTimeout))
		}
	}
}
