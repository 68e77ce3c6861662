// Package quota is client quotas: which one concerns a client, and how long it has to wait.
// It knows nothing of sockets. Quotas are documents in the store.
package quota

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"millrace/store/state"
)

// Kafka's names of what a quota limits.
const (
	ProducerByteRate       = "producer_byte_rate"
	ConsumerByteRate       = "consumer_byte_rate"
	RequestPercentage      = "request_percentage"
	ControllerMutationRate = "controller_mutation_rate"
	ConnectionCreationRate = "connection_creation_rate"
)

// Part of an entity: a named user, client id or address, the default of all that have no
// quota of their own, or nothing (the zero Part).
type Part struct {
	Set     bool
	Default bool
	Name    string // "" for the default
}

// Named is the part with that name.
func Named(name string) Part { return Part{Set: true, Name: name} }

// DefaultPart is the default.
var DefaultPart = Part{Set: true, Default: true}

// Entity is whom a quota concerns: a user, a client id, both, or an address.
type Entity struct{ User, ClientID, IP Part }

// Quota is an entity's limits, by name.
type Quota struct {
	Entity Entity
	Values map[string]float64 // not to be modified
}

const (
	kind   = "quota"
	format = 1
	// MaxQuotas bounds memory.
	MaxQuotas = 10_000
	// maxBuckets bounds the clients whose use is counted each for itself; beyond, those of
	// one quota are counted together.
	maxBuckets = 10_000
	// burst is how much of a rate may come at once, mutationBurst how much of the
	// rate of mutations: as much as in Kafka (controller.quota.window.num), since few of them
	// are already a request, and who is strict is refused, not only slowed.
	burst         = time.Second
	mutationBurst = 11 * time.Second
	// MaxThrottle is the longest that a client waits at a time; what it still owes then
	// counts for its next request.
	MaxThrottle = 10 * time.Second
	// MaxWorkThrottle is the same for RequestPercentage; as in Kafka.
	MaxWorkThrottle = time.Second
	retries         = 100
)

var ErrTooMany = errors.New("too many quotas")

type documents interface {
	Document(kind, key string) (state.Document, bool)
	Documents(kind string) []state.Document
	DocumentsVersion(kind string) uint64
	Commit(ctx context.Context, intent state.Intent) (any, error)
}

// Quotas is safe for concurrent use and sees changes at once.
type Quotas struct {
	docs documents
	now  func() time.Time

	table atomic.Pointer[table]

	mu      sync.Mutex // a leaf; guards buckets
	buckets map[bucketKey]*bucket
}

type table struct {
	version uint64
	all     []Quota
	limits  map[string]map[Entity]float64 // by name; nil where nobody has one
}

type bucketKey struct {
	name   string
	entity Entity
}

// bucket is what an entity has used beyond its rate, at a time.
type bucket struct {
	debt float64
	at   time.Time
	rate float64
}

// New reads quotas from the documents.
func New(docs documents, now func() time.Time) *Quotas {
	return &Quotas{docs: docs, now: now, buckets: map[bucketKey]*bucket{}}
}

type stored struct {
	Format   int                `json:"format"`
	User     *string            `json:"user,omitempty"`
	ClientID *string            `json:"client_id,omitempty"`
	IP       *string            `json:"ip,omitempty"`
	Default  []string           `json:"default,omitempty"` // the parts that are the default
	Values   map[string]float64 `json:"values"`
}

// part names of an entity in a document.
func (e Entity) parts() map[string]Part {
	return map[string]Part{"user": e.User, "client_id": e.ClientID, "ip": e.IP}
}

func (e Entity) key() string {
	b, _ := json.Marshal(e) // strings and bools cannot fail
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

func encode(e Entity, values map[string]float64) ([]byte, error) {
	s := stored{Format: format, Values: values}
	place := map[string]**string{"user": &s.User, "client_id": &s.ClientID, "ip": &s.IP}
	for _, name := range []string{"user", "client_id", "ip"} {
		switch p := e.parts()[name]; {
		case p.Default:
			s.Default = append(s.Default, name)
		case p.Set:
			*place[name] = &p.Name
		}
	}
	return json.Marshal(s)
}

func decode(data []byte) (Quota, error) {
	var s stored
	if err := json.Unmarshal(data, &s); err != nil {
		return Quota{}, err
	}
	if s.Format != format {
		return Quota{}, fmt.Errorf("quota of format %d", s.Format)
	}
	part := func(name string, v *string) Part {
		switch {
		case v != nil:
			return Named(*v)
		case slices.Contains(s.Default, name):
			return DefaultPart
		}
		return Part{}
	}
	return Quota{Entity{part("user", s.User), part("client_id", s.ClientID), part("ip", s.IP)}, s.Values}, nil
}

func (q *Quotas) current() *table {
	version := q.docs.DocumentsVersion(kind)
	if t := q.table.Load(); t != nil && t.version == version {
		return t
	}
	t := &table{version: version, limits: map[string]map[Entity]float64{}}
	for _, d := range q.docs.Documents(kind) {
		one, err := decode(d.Data)
		if err != nil {
			continue // of a later version; a limit more or less does no harm
		}
		t.all = append(t.all, one)
		for name, v := range one.Values {
			if t.limits[name] == nil {
				t.limits[name] = map[Entity]float64{}
			}
			t.limits[name][one.Entity] = v
		}
	}
	slices.SortFunc(t.all, func(a, b Quota) int { return compare(a.Entity, b.Entity) })
	q.table.Store(t)
	return t
}

func compare(a, b Entity) int {
	part := func(a, b Part) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name))
	}
	return cmp.Or(part(a.User, b.User), part(a.ClientID, b.ClientID), part(a.IP, b.IP))
}

func rank(p Part) int {
	switch {
	case !p.Set:
		return 0
	case p.Default:
		return 1
	}
	return 2
}

// All are all quotas, in an order of their own.
func (q *Quotas) All() []Quota { return slices.Clone(q.current().all) }

// Change sets an entity's limits, or removes those that are nil. The entity's quota
// ends with its last limit.
func (q *Quotas) Change(ctx context.Context, e Entity, changes map[string]*float64) error {
	for range retries {
		values := map[string]float64{}
		d, ok := q.docs.Document(kind, e.key())
		if ok {
			present, err := decode(d.Data)
			if err != nil {
				return err
			}
			values = maps.Clone(present.Values)
		} else if len(q.current().all) >= MaxQuotas {
			return ErrTooMany
		}
		for name, v := range changes {
			if v == nil {
				delete(values, name)
			} else {
				values[name] = *v
			}
		}
		var data []byte
		if len(values) > 0 {
			var err error
			if data, err = encode(e, values); err != nil {
				return err
			}
		} else if !ok {
			return nil
		}
		res, err := q.docs.Commit(ctx, state.PutDocument{Kind: kind, Key: e.key(), ExpectVersion: d.Version, Data: data})
		if err != nil {
			return err
		}
		r, isResult := res.(state.DocumentResult)
		if !isResult {
			return fmt.Errorf("quota: unexpected answer %T", res)
		}
		if !errors.Is(r.Err, state.ErrVersionMismatch) {
			return r.Err
		}
	}
	return state.ErrVersionMismatch
}

// Limit is the limit that concerns a client, and the entity whose use it counts. The
// order is Kafka's: who is named both as user and as client id comes first, the default of
// client ids last.
func (q *Quotas) Limit(name, user, clientID string) (limit float64, counted Entity, ok bool) {
	limits := q.current().limits[name]
	if limits == nil {
		return 0, Entity{}, false
	}
	u, c := Named(user), Named(clientID)
	for _, e := range [...]Entity{
		{User: u, ClientID: c},
		{User: u, ClientID: DefaultPart},
		{User: u},
		{User: DefaultPart, ClientID: c},
		{User: DefaultPart, ClientID: DefaultPart},
		{User: DefaultPart},
		{ClientID: c},
		{ClientID: DefaultPart},
	} {
		if v, found := limits[e]; found {
			return v, fill(e, u, c, Part{}), true
		}
	}
	return 0, Entity{}, false
}

// fill names the defaults: everybody whom a default concerns is counted for himself.
func fill(e Entity, user, clientID, ip Part) Entity {
	if e.User.Set {
		e.User = user
	}
	if e.ClientID.Set {
		e.ClientID = clientID
	}
	if e.IP.Set {
		e.IP = ip
	}
	return e
}

// Limits says whether anybody has a limit of that name.
func (q *Quotas) Limits(name string) bool { return q.current().limits[name] != nil }

// ChargeWork counts time that a client's requests took of the server (RequestPercentage: 100 is that of
// one processor) and says how long it has to wait now.
func (q *Quotas) ChargeWork(user, clientID string, spent time.Duration) time.Duration {
	limit, e, ok := q.Limit(RequestPercentage, user, clientID)
	if !ok {
		return 0
	}
	wait, _ := q.charge(bucketKey{RequestPercentage, e}, limit, 100*spent.Seconds(), false)
	return min(wait, MaxWorkThrottle)
}

// ChargeMutations counts partitions that a client makes or deletes (ControllerMutationRate) and says how long it has to
// wait now. A strict client that owes for earlier ones is refused (false), and nothing is counted; what
// brings it into debt is let through without a wait.
func (q *Quotas) ChargeMutations(user, clientID string, partitions int, strict bool) (wait time.Duration, ok bool) {
	limit, e, limited := q.Limit(ControllerMutationRate, user, clientID)
	if !limited {
		return 0, true
	}
	return q.charge(bucketKey{ControllerMutationRate, e}, limit, float64(partitions), strict)
}

// Charge counts so many bytes of a client's (ProducerByteRate or ConsumerByteRate) and
// says how long it has to wait now; 0 without a quota, which costs nothing.
func (q *Quotas) Charge(name, user, clientID string, n int) time.Duration {
	limit, e, ok := q.Limit(name, user, clientID)
	if !ok {
		return 0
	}
	wait, _ := q.charge(bucketKey{name, e}, limit, float64(n), false)
	return wait
}

// ChargeConnection counts a connection from an address, and says how long it has to wait.
func (q *Quotas) ChargeConnection(ip string) time.Duration {
	limits := q.current().limits[ConnectionCreationRate]
	if limits == nil {
		return 0
	}
	for _, e := range [...]Entity{{IP: Named(ip)}, {IP: DefaultPart}} {
		if limit, ok := limits[e]; ok {
			wait, _ := q.charge(bucketKey{ConnectionCreationRate, Entity{IP: Named(ip)}}, limit, 1, false)
			return wait
		}
	}
	return 0
}

// charge counts n, unless the client is strict and owes: then it is refused (false).
func (q *Quotas) charge(key bucketKey, rate, n float64, strict bool) (wait time.Duration, ok bool) {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	b := q.buckets[key]
	if b == nil {
		if len(q.buckets) >= maxBuckets {
			maps.DeleteFunc(q.buckets, func(_ bucketKey, b *bucket) bool { b.pay(now); return b.debt == 0 })
		}
		if len(q.buckets) >= maxBuckets {
			key.entity = Entity{} // somebody makes up names
			b = q.buckets[key]
		}
		if b == nil {
			b = &bucket{at: now}
			q.buckets[key] = b
		}
	}
	b.pay(now)
	b.rate = rate
	free := burst
	if key.name == ControllerMutationRate {
		free = mutationBurst
	}
	if owes := b.owes(free); strict && owes > 0 {
		return owes, false
	}
	b.debt += n
	if strict {
		return 0, true
	}
	return b.owes(free), true
}

// owes is how long it takes until no more is owed than may come at once.
func (b *bucket) owes(free time.Duration) time.Duration {
	over := b.debt/b.rate - free.Seconds()
	return min(max(0, time.Duration(min(over, MaxThrottle.Seconds())*float64(time.Second))), MaxThrottle)
}

// pay lets time pay off debt.
func (b *bucket) pay(now time.Time) {
	if past := now.Sub(b.at).Seconds(); past > 0 {
		b.debt, b.at = max(0, b.debt-past*b.rate), now
	}
}
