"""Millrace's SQL against DuckDB and ClickHouse (chdb) on the same events, in one run.

Millrace is measured at a MySQL client over a socket, the peers inside their own process, so
the comparison is in the peers' favour. All answers are compared, and a wrong one ends the run.
Prints Markdown: medians in ms and ratios.
"""
import argparse
import decimal
import math
import os
import shutil
import statistics
import subprocess
import sys
import time

import engines
import queries

SLOW_MS = 20_000  # a question that takes longer is asked once


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


def measure(all_engines, questions, runs, only):
    """Hot medians in ms by question and engine; answers are compared."""
    out = []
    for q in questions:
        if only and q[0].split()[0] not in only:
            continue
        line = {"name": q[0]}
        answers = {}
        for e in all_engines:
            if not e.answers(q[0]):
                continue
            sql = queries.of(e.dialect, q)
            hot = []
            for i in range(runs + 1):
                ms, rows = timed(e, sql)
                if i > 0 or ms > SLOW_MS:
                    hot.append(ms)
                if ms > SLOW_MS:
                    break
            line[e.name] = statistics.median(hot)
            answers[e.name] = rows
        first = answers[all_engines[0].name]
        for name, rows in answers.items():
            if not same(first, rows):
                note(f"{q[0]}: {all_engines[0].name} and {name} differ:\n{first[:5]}\n{rows[:5]}")
                line["differs"] = name
        note("  ".join(f"{k} {v:.1f}" if isinstance(v, float) else str(v) for k, v in line.items()))
        out.append(line)
    return out


def cold(some_engines, questions, runs, only):
    """Medians of the first run of each question in a fresh process, its files not in the page cache."""
    out = []
    for q in questions:
        if only and q[0].split()[0] not in only:
            continue
        line = {"name": q[0]}
        for e in some_engines:
            times = []
            for _ in range(runs):
                e.stop()
                forget(e.path)
                e.start()
                times.append(timed(e, queries.of(e.dialect, q))[0])
            line[e.name] = statistics.median(times)
        out.append(line)
    return out


def forget(path):
    """Takes the files below a path out of the page cache."""
    for directory, _, names in os.walk(path):
        for name in names:
            fd = os.open(os.path.join(directory, name), os.O_RDONLY)
            try:
                os.fsync(fd)
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(fd)


def table(title, lines, all_engines):
    """Prints the medians, the ratios, and how many of them keep the bounds."""
    names, peers = [e.name for e in all_engines], [e.name for e in all_engines[1:]]
    print(f"### {title}\n")
    head = ["question"] + [f"{n}, ms" for n in names] + [f"millrace ÷ {p}" for p in peers]
    print("| " + " | ".join(head) + " |")
    print("|---|" + "---:|" * (len(head) - 1))
    for x in lines:
        row = [x["name"] + (" (differs!)" if "differs" in x else "")]
        row += [f"{x[n]:.1f}" if n in x else "" for n in names]
        row += [f"{x['millrace'] / x[p]:.2g}" if p in x else "" for p in peers]
        print("| " + " | ".join(row) + " |")
    print()
    for p in peers:
        ratios = [x["millrace"] / x[p] for x in lines if p in x]
        if ratios:
            print(f"Against {p}: ≤ 1.0 on {sum(r <= 1 for r in ratios)} of {len(ratios)}, ≤ 0.3 on {sum(r <= 0.3 for r in ratios)}, worst {max(ratios):.2g}.\n")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--events", type=int, default=10_000_000)
    p.add_argument("--posts", type=int, default=2_000_000)
    p.add_argument("--runs", type=int, default=5)
    p.add_argument("--threads", default="1,2")
    p.add_argument("--only", default="", help="questions, such as Q3,J1")
    p.add_argument("--peers", default="duckdb,clickhouse", help="also: duckdb-json, spark, stock")
    p.add_argument("--cold", action="store_true")
    p.add_argument("--work", required=True, help="scratch directory; loaded data are used again")
    p.add_argument("--binary", default="bin/millrace")
    p.add_argument("--gen", required=True)
    p.add_argument("--stock", help="the stock engine's server, for that peer")
    p.add_argument("--spark", help="a virtual environment with pyspark, for that peer")
    p.add_argument("--spark-jars", help="the directory of the jars of Spark's Kafka source")
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
    kinds = {
        "duckdb": lambda t, _: engines.DuckDB(a.work, t),
        "clickhouse": lambda t, _: engines.ClickHouse(a.work, t),
        "duckdb-json": lambda t, _: engines.DuckDBJSON(a.work, t),
        "spark": lambda t, ours: engines.Spark(a.spark, a.spark_jars, a.work, ours.kafka, t),
        "stock": lambda _, __: engines.Stock(a.stock, a.work),
    }
    for threads in [int(t) for t in a.threads.split(",")]:
        ours = engines.Millrace(a.binary, a.work, threads)
        running = [ours]
        try:
            for name in [n for n in a.peers.split(",") if n]:
                running.append(kinds[name](threads, ours))
            if fresh:
                for e in running:
                    began = time.time()
                    e.load(a.gen, a.events, a.posts)
                    note(f"{e.name}: loaded in {time.time() - began:.1f} s")
                open(mark, "w").close()
                fresh = False
            compare(a, only, threads, running)
        finally:
            for e in running:
                e.stop()


def compare(a, only, threads, running):
    """Asks all questions and prints the tables."""
    ours = running[0]
    session = ours.run("SELECT session_id FROM clicks WHERE _partition = 1 AND _offset = 4321")[0][0]
    ask = [tuple(t.replace("{session}", session) if t else t for t in q) for q in queries.CLICKS]
    said = f"{threads} thread{'s' if threads > 1 else ''}"
    table(f"{said}, hot", measure(running, ask, a.runs, only), running)
    table(f"{said}, hot, JSONBench's questions", measure(running, queries.BLUESKY, a.runs, only), running)
    if not only:
        for name, sql, bound in queries.QUICK:
            times = [timed(ours, sql.replace("{session}", session))[0] for _ in range(2 * a.runs + 1)]
            print(f"- {name}: {statistics.median(times):.2f} ms (bound {bound:g})")
    print(f"- resident memory of Millrace: {ours.rss()} MiB\n")
    if a.cold:
        lasting = [e for e in running if e.path]
        table(f"{said}, cold", cold(lasting, ask, a.runs, only), lasting)


if __name__ == "__main__":
    main()
