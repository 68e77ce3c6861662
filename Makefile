# Every target that people use has a description behind "##"; `make` lists them.
SHELL := /bin/bash
export CGO_ENABLED ?= 0
BIN := bin/millrace
VERSION := $(shell git describe --always --dirty 2>/dev/null || echo dev)

.DEFAULT_GOAL := help
.PHONY: help build run demo fmt lint test race fuzz fault fault-long differential differential-long interop interop-full bench bench-sql vuln check clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

build: ## build bin/millrace, a static binary
	go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o $(BIN) ./cmd/millrace

run: build ## build and serve on 127.0.0.1 (Kafka 9092, MySQL 3306, HTTP 9644)
	$(BIN) serve

demo: build ## start a server, load real data, ask five questions
	examples/demo.sh $(BIN)

fmt: ## format the tree (changes files)
	go tool -modfile=tools/go.mod gofumpt -w $$(git ls-files '*.go')

lint: ## formatting and the linters of .golangci.yml
	go tool -modfile=tools/go.mod golangci-lint run ./...

test: ## all tests that need nothing but Go
	go test ./...

race: ## the tests under the race detector (needs a C compiler)
	CGO_ENABLED=1 go test -race ./...

FUZZTIME ?= 20s
fuzz: ## every fuzz target for FUZZTIME each
	test/fuzz.sh $(FUZZTIME)

fault: build ## ten minutes of faults: kills, crashes, full disks
	test/fault/run.sh short

fault-long: build ## the same for an hour
	test/fault/run.sh long

MARIADB ?= auto
differential: ## 10,000 random queries: in columns, by rows, sealed, restarted, and by MariaDB if it is installed
	go run ./test/differential -mariadb $(MARIADB)

differential-long: ## a million of them, which takes hours and goes on where it was stopped
	go run ./test/differential -queries 1000000 -each 1000 -seed 200001 -show 1000 -done .cache/differential/done

interop: build ## one smoke test per real client (Python, Node, Java, kcat, MariaDB CLI)
	test/interop/run.sh smoke

interop-full: build ## everything real clients do, their own suites included
	test/interop/run.sh full

bench: build ## compare with Apache Kafka in one run; prints ratios
	test/bench/run.sh

bench-sql: build ## compare SQL with DuckDB, ClickHouse, Spark and the stock executor; prints ratios
	test/bench/sql/run.sh --cold --peers duckdb,clickhouse,duckdb-json,spark
	WORK=.cache/bench-sql-1m test/bench/sql/run.sh --events 1000000 --posts 200000 --threads 1 --runs 1 --peers stock

vuln: ## the modules' sums, and the Go vulnerability database (needs the network)
	go mod verify
	go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...

check: lint test ## what CI runs first

clean: ## remove what the targets made
	rm -rf bin .cache
