package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"millrace/internal/client"

	"github.com/alecthomas/kong"
)

func parser(t *testing.T, out *bytes.Buffer) *kong.Kong {
	t.Helper()
	p, err := newParser(&commands{}, &client.IO{Out: out, Err: out}, func(int) { panic(errExit) })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var errExit = errors.New("exit")

func leaves(n *kong.Node) (all []*kong.Node) {
	if len(n.Children) == 0 {
		return []*kong.Node{n}
	}
	for _, c := range n.Children {
		all = append(all, leaves(c)...)
	}
	return all
}

func TestEveryCommandHasCompleteHelpWithAnExample(t *testing.T) {
	p := parser(t, &bytes.Buffer{})
	for _, n := range leaves(p.Model.Node) {
		name := n.FullPath()
		if n.Help == "" || !strings.HasSuffix(n.Help, ".") {
			t.Errorf("%s: help %q", name, n.Help)
		}
		if !strings.Contains(n.Detail, "Example") || !strings.Contains(n.Detail, "  "+name) && !strings.Contains(n.Detail, "| "+name) {
			t.Errorf("%s: no example", name)
		}
		for _, f := range n.Flags {
			if f.Name != "help" && (f.Help == "" || len(f.Envs) == 0) {
				t.Errorf("%s --%s: help %q, variables %v", name, f.Name, f.Help, f.Envs)
			}
		}
		for _, a := range n.Positional {
			if a.Help == "" {
				t.Errorf("%s %s: no help", name, a.Name)
			}
		}
	}
}

func TestHelpIsPrintedForEveryCommand(t *testing.T) {
	for _, n := range leaves(parser(t, &bytes.Buffer{}).Model.Node) {
		var out bytes.Buffer
		p := parser(t, &out)
		func() {
			defer func() {
				if r := recover(); r != any(errExit) {
					t.Errorf("%s --help: %v", n.FullPath(), r)
				}
			}()
			_, err := p.Parse(append(strings.Fields(n.FullPath())[1:], "--help"))
			t.Errorf("%s --help goes on: %v", n.FullPath(), err)
		}()
		if !strings.Contains(out.String(), "Usage: "+n.FullPath()) {
			t.Errorf("%s --help prints %q", n.FullPath(), out.String())
		}
	}
}

// words splits a shell line into the commands of its pipeline, without redirections.
func words(line string) (pipeline [][]string) {
	var cmd []string
	word, in, any, skip := "", rune(0), false, false
	end := func() {
		if any && !skip {
			cmd = append(cmd, word)
		}
		if any {
			skip = false
		}
		word, any = "", false
	}
	for _, r := range line {
		switch {
		case in != 0 && r == in:
			in = 0
		case in != 0:
			word += string(r)
		case r == '\'' || r == '"':
			in, any = r, true
		case r == ' ':
			end()
		case r == '|':
			end()
			pipeline, cmd = append(pipeline, cmd), nil
		case r == '<' || r == '>':
			end()
			skip = true
		default:
			word += string(r)
			any = true
		}
	}
	end()
	return append(pipeline, cmd)
}

func TestTheExamplesParse(t *testing.T) {
	for _, n := range leaves(parser(t, &bytes.Buffer{}).Model.Node) {
		for line := range strings.SplitSeq(n.Detail, "\n") {
			if !strings.HasPrefix(line, "  ") {
				continue
			}
			for _, cmd := range words(strings.TrimSpace(line)) {
				if len(cmd) == 0 || cmd[0] != "millrace" {
					continue
				}
				args := slices.DeleteFunc(slices.Clone(cmd[1:]), func(a string) bool { return strings.HasPrefix(a, "--config") })
				args = slices.DeleteFunc(args, func(a string) bool { return strings.HasSuffix(a, ".yaml") })
				if _, err := parser(t, &bytes.Buffer{}).Parse(args); err != nil {
					t.Errorf("%s: %s: %v", n.FullPath(), line, err)
				}
			}
		}
	}
}

func TestMistakesEndWithAMessageAndAStatus(t *testing.T) {
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"srve"}, exitUsage, "srve"},
		{[]string{"topic", "create"}, exitUsage, "<name>"},
		{[]string{"gen", "bananas"}, exitUsage, "bananas"},
		{[]string{"verify", "--data", "/nowhere/at/all"}, exitFailed, "no such file"},
		{[]string{"serve", "--default-partitions=0"}, exitFailed, "more than 0"},
		{[]string{"topic", "alter", "t"}, exitFailed, "nothing to change"},
		{[]string{"user", "add", "ada", "--password-stdin", "--data", "/nowhere"}, exitFailed, "password is empty"},
		{[]string{"user", "add", "ada", "--data", "/nowhere"}, exitFailed, "--password-stdin"},
	} {
		var out bytes.Buffer
		status := run(c.args, &client.IO{In: strings.NewReader("\n"), Out: &out, Err: &out})
		if status != c.status || !strings.Contains(out.String(), c.want) {
			t.Errorf("%v: status %d, %q", c.args, status, out.String())
		}
	}
}

func TestVersion(t *testing.T) {
	var out bytes.Buffer
	if status := run([]string{"version"}, &client.IO{Out: &out, Err: &out}); status != 0 || out.String() != "millrace "+version+"\n" {
		t.Fatal(status, out.String())
	}
}

func TestUsersOfAStoppedServerAreChangedInItsDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	user := func(in string, args ...string) (string, int) {
		var out bytes.Buffer
		status := run(append(append([]string{"user"}, args...), "--data", dir), &client.IO{In: strings.NewReader(in), Out: &out, Err: &out})
		return out.String(), status
	}
	for _, c := range []struct {
		in     string
		args   []string
		out    string
		status int
	}{
		{"", []string{"list"}, "no such file", 1},
		{"secret\n", []string{"add", "ada", "--password-stdin"}, "", 0},
		{"other\n", []string{"add", "app", "--password-stdin"}, "", 0},
		{"other\n", []string{"add", "app", "--password-stdin"}, "user exists", 1},
		{"", []string{"list"}, "ada\napp\n", 0},
		{"changed", []string{"passwd", "app", "--password-stdin"}, "", 0},
		{"", []string{"drop", "app"}, "", 0},
		{"", []string{"drop", "app"}, "no such user", 1},
		{"", []string{"list"}, "ada\n", 0},
	} {
		out, status := user(c.in, c.args...)
		if status != c.status || !strings.Contains(out, c.out) || c.out == "" && out != "" {
			t.Fatalf("user %v: status %d, %q", c.args, status, out)
		}
	}
	users, done, err := openUsers(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if got := users.Users(); !slices.Equal(got, []string{"ada"}) {
		t.Fatal(got)
	}
	if _, status := user("", "list"); status == 0 {
		t.Fatal("a locked directory is opened")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
}

func TestTheVersionIsAFlagToo(t *testing.T) {
	var out bytes.Buffer
	p := parser(t, &out)
	defer func() {
		if r := recover(); r != any(errExit) || out.String() != "millrace "+version+"\n" {
			t.Error(r, out.String())
		}
	}()
	_, err := p.Parse([]string{"--version"})
	t.Error("goes on", err)
}

func TestAVariableIsOneCommandsUnlessServeOrTheConnectionHasTheFlag(t *testing.T) {
	users := map[string]string{}
	for _, n := range leaves(parser(t, &bytes.Buffer{}).Model.Node) {
		for _, f := range n.Flags {
			shared := f.Group != nil && f.Group.Key == "Connection" || n.Name == "serve" || f.Name == "data"
			if f.Name == "help" || shared {
				continue
			}
			if other := users[f.Envs[0]]; other != "" {
				t.Errorf("%s is of %s and %s", f.Envs[0], other, n.FullPath())
			}
			users[f.Envs[0]] = n.FullPath()
		}
	}
	if users["MILLRACE_SQL_FORMAT"] != "millrace sql" || users["MILLRACE_GROUP_RESET_OFFSETS_DRY_RUN"] == "" || users["MILLRACE_FORMAT"] != "" {
		t.Error(users)
	}
	var out bytes.Buffer
	t.Setenv("MILLRACE_FORMAT", "csv") // of no command
	t.Setenv("MILLRACE_SQL_FORMAT", "json")
	t.Setenv("MILLRACE_KAFKA", "127.0.0.1:7")
	c := &commands{}
	p, err := newParser(c, &client.IO{Out: &out, Err: &out}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"sql", "SELECT 1"}, {"import", "x.csv", "-t", "t"}} {
		if _, err := p.Parse(args); err != nil {
			t.Error(args, err)
		}
	}
	if c.SQL.Format != "json" || c.Import.Format != "auto" || c.Import.Address != "127.0.0.1:7" {
		t.Error(c.SQL.Format, c.Import.Format, c.Import.Address)
	}
}
