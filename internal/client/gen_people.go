package client

import (
	"fmt"
	"math/rand/v2"
)

// What several streams draw from.

type country struct {
	code, currency string
	cities         []string
	weight         int
}

var countries = []country{
	{"US", "USD", []string{"New York", "Chicago", "Austin", "Seattle", "Denver"}, 30},
	{"DE", "EUR", []string{"Berlin", "München", "Köln", "Leipzig"}, 16},
	{"GB", "GBP", []string{"London", "Leeds", "Bristol"}, 13},
	{"FR", "EUR", []string{"Paris", "Lyon", "Nîmes"}, 11},
	{"JP", "JPY", []string{"東京", "大阪", "京都"}, 9},
	{"BR", "BRL", []string{"São Paulo", "Recife", "Brasília"}, 8},
	{"IN", "INR", []string{"Mumbai", "Bengaluru", "Pune"}, 8},
	{"CZ", "CZK", []string{"Praha", "Brno", "Plzeň"}, 5},
}

// pick draws one of items by weight.
func pick[T any](r *rand.Rand, items []T, weight func(T) int) T {
	total := 0
	for _, it := range items {
		total += weight(it)
	}
	n := r.IntN(total)
	for _, it := range items {
		if n -= weight(it); n < 0 {
			return it
		}
	}
	return items[len(items)-1]
}

type weighted struct {
	name   string
	weight int
}

func pickName(r *rand.Rand, items []weighted) string {
	return pick(r, items, func(w weighted) int { return w.weight }).name
}

func pickCountry(r *rand.Rand) country {
	return pick(r, countries, func(c country) int { return c.weight })
}

// people gives few customers much and many little, as in life.
func people(r *rand.Rand, n uint64) func() uint64 {
	z := rand.NewZipf(r, 1.2, 20, n-1)
	return z.Uint64
}

func randomUUID(r *rand.Rand) string {
	hi, lo := r.Uint64(), r.Uint64()
	hi = hi&^0xf000 | 0x4000       // version 4
	lo = lo&^(0b11<<62) | 0b10<<62 // variant
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&0xffffffffffff)
}

var userAgents = []struct {
	device, os, browser string
	weight              int
}{
	{"phone", "iOS", "Safari", 28},
	{"phone", "Android", "Chrome", 34},
	{"desktop", "Windows", "Chrome", 18},
	{"desktop", "Windows", "Edge", 6},
	{"desktop", "macOS", "Safari", 7},
	{"desktop", "Linux", "Firefox", 3},
	{"tablet", "iPadOS", "Safari", 4},
}
