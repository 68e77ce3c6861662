// Command millrace is the server and its clients in one binary. This file reads
// the command line; the work is elsewhere.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"millrace/internal/client"
	"millrace/internal/config"

	"github.com/alecthomas/kong"
)

// version is set when a release is linked.
var version = "dev"

type commands struct {
	Serve   serveCommand   `cmd:"" help:"Start the server."`
	SQL     client.SQL     `cmd:"" name:"sql" help:"Query topics with SQL: a shell, or one statement."`
	Topic   client.Topic   `cmd:"" help:"Create, list, describe, alter and delete topics."`
	Produce client.Produce `cmd:"" help:"Produce records from standard input."`
	Consume client.Consume `cmd:"" help:"Print the records of a topic."`
	Group   client.Group   `cmd:"" help:"List, describe, reset and delete consumer groups."`
	Import  client.Import  `cmd:"" help:"Import a file of NDJSON or CSV."`
	Gen     client.Gen     `cmd:"" help:"Generate records: orders, pageviews, clicks or quakes."`
	User    client.User    `cmd:"" help:"Add, change, remove and list users."`
	ACL     client.ACL     `cmd:"" name:"acl" help:"Add, list and remove ACLs: what users may do."`
	Verify  verifyCommand  `cmd:"" help:"Check every checksum of a stopped server's data."`
	Version versionCommand `cmd:"" help:"Print the version."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version." env:"-"`
}

const description = `Kafka topics that are SQL tables: produce with Kafka clients, SELECT with MySQL clients.

Every flag is also an environment variable, MILLRACE_ and its name in capitals. Those of serve and
of the connection have no more in it: --seal-age is MILLRACE_SEAL_AGE, --kafka is MILLRACE_KAFKA.
Those of one command have its name: --format of sql is MILLRACE_SQL_FORMAT.`

func newParser(c *commands, s *client.IO, exit func(int)) (*kong.Kong, error) {
	return kong.New(c,
		kong.Name("millrace"),
		kong.Description(description),
		config.Vars(),
		kong.Vars{"version": "millrace " + version},
		kong.PostBuild(variables),
		kong.DefaultEnvars(config.EnvPrefix),
		kong.Resolvers(config.Resolver()),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.ValueFormatter(describe),
		kong.WithHyphenPrefixedParameters(true),
		kong.Writers(s.Out, s.Err),
		kong.Exit(exit),
	)
}

// describe is a flag's help with its default and variable.
func describe(v *kong.Value) string {
	help := strings.TrimSuffix(v.Help, ".")
	if v.HasDefault && v.Default != "" {
		help += ". Default " + v.Default
	}
	if v.Flag != nil && len(v.Flag.Envs) > 0 {
		help += " ($" + v.Flag.Envs[0] + ")"
	}
	return help + "."
}

// Exit statuses.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() { os.Exit(run(os.Args[1:], client.StandardIO())) }

func run(args []string, s *client.IO) int {
	var c commands
	parser, err := newParser(&c, s, os.Exit)
	if err != nil {
		fmt.Fprintln(s.Err, "millrace:", err)
		return exitUsage
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	k, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(s.Err, "millrace: %v\nRun \"millrace --help\" or \"millrace COMMAND --help\".\n", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals(k, s)...)
	defer stop()
	context.AfterFunc(ctx, stop) // the second Ctrl-C ends the process at once
	k.BindTo(ctx, (*context.Context)(nil))
	k.Bind(s, client.OpenUsers(openUsers))
	switch err := k.Run(); {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(s.Err, "millrace: interrupted")
		return exitFailed
	case err != nil:
		fmt.Fprintln(s.Err, "millrace:", err)
		if client.Refused(err) && anonymous(k) {
			fmt.Fprintln(s.Err, "millrace:", client.LoginHint)
		}
		return exitFailed
	}
	return 0
}

// anonymous says whether the command could have logged in and did not.
func anonymous(k *kong.Context) bool {
	for _, f := range k.Flags() {
		if f.Name == "user" {
			return f.Target.String() == ""
		}
	}
	return false
}

// variables names the variables of flags that belong to one command only after that
// command: a --format for SQL is none for import. What serve takes and how commands
// connect have their plain names.
func variables(k *kong.Kong) error {
	var visit func(n *kong.Node, path string)
	visit = func(n *kong.Node, path string) {
		for _, f := range n.Flags {
			if path == "" || n.Name == "serve" || f.Group != nil && f.Group.Key == "Connection" || len(f.Envs) > 0 {
				continue
			}
			f.Envs = []string{config.EnvPrefix + path + "_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))}
			f.Tag.Envs = f.Envs
		}
		for _, c := range n.Children {
			visit(c, path+"_"+strings.ToUpper(strings.ReplaceAll(c.Name, "-", "_")))
		}
	}
	visit(k.Model.Node, "")
	return nil
}

// signals that end the command. The SQL shell handles Ctrl-C itself: there it
// stops the statement.
func signals(k *kong.Context, s *client.IO) []os.Signal {
	if c, ok := k.Selected().Target.Addr().Interface().(*client.SQL); ok && c.Interactive(s) {
		return []os.Signal{syscall.SIGTERM}
	}
	return []os.Signal{os.Interrupt, syscall.SIGTERM}
}
