// Command differential asks random queries in every way that they can be answered: in columns and by rows, from the tail,
// sealed and after a restart, and by MariaDB where it is installed. All answers must be the same; and a filter, its
// negation and its NULLs must part the rows that a query reads (TLP), of which it keeps as many as a sum counts (NoREC).
//
// A seed decides tables and queries; a difference is told with both, and asked again by -seed SEED -only QUERY.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// options are what the command is told.
type options struct {
	queries int    // how many, in all
	each    int    // of a seed
	seed    uint64 // the first
	only    int    // of one seed, the one to ask; < 0: all
	workers int    // how many seeds at a time
	mariaDB string // yes, no, or if it is there
	done    string // file of seeds that were asked; "": none is kept
	show    int    // how many differences are told of
}

func main() {
	var o options
	flag.IntVar(&o.queries, "queries", 10_000, "how many queries to ask")
	flag.IntVar(&o.each, "each", 250, "how many queries a seed has")
	flag.Uint64Var(&o.seed, "seed", 1, "the first seed")
	flag.IntVar(&o.only, "only", -1, "ask but this query of the one seed")
	flag.IntVar(&o.workers, "workers", 2, "how many seeds are asked at a time")
	flag.StringVar(&o.mariaDB, "mariadb", "auto", "compare with MariaDB: yes, no, or auto, which is if it is installed")
	flag.StringVar(&o.done, "done", "", "file that keeps which seeds were asked; those in it are not asked again")
	flag.IntVar(&o.show, "show", 20, "stop after so many differences")
	flag.Parse()
	// Statements are small and many, and there is memory. By the variable, as servers set the share themselves where it is not set.
	if os.Getenv("GOGC") == "" {
		if err := os.Setenv("GOGC", strconv.Itoa(gcPercent)); err != nil {
			panic(err)
		}
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// gcPercent halves the processor's time of a run against the server's own 50.
const gcPercent = 400

// tellEvery is after how many seeds it is told how far a run is.
const tellEvery = 50

// errDifferent says that some query had two answers.
var errDifferent = errors.New("some queries have more than one answer")

// run asks what o says and tells w of it.
func run(ctx context.Context, o options, w interface{ Write([]byte) (int, error) }) (err error) {
	started := time.Now()
	seeds, keep, err := o.seeds()
	if err != nil {
		return err
	}
	if n := o.rounds() - len(seeds); n > 0 {
		fmt.Fprintf(w, "%d of %d seeds were asked before\n", n, o.rounds())
	}
	dir, err := os.MkdirTemp("", "differential-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var maria *mariaDB
	if o.mariaDB != "no" {
		maria, err = startMariaDB(ctx, dir)
		switch {
		case errors.Is(err, errNoMariaDB) && o.mariaDB == "auto":
			fmt.Fprintln(w, "without MariaDB:", err)
		case err != nil:
			return err
		default:
			defer maria.stop()
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	var mu sync.Mutex // guards what follows
	total, differences, asked := counts{known: map[string]int{}}, 0, 0
	var failed error
	tell := func(d difference) {
		mu.Lock()
		defer mu.Unlock()
		differences++
		fmt.Fprintln(w, d)
		if differences >= o.show {
			cancel()
		}
	}
	work := make(chan uint64)
	var workers sync.WaitGroup
	for n := range o.workers {
		workers.Go(func() {
			for seed := range work {
				count := counts{known: map[string]int{}}
				d := round{seed: seed, each: o.each, only: o.only, count: &count, tell: tell}
				err := d.withMariaDB(ctx, maria, "w"+strconv.Itoa(n))
				mu.Lock()
				total.add(&count)
				switch {
				case err != nil && failed == nil && ctx.Err() == nil:
					failed = fmt.Errorf("seed %d: %w", seed, err)
					cancel()
				case err == nil && keep != nil:
					if _, err := fmt.Fprintln(keep, seed); err != nil && failed == nil {
						failed = err
					}
				}
				if asked++; asked%tellEvery == 0 {
					fmt.Fprintf(w, "%d queries in %v, %d differences\n", total.queries, time.Since(started).Round(time.Second), differences)
				}
				mu.Unlock()
			}
		})
	}
	for _, seed := range seeds {
		select {
		case work <- seed:
		case <-ctx.Done():
		}
	}
	close(work)
	workers.Wait()
	if keep != nil {
		failed = errors.Join(failed, keep.Close())
	}
	fmt.Fprintf(w, "%v in %v: %d differences\n", &total, time.Since(started).Round(time.Second), differences)
	switch {
	case failed != nil:
		return failed
	case differences > 0:
		return errDifferent
	case ctx.Err() != nil:
		return ctx.Err()
	case total.answered < total.queries*8/10:
		return fmt.Errorf("only %d of %d queries have an answer", total.answered, total.queries)
	}
	return nil
}

// rounds are how many seeds there are.
func (o *options) rounds() int {
	if o.only >= 0 {
		return 1
	}
	return max(o.queries/o.each, 1)
}

// seeds are those to ask, and the file that those which were asked are written to.
func (o *options) seeds() (seeds []uint64, keep *os.File, err error) {
	var done []uint64
	if o.done != "" {
		if err := os.MkdirAll(filepath.Dir(o.done), 0o755); err != nil {
			return nil, nil, err
		}
		if keep, err = os.OpenFile(o.done, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644); err != nil {
			return nil, nil, err
		}
		for s := bufio.NewScanner(keep); s.Scan(); {
			seed, err := strconv.ParseUint(s.Text(), 10, 64)
			if err != nil {
				return nil, nil, errors.Join(fmt.Errorf("%s: %w", o.done, err), keep.Close())
			}
			done = append(done, seed)
		}
	}
	for i := range o.rounds() {
		if seed := o.seed + uint64(i); !slices.Contains(done, seed) {
			seeds = append(seeds, seed)
		}
	}
	return seeds, keep, nil
}

// withMariaDB runs the round over tables in a database of this name.
func (d *round) withMariaDB(ctx context.Context, m *mariaDB, database string) error {
	if m == nil {
		return d.run(ctx)
	}
	var err error
	if d.maria, err = m.session(ctx, database); err != nil {
		return err
	}
	return errors.Join(d.run(ctx), d.maria.Close())
}

func (c *counts) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d queries (%d have an answer, %d were compared with MariaDB's), %d checks of their rows, %d statements", c.queries, c.answered, c.maria, c.checks, c.statements)
	if c.late > 0 {
		fmt.Fprintf(&b, ", %d too late", c.late)
	}
	for _, k := range known {
		if n := c.known[k.why]; n > 0 {
			fmt.Fprintf(&b, "\n  %d: %s", n, k.why)
		}
	}
	return b.String()
}

func (d difference) String() string {
	s := fmt.Sprintf("-seed %d -only %d (%s): %s\n  %s: %v\n  %s: %v", d.seed, d.index, d.shape, strings.TrimSpace(d.query), d.left, d.a.without(d.b, d.ordered), d.right, d.b.without(d.a, d.ordered))
	if d.shrunk != "" {
		s += "\n  shorter: " + d.shrunk
	}
	return s
}
