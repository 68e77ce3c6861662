package account

import (
	"slices"
	"strings"

	"millrace/server/auth"
	"millrace/server/mysql/sqlerr"
)

// Body is an ACL without who it is for, and whether it denies.
type Body struct {
	Operation auth.Operation
	Pattern   auth.ACLPattern
}

// ACL is the body for an account. Its principal and host are not checked here.
func (b Body) ACL(n Name, deny bool) auth.ACL {
	host := n.Host
	if host == AnyHost {
		host = auth.AnyHost
	}
	return auth.ACL{
		Principal: "User:" + n.User, Host: host, Operation: b.Operation, Deny: deny,
		Type: b.Pattern.Type, Name: b.Pattern.Name, Prefixed: b.Pattern.Prefixed,
	}
}

// Right is one right of a statement, and the ACLs that it is.
type Right struct {
	Name string
	ACLs []Body
}

// Rights are those of a GRANT or REVOKE on one object.
type Rights struct {
	// Administrator: ALL ON *.*, which is no ACL.
	Administrator bool
	// Option: WITH GRANT OPTION, or the right of that name; for Pattern.
	Option  bool
	Pattern auth.ACLPattern
	List    []Right
	// Database and Table as they were written; empty where the object was said in Kafka's words.
	Database, Table string
}

// MySQL's rights that are one of Kafka's operations on topics, or several.
var topicRights = []struct {
	right string
	ops   []auth.Operation
	// with are MySQL's other names of the same: they come along, but alone would give more than they say.
	with string
}{
	{"SELECT", []auth.Operation{auth.Read}, ""},
	{"INSERT", []auth.Operation{auth.Write}, ""},
	{"CREATE", []auth.Operation{auth.Create}, "CREATE VIEW"},
	{"ALTER", []auth.Operation{auth.Alter, auth.AlterConfigs}, ""},
	{"DROP", []auth.Operation{auth.Delete}, "DELETE"},
	{"SHOW VIEW", []auth.Operation{auth.Describe}, ""},
}

// clusterRights are MySQL's global ones that are an operation on the cluster.
var clusterRights = []struct {
	right string
	op    auth.Operation
}{
	{"CREATE", auth.Create},
	{"CREATE USER", auth.Alter},
	{"PROCESS", auth.Describe},
}

const (
	kafkaDatabase  = "kafka"
	systemDatabase = "millrace"
)

// without says why there is no such right, for those that tools like to ask for.
var without = map[string]string{
	"UPDATE":                  "A topic is an append-only log: there is nothing to UPDATE.",
	"LOCK TABLES":             "LOCK TABLES needs no right.",
	"CREATE TEMPORARY TABLES": "There are no temporary tables.",
	"INDEX":                   "There are no indexes to make.",
	"REFERENCES":              "There are no foreign keys.",
	"TRIGGER":                 "There are no triggers.",
	"EVENT":                   "There are no events.",
	"EXECUTE":                 "The procedures of millrace ask for rights on the topic that they are about.",
	"SUPER":                   "GRANT ALL ON *.* makes an administrator.",
	"RELOAD":                  "FLUSH TABLES needs ALTER or DROP on the tables.",
	"FILE":                    "SQL reads and writes no files.",
	"SHOW DATABASES":          "SHOW DATABASES needs no right.",
}

func errNoRight(right string) error {
	hint, ok := without[right]
	if !ok {
		hint = "There are SELECT, INSERT, CREATE, ALTER, DROP, SHOW VIEW and ALL; on *.* also PROCESS and CREATE USER."
	}
	return sqlerr.Instead("the right "+sqlerr.Clip(right), hint)
}

// tableRights makes rights on tables ACLs.
func tableRights(rights []string, db, table string, deny bool) (Rights, error) {
	r := Rights{Database: db, Table: table}
	switch lower := strings.ToLower(db); {
	case db == "*" && table == "*":
		r.Pattern = auth.ACLPattern{Type: auth.Topic, Name: auth.AnyName}
	case db == "*":
		return r, sqlerr.New(1064, "42000", "*.name is no object: there are *.*, kafka.*, kafka.name and millrace.*")
	case lower == systemDatabase && table == "*":
		r.Pattern = auth.ACLPattern{Type: auth.Cluster, Name: auth.ClusterName}
		return r, r.systemTables(rights)
	case lower == systemDatabase:
		return r, sqlerr.Instead("rights on one system table", "GRANT SELECT ON millrace.* lets a user read them all.")
	case lower == kafkaDatabase:
		pattern, err := topicPattern(table)
		if err != nil {
			return r, err
		}
		r.Pattern = pattern
	case db == "":
		return r, sqlerr.ErrNoDatabase
	default:
		return r, sqlerr.Instead("rights on database "+sqlerr.Clip(db), "Topics are tables of database kafka; what information_schema and mysql show follows the rights on them.")
	}
	for _, right := range rights {
		switch {
		case isAll(right) && db == "*":
			if deny {
				return r, sqlerr.Instead("DENY ALL ON *.*", "DENY ALL ON kafka.* is about all topics; ACCOUNT LOCK closes an account.")
			}
			r.Administrator = true
		case isAll(right):
			r.add(right, Body{auth.All, r.Pattern})
		case right == "USAGE":
		case right == "GRANT OPTION":
			r.Option = true
		default:
			if err := r.addNamed(right, rights); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

func (r *Rights) add(right string, bodies ...Body) {
	r.List = append(r.List, Right{right, bodies})
}

// addNamed adds one right; all are those that it comes with.
func (r *Rights) addNamed(right string, all []string) error {
	global := r.Database == "*"
	cluster := auth.ACLPattern{Type: auth.Cluster, Name: auth.ClusterName}
	for _, c := range clusterRights {
		if c.right == right {
			if !global {
				if right == "CREATE" {
					break
				}
				return sqlerr.New(1221, "HY000", "Incorrect usage of DB GRANT and GLOBAL PRIVILEGES: %s is for *.*", right)
			}
			r.add(right, Body{c.op, cluster})
			return nil
		}
	}
	for _, t := range topicRights {
		switch right {
		case t.right:
			bodies := make([]Body, 0, len(t.ops)+1)
			for _, op := range t.ops {
				bodies = append(bodies, Body{op, r.Pattern})
			}
			if right == "SELECT" && global { // the system tables are some of *.*
				bodies = append(bodies, Body{auth.Describe, cluster})
			}
			r.add(right, bodies...)
			return nil
		case t.with:
			if slices.Contains(all, t.right) {
				return nil
			}
			return sqlerr.Instead("the right "+right+" without "+t.right, "They are one right here: GRANT "+t.right+".")
		}
	}
	return errNoRight(right)
}

// systemTables are the rights on millrace.*: to read it.
func (r *Rights) systemTables(rights []string) error {
	for _, right := range rights {
		switch right {
		case "SELECT":
			r.add(right, Body{auth.Describe, r.Pattern})
		case "USAGE":
		default:
			return sqlerr.Instead("the right "+sqlerr.Clip(right)+" on millrace.*", "System tables can be read: GRANT SELECT.")
		}
	}
	return nil
}

// topicPattern reads a table's name: a name that ends with % stands for all that begin so, as no topic has one in its name.
func topicPattern(table string) (auth.ACLPattern, error) {
	p := auth.ACLPattern{Type: auth.Topic, Name: table}
	switch prefix, isPrefix := strings.CutSuffix(table, "%"); {
	case table == "*", table == "%":
		p.Name = auth.AnyName
	case isPrefix && legal(prefix):
		p.Name, p.Prefixed = prefix, true
	case strings.Contains(table, "$"):
		return p, sqlerr.Instead("rights on a companion table", "The rights on a topic are those on its companions.")
	case !legal(table):
		return p, sqlerr.New(1103, "42000", "Incorrect table name '%s'", sqlerr.Clip(table))
	}
	return p, nil
}

// legal says whether topics may have the name, or begin with it.
func legal(name string) bool {
	if name == "" || len(name) > 249 {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

// Operations that an ACL on a topic can allow, which ALL is short for.
var topicOperations = []auth.Operation{
	auth.Read, auth.Write, auth.Create, auth.Describe, auth.Delete, auth.Alter, auth.DescribeConfigs, auth.AlterConfigs,
}

// AllBut are the bodies that say what ALL on the pattern says, without the operations; nil where that cannot be said.
func AllBut(p auth.ACLPattern, without []auth.Operation) []Body {
	if p.Type != auth.Topic {
		return nil
	}
	var list []Body
	for _, op := range topicOperations {
		if !slices.Contains(without, op) {
			list = append(list, Body{op, p})
		}
	}
	return list
}
