package kafka

import "context"

const keyFetch = 1

type fetchSession struct{}

func (c *conn) dropSession() {}

func (s *Server) fetchAPI() api {
	return api{key: keyFetch, min: 4, max: 18, raw: s.fetch}
}

func (s *Server) fetch(context.Context, *conn, header, []byte) error { return errHangUp }
