package auth

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha512"
	"errors"
	"fmt"
	"testing"
)

func TestAnACLThatDeniesWinsAndImplicationsAreKafkas(t *testing.T) {
	s := newService(newFake())
	must(t, s.AddUser("admin", "pw"))
	must(t, s.AddUser("bob", "pw"))
	add := func(a ACL) {
		t.Helper()
		must(t, s.AddACL(context.Background(), a))
	}
	bob := func(op Operation, name string, prefixed, deny bool) ACL {
		return ACL{Principal: "User:bob", Host: AnyHost, Operation: op, Deny: deny, Type: Topic, Name: name, Prefixed: prefixed}
	}
	add(bob(Read, "a", true, false))
	add(bob(Read, "abc", false, true))
	add(bob(All, "all", false, false))
	add(bob(Describe, "all", false, true))
	add(ACL{Principal: "User:*", Host: "10.0.0.1", Operation: Write, Type: Topic, Name: "*"})
	for _, c := range []struct {
		op   Operation
		name string
		host string
		want bool
	}{
		{Read, "a", "", true},
		{Read, "ab", "", true},
		{Describe, "ab", "", true},
		{Read, "abc", "", false},
		{Describe, "abc", "", true}, // READ alone is denied
		{Read, "b", "", false},
		{Delete, "all", "", true},
		{Describe, "all", "", false},
		{Write, "anything", "10.0.0.1", true},
		{Describe, "anything", "10.0.0.1", true},
		{Write, "anything", "10.0.0.2", false},
		{Write, "anything", "", false},
	} {
		if got := s.Authorize(Principal{Name: "bob", Host: c.host}, c.op, Resource{Topic, c.name}); got != c.want {
			t.Errorf("%s %s from %q: %v", c.op, c.name, c.host, got)
		}
	}
	if !s.Authorize(Principal{Name: "admin"}, Read, Resource{Topic, "abc"}) {
		t.Error("an administrator is denied nothing")
	}
	if s.Authorize(Principal{Name: "nobody", Host: "10.0.0.1"}, Write, Resource{Topic, "x"}) {
		t.Error("who is no user is let through by User:*")
	}
	if !s.AuthorizeAny(Principal{Name: "bob"}, Read, Topic) || s.AuthorizeAny(Principal{Name: "bob"}, Read, Group) {
		t.Error("some topic may be read, and no group")
	}
	add(bob(Read, "*", false, true))
	if s.AuthorizeAny(Principal{Name: "bob"}, Read, Topic) {
		t.Error("reading is denied everywhere")
	}
}

func TestWhileNoUserExistsOnlyWhatIsDeniedIsRefused(t *testing.T) {
	s := newService(newFake())
	must(t, s.AddACL(context.Background(), ACL{Principal: "User:*", Host: AnyHost, Operation: Read, Deny: true, Type: Topic, Name: "t"}))
	if s.Authorize(Anonymous, Read, Resource{Topic, "t"}) || !s.Authorize(Anonymous, Write, Resource{Topic, "t"}) || !s.Authorize(Anonymous, Read, Resource{Topic, "u"}) {
		t.Error("want just reading t refused")
	}
}

func TestADamagedACLClosesForEveryoneButAdministrators(t *testing.T) {
	f := newFake()
	s := newService(f)
	must(t, s.AddUser("admin", "pw"))
	must(t, s.AddUser("bob", "pw"))
	must(t, s.Grant("bob", Read, Pattern{Topic, "*"}))
	must(t, s.put(context.Background(), aclKind, "x", 0, []byte("{")))
	if s.Authorize(Principal{Name: "bob"}, Read, Resource{Topic, "t"}) || !s.Authorize(Principal{Name: "admin"}, Read, Resource{Topic, "t"}) {
		t.Error("what the damaged one denied is not known")
	}
}

func TestACLsThatCouldNeverApplyAreRefused(t *testing.T) {
	s := newService(newFake())
	good := ACL{Principal: "User:bob", Host: AnyHost, Operation: Read, Type: Topic, Name: "t"}
	for i, change := range []func(*ACL){
		func(a *ACL) { a.Principal = "Group:x" }, func(a *ACL) { a.Principal = "bob" }, func(a *ACL) { a.Principal = "User:" },
		func(a *ACL) { a.Host = "" }, func(a *ACL) { a.Host = "example.com" }, func(a *ACL) { a.Operation = 0 }, func(a *ACL) { a.Operation = Admin },
		func(a *ACL) { a.Type = 0 }, func(a *ACL) { a.Name = "" }, func(a *ACL) { a.Type = Cluster },
	} {
		a := good
		change(&a)
		if err := s.AddACL(context.Background(), a); !errors.Is(err, ErrBadACL) && !errors.Is(err, ErrBadPrincipal) {
			t.Errorf("%d: %v", i, err)
		}
	}
	must(t, s.AddACL(context.Background(), good))
	must(t, s.AddACL(context.Background(), good))
	if n := len(s.ACLs()); n != 1 {
		t.Errorf("%d ACLs", n)
	}
	if was, err := s.RemoveACL(context.Background(), good); !was || err != nil || len(s.ACLs()) != 0 {
		t.Error(was, err)
	}
}

func TestFiltersMatchAsKafkasDo(t *testing.T) {
	lit := ACL{Principal: "User:a", Host: "*", Operation: Read, Type: Topic, Name: "foo"}
	pre := ACL{Principal: "User:a", Host: "*", Operation: Read, Type: Topic, Name: "fo", Prefixed: true}
	all := ACL{Principal: "User:a", Host: "*", Operation: Read, Type: Topic, Name: "*"}
	name := func(s string) *string { return &s }
	for i, c := range []struct {
		f    ACLFilter
		want string
	}{
		{ACLFilter{}, "true true true"},
		{ACLFilter{Name: name("foo")}, "true false false"},
		{ACLFilter{Name: name("foo"), Pattern: MatchNamed}, "true true true"},
		{ACLFilter{Name: name("fo"), Pattern: MatchNamed}, "false true true"},
		{ACLFilter{Pattern: MatchPrefixed}, "false true false"},
		{ACLFilter{Pattern: MatchLiteral}, "true false true"},
		{ACLFilter{Permission: OnlyDeny}, "false false false"},
	} {
		if got := fmt.Sprint(c.f.Matches(lit), c.f.Matches(pre), c.f.Matches(all)); got != c.want {
			t.Errorf("%d: %s", i, got)
		}
	}
}

func TestAUserMadeOfASaltedPasswordLogsInWithThatMechanismOnly(t *testing.T) {
	s := newService(newFake())
	salt := []byte("salt")
	salted, err := pbkdf2.Key(sha512.New, "secret", salt, 4096, 64)
	must(t, err)
	ctx := context.Background()
	must(t, s.PutSCRAMCredential(ctx, "eve", MechanismSHA512, 4096, salt, salted))
	if _, ok := scramLogin(t, s, MechanismSHA512, "eve", "secret"); !ok {
		t.Error("the right password is refused")
	}
	if _, ok := scramLogin(t, s, MechanismSHA256, "eve", "secret"); ok {
		t.Error("there is no credential for SHA-256")
	}
	if _, err := s.CheckPassword("eve", "secret"); err != nil {
		t.Error("a password in clear is checked against the only credential there is", err)
	}
	if _, ok := s.FastHash("eve"); !ok {
		t.Error("no fast path after a full login")
	}
	if !s.IsAdministrator("eve") {
		t.Error("the first user is the administrator")
	}
	if err := s.DropSCRAMCredential(ctx, "eve", MechanismSHA256); !errors.Is(err, ErrNoCredential) {
		t.Error(err)
	}
	if err := s.DropSCRAMCredential(ctx, "eve", MechanismSHA512); !errors.Is(err, ErrLastAdministrator) {
		t.Error(err)
	}
	must(t, s.AddUser("other", "pw"))
	must(t, s.DropSCRAMCredential(ctx, "other", MechanismSHA256))
	must(t, s.DropSCRAMCredential(ctx, "other", MechanismSHA512))
	if _, ok := s.SCRAMCredentials("other"); ok {
		t.Error("a user without a credential is left")
	}
	for _, bad := range []error{
		s.PutSCRAMCredential(ctx, "x", MechanismSHA512, 4095, salt, salted), s.PutSCRAMCredential(ctx, "x", MechanismSHA512, 16385, salt, salted),
		s.PutSCRAMCredential(ctx, "x", MechanismSHA256, 4096, salt, salted), s.PutSCRAMCredential(ctx, "x", MechanismSHA512, 4096, nil, salted),
	} {
		if !errors.Is(bad, ErrBadCredential) {
			t.Error(bad)
		}
	}
}
