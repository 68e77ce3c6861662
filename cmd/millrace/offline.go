package main

import (
	"context"
	"fmt"
	"os"

	"millrace/internal/client"
	"millrace/internal/vfs"
	"millrace/server"
	"millrace/server/auth"
	"millrace/store"
)

// openUsers opens the users in a stopped server's directory, which is locked meanwhile.
// A directory that does not exist yet is made: the first user may come before the
// first start.
func openUsers(ctx context.Context, dir string) (client.UserStore, func() error, error) {
	st, err := store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		return nil, nil, fmt.Errorf("%s (the server must be stopped): %w", dir, err)
	}
	return auth.New(st), st.Close, nil
}

type verifyCommand struct {
	Data string `help:"Data directory of the stopped server." default:"${data}" env:"MILLRACE_DATA" placeholder:"DIR"`
}

func (*verifyCommand) Help() string {
	return `Reads everything and changes nothing. Prints a line for each finding; the exit status is not zero
when there is one.

Example:
  millrace verify --data /var/lib/millrace`
}

func (c *verifyCommand) Run(ctx context.Context, s *client.IO) error {
	if _, err := os.Stat(c.Data); err != nil {
		return err
	}
	problems, err := server.Verify(ctx, vfs.OS{}, c.Data, s.Out)
	if err != nil {
		return err
	}
	if problems > 0 {
		return fmt.Errorf("%s: problems found: %d", c.Data, problems)
	}
	_, err = fmt.Fprintf(s.Out, "%s: no problem found\n", c.Data)
	return err
}
