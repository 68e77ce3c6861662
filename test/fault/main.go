// Command fault torments the real binary and checks what it promised: nothing
// acknowledged is lost, no idempotent record is doubled, no offset is reused, and
// both wires tell the same. Each subcommand prints "N passed, N failed".
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"time"

	"github.com/go-sql-driver/mysql"
)

// verbosef prints details that are of interest when a run is watched.
var verbosef = func(string, ...any) {}

func main() {
	binary := flag.String("millrace", "bin/millrace", "the binary to torment")
	kills := flag.Int("kills", 40, "how often to kill it")
	rounds := flag.Int("rounds", 5, "how often to fill its disk")
	points := flag.Int("points", 25, "at how many exact points it dies or its disk fails")
	flips := flag.Int("flips", 40, "how many bits to flip in each kind of file")
	transactions := flag.Int("transactions", 5000, "how many transactions to run")
	verbose := flag.Bool("v", false, "tell of every verification")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "replays the choices of a run")
	flag.Parse()
	_ = mysql.SetLogger(log.New(io.Discard, "", 0)) // it tells of every killed server
	fmt.Fprintf(os.Stderr, "seed %d\n", *seed)
	if *verbose {
		verbosef = func(format string, args ...any) { fmt.Printf(format, args...) }
	}
	random := rand.New(rand.NewPCG(*seed, 0))
	ctx := context.Background()

	runs := map[string]func() error{
		"kill":  func() error { return killRun(ctx, *binary, random, *kills) },
		"syncs": func() error { return syncsRun(ctx, *binary, *points) },
		"eio":   func() error { return eioRun(ctx, *binary, *points) },
		"flips": func() error { return flipsRun(ctx, *binary, random, *flips) },
		"transactions": func() error {
			return transactionsRun(ctx, *binary, random, *transactions, *kills/4)
		},
		"commits":  func() error { return commitsRun(ctx, *binary, *points) },
		"churn":    func() error { return churnRun(ctx, *binary, random, *kills) },
		"cuts":     func() error { return cutsRun(ctx, *binary, random, *kills) },
		"memory":   func() error { return memoryRun(ctx, *binary) },
		"diskfull": func() error { return diskFullRun(ctx, *binary, random, *rounds) },
	}
	passed, failed := 0, 0
	for _, name := range flag.Args() {
		run, ok := runs[name]
		if !ok {
			fmt.Fprintf(os.Stderr, "no run named %q\n", name)
			os.Exit(2)
		}
		if err := run(); err != nil {
			fmt.Fprintf(os.Stderr, "%s FAILED (seed %d): %v\n", name, *seed, err)
			failed++
			continue
		}
		passed++
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 || passed == 0 {
		os.Exit(1)
	}
}
