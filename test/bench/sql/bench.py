"""Millrace's SQL against DuckDB and ClickHouse (chdb) on the same events, in one run.

Millrace is measured at a MySQL client over a socket, the peers inside their own process, so
the comparison is in the peers' favour. All answers are compared, and a wrong one ends the run.
Prints Markdown: medians in ms and ratios.
"""
import argparse
import decimal
import json
import math
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time

import pymysql

import queries

NDJSON_COLUMNS = {
    "clicks": """ts BIGINT, event_id {s}, session_id {s}, user_id BIGINT, event_type {s}, page {s}, referrer {s}, country {s},
        device {s}, browser {s}, os {s}, duration_ms BIGINT, amount DOUBLE, quantity BIGINT, status BIGINT, bytes BIGINT,
        is_bot {b}, campaign {s}""",
    "campaigns": "campaign {s}, channel {s}, cost DOUBLE",
}
BLUESKY_FIELDS = ["rev", "operation", "collection", "rkey", "cid"]


class Millrace:
    name = "millrace"

    def __init__(self, binary, work, threads):
        self.binary, self.work, self.threads = binary, work, threads
        self.kafka, self.mysql = free_port(), free_port()
        self.start()

    def start(self):
        self.log = open(os.path.join(self.work, "millrace.log"), "a")
        self.process = subprocess.Popen(
            [self.binary, "serve", "--data", os.path.join(self.work, "millrace"), "--kafka", f"127.0.0.1:{self.kafka}",
             "--mysql", f"127.0.0.1:{self.mysql}", "--http", f"127.0.0.1:{free_port()}"],
            stdout=self.log, stderr=self.log)
        deadline = time.time() + 60
        while True:
            try:
                self.db = pymysql.connect(host="127.0.0.1", port=self.mysql, user="root", database="kafka", autocommit=True)
                break
            except pymysql.err.OperationalError:
                if self.process.poll() is not None or time.time() > deadline:
                    raise SystemExit("Millrace does not start: see millrace.log in " + self.work)
                time.sleep(0.02)
        self.run(f"SET millrace_threads = {self.threads}")

    def load(self, gen, events, posts):
        subprocess.run([gen, "-events", str(events), "-posts", str(posts), "-kafka", f"127.0.0.1:{self.kafka}"], check=True, stdout=sys.stderr)
        began = time.time()
        for topic in ("clicks", "campaigns", "bluesky"):
            self.run(f"CALL millrace.seal('{topic}')")
        note(f"millrace: sealed in {time.time() - began:.1f} s")

    def restart(self):
        self.stop()
        self.start()

    def run(self, sql):
        with self.db.cursor() as c:
            c.execute(sql)
            return c.fetchall()

    def rss(self):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmRSS"):
                return int(line.split()[1]) // 1024

    def stop(self):
        self.process.terminate()
        self.process.wait()


class DuckDB:
    name = "duckdb"

    def __init__(self, work, threads):
        self.path, self.threads = os.path.join(work, "duck.db"), threads
        self.open()

    def open(self):
        import duckdb
        self.db = duckdb.connect(self.path)
        self.db.execute(f"SET threads = {self.threads}")

    def load(self, work, _events, _posts):
        for table, columns in NDJSON_COLUMNS.items():
            cols = columns.format(s="VARCHAR", b="BOOLEAN")
            names = {c.split()[0]: c.split()[1] for c in cols.split(",")}
            self.db.execute(f"CREATE TABLE {table} ({cols})")
            self.db.execute(f"INSERT INTO {table} SELECT {', '.join(names)} FROM read_json(?, format='newline_delimited', columns={names})",
                            [os.path.join(work, table + ".ndjson")])
        inner = ", ".join(f'{f} VARCHAR' for f in BLUESKY_FIELDS)
        fields = ", ".join(f'c."commit".{f} AS "commit.{f}"' for f in BLUESKY_FIELDS)
        self.db.execute(f"""CREATE TABLE bluesky AS SELECT did, time_us, kind, {fields} FROM read_json(?, format='newline_delimited',
            columns={{'did': 'VARCHAR', 'time_us': 'BIGINT', 'kind': 'VARCHAR', 'commit': 'STRUCT({inner})'}}) c""",
                        [os.path.join(work, "bluesky.ndjson")])
        self.db.execute("CHECKPOINT")

    def restart(self):
        self.db.close()
        self.open()

    def run(self, sql):
        return self.db.execute(sql).fetchall()

    def stop(self):
        self.db.close()


class DuckDBJSON(DuckDB):
    """DuckDB's read_json on the file itself: what people do who load nothing."""
    name = "duckdb-json"

    def __init__(self, work, threads):
        import duckdb
        self.db = duckdb.connect()
        self.db.execute(f"SET threads = {threads}")
        for table, columns in NDJSON_COLUMNS.items():
            names = {c.split()[0]: c.split()[1] for c in columns.format(s="VARCHAR", b="BOOLEAN").split(",")}
            path = os.path.join(work, table + ".ndjson")
            self.db.execute(f"CREATE VIEW {table} AS SELECT * FROM read_json('{path}', format='newline_delimited', columns={names})")


class ClickHouse:
    name = "clickhouse"

    def __init__(self, work, threads):
        self.path, self.threads = os.path.join(work, "chdb"), threads
        self.open()

    def open(self):
        from chdb import session
        self.db = session.Session(self.path)
        self.db.query("CREATE DATABASE IF NOT EXISTS b")
        self.db.query("USE b")
        self.db.query(f"SET max_threads = {self.threads}")

    def load(self, work, _events, _posts):
        for table, columns in NDJSON_COLUMNS.items():
            cols = columns.format(s="String", b="Bool").replace("BIGINT", "Int64").replace("DOUBLE", "Float64")
            cols = cols.replace("campaign String", "campaign Nullable(String)")
            order = "ts" if table == "clicks" else "tuple()"
            self.db.query(f"CREATE TABLE b.{table} ({cols}) ENGINE = MergeTree ORDER BY {order}")
            path = os.path.join(work, table + ".ndjson")
            self.db.query(f"INSERT INTO b.{table} SELECT * FROM file('{path}', JSONEachRow, '{cols}')")
        fields = ", ".join(f"`commit.{f}` String" for f in BLUESKY_FIELDS)
        inner = ", ".join(f"{f} String" for f in BLUESKY_FIELDS)
        take = ", ".join(f"c.{f}" for f in BLUESKY_FIELDS)
        self.db.query(f"CREATE TABLE b.bluesky (did String, time_us Int64, kind String, {fields}) ENGINE = MergeTree ORDER BY tuple()")
        path = os.path.join(work, "bluesky.ndjson")
        self.db.query(f"""INSERT INTO b.bluesky SELECT did, time_us, kind, {take} FROM (SELECT did, time_us, kind, `commit` AS c
            FROM file('{path}', JSONEachRow, 'did String, time_us Int64, kind String, commit Tuple({inner})'))""")

    def restart(self):
        self.db.close()
        self.open()

    def run(self, sql):
        text = self.db.query(sql, "JSONCompact")
        return [tuple(r) for r in json.loads(str(text))["data"]]

    def stop(self):
        self.db.close()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def note(text):
    print(text, file=sys.stderr, flush=True)


def cell(v):
    """A value as all engines mean it: numbers by their value to nine digits, text as it is."""
    if v is None or v == "":
        return None  # ClickHouse's missing strings are empty
    if isinstance(v, (bool, int, float, decimal.Decimal)):
        return float(f"{float(v):.6g}") if not isinstance(v, int) else float(f"{v:.12g}")
    try:
        f = float(v)
        return float(f"{f:.6g}") if not str(v).lstrip("-").isdigit() else float(f"{int(v):.12g}")
    except ValueError:
        return str(v)


def same(a, b):
    if len(a) != len(b):
        return False
    for x, y in zip(a, b):
        for u, v in zip(x, y):
            u, v = cell(u), cell(v)
            if isinstance(u, float) and isinstance(v, float):
                if not math.isclose(u, v, rel_tol=1e-4):
                    return False
            elif u != v:
                return False
    return True


def timed(engine, sql):
    began = time.perf_counter()
    rows = engine.run(sql)
    return (time.perf_counter() - began) * 1000, rows


def measure(engines, questions, runs, only):
    """Hot and cold medians in ms by question and engine; answers must agree."""
    out = []
    for q in questions:
        if only and not any(q[0].split()[0] == o for o in only):
            continue
        line = {"name": q[0]}
        answers = {}
        for e in engines:
            sql = queries.of(e.name.split("-")[0], q)
            hot = []
            for i in range(runs + 1):
                ms, rows = timed(e, sql)
                if i > 0:
                    hot.append(ms)
                elif ms > 20_000:
                    hot.append(ms)
                    break
            line[e.name] = statistics.median(hot)
            answers[e.name] = rows
        first = answers[engines[0].name]
        for name, rows in answers.items():
            if not same(first, rows):
                note(f"{q[0]}: {engines[0].name} and {name} differ:\n{first[:5]}\n{rows[:5]}")
                line["differs"] = name
        note("  ".join(f"{k} {v:.1f}" if isinstance(v, float) else str(v) for k, v in line.items()))
        out.append(line)
    return out


def cold(engines, questions, lines, only):
    """The first run of each question in a fresh process (or connection)."""
    for e in engines:
        for q in questions:
            line = next((x for x in lines if x["name"] == q[0]), None)
            if line is None:
                continue
            e.restart()
            line[e.name + " cold"], _ = timed(e, queries.of(e.name, q))


def table(lines, names, peers):
    head = ["question"] + [f"{n}, ms" for n in names] + [f"millrace ÷ {p}" for p in peers]
    print("| " + " | ".join(head) + " |")
    print("|---|" + "---:|" * (len(head) - 1))
    for x in lines:
        row = [x["name"] + (" (differs!)" if "differs" in x else "")]
        row += [f"{x[n]:.1f}" if n in x else "" for n in names]
        row += [f"{x['millrace'] / x[p]:.2f}" if p in x else "" for p in peers]
        print("| " + " | ".join(row) + " |")
    for p in peers:
        ratios = [x["millrace"] / x[p] for x in lines if p in x]
        if ratios:
            print(f"\nAgainst {p}: ≤ 1.0 on {sum(r <= 1 for r in ratios)} of {len(ratios)}, ≤ 0.3 on {sum(r <= 0.3 for r in ratios)}, worst {max(ratios):.2f}.")
    print()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--events", type=int, default=10_000_000)
    p.add_argument("--posts", type=int, default=2_000_000)
    p.add_argument("--runs", type=int, default=5)
    p.add_argument("--threads", default="1,2")
    p.add_argument("--only", default="", help="questions, such as Q3,J1")
    p.add_argument("--peers", default="duckdb,clickhouse", help="also: duckdb-json")
    p.add_argument("--cold", action="store_true")
    p.add_argument("--work", required=True, help="scratch directory; loaded data are used again")
    p.add_argument("--binary", default="bin/millrace")
    p.add_argument("--gen", required=True)
    a = p.parse_args()
    os.makedirs(a.work, exist_ok=True)
    only = [o for o in a.only.split(",") if o]
    mark = os.path.join(a.work, f"loaded-{a.events}-{a.posts}")
    fresh = not os.path.exists(mark)
    if fresh:
        for name in os.listdir(a.work):
            path = os.path.join(a.work, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        subprocess.run([a.gen, "-events", str(a.events), "-posts", str(a.posts), "-dir", a.work], check=True, stdout=sys.stderr)
    kinds = {"duckdb": lambda t: DuckDB(a.work, t), "clickhouse": lambda t: ClickHouse(a.work, t), "duckdb-json": lambda t: DuckDBJSON(a.work, t)}
    for threads in [int(t) for t in a.threads.split(",")]:
        ours = Millrace(a.binary, a.work, threads)
        peers = [kinds[n](threads) for n in a.peers.split(",") if n]
        try:
            if fresh:
                began = time.time()
                ours.load(a.gen, a.events, a.posts)
                note(f"millrace: loaded in {time.time() - began:.1f} s")
                for e in peers:
                    if e.name == "duckdb-json":
                        continue
                    began = time.time()
                    e.load(a.work, a.events, a.posts)
                    note(f"{e.name}: loaded in {time.time() - began:.1f} s")
                open(mark, "w").close()
                fresh = False
            session = ours.run("SELECT session_id FROM clicks WHERE _partition = 1 AND _offset = 4321")[0][0]
            ask = [tuple(t.replace("{session}", session) if t else t for t in q) for q in queries.CLICKS]
            engines = [ours] + peers
            print(f"### {threads} thread{'s' if threads > 1 else ''}, hot\n")
            lines = measure(engines, ask, a.runs, only)
            social = [e for e in engines if e.name != "duckdb-json"]
            posts = measure(social, queries.BLUESKY, a.runs, only)
            table(lines, [e.name for e in engines], [e.name for e in peers])
            table(posts, [e.name for e in social], [e.name for e in social[1:]])
            if not only:
                for name, sql, bound in queries.QUICK:
                    times = [timed(ours, sql.replace("{session}", session))[0] for _ in range(2 * a.runs + 1)]
                    print(f"- {name}: {statistics.median(times):.2f} ms (bound {bound:g})")
            print(f"- resident memory of Millrace: {ours.rss()} MiB\n")
            if a.cold:
                print(f"### {threads} thread{'s' if threads > 1 else ''}, cold (first run of a fresh process)\n")
                social = [e for e in engines if e.name != "duckdb-json"]
                cold(social, ask, lines, only)
                rows = [{"name": x["name"], **{k[:-5]: v for k, v in x.items() if k.endswith(" cold")}} for x in lines]
                table(rows, [e.name for e in social], [e.name for e in social[1:]])
        finally:
            ours.stop()
            for e in peers:
                e.stop()


if __name__ == "__main__":
    main()
