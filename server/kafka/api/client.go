package api

import (
	"slices"

	"millrace/server/auth"
)

// Client is who sends requests over one connection. It belongs to the connection's goroutine.
type Client struct {
	Principal auth.Principal
	// QuotaID is the last request's client id, cut to what names may have; quotas go by it.
	QuotaID  string
	Host     string // its address, without the port
	Listener string // the name of the one that it reached

	// Where clients of that listener are told to connect.
	AdvertisedHost string
	AdvertisedPort int32

	held []Held
}

// Held is what lasts no longer than the connection on which it was begun.
type Held interface {
	Ended() bool
	Close()
}

// Hold has x closed with the connection, and forgets what has ended by itself.
func (c *Client) Hold(x Held) {
	c.held = append(slices.DeleteFunc(c.held, Held.Ended), x)
}

// Release closes what is held: the connection ended.
func (c *Client) Release() {
	for _, x := range c.held {
		x.Close()
	}
	c.held = nil
}

// ClientHost is the client's address as groups show it ("/127.0.0.1").
func (c *Client) ClientHost() string { return "/" + c.Host }

// Advertised is where this listener's clients are told to connect.
func (c *Client) Advertised() (host string, port int32) { return c.AdvertisedHost, c.AdvertisedPort }
