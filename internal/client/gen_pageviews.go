package client

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

type pageview struct {
	ViewID   string  `json:"view_id"`
	UserID   *int64  `json:"user_id"` // null: not logged in
	Session  string  `json:"session"`
	URL      string  `json:"url"`
	Referrer *string `json:"referrer"`
	Country  string  `json:"country"`
	Device   string  `json:"device"`
	OS       string  `json:"os"`
	Browser  string  `json:"browser"`
	Status   int     `json:"status"`
	LoadMs   int     `json:"load_ms"`
	ViewedAt string  `json:"viewed_at"`
}

// newPageviews is a web site's page views; the key is the session.
func newPageviews(r *rand.Rand) generator {
	user := people(r, 20_000)
	return func(r *rand.Rand, i int64, at time.Time) ([]byte, []byte) {
		u := user()
		v := pageview{ViewID: randomUUID(r), Session: fmt.Sprintf("s-%06x", u*2654435761&0xffffff)}
		if r.IntN(3) > 0 {
			id := int64(u)
			v.UserID = &id
		}
		v.URL = pickName(r, []weighted{{"/", 30}, {"/search", 18}, {"/products/", 30}, {"/cart", 9}, {"/checkout", 5}, {"/help", 4}, {"/blog/", 4}})
		switch v.URL {
		case "/products/":
			v.URL += products[r.IntN(len(products))].sku
		case "/blog/":
			v.URL += fmt.Sprintf("%d", 1+r.IntN(40))
		case "/search":
			v.URL += "?q=" + []string{"tea", "coffee", "mug", "gift", "grinder"}[r.IntN(5)]
		}
		if r.IntN(2) == 0 {
			ref := pickName(r, []weighted{{"https://www.google.com/", 50}, {"https://duckduckgo.com/", 12}, {"https://news.ycombinator.com/", 6}, {"https://www.bing.com/", 10}, {"newsletter", 8}})
			v.Referrer = &ref
		}
		v.Country = pickCountry(r).code
		ua := pick(r, userAgents, func(a struct {
			device, os, browser string
			weight              int
		},
		) int {
			return a.weight
		})
		v.Device, v.OS, v.Browser = ua.device, ua.os, ua.browser
		v.Status = 200
		switch n := r.IntN(1000); {
		case n < 3:
			v.Status = 500
		case n < 20:
			v.Status = 404
		case n < 45:
			v.Status = 301
		}
		v.LoadMs = int(math.Exp(r.NormFloat64()*0.5 + 5)) // log-normal around 150 ms
		v.ViewedAt = at.UTC().Format(timestampLayout)
		return []byte(v.Session), mustJSON(v)
	}
}
