package kafka

import (
	"context"
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func (s *Server) apiVersions(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.ApiVersionsRequest)
	resp := req.ResponseKind().(*kmsg.ApiVersionsResponse)
	if r.version >= 3 && (!softwareName(req.ClientSoftwareName) || !softwareName(req.ClientSoftwareVersion)) {
		resp.ErrorCode = errInvalidRequest
		return resp, nil
	}
	if r.version >= 3 {
		r.conn.software = cut(req.ClientSoftwareName)
		r.conn.show(func(c *Connection) { c.Software = cut(req.ClientSoftwareName + " " + req.ClientSoftwareVersion) })
	}
	resp.ApiKeys = make([]kmsg.ApiVersionsResponseApiKey, 0, len(s.table))
	for _, a := range s.table {
		if a != nil {
			resp.ApiKeys = append(resp.ApiKeys, apiKey(a))
		}
	}
	s.putFeatures(resp)
	return resp, nil
}

func apiKey(a *api) kmsg.ApiVersionsResponseApiKey {
	k := kmsg.NewApiVersionsResponseApiKey()
	k.ApiKey, k.MinVersion, k.MaxVersion = a.key, a.min, a.max
	return k
}

// tooNewAPIVersions answers a version we do not know in version 0, with the range
// that we do: the client asks again on the same connection.
func (c *conn) tooNewAPIVersions(frame []byte) error {
	a := c.s.table[keyAPIVersions]
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.ErrorCode = errUnsupportedVersion
	resp.ApiKeys = []kmsg.ApiVersionsResponseApiKey{apiKey(a)}
	if c.hasWriter && !c.pipe.wait() {
		return errHangUp
	}
	h := header{key: a.key, correlationID: int32(binary.BigEndian.Uint32(frame[4:]))}
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
