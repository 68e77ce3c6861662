package client

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"
)

var products = []struct {
	sku, name string
	cents     int64
	weight    int
}{
	{"TEA-001", "Green tea, 250 g", 890, 20},
	{"TEA-002", "Earl Grey, 250 g", 790, 18},
	{"MUG-010", "Mug \"Mill\"", 1450, 12},
	{"POT-004", "Cast-iron pot", 6990, 4},
	{"KET-002", "Kettle, 1.7 l", 4495, 6},
	{"COF-100", "Espresso beans, 1 kg", 1899, 16},
	{"COF-101", "Filter coffee, 500 g", 1099, 14},
	{"GRN-001", "Hand grinder", 8900, 3},
	{"BIS-020", "Oat biscuits", 349, 22},
	{"GFT-001", "Gift card", 5000, 5},
}

type orderItem struct {
	SKU      string      `json:"sku"`
	Name     string      `json:"name"`
	Quantity int         `json:"quantity"`
	Price    json.Number `json:"price"`
}

type order struct {
	OrderID   int64       `json:"order_id"`
	Customer  string      `json:"customer"`
	Status    string      `json:"status"`
	Amount    json.Number `json:"amount"`
	Currency  string      `json:"currency"`
	Items     []orderItem `json:"items"`
	ItemCount int         `json:"item_count"`
	Shipping  struct {
		City    string `json:"city"`
		Country string `json:"country"`
		Express bool   `json:"express"`
	} `json:"shipping"`
	Payment struct {
		Method string  `json:"method"`
		Coupon *string `json:"coupon"`
	} `json:"payment"`
	Channel   string `json:"channel"`
	CreatedAt string `json:"created_at"`
}

// newOrders is a shop's orders; the key is the customer. Amounts have exactly two places.
func newOrders(r *rand.Rand) generator {
	customer := people(r, 5000)
	return func(r *rand.Rand, i int64, at time.Time) ([]byte, []byte) {
		o := order{OrderID: 100_000 + i, Customer: fmt.Sprintf("customer-%d", customer())}
		o.Status = pickName(r, []weighted{{"paid", 70}, {"shipped", 15}, {"pending", 10}, {"cancelled", 4}, {"refunded", 1}})
		total := int64(0)
		for range 1 + r.IntN(3)*r.IntN(2) + r.IntN(2) {
			p := products[0]
			n := r.IntN(120)
			for _, p = range products {
				if n -= p.weight; n < 0 {
					break
				}
			}
			q := 1 + r.IntN(3)
			o.Items = append(o.Items, orderItem{p.sku, p.name, q, cents(p.cents)})
			o.ItemCount += q
			total += p.cents * int64(q)
		}
		c := pickCountry(r)
		o.Currency, o.Shipping.Country = c.currency, c.code
		o.Shipping.City = c.cities[r.IntN(len(c.cities))]
		if o.Shipping.Express = r.IntN(5) == 0; o.Shipping.Express {
			total += 990
		}
		o.Payment.Method = pickName(r, []weighted{{"card", 55}, {"paypal", 20}, {"invoice", 15}, {"apple_pay", 10}})
		if r.IntN(8) == 0 {
			percent := 5 * (1 + r.IntN(4))
			coupon := fmt.Sprintf("SAVE%d", percent)
			o.Payment.Coupon = &coupon
			total -= total * int64(percent) / 100
		}
		o.Amount = cents(total)
		o.Channel = pickName(r, []weighted{{"web", 60}, {"app", 32}, {"phone", 8}})
		o.CreatedAt = at.UTC().Format(timestampLayout)
		return []byte(o.Customer), mustJSON(o)
	}
}

func cents(n int64) json.Number { return json.Number(fmt.Sprintf("%d.%02d", n/100, n%100)) }

// mustJSON encodes our own structs, which cannot fail.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
