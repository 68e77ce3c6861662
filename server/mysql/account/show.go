package account

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"millrace/server/auth"
)

// Holder is what there is to show of an account's rights.
type Holder struct {
	Name          string
	Administrator bool
	// ACLs are those about the account, and about everyone.
	ACLs    []auth.ACL
	Options []auth.ACLPattern
}

// Statements give, executed in order, what the holder has; those about everyone are among them. In MySQL's words where
// it has words for it, in Kafka's otherwise.
func (h Holder) Statements() []string {
	self := Name{User: h.Name, Host: AnyHost}
	if h.Administrator {
		return append([]string{"GRANT ALL PRIVILEGES ON *.* TO " + self.Quoted() + " WITH GRANT OPTION"}, h.denials()...)
	}
	out := []string{"GRANT USAGE ON *.* TO " + self.Quoted()}
	options := slices.Clone(h.Options)
	for _, g := range group(h.ACLs, false) {
		option := func(p auth.ACLPattern) string {
			if i := slices.Index(options, p); i >= 0 && g.who == self {
				options = slices.Delete(options, i, i+1)
				return " WITH GRANT OPTION"
			}
			return ""
		}
		out = append(out, g.statements(option)...)
	}
	for _, p := range options {
		if object, ok := tableObject(p); ok {
			out = append(out, "GRANT USAGE ON "+object+" TO "+self.Quoted()+" WITH GRANT OPTION")
		}
	}
	return append(out, h.denials()...)
}

// denials are the ACLs that deny. They are in Kafka's words alone: MySQL has none.
func (h Holder) denials() (out []string) {
	for _, g := range group(h.ACLs, true) {
		out = append(out, "DENY "+kafkaWords(g.ops)+" ON "+kafkaObject(g.pattern)+" TO "+g.who.Quoted())
	}
	return out
}

// granted is what one account has on one pattern.
type granted struct {
	who     Name
	pattern auth.ACLPattern
	ops     []auth.Operation
}

// group joins ACLs that differ in their operation alone.
func group(acls []auth.ACL, deny bool) []granted {
	var list []granted
	for _, a := range acls {
		if a.Deny != deny {
			continue
		}
		who := Name{User: strings.TrimPrefix(a.Principal, "User:"), Host: a.Host}
		if who.Host == auth.AnyHost {
			who.Host = AnyHost
		}
		i := slices.IndexFunc(list, func(g granted) bool { return g.who == who && g.pattern == a.Pattern() })
		if i < 0 {
			i = len(list)
			list = append(list, granted{who: who, pattern: a.Pattern()})
		}
		list[i].ops = append(list[i].ops, a.Operation)
	}
	slices.SortStableFunc(list, func(a, b granted) int {
		return cmp.Or(cmp.Compare(a.pattern.Type, b.pattern.Type), cmp.Compare(a.pattern.Name, b.pattern.Name), cmp.Compare(a.who.User, b.who.User), cmp.Compare(a.who.Host, b.who.Host))
	})
	return list
}

// statements say g: what MySQL has words for, then the rest in Kafka's.
func (g granted) statements(option func(auth.ACLPattern) string) (out []string) {
	rest := slices.Clone(g.ops)
	take := func(ops ...auth.Operation) bool {
		for _, op := range ops {
			if !slices.Contains(rest, op) {
				return false
			}
		}
		rest = slices.DeleteFunc(rest, func(op auth.Operation) bool { return slices.Contains(ops, op) })
		return true
	}
	to := " TO " + g.who.Quoted()
	switch object, ok := tableObject(g.pattern); {
	case ok:
		if words := mysqlWords(take); len(words) > 0 {
			out = append(out, "GRANT "+strings.Join(words, ", ")+" ON "+object+to+option(g.pattern))
		}
	case g.pattern.Type == auth.Cluster:
		if take(auth.Describe) {
			out = append(out, "GRANT SELECT ON millrace.*"+to)
		}
		var words []string
		for _, c := range clusterRights {
			if take(c.op) {
				words = append(words, c.right)
			}
		}
		if len(words) > 0 {
			out = append(out, "GRANT "+strings.Join(words, ", ")+" ON *.*"+to)
		}
	}
	if len(rest) > 0 {
		out = append(out, "GRANT "+kafkaWords(rest)+" ON "+kafkaObject(g.pattern)+to)
	}
	return out
}

// mysqlWords are MySQL's rights among what can be taken.
func mysqlWords(take func(...auth.Operation) bool) (words []string) {
	if take(auth.All) {
		words = append(words, "ALL PRIVILEGES")
		return words // what is beside it is said in Kafka's words, as two rights in one statement would not be MySQL's
	}
	for _, t := range topicRights {
		if take(t.ops...) {
			if t.with != "" && t.right == "DROP" {
				words = append(words, t.with)
			}
			words = append(words, t.right)
		}
	}
	return words
}

// tableObject says a pattern as tables, if that can be done.
func tableObject(p auth.ACLPattern) (string, bool) {
	switch {
	case p.Type != auth.Topic:
		return "", false
	case p.Name == auth.AnyName && !p.Prefixed:
		return "`kafka`.*", true
	case !legal(p.Name):
		return "", false
	case p.Prefixed:
		return "`kafka`." + Quote(p.Name+"%"), true
	default:
		return "`kafka`." + Quote(p.Name), true
	}
}

func kafkaObject(p auth.ACLPattern) string {
	if p.Type == auth.Cluster {
		return p.Type.String()
	}
	prefix := ""
	if p.Prefixed {
		prefix = "PREFIX "
	}
	return fmt.Sprintf("%s %s%s", p.Type, prefix, Quote(p.Name))
}

func kafkaWords(ops []auth.Operation) string {
	words := make([]string, 0, len(ops))
	for _, op := range ops {
		words = append(words, op.String())
	}
	return strings.Join(words, ", ")
}

// Names of MySQL's rights that the operations on a pattern are, for information_schema; "ALL" is each of them.
func Names(ops []auth.Operation) (names []string) {
	all := slices.Contains(ops, auth.All)
	for _, t := range topicRights {
		has := all
		if !has {
			has = !slices.ContainsFunc(t.ops, func(op auth.Operation) bool { return !slices.Contains(ops, op) })
		}
		if has {
			names = append(names, t.right)
			if t.with != "" {
				names = append(names, t.with)
			}
		}
	}
	return names
}

// CreateStatement is what SHOW CREATE USER shows: all of an account but its password, which nobody is shown.
func CreateStatement(n Name, a auth.Account) string {
	require, lock := "NONE", "UNLOCK"
	switch a.Require {
	case auth.RequireTLS:
		require = "SSL"
	case auth.RequireCertificate:
		require = "X509"
	case auth.RequireNothing:
	}
	if a.Locked {
		lock = "LOCK"
	}
	return "CREATE USER " + n.Quoted() + " IDENTIFIED WITH 'caching_sha2_password' REQUIRE " + require +
		" PASSWORD EXPIRE DEFAULT ACCOUNT " + lock + " PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT"
}

// Held is what an account was given on one pattern.
type Held struct {
	Who        Name
	Pattern    auth.ACLPattern
	Operations []auth.Operation
}

// Grouped joins the ACLs that allow and differ in their operation alone.
func Grouped(acls []auth.ACL) (list []Held) {
	for _, g := range group(acls, false) {
		list = append(list, Held{g.who, g.pattern, g.ops})
	}
	return list
}

// GlobalNames are MySQL's names of rights on *.* that the operations on the cluster are.
func GlobalNames(ops []auth.Operation) (names []string) {
	for _, c := range clusterRights {
		if slices.Contains(ops, c.op) || slices.Contains(ops, auth.All) {
			names = append(names, c.right)
		}
	}
	return names
}

// SystemNames are those on millrace.*.
func SystemNames(ops []auth.Operation) []string {
	if slices.Contains(ops, auth.Describe) || slices.Contains(ops, auth.Alter) || slices.Contains(ops, auth.All) {
		return []string{"SELECT"}
	}
	return nil
}
