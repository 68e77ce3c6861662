package kafka

import (
	"container/list"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"millrace/store/state"
)

// ClientError is what millrace.client_errors shows of one kind of refusal: what was
// refused to whom, and what the client's owner can do about it.
type ClientError struct {
	ClientErrorKey
	First, Last time.Time
	Count       int64
	Message     string // what the client was told beside the code, if anything, the last time
	Hint        string // in plain words; "" when the code says all there is to say
}

// ClientErrorKey is what makes two refusals the same kind.
type ClientErrorKey struct {
	ClientID  string
	Software  string // the client library; "" unknown
	Address   string // without the port, which changes with every connection
	Principal string
	API       string // "" when it did not come to a request
	Version   int16
	Refused
}

// Refused is what was refused.
type Refused struct {
	Topic           string
	Group           string
	TransactionalID string
	Code            int16  // Kafka's; 0 where the protocol has none and the connection ends
	Name            string // of the code, or of why the connection ended
}

// DefaultClientErrors is how many kinds of refusals are remembered.
const DefaultClientErrors = 1000

// ClientErrors remembers the kinds of refusals that came last, a bounded number: peers
// decide what is in it. Safe for concurrent use.
type ClientErrors struct {
	limit int
	now   func() time.Time

	mu    sync.Mutex // a leaf
	rows  map[ClientErrorKey]*list.Element
	order list.List // of *clientErrorRow, the latest in front
}

type clientErrorRow struct {
	ClientError
	logged time.Time
}

// NewClientErrors remembers at most limit kinds of refusals.
func NewClientErrors(limit int, now func() time.Time) *ClientErrors {
	return &ClientErrors{limit: limit, now: now, rows: map[ClientErrorKey]*list.Element{}}
}

// All lists what is remembered, the latest first.
func (e *ClientErrors) All() []ClientError {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := make([]ClientError, 0, e.order.Len())
	for el := e.order.Front(); el != nil; el = el.Next() {
		all = append(all, el.Value.(*clientErrorRow).ClientError)
	}
	return all
}

// note counts a refusal, and says whether it is time for a line in the log.
func (e *ClientErrors) note(key ClientErrorKey, message, hint string) (logIt bool) {
	now := e.now()
	e.mu.Lock()
	defer e.mu.Unlock()
	el, known := e.rows[key]
	if !known {
		if len(e.rows) >= e.limit {
			oldest := e.order.Remove(e.order.Back()).(*clientErrorRow)
			delete(e.rows, oldest.ClientErrorKey)
		}
		// What a peer sent is part of a request, which must not be kept for a name in it.
		key.ClientID, key.Topic = strings.Clone(key.ClientID), strings.Clone(key.Topic)
		key.Group, key.TransactionalID = strings.Clone(key.Group), strings.Clone(key.TransactionalID)
		el = e.order.PushFront(&clientErrorRow{ClientError: ClientError{ClientErrorKey: key, First: now}})
		e.rows[key] = el
	} else {
		e.order.MoveToFront(el)
	}
	row := el.Value.(*clientErrorRow)
	row.Last, row.Message, row.Hint = now, strings.Clone(message), hint
	row.Count++
	if !row.logged.IsZero() && now.Sub(row.logged) < rareLogEvery {
		return false
	}
	row.logged = now
	return true
}

// ClientErrors lists the refusals that millrace.client_errors shows, the latest first.
func (s *Server) ClientErrors() []ClientError { return s.o.ClientErrors.All() }

// refuse notes a refusal and leaves a line in the log, though not for every one of a kind.
// logged: there is such a line already, with more in it.
func (c *conn) refuse(a *api, h header, r Refused, message string, logged bool) {
	name, version := "", int16(0)
	if a != nil {
		name, version = a.name, h.version
	}
	r.Topic, r.Group, r.TransactionalID = cutName(r.Topic), cutName(r.Group), cutName(r.TransactionalID)
	if r.Name == "" {
		r.Name = errorName(r.Code)
	}
	key := ClientErrorKey{
		ClientID: cutName(h.clientID), Software: c.software, Address: c.remoteHost, Principal: c.principal.Name,
		API: name, Version: version, Refused: r,
	}
	hint := c.s.hint(r)
	if !c.s.o.ClientErrors.note(key, cut(message), hint) || logged {
		return
	}
	args := []any{
		slog.String("client", c.remoteHost), slog.String("client_id", key.ClientID), slog.String("user", key.Principal),
		slog.String("error", r.Name),
	}
	for _, attr := range []slog.Attr{
		slog.String("software", key.Software), slog.String("api", name), slog.String("topic", r.Topic), slog.String("group", r.Group),
		slog.String("transactional_id", r.TransactionalID), slog.String("message", cut(message)), slog.String("hint", hint),
	} {
		if attr.Value.String() != "" {
			args = append(args, attr)
		}
	}
	c.s.rare.warn(c.s.log, strings.Join([]string{"refused", c.remoteHost, key.ClientID, name, r.Name, r.Topic, r.Group, r.TransactionalID}, "\x00"),
		"kafka request refused", args...)
}

// cutName bounds a name of a peer's: no name that exists is longer.
func cutName(s string) string {
	const most = 255
	if len(s) > most {
		return s[:most]
	}
	return s
}

// topicNamed is the name of the topic with that id, or the id.
func (s *Server) topicNamed(id state.TopicID) string {
	if t, ok := s.o.Store.Topics().ByID(id); ok {
		return t.Name
	}
	return id.String()
}

// isNormal says whether clients meet the code in the course of ordinary work, and do by
// themselves what has to be done.
func (s *Server) isNormal(key, code int16) bool {
	switch code {
	case errNone, errRebalanceInProgress, errMemberIDRequired, errFetchSessionIDNotFound, errInvalidFetchSessionEpoch, errFetchSessionTopicIDError,
		errDuplicateSequenceNumber, errElectionNotNeeded, errNoReassignmentInProgress, errUnstableOffsetCommit,
		errFencedLeaderEpoch, errUnknownLeaderEpoch, codeConcurrentTransactions, codeShareSessionNotFound, codeInvalidShareSessionEpoch:
		return true
	case errUnsupportedVersion:
		return key == keyAPIVersions
	case errUnknownTopicOrPartition:
		return key == keyMetadata && s.o.AutoCreateTopics // a client that looks before it creates
	case errGroupIDNotFound:
		return key == keyDescribeGroups || key == keyConsumerGroupDescribe || key == keyShareGroupDescribe // how a group's absence is told
	}
	return false
}

// Why connections end before anything can be answered.
const (
	endRefused        = "CONNECTION_REFUSED"
	endTLSOnPlaintext = "TLS_ON_PLAINTEXT_PORT"
	endPlaintextOnTLS = "PLAINTEXT_ON_TLS_PORT"
	endHTTP           = "HTTP_ON_KAFKA_PORT"
	endTLSFailed      = "TLS_HANDSHAKE_FAILED"
	endBeforeLogin    = "LOGIN_REQUIRED"
	endTooLarge       = "REQUEST_TOO_LARGE"
	endMalformed      = "MALFORMED_REQUEST"
	endUnservedAPI    = "UNSERVED_API"
)

// refusedConnection notes why a connection ends for whose last request there was no answer.
// It says whether err is such a reason.
func (c *conn) refusedConnection(err error) bool {
	var record tls.RecordHeaderError
	var refused *refusedRequest
	strange := ""
	if b, _ := c.br.Peek(min(c.br.Buffered(), 4)); len(b) >= 2 && !c.greeted {
		strange = strangeProtocol(b)
	}
	switch {
	case errors.As(err, &refused) && strange == "":
		c.refuse(refused.api, refused.header, refused.Refused, err.Error(), false)
	case errors.As(err, &record):
		c.refuse(nil, header{}, Refused{Name: endPlaintextOnTLS}, "", false)
	case errors.Is(err, errTLSHandshake):
		c.refuse(nil, header{}, Refused{Name: endTLSFailed}, err.Error(), false)
	case errors.Is(err, errFrame), errors.Is(err, errBadRequest), errors.Is(err, errTooLong):
		name := strange
		if name == "" {
			name = endMalformed
		}
		c.refuse(nil, header{}, Refused{Name: name}, err.Error(), false)
	default:
		return false
	}
	return true
}

var errTLSHandshake = errors.New("TLS handshake failed")

// strangeProtocol is what the first bytes of a connection are when they are known not to be Kafka's; else "".
func strangeProtocol(b []byte) string {
	switch {
	case b[0] == 0x16 && b[1] == 3: // a handshake record of TLS
		return endTLSOnPlaintext
	case slices.Contains([]string{"GET ", "POST", "HEAD", "PUT ", "PRI ", "OPTI"}, string(b)):
		return endHTTP
	}
	return ""
}

// refusedRequest ends a connection over a request that has no answer.
type refusedRequest struct {
	error
	api    *api
	header header
	Refused
}

func (e *refusedRequest) Unwrap() error { return e.error }

// refusal is err as the end of a connection over a request of which only this much was read.
func (c *conn) refusal(a *api, key, version int16, r Refused, err error) error {
	return &refusedRequest{err, a, header{key: key, version: version, clientID: c.lastClientID}, r}
}

// refusedAtTheDoor notes a connection that is one too many.
func (s *Server) refusedAtTheDoor(nc net.Conn, reason string) {
	host, _, err := net.SplitHostPort(nc.RemoteAddr().String())
	if err != nil {
		host = nc.RemoteAddr().String()
	}
	if reason != "stopping" {
		key := ClientErrorKey{Address: host, Refused: Refused{Name: endRefused}}
		s.o.ClientErrors.note(key, reason, endHints[endRefused])
	}
	s.rare.warn(s.log, "refused "+reason, "kafka connection refused", slog.String("reason", reason), slog.String("client", nc.RemoteAddr().String()))
}
