package kafka

import (
	"context"
	"encoding/binary"

	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/server/kafka/rarelog"
	"millrace/server/kafka/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func (c *conn) apiVersions(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.ApiVersionsRequest)
	resp := req.ResponseKind().(*kmsg.ApiVersionsResponse)
	if r.Version >= 3 && (!softwareName(req.ClientSoftwareName) || !softwareName(req.ClientSoftwareVersion)) {
		resp.ErrorCode = kafkaerr.InvalidRequest
		return resp, nil
	}
	if r.Version >= 3 {
		c.software = rarelog.Cut(req.ClientSoftwareName)
		c.show(func(s *Connection) {
			s.Software = rarelog.Cut(req.ClientSoftwareName + " " + req.ClientSoftwareVersion)
		})
	}
	resp.ApiKeys = make([]kmsg.ApiVersionsResponseApiKey, 0, len(c.s.table))
	for _, a := range c.s.table {
		if a != nil {
			resp.ApiKeys = append(resp.ApiKeys, apiKey(a))
		}
	}
	c.s.cluster.PutFeatures(resp)
	return resp, nil
}

func apiKey(a *endpoint) kmsg.ApiVersionsResponseApiKey {
	k := kmsg.NewApiVersionsResponseApiKey()
	k.ApiKey, k.MinVersion, k.MaxVersion = a.key, a.min, a.max
	return k
}

// tooNewAPIVersions answers a version we do not know in version 0, with the range
// that we do: the client asks again on the same connection.
func (c *conn) tooNewAPIVersions(frame []byte) error {
	a := c.s.table[keyAPIVersions]
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.ErrorCode = kafkaerr.UnsupportedVersion
	resp.ApiKeys = []kmsg.ApiVersionsResponseApiKey{apiKey(a)}
	if c.hasWriter && !c.pipe.wait() {
		return api.ErrHangUp
	}
	h := wire.Header{Key: a.key, CorrelationID: int32(binary.BigEndian.Uint32(frame[4:]))}
	return c.respond(a, h, resp)
}

// softwareName says whether s is letters, digits, dots and dashes, with a letter or
// digit at both ends, as KIP-511 wants of a client's name and version.
func softwareName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case (c == '-' || c == '.') && i > 0 && i < len(s)-1:
		default:
			return false
		}
	}
	return s != ""
}
