package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"millrace/store/state"

	"github.com/xdg-go/scram"
)

// fakeDocuments keeps documents as the state machine does.
type fakeDocuments struct {
	mu       sync.Mutex
	docs     map[[2]string]state.Document
	versions map[string]uint64
	next     uint64
	fail     error
}

func newFake() *fakeDocuments {
	return &fakeDocuments{docs: map[[2]string]state.Document{}, versions: map[string]uint64{}}
}

func (f *fakeDocuments) Document(kind, key string) (state.Document, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, ok := f.docs[[2]string{kind, key}]
	return d, ok
}

func (f *fakeDocuments) Documents(kind string) []state.Document {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []state.Document
	for k, d := range f.docs {
		if k[0] == kind {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b state.Document) int { return strings.Compare(a.Key, b.Key) })
	return out
}

func (f *fakeDocuments) DocumentsVersion(kind string) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.versions[kind]
}

func (f *fakeDocuments) Commit(_ context.Context, intent state.Intent) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return nil, f.fail
	}
	p := intent.(state.PutDocument)
	k := [2]string{p.Kind, p.Key}
	if f.docs[k].Version != p.ExpectVersion {
		return state.DocumentResult{Err: state.ErrVersionMismatch, Version: f.docs[k].Version}, nil
	}
	f.versions[p.Kind]++
	if p.Data == nil {
		delete(f.docs, k)
		return state.DocumentResult{}, nil
	}
	f.next++
	f.docs[k] = state.Document{Kind: p.Kind, Key: p.Key, Version: f.next, Data: p.Data}
	return state.DocumentResult{Version: f.next}, nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestFirstUserIsTheAdministratorAndOthersHaveNothing(t *testing.T) {
	s := newService(newFake())
	if !s.Open() {
		t.Fatal("a server without users must be open")
	}
	must(t, s.AddUser("ada", "lovelace"))
	must(t, s.AddUser("bob", "builder"))
	if s.Open() {
		t.Fatal("open although users exist")
	}
	if !s.IsAdministrator("ada") || s.IsAdministrator("bob") {
		t.Fatal("only the first user is an administrator")
	}
	if got := s.Users(); !slices.Equal(got, []string{"ada", "bob"}) {
		t.Fatalf("users %q", got)
	}
	if err := s.AddUser("bob", "x"); !errors.Is(err, ErrUserExists) {
		t.Fatalf("second bob: %v", err)
	}
	if err := s.DropUser("ada"); !errors.Is(err, ErrLastAdministrator) {
		t.Fatalf("last administrator dropped: %v", err)
	}
	must(t, s.DropUser("bob"))
	if err := s.DropUser("bob"); !errors.Is(err, ErrNoUser) {
		t.Fatalf("dropped twice: %v", err)
	}
}

func TestAuthorisationTable(t *testing.T) {
	topic := func(n string) Resource { return Resource{Topic, n} }
	cluster := Resource{Type: Cluster}
	bob, ada, eve := Principal{Name: "bob"}, Principal{Name: "ada"}, Principal{Name: "eve"}
	type row struct {
		p    Principal
		op   Operation
		r    Resource
		open bool // while no user exists
		want bool // once ada (administrator) and bob (grants below) exist
	}
	rows := []row{
		{Anonymous, Read, topic("t"), true, false},
		{Anonymous, Write, topic("t"), true, false},
		{Anonymous, Create, topic("t"), true, false},
		{Anonymous, Delete, topic("t"), true, false},
		{Anonymous, Alter, topic("t"), true, false},
		{Anonymous, AlterConfigs, topic("t"), true, false},
		{Anonymous, Admin, topic("t"), false, false},
		{Anonymous, Admin, cluster, false, false},
		{Anonymous, AlterConfigs, cluster, false, false},
		{Anonymous, Create, cluster, true, false},
		{Anonymous, Describe, cluster, true, false},
		{Anonymous, Create, Resource{User, "first"}, true, false},
		{Anonymous, Delete, Resource{User, "first"}, false, false},
		{Anonymous, Read, Resource{Group, "g"}, true, false},
		{Anonymous, Write, Resource{TransactionalID, "x"}, true, false},
		{Anonymous, Read, topic("public"), true, true},
		{eve, Read, topic("t"), false, false},
		{ada, Admin, cluster, false, true},
		{ada, Read, topic("t"), false, true},
		{bob, Read, topic("orders"), false, true},
		{bob, Describe, topic("orders"), false, true},
		{bob, Write, topic("orders"), false, false},
		{bob, Read, topic("orders2"), false, false},
		{bob, Write, topic("logs.web"), false, true},
		{bob, Read, topic("logs.web"), false, false},
		{bob, DescribeConfigs, topic("logs.web"), false, false},
		{bob, Read, Resource{Group, "orders"}, false, false},
		{bob, Admin, cluster, false, false},
		{bob, Operation(0), topic("orders"), false, false},
	}
	s := newService(newFake())
	for _, r := range rows {
		if got := s.Authorize(r.p, r.op, r.r); got != r.open {
			t.Errorf("open: %s %d %v: %v", r.p.Name, r.op, r.r, got)
		}
	}
	must(t, s.AddUser("ada", "pw"))
	must(t, s.AddUser("bob", "pw"))
	must(t, s.Grant("bob", Read, Pattern{Topic, "orders"}))
	must(t, s.Grant("bob", Write, Pattern{Topic, "logs.*"}))
	must(t, s.Grant(Anonymous.Name, Read, Pattern{Topic, "public"}))
	for _, r := range rows {
		if got := s.Authorize(r.p, r.op, r.r); got != r.want {
			t.Errorf("closed: %s %d %v: %v", r.p.Name, r.op, r.r, got)
		}
	}
	must(t, s.Revoke("bob", Read, Pattern{Topic, "orders"}))
	if s.Authorize(bob, Read, topic("orders")) {
		t.Error("a revoked grant still allows")
	}
}

func TestPasswordsAreCheckedAgainstTheNewestCredential(t *testing.T) {
	s := newService(newFake())
	must(t, s.AddUser("ada", "one"))
	if _, ok := s.FastHash("ada"); ok {
		t.Fatal("fast path before a full login")
	}
	p, err := s.CheckPassword("ada", "one")
	must(t, err)
	if p.Name != "ada" {
		t.Fatalf("principal %q", p.Name)
	}
	inner := sha256.Sum256([]byte("one"))
	if h, ok := s.FastHash("ada"); !ok || h != sha256.Sum256(inner[:]) {
		t.Fatal("no fast path after a full login")
	}
	must(t, s.SetPassword("ada", "two"))
	if _, ok := s.FastHash("ada"); ok {
		t.Fatal("fast path survived a change of the password")
	}
	for _, c := range []struct{ name, password string }{{"ada", "one"}, {"ada", ""}, {"nobody", "one"}, {"", ""}, {strings.Repeat("x", 1000), "x"}} {
		start := time.Now()
		if _, err := s.CheckPassword(c.name, c.password); !errors.Is(err, ErrDenied) {
			t.Errorf("%q/%q: %v", c.name, c.password, err)
		}
		if time.Since(start) < FailureDelay {
			t.Errorf("%q failed too fast", c.name)
		}
	}
	_, err = s.CheckPassword("ada", "two")
	must(t, err)
}

func TestDroppedAndRecreatedUserHasNoFastPathOfTheOldOne(t *testing.T) {
	s := newService(newFake())
	must(t, s.AddUser("root", "pw"))
	must(t, s.AddUser("bob", "old"))
	_, err := s.CheckPassword("bob", "old")
	must(t, err)
	must(t, s.DropUser("bob"))
	must(t, s.AddUser("bob", "new"))
	if _, ok := s.FastHash("bob"); ok {
		t.Fatal("fast path of a dropped user")
	}
}

func scramLogin(t *testing.T, s *Service, mechanism, name, password string) (first string, ok bool) {
	t.Helper()
	srv, err := s.SCRAM(mechanism)
	must(t, err)
	gen := scram.SHA256
	if mechanism == MechanismSHA512 {
		gen = scram.SHA512
	}
	client, err := gen.NewClientUnprepped(name, password, "")
	must(t, err)
	c, v := client.NewConversation(), srv.NewConversation()
	msg, err := c.Step("")
	must(t, err)
	first, err = v.Step(msg)
	must(t, err)
	msg, err = c.Step(first)
	must(t, err)
	msg, err = v.Step(msg)
	if err != nil {
		return first, false
	}
	if _, err = c.Step(msg); err != nil {
		t.Fatalf("client does not accept the server: %v", err)
	}
	return first, v.Valid() && v.Username() == name
}

func TestSCRAMLogsInWithTheRightPasswordOnly(t *testing.T) {
	s := newService(newFake())
	must(t, s.AddUser("ada=,x", "pässword"))
	for _, m := range []string{MechanismSHA256, MechanismSHA512} {
		if _, ok := scramLogin(t, s, m, "ada=,x", "pässword"); !ok {
			t.Errorf("%s: right password refused", m)
		}
		if _, ok := scramLogin(t, s, m, "ada=,x", "wrong"); ok {
			t.Errorf("%s: wrong password accepted", m)
		}
	}
	if _, err := s.SCRAM("PLAIN"); err == nil {
		t.Error("PLAIN is not SCRAM")
	}
}

func TestUnknownUserLooksLikeAKnownOneInSCRAM(t *testing.T) {
	f := newFake()
	s := newService(f)
	must(t, s.AddUser("ada", "pw"))
	salt := func(first string) string { return strings.SplitN(first, ",", 2)[1] }
	a, ok := scramLogin(t, s, MechanismSHA256, "nobody", "pw")
	if ok {
		t.Fatal("an unknown user logged in")
	}
	// A restart must not change an unknown user's salt: a known one's stays too.
	b, _ := scramLogin(t, newService(f), MechanismSHA256, "nobody", "other")
	if salt(a) != salt(b) {
		t.Fatalf("salts of an unknown user differ: %s %s", a, b)
	}
	c, _ := scramLogin(t, s, MechanismSHA256, "somebody", "pw")
	if salt(a) == salt(c) {
		t.Fatal("two unknown users share a salt")
	}
	known, _ := scramLogin(t, s, MechanismSHA256, "ada", "wrong")
	if len(known) != len(a) {
		t.Fatalf("answers differ in length: %q %q", known, a)
	}
}

func TestNamesAndPasswordsAreBounded(t *testing.T) {
	s := newService(newFake())
	for _, n := range []string{"", "ANONYMOUS", "anonymous", "a\x00b", "a\nb", " a", "a ", "\xff", strings.Repeat("a", MaxNameBytes+1)} {
		if err := s.AddUser(n, "pw"); !errors.Is(err, ErrBadName) {
			t.Errorf("name %q: %v", n, err)
		}
	}
	for _, p := range []string{"", "a\x00", "\xff", strings.Repeat("a", MaxPasswordBytes+1)} {
		if err := s.AddUser("ada", p); !errors.Is(err, ErrBadPassword) {
			t.Errorf("password %q: %v", p, err)
		}
	}
	must(t, s.AddUser("ada", "pw"))
	if err := s.Grant("ada", Operation(99), Pattern{Topic, "x"}); !errors.Is(err, ErrBadGrant) {
		t.Error(err)
	}
	if err := s.Grant("nobody", Read, Pattern{Topic, "x"}); !errors.Is(err, ErrNoUser) {
		t.Error(err)
	}
}

func TestDamagedUserDocumentNeitherOpensTheServerNorLogsIn(t *testing.T) {
	f := newFake()
	s := newService(f)
	f.docs[[2]string{userKind, "ada"}] = state.Document{Kind: userKind, Key: "ada", Version: 1, Data: []byte(`{"format":9}`)}
	f.versions[userKind]++
	if s.Open() {
		t.Fatal("open")
	}
	if _, err := s.CheckPassword("ada", ""); !errors.Is(err, ErrDenied) {
		t.Fatal(err)
	}
	if s.Authorize(Principal{Name: "ada"}, Read, Resource{Topic, "t"}) {
		t.Fatal("authorised")
	}
}

func TestStoreFailureIsTheCallersError(t *testing.T) {
	f := newFake()
	f.fail = errors.New("disk on fire")
	if err := newService(f).AddUser("ada", "pw"); !errors.Is(err, f.fail) {
		t.Fatal(err)
	}
}

func TestSecretsAreNotStoredInTheClear(t *testing.T) {
	f := newFake()
	must(t, newService(f).AddUser("ada", "hunter2hunter2"))
	for _, d := range f.docs {
		if strings.Contains(string(d.Data), "hunter2") {
			t.Fatal("password in a document")
		}
	}
}

func TestConcurrentFirstUsersGiveOneAdministrator(t *testing.T) {
	s := newService(newFake())
	var wg sync.WaitGroup
	names := []string{"a", "b", "c", "d"}
	for _, n := range names {
		wg.Go(func() {
			if err := s.AddUser(n, "pw"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	admins := 0
	for _, n := range names {
		if s.IsAdministrator(n) {
			admins++
		}
	}
	if admins != 1 {
		t.Fatalf("%d administrators", admins)
	}
}
