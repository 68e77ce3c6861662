package client

import (
	"fmt"
	"math/rand/v2"
	"time"
)

type click struct {
	EventID string `json:"event_id"`
	Type    string `json:"type"`
	User    struct {
		ID      int64  `json:"id"`
		Segment string `json:"segment"`
		Country string `json:"country"`
	} `json:"user"`
	Page     string `json:"page"`
	Element  string `json:"element"`
	Position struct {
		X int `json:"x"`
		Y int `json:"y"`
	} `json:"position"`
	Campaign   *string  `json:"campaign"`
	Variant    string   `json:"variant"` // of an A/B test
	Tags       []string `json:"tags"`
	DwellMs    int      `json:"dwell_ms"`
	TimeMillis int64    `json:"ts"`
}

// newClicks is what people press on a web site; the key is the user. Variant B sells
// a little better, so that there is something to find.
func newClicks(r *rand.Rand) generator {
	user := people(r, 100_000)
	return func(r *rand.Rand, i int64, at time.Time) ([]byte, []byte) {
		c := click{EventID: randomUUID(r), Tags: []string{}}
		u := user()
		c.User.ID = int64(u) + 1
		c.User.Segment = []string{"new", "returning", "loyal", "business"}[u%4]
		c.User.Country = countries[u%uint64(len(countries))].code
		c.Variant = []string{"A", "B"}[u%2]
		buy := 3
		if c.Variant == "B" {
			buy = 4
		}
		c.Type = pickName(r, []weighted{{"click", 60}, {"scroll", 22}, {"hover", 10}, {"add_to_cart", 8}, {"purchase", buy}})
		c.Page = pickName(r, []weighted{{"home", 30}, {"product", 40}, {"search", 20}, {"cart", 10}})
		c.Element = pickName(r, []weighted{{"button.buy", 15}, {"a.product", 40}, {"img.hero", 12}, {"nav.menu", 20}, {"footer.link", 5}, {"input.search", 8}})
		c.Position.X, c.Position.Y = r.IntN(1920), r.IntN(4000)
		if r.IntN(4) == 0 {
			s := fmt.Sprintf("campaign-%02d", 1+r.IntN(12))
			c.Campaign = &s
			c.Tags = append(c.Tags, "paid")
		}
		if r.IntN(10) == 0 {
			c.Tags = append(c.Tags, "mobile", "beta")[:len(c.Tags)+1+r.IntN(2)]
		}
		c.DwellMs = int(r.ExpFloat64() * 1800)
		c.TimeMillis = at.UnixMilli()
		return fmt.Appendf(nil, "user-%d", c.User.ID), mustJSON(c)
	}
}
