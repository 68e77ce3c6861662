package main

import (
	"context"
	"testing"
)

// A short run, without MariaDB; the long one is make differential.
func TestAllWaysToAnswerGiveTheSameAnswer(t *testing.T) {
	o := options{queries: 200, each: 50, seed: 1, only: -1, workers: 2, mariaDB: "no", show: 5}
	if testing.Short() {
		o.queries = 50
	}
	if err := run(context.Background(), o, t.Output()); err != nil {
		t.Fatal(err)
	}
}
