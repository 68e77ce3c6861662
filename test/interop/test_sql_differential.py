"""Random queries: Millrace with pushdown on, off, after sealing and after a restart, and
MariaDB 10.11 all give the same answer; and every filter, its negation and its NULLs part a table.

QUERIES (default 10,000) and SEED choose the run; a failure names the seed and the query.
"""
import decimal
import json
import math
import os
import pathlib
import random
import shutil
import subprocess
import time

import pymysql
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

import sqlgen
from millrace import CACHE, Millrace, free_port

QUERIES = int(os.environ.get("QUERIES", "10000"))
SEED = int(os.environ.get("SEED", "1"))

# Where MariaDB differs for good: (part of its or our error or of the query, why). Kept short.
KNOWN = [
    ("Incorrect datetime value", "MySQL refuses to compare a date with text that is none; MariaDB warns"),
    ("Illegal mix of collations", "MariaDB gives the text of JSON functions a collation of its own"),
    ("in 'ORDER BY'", "MariaDB looks for a column named by a negative constant; MySQL ignores constants"),
    ("out of range", "whether a branch that is not taken or a row that is filtered overflows depends on the order of evaluation"),
]


class MariaDB:
    def __init__(self, work):
        self.work, self.port = pathlib.Path(work), free_port()
        data = self.work / "maria"
        user = subprocess.run(["id", "-un"], capture_output=True, text=True).stdout.strip()
        subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={data}", f"--user={user}", "--auth-root-authentication-method=normal",
                        "--skip-test-db"], check=True, capture_output=True)
        self.process = subprocess.Popen(
            ["/usr/sbin/mariadbd", "--no-defaults", f"--datadir={data}", f"--user={user}", f"--port={self.port}", "--bind-address=127.0.0.1",
             f"--socket={self.work}/maria.sock", f"--pid-file={self.work}/maria.pid", "--character-set-server=utf8mb4",
             "--collation-server=utf8mb4_nopad_bin", "--innodb-flush-log-at-trx-commit=0",
             "--sql-mode=STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION", "--group-concat-max-len=1048576",
             "--join-cache-level=8", "--max-statement-time=30"],
            stdout=open(self.work / "maria.log", "w"), stderr=subprocess.STDOUT)
        deadline = time.monotonic() + 60
        while True:
            try:
                self.db = pymysql.connect(host="127.0.0.1", port=self.port, user="root", autocommit=True, charset="utf8mb4")
                break
            except pymysql.err.OperationalError:
                assert self.process.poll() is None and time.monotonic() < deadline, (self.work / "maria.log").read_text()[-2000:]
                time.sleep(0.05)
        with self.db.cursor() as c:
            c.execute("CREATE DATABASE kafka COLLATE utf8mb4_nopad_bin")
            c.execute("USE kafka")
            c.execute("SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin")
            c.execute("SET time_zone = '+00:00'")

    def stop(self):
        self.db.close()
        self.process.terminate()
        self.process.wait(30)


@pytest.fixture
def maria(tmp_path):
    m = MariaDB(tmp_path)
    yield m
    m.stop()


def load(server, maria, name, partitions, rows):
    """The rows as JSON records of a topic with declared columns, and as a table."""
    columns = ", ".join(f"{n} {t}" for n, _, t in sqlgen.COLUMNS)
    admin = AdminClient({"bootstrap.servers": server.bootstrap})
    admin.create_topics([NewTopic(name, partitions, 1, config={"millrace.columns": columns})])[name].result()
    producer = Producer({"bootstrap.servers": server.bootstrap})
    with maria.db.cursor() as c:
        c.execute(f"CREATE TABLE {name} (_partition INT NOT NULL, _offset BIGINT NOT NULL, {columns}, PRIMARY KEY (_partition, _offset))")
        ends = [0] * partitions
        values = []
        for i, row in enumerate(rows):
            p = i % partitions
            members = {k: v for k, v in row.items() if v is not None or i % 2}
            text = json.dumps(members, default=number, ensure_ascii=i % 3 == 0)
            producer.produce(name, text.encode(), partition=p)
            if i % 500 == 499:
                producer.flush()
            values.append((p, ends[p], *(json.dumps(row[n]) if isinstance(row[n], dict) else row[n] for n, _, _ in sqlgen.COLUMNS)))
            ends[p] += 1
        producer.flush()
        c.executemany(f"INSERT INTO {name} VALUES ({', '.join(['%s'] * len(values[0]))})", values)


def number(d):
    """A decimal as JSON: a number where a double has all of its digits, else text."""
    return float(d) if decimal.Decimal(repr(float(d))) == d else format(d, "f")


def run(cursor, sql):
    """The rows, or the error's number."""
    try:
        cursor.execute(sql)
        return [tuple(cell(v) for v in row) for row in cursor.fetchall()], None
    except pymysql.err.Error as e:
        return None, e


def cell(v):
    if isinstance(v, bool):
        return int(v)
    if isinstance(v, decimal.Decimal):
        return v.normalize() + 0
    if isinstance(v, bytes):
        return v.decode("utf8", "replace")
    if hasattr(v, "isoformat"):
        return v.isoformat()
    return v


def close(a, b):
    if a is None or b is None:
        return a is b
    if isinstance(a, (int, decimal.Decimal)) and isinstance(b, (int, decimal.Decimal)):
        return a == b
    if isinstance(a, (int, float, decimal.Decimal)) and isinstance(b, (int, float, decimal.Decimal)):
        return math.isclose(float(a), float(b), rel_tol=1e-9, abs_tol=1e-12)
    return a == b


def order(row):
    return [(v is not None, "" if isinstance(v, str) or v is None else float(v), v if isinstance(v, str) else "") for v in row]


def same(a, b, ordered):
    if len(a) != len(b):
        return False
    if not ordered:
        a, b = sorted(a, key=order), sorted(b, key=order)
    return all(close(x, y) for u, v in zip(a, b) for x, y in zip(u, v))


class Difference(AssertionError):
    pass


def compare(sql, ordered, answers):
    """answers: name → (rows, error). Raises Difference."""
    names = list(answers)
    rows, err = answers[names[0]]
    for name in names[1:]:
        r, e = answers[name]
        if any(k in str(x) for k, _ in KNOWN for x in (err, e, sql)):
            continue
        if any(isinstance(x, pymysql.err.Error) and x.args[0] in (1969, 3024) for x in (err, e)):
            continue  # too slow by rows, or in MariaDB, on a machine that does other things
        if (err is None) != (e is None) or err is None and not same(rows, r, ordered):
            if err is None and e is None:
                a, b = (rows, r) if ordered else (sorted(rows, key=order), sorted(r, key=order))
                at = next((i for i, (u, v) in enumerate(zip(a, b)) if not all(map(close, u, v))), min(len(a), len(b)))
                raise Difference(f"{sql}\n{names[0]}: {len(a)} rows, from {at} {a[at:at + 3]}\n{name}: {len(b)} rows, from {at} {b[at:at + 3]}")
            raise Difference(f"{sql}\n{names[0]}: {err or rows[:3]}\n{name}: {e or r[:3]}")


def test_all_ways_to_answer_give_the_same_answer_to_some_queries(tmp_path, maria):
    # A seed that is known to be clean: the others are for the full run, and for make differential-long.
    all_ways(tmp_path, maria, 1, 450)


@pytest.mark.full
def test_all_ways_to_answer_give_the_same_answer(tmp_path, maria):
    all_ways(tmp_path, maria, SEED, QUERIES)


def all_ways(tmp_path, maria, seed, queries):
    r = random.Random(seed)
    server = Millrace(tmp_path / "data").start()
    differences, asked = [], 0
    try:
        names = ["t1", "t2"]
        for name, partitions, rows in (("t1", 3, 1500), ("t2", 1, 120)):
            load(server, maria, name, partitions, sqlgen.table(r, rows))
        generator = sqlgen.Queries(r, names)
        for stage in ("hot", "sealed", "restarted"):
            if stage == "sealed":
                server.sql("CALL millrace.seal('t1')", "CALL millrace.seal('t2')")
            if stage == "restarted":
                server.restart()
            on, off = server.connect(), server.connect()
            with on.cursor() as a, off.cursor() as b, maria.db.cursor() as m:
                b.execute("SET millrace_pushdown = 0")
                for x in (a, b):
                    x.execute("SET collation_connection = utf8mb4_0900_bin, group_concat_max_len = 1048576, max_execution_time = 120000")
                for _ in range(queries // 3):
                    sql, ordered = generator.query()
                    asked += 1
                    try:
                        compare(sql, ordered, {f"{stage}, pushdown": run(a, sql), f"{stage}, without": run(b, sql), "MariaDB": run(m, sql)})
                    except Difference as d:
                        differences.append(str(d))
                        if len(differences) >= int(os.environ.get("DIFFERENCES", "1")):
                            break
                    if asked % 10 == 0:
                        parts(a, generator, differences)
            on.close()
            off.close()
            if differences:
                break
    finally:
        server.stop()
    assert not differences, f"SEED={seed}, after {asked} queries:\n\n" + "\n\n".join(differences)


def parts(cursor, generator, differences):
    """Ternary logic partitioning, and the same count by a filter and by a sum (NoREC)."""
    t, p = generator.r.choice(generator.names), generator.condition("", 2)
    counts = []
    for sql in (f"SELECT COUNT(*) FROM {t}", f"SELECT COUNT(*) FROM {t} WHERE {p}", f"SELECT COUNT(*) FROM {t} WHERE NOT ({p})",
                f"SELECT COUNT(*) FROM {t} WHERE ({p}) IS NULL", f"SELECT SUM(CASE WHEN {p} THEN 1 ELSE 0 END) FROM {t}"):
        rows, err = run(cursor, sql)
        if err is not None:
            if "out of range" not in str(err):
                differences.append(f"{sql}: {err}")
            return
        counts.append(int(rows[0][0] or 0))
    if counts[1] + counts[2] + counts[3] != counts[0] or counts[4] != counts[1]:
        differences.append(f"{p} on {t}: all {counts[0]}, true {counts[1]}, false {counts[2]}, NULL {counts[3]}, by sum {counts[4]}")
