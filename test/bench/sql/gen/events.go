package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

const campaigns = 50

// The first event is at this time; events follow one another by a few milliseconds.
const firstMillis = 1_767_225_600_000 // 2026-01-01

var (
	eventTypes = []string{"view", "view", "view", "view", "view", "view", "click", "click", "click", "scroll", "scroll", "hover", "search", "add_to_cart", "purchase", "login"}
	devices    = []string{"mobile", "mobile", "mobile", "desktop", "desktop", "tablet", "tv"}
	browsers   = []string{"Chrome", "Chrome", "Chrome", "Safari", "Safari", "Firefox", "Edge", "Opera"}
	systems    = []string{"Android", "iOS", "Windows", "macOS", "Linux"}
	sections   = []string{"home", "product", "category", "search", "cart", "checkout", "account", "help"}
	statuses   = []int{200, 200, 200, 200, 200, 200, 200, 304, 404, 500}
	kinds      = []string{"commit", "commit", "commit", "commit", "commit", "commit", "commit", "commit", "commit", "identity", "account"}
	operations = []string{"create", "create", "create", "create", "create", "create", "create", "delete", "update"}
	// Of the real stream, about as often.
	collections = []string{"app.bsky.feed.like", "app.bsky.feed.like", "app.bsky.feed.like", "app.bsky.feed.like", "app.bsky.feed.like", "app.bsky.graph.follow", "app.bsky.graph.follow", "app.bsky.feed.post", "app.bsky.feed.post", "app.bsky.feed.repost", "app.bsky.graph.block", "app.bsky.actor.profile", "app.bsky.graph.listitem", "app.bsky.feed.threadgate"}
	words       = []string{"the", "sky", "is", "blue", "today", "and", "nobody", "knows", "why", "but", "we", "like", "it", "anyway", "good", "morning", "coffee", "train", "late", "again"}
)

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

// newClicks makes click-stream events of 20 fields, about 400 bytes: 300,000 users, about a million
// sessions, a campaign in every fourth.
func newClicks(seed uint64) func(dst []byte) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	countries := make([]string, 60)
	for i := range countries {
		countries[i] = string([]byte{byte('A' + i%26), byte('A' + (i*7+3)%26)})
	}
	countries[17] = "CH"
	at := int64(firstMillis)
	n := uint64(0)
	return func(b []byte) []byte {
		at += r.Int64N(8)
		n++
		session := r.Uint64N(1_000_000)
		user := session*2654435761%300_000 + 1
		kind := pick(r, eventTypes)
		b = append(b, `{"ts":`...)
		b = strconv.AppendInt(b, at, 10)
		b = append(b, `,"event_id":"`...)
		b = appendHex(b, mix(n), 16)
		b = append(b, `","session_id":"s-`...)
		b = appendHex(b, mix(session^0xabcdef), 16)
		b = append(b, `","user_id":`...)
		b = strconv.AppendUint(b, user, 10)
		b = append(b, `,"event_type":"`...)
		b = append(b, kind...)
		b = append(b, `","page":"/`...)
		b = append(b, pick(r, sections)...)
		b = append(b, '/')
		b = strconv.AppendInt(b, int64(r.IntN(400)), 10)
		b = append(b, `","referrer":"https://site`...)
		b = strconv.AppendInt(b, int64(r.IntN(500)), 10)
		b = append(b, `.example/","country":"`...)
		b = append(b, countries[min(r.IntN(60), r.IntN(60))]...)
		b = append(b, `","device":"`...)
		b = append(b, pick(r, devices)...)
		b = append(b, `","browser":"`...)
		b = append(b, pick(r, browsers)...)
		b = append(b, `","os":"`...)
		b = append(b, pick(r, systems)...)
		b = append(b, `","duration_ms":`...)
		b = strconv.AppendInt(b, int64(r.ExpFloat64()*1800), 10)
		b = append(b, `,"amount":`...)
		if kind == "purchase" {
			b = strconv.AppendFloat(b, float64(r.IntN(50_000))/100, 'f', -1, 64)
		} else {
			b = append(b, '0')
		}
		b = append(b, `,"quantity":`...)
		b = strconv.AppendInt(b, int64(r.IntN(10)), 10)
		b = append(b, `,"status":`...)
		b = strconv.AppendInt(b, int64(statuses[r.IntN(len(statuses))]), 10)
		b = append(b, `,"bytes":`...)
		b = strconv.AppendInt(b, int64(r.IntN(200_000)), 10)
		b = append(b, `,"is_bot":`...)
		b = strconv.AppendBool(b, r.IntN(20) == 0)
		b = append(b, `,"campaign":`...)
		if r.IntN(4) == 0 {
			b = append(b, `"c-`...)
			b = strconv.AppendInt(b, int64(r.IntN(campaigns)), 10)
			b = append(b, '"')
		} else {
			b = append(b, "null"...)
		}
		b = append(b, `,"geo":{"lat":`...)
		b = strconv.AppendFloat(b, float64(r.IntN(18_000)-9_000)/100, 'f', -1, 64)
		b = append(b, `,"lon":`...)
		b = strconv.AppendFloat(b, float64(r.IntN(36_000)-18_000)/100, 'f', -1, 64)
		return append(b, `}}`...)
	}
}

// newCampaigns makes the small table of the join.
func newCampaigns() func(dst []byte) []byte {
	i := 0
	return func(b []byte) []byte {
		b = fmt.Appendf(b, `{"campaign":"c-%d","channel":"%s","cost":%d.5}`, i, []string{"mail", "search", "social", "tv"}[i%4], 100+i)
		i++
		return b
	}
}

// newPosts makes events as a social network's firehose has them: who did what in which collection when.
func newPosts(seed uint64) func(dst []byte) []byte {
	r := rand.New(rand.NewPCG(seed, 2))
	at := int64(firstMillis) * 1000
	return func(b []byte) []byte {
		at += r.Int64N(40_000)
		did := min(r.Uint64N(400_000), r.Uint64N(400_000))
		kind := pick(r, kinds)
		b = append(b, `{"did":"did:plc:`...)
		b = appendHex(b, mix(did), 12)
		b = append(b, `","time_us":`...)
		b = strconv.AppendInt(b, at, 10)
		b = append(b, `,"kind":"`...)
		b = append(b, kind...)
		b = append(b, '"')
		if kind != "commit" {
			b = append(b, `,"`...)
			b = append(b, kind...)
			b = append(b, `":{"seq":`...)
			b = strconv.AppendInt(b, r.Int64N(1<<40), 10)
			return append(b, `,"active":true}}`...)
		}
		collection := pick(r, collections)
		b = append(b, `,"commit":{"rev":"`...)
		b = appendHex(b, r.Uint64(), 13)
		b = append(b, `","operation":"`...)
		op := pick(r, operations)
		b = append(b, op...)
		b = append(b, `","collection":"`...)
		b = append(b, collection...)
		b = append(b, `","rkey":"`...)
		b = appendHex(b, r.Uint64(), 13)
		b = append(b, '"')
		if op != "delete" {
			b = append(b, `,"record":{"$type":"`...)
			b = append(b, collection...)
			b = append(b, `","createdAt":"2026-01-01T00:00:00.000Z"`...)
			if collection == "app.bsky.feed.post" {
				b = append(b, `,"langs":["en"],"text":"`...)
				for i := range 4 + r.IntN(20) {
					if i > 0 {
						b = append(b, ' ')
					}
					b = append(b, pick(r, words)...)
				}
				b = append(b, '"')
			} else {
				b = append(b, `,"subject":{"cid":"bafyrei`...)
				b = appendHex(b, r.Uint64(), 16)
				b = append(b, `","uri":"at://did:plc:`...)
				b = appendHex(b, mix(r.Uint64N(400_000)), 12)
				b = append(b, `"}`...)
			}
			b = append(b, '}')
			b = append(b, `,"cid":"bafyrei`...)
			b = appendHex(b, r.Uint64(), 16)
			b = append(b, '"')
		}
		return append(b, `}}`...)
	}
}

// mix spreads a small number over 64 bits, one to one.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func appendHex(b []byte, x uint64, digits int) []byte {
	const hex = "0123456789abcdef"
	for i := digits - 1; i >= 0; i-- {
		b = append(b, hex[x>>(4*i)&15])
	}
	return b
}
