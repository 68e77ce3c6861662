package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// resultRows of about 180 bytes are what clients read.
const resultRows = 400_000

// resultRow is one of them, as JSON and as the values of a table of the stock engine's.
func resultRow(i int, r *rand.Rand) (text string, values []any) {
	kinds := [...]string{"view", "click", "cart", "buy", "search"}
	url := fmt.Sprintf("https://shop.example/products/%08d/reviews", r.IntN(1e8))
	agent := "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101"
	user, price, score := int64(r.IntN(300_000)), int64(r.IntN(100_000)), r.Float64()
	kind := kinds[r.IntN(len(kinds))]
	return fmt.Sprintf(`{"id":%d,"user_id":%d,"kind":%q,"url":%q,"agent":%q,"price":%d,"score":%g}`, i, user, kind, url, agent, price, score),
		[]any{int64(i), user, kind, url, agent, price, score}
}

// resultTable declares it to the stock engine's server.
const resultTable = `{"table":"wide","columns":[["id","BIGINT"],["user_id","BIGINT"],["kind","TEXT"],["url","TEXT"],["agent","TEXT"],["price","BIGINT"],["score","DOUBLE"]]}`

const resultQuery = "SELECT id, user_id, kind, url, agent, price, score FROM wide"

// reader is a client, with a command that reads a query's rows a number of times and prints how many came. A
// reader without a command is in this process.
type reader struct {
	name    string
	command func(port, pushdown, times, query string) *exec.Cmd
	read    func(ctx context.Context, address, pushdown string, times int, query string) (int64, error)
}

func readers(root, cache string) []reader {
	clients := filepath.Join(root, "test/bench/clients")
	node := func(how string) func(port, pushdown, times, query string) *exec.Cmd {
		return func(port, pushdown, times, query string) *exec.Cmd {
			c := exec.Command("node", filepath.Join(clients, "read.mjs"), port, pushdown, times, how, query)
			c.Env = append(os.Environ(), "NODE_HOME="+filepath.Join(cache, "node"))
			return c
		}
	}
	java := func(params string) func(port, pushdown, times, query string) *exec.Cmd {
		return func(port, pushdown, times, query string) *exec.Cmd {
			return exec.Command("java", "-Xmx512m", "-cp", filepath.Join(cache, "jars", "*"), filepath.Join(clients, "Read.java"), port, pushdown, times, params, query)
		}
	}
	return []reader{
		{name: "go-sql-driver, text", read: readGo(false)},
		{name: "go-sql-driver, prepared", read: readGo(true)},
		{name: "mysql2, streamed", command: node("stream")},
		{name: "mysql2, prepared", command: node("prepared")},
		{name: "Connector/J, row by row", command: java("useServerPrepStmts=false")},
		{name: "Connector/J, cursor", command: java("useServerPrepStmts=true&useCursorFetch=true")},
		{name: "PyMySQL", command: func(port, pushdown, times, query string) *exec.Cmd {
			return exec.Command(filepath.Join(cache, "py/bin/python"), filepath.Join(clients, "read.py"), port, pushdown, times, query)
		}},
		{name: "MariaDB CLI", command: func(port, pushdown, times, query string) *exec.Cmd {
			n, _ := strconv.Atoi(times)
			if pushdown != "-" {
				query = "SET millrace_pushdown=" + pushdown + ";" + strings.Repeat(query+";", n)
			} else {
				query = strings.Repeat(query+";", n)
			}
			return exec.Command("sh", "-c", `mysql -h127.0.0.1 -P"$0" -uapp kafka -N -B --quick -e "$1" | wc -l`, port, query)
		}},
	}
}

func readGo(prepared bool) func(ctx context.Context, address, pushdown string, times int, query string) (int64, error) {
	return func(ctx context.Context, address, pushdown string, times int, query string) (n int64, err error) {
		db, err := sql.Open("mysql", "app@tcp("+address+")/kafka")
		if err != nil {
			return 0, err
		}
		defer db.Close()
		db.SetMaxOpenConns(1)
		if pushdown != "-" {
			if _, err := db.ExecContext(ctx, "SET millrace_pushdown="+pushdown); err != nil {
				return 0, err
			}
		}
		ask := func() (*sql.Rows, error) { return db.QueryContext(ctx, query) }
		if prepared {
			s, err := db.PrepareContext(ctx, query)
			if err != nil {
				return 0, err
			}
			defer s.Close()
			ask = func() (*sql.Rows, error) { return s.QueryContext(ctx) }
		}
		for range times {
			rows, err := ask()
			if err != nil {
				return n, err
			}
			k, err := drain(rows)
			if n += k; err != nil {
				return n, err
			}
		}
		return n, nil
	}
}

// runResults has real clients read a whole topic, and compares what that takes of the server's processors: in columns, in
// rows, and by the stock server of the engine with the same rows in memory.
func runResults(ctx context.Context, s settings) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	jars, err := filepath.Abs(s.jars) // node asks for a whole path
	if err != nil {
		return err
	}
	dir := filepath.Join(s.dir, "results")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ours, err := millraceBroker(s.millrace, "--statement-timeout", "10m").startIn(ctx, dir)
	if err != nil {
		return err
	}
	defer ours.stop()
	if err := load(ctx, ours.address, "wide", resultRows, func(i int, r *rand.Rand, _ []byte) []byte {
		text, _ := resultRow(i, r)
		return []byte(text)
	}); err != nil {
		return err
	}
	stock, err := startStock(s, dir)
	if err != nil {
		return err
	}
	if stock != nil {
		defer stock.stop()
	}

	fmt.Println("| client | columns | rows | stock engine | columns ÷ rows | columns ÷ stock |")
	fmt.Println("|---|---:|---:|---:|---:|---:|")
	var failed []error
	for _, r := range readers(root, filepath.Dir(jars)) {
		if !strings.Contains(r.name, s.steps) {
			continue
		}
		var rate [3]float64
		for i, way := range []struct {
			p        *process
			pushdown string
			times    int
		}{{ours, "1", 3}, {ours, "0", 1}, {stock, "-", 1}} {
			if way.p == nil {
				continue
			}
			rate[i], err = r.rate(ctx, way.p, way.pushdown, way.times)
			if err != nil {
				failed = append(failed, fmt.Errorf("%s, pushdown %s: %w", r.name, way.pushdown, err))
			}
		}
		fmt.Printf("| %s | %.0f | %.0f | %.0f | %.1f | %.1f |\n", r.name, rate[0]/1000, rate[1]/1000, rate[2]/1000, rate[0]/rate[1], rate[0]/rate[2])
	}
	return errors.Join(failed...)
}

// rate is the rows that a server sends in a second of its processor time. The first reading is not counted.
func (r *reader) rate(ctx context.Context, p *process, pushdown string, times int) (float64, error) {
	_, port, err := net.SplitHostPort(p.mysql)
	if err != nil {
		return 0, err
	}
	read := func(times int) error {
		var n int64
		if r.read != nil {
			var err error
			if n, err = r.read(ctx, p.mysql, pushdown, times, resultQuery); err != nil {
				return err
			}
		} else {
			var complaints strings.Builder
			c := r.command(port, pushdown, strconv.Itoa(times), resultQuery)
			c.Stderr = &complaints
			out, err := c.Output()
			if err != nil {
				return fmt.Errorf("%w: %s", err, complaints.String())
			}
			if n, err = strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64); err != nil {
				return err
			}
		}
		if n != int64(times)*resultRows {
			return fmt.Errorf("%d rows", n)
		}
		return nil
	}
	if err := read(1); err != nil {
		return 0, err
	}
	before := p.cpu()
	if err := read(times); err != nil {
		return 0, err
	}
	return float64(times) * resultRows / (p.cpu() - before).Seconds(), nil
}

// startStock starts the stock server of the engine with the same rows, if it was built; nil if not.
func startStock(s settings, dir string) (*process, error) {
	if s.stock == "" {
		return nil, nil
	}
	p := &process{mysql: freeAddress()}
	log, err := os.Create(filepath.Join(dir, "stock.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.cmd = exec.Command(s.stock, p.mysql)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	rows := bufio.NewWriter(in)
	fmt.Fprintln(rows, resultTable)
	r := rand.New(rand.NewPCG(7, 8))
	for i := range resultRows {
		_, values := resultRow(i, r)
		line, err := json.Marshal(values)
		if err != nil {
			return nil, err
		}
		if _, err := rows.Write(append(line, '\n')); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(rows.Flush(), in.Close()); err != nil {
		return nil, err
	}
	for range 3000 {
		if c, err := net.DialTimeout("tcp", p.mysql, time.Second); err == nil {
			c.Close()
			return p, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.stop()
	return nil, errors.New("the stock server did not start")
}
