package client

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// quake has the shape of the USGS feed: a GeoJSON feature.
type quake struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	Properties struct {
		Mag     float64 `json:"mag"`
		Place   string  `json:"place"`
		Time    int64   `json:"time"` // Unix ms
		Felt    *int    `json:"felt"`
		Alert   *string `json:"alert"`
		Status  string  `json:"status"`
		Tsunami int     `json:"tsunami"`
		Sig     int     `json:"sig"`
		Net     string  `json:"net"`
		MagType string  `json:"magType"`
		Title   string  `json:"title"`
	} `json:"properties"`
	Geometry struct {
		Type        string     `json:"type"`
		Coordinates [3]float64 `json:"coordinates"` // longitude, latitude, depth in km
	} `json:"geometry"`
}

var quakeRegions = []struct {
	net, place string
	lon, lat   float64
	weight     int
}{
	{"ak", "Anchorage, Alaska", -150, 61.2, 28},
	{"ci", "Ridgecrest, California", -117.7, 35.6, 24},
	{"nc", "The Geysers, California", -122.8, 38.8, 20},
	{"hv", "Pāhala, Hawaii", -155.5, 19.2, 12},
	{"us", "Sendai, Japan", 142.5, 38.3, 6},
	{"us", "Valparaíso, Chile", -72.2, -33.1, 5},
	{"us", "Palu, Indonesia", 119.9, -0.8, 5},
}

// newQuakes is a feed of earthquakes; the key is the reporting network. Magnitudes
// follow Gutenberg and Richter: ten times fewer for each step.
func newQuakes(*rand.Rand) generator {
	return func(r *rand.Rand, i int64, at time.Time) ([]byte, []byte) {
		n, region := r.IntN(100), quakeRegions[0]
		for _, region = range quakeRegions {
			if n -= region.weight; n < 0 {
				break
			}
		}
		q := quake{Type: "Feature", ID: fmt.Sprintf("%s%08d", region.net, 70_000_000+i)}
		p := &q.Properties
		least := 0.5
		if region.net == "us" {
			least = 4.0 // far away, only strong ones are recorded
		}
		p.Mag = min(round(least-math.Log10(1-r.Float64()), 2), 9.5)
		p.Place = fmt.Sprintf("%dkm %s of %s", 1+r.IntN(80), []string{"N", "NE", "E", "SE", "S", "SW", "W", "NW"}[r.IntN(8)], region.place)
		p.Time = at.UnixMilli()
		if p.Mag >= 2.5 && r.IntN(2) == 0 {
			felt := 1 + int(math.Exp(p.Mag-1)*r.Float64())
			p.Felt = &felt
		}
		if p.Mag >= 5.5 {
			alert := "green"
			if p.Mag >= 7 {
				alert = "orange"
			}
			p.Alert = &alert
		}
		p.Status = pickName(r, []weighted{{"reviewed", 60}, {"automatic", 40}})
		if p.Mag >= 6.5 {
			p.Tsunami = 1
		}
		p.Sig = int(p.Mag * p.Mag * 15.4)
		p.Net = region.net
		p.MagType = pickName(r, []weighted{{"ml", 70}, {"md", 25}, {"mww", 5}})
		p.Title = fmt.Sprintf("M %.1f - %s", p.Mag, p.Place)
		q.Geometry.Type = "Point"
		q.Geometry.Coordinates = [3]float64{
			round(region.lon+r.NormFloat64(), 4), round(region.lat+r.NormFloat64()*0.7, 4), round(math.Abs(r.NormFloat64()*12), 2),
		}
		return []byte(region.net), mustJSON(q)
	}
}

func round(x float64, places int) float64 {
	f := math.Pow10(places)
	return math.Round(x*f) / f
}
