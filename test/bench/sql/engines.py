"""Millrace and its peers: each loads the events, answers a question, and starts afresh."""
import json
import os
import socket
import subprocess
import sys
import time

import pymysql

NDJSON_COLUMNS = {
    "clicks": """ts BIGINT, event_id {s}, session_id {s}, user_id BIGINT, event_type {s}, page {s}, referrer {s}, country {s},
        device {s}, browser {s}, os {s}, duration_ms BIGINT, amount DOUBLE, quantity BIGINT, status BIGINT, bytes BIGINT,
        is_bot {b}, campaign {s}""",
    "campaigns": "campaign {s}, channel {s}, cost DOUBLE",
}
SPARK_SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spark_source.py")
BLUESKY_FIELDS = ["rev", "operation", "collection", "rkey", "cid"]


class Engine:
    """What all have in common. path is the directory of the data of those that keep them, whose start() follows a stop()."""
    name, dialect, path = "", "", None

    def answers(self, question):
        return True

    def load(self, gen, events, posts):
        """Loads the events, for those that keep them."""


class Millrace(Engine):
    name, dialect = "millrace", "mysql"

    def __init__(self, binary, work, threads):
        self.binary, self.work, self.threads = binary, work, threads
        self.path = os.path.join(work, "millrace")
        self.kafka, self.mysql = free_port(), free_port()
        self.start()

    def start(self):
        self.log = open(os.path.join(self.work, "millrace.log"), "a")
        self.process = subprocess.Popen(
            [self.binary, "serve", "--data", self.path, "--kafka", f"127.0.0.1:{self.kafka}",
             "--mysql", f"127.0.0.1:{self.mysql}", "--http", f"127.0.0.1:{free_port()}",
             "--columns-cold", "0"],  # else files that are an hour old are compressed while they are measured
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
        for topic in ("clicks", "campaigns", "bluesky"):
            self.run(f"CALL millrace.seal('{topic}')")

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


class DuckDB(Engine):
    name = dialect = "duckdb"

    def __init__(self, work, threads):
        self.work, self.path, self.threads = work, os.path.join(work, "duck"), threads
        os.makedirs(self.path, exist_ok=True)
        self.start()

    def start(self):
        import duckdb
        self.db = duckdb.connect(os.path.join(self.path, "duck.db"))
        self.db.execute(f"SET threads = {self.threads}")

    def load(self, gen, events, posts):
        for table, columns in NDJSON_COLUMNS.items():
            cols = columns.format(s="VARCHAR", b="BOOLEAN")
            names = {c.split()[0]: c.split()[1] for c in cols.split(",")}
            self.db.execute(f"CREATE TABLE {table} ({cols})")
            self.db.execute(f"INSERT INTO {table} SELECT {', '.join(names)} FROM read_json(?, format='newline_delimited', columns={names})",
                            [os.path.join(self.work, table + ".ndjson")])
        inner = ", ".join(f'{f} VARCHAR' for f in BLUESKY_FIELDS)
        fields = ", ".join(f'c."commit".{f} AS "commit.{f}"' for f in BLUESKY_FIELDS)
        self.db.execute(f"""CREATE TABLE bluesky AS SELECT did, time_us, kind, {fields} FROM read_json(?, format='newline_delimited',
            columns={{'did': 'VARCHAR', 'time_us': 'BIGINT', 'kind': 'VARCHAR', 'commit': 'STRUCT({inner})'}}) c""",
                        [os.path.join(self.work, "bluesky.ndjson")])
        self.db.execute("CHECKPOINT")

    def run(self, sql):
        return self.db.execute(sql).fetchall()

    def stop(self):
        self.db.close()


class DuckDBJSON(Engine):
    """DuckDB's read_json on the file itself: what people do who load nothing."""
    name, dialect = "duckdb-json", "duckdb"

    def __init__(self, work, threads):
        import duckdb
        self.db = duckdb.connect()
        self.db.execute(f"SET threads = {threads}")
        for table, columns in NDJSON_COLUMNS.items():
            names = {c.split()[0]: c.split()[1] for c in columns.format(s="VARCHAR", b="BOOLEAN").split(",")}
            path = os.path.join(work, table + ".ndjson")
            self.db.execute(f"CREATE VIEW {table} AS SELECT * FROM read_json('{path}', format='newline_delimited', columns={names})")

    def answers(self, question):
        return question.startswith("Q")

    def run(self, sql):
        return self.db.execute(sql).fetchall()

    def stop(self):
        self.db.close()


class ClickHouse(Engine):
    name = dialect = "clickhouse"

    def __init__(self, work, threads):
        self.work, self.path, self.threads = work, os.path.join(work, "chdb"), threads
        self.start()

    def start(self):
        from chdb import session
        self.db = session.Session(self.path)
        self.db.query("CREATE DATABASE IF NOT EXISTS b")
        self.db.query("USE b")
        self.db.query(f"SET max_threads = {self.threads}")

    def load(self, gen, events, posts):
        for table, columns in NDJSON_COLUMNS.items():
            cols = columns.format(s="String", b="Bool").replace("BIGINT", "Int64").replace("DOUBLE", "Float64")
            cols = cols.replace("campaign String", "campaign Nullable(String)")
            order = "ts" if table == "clicks" else "tuple()"
            self.db.query(f"CREATE TABLE b.{table} ({cols}) ENGINE = MergeTree ORDER BY {order}")
            path = os.path.join(self.work, table + ".ndjson")
            self.db.query(f"INSERT INTO b.{table} SELECT * FROM file('{path}', JSONEachRow, '{cols}')")
        fields = ", ".join(f"`commit.{f}` String" for f in BLUESKY_FIELDS)
        inner = ", ".join(f"{f} String" for f in BLUESKY_FIELDS)
        take = ", ".join(f"c.{f}" for f in BLUESKY_FIELDS)
        self.db.query(f"CREATE TABLE b.bluesky (did String, time_us Int64, kind String, {fields}) ENGINE = MergeTree ORDER BY tuple()")
        path = os.path.join(self.work, "bluesky.ndjson")
        self.db.query(f"""INSERT INTO b.bluesky SELECT did, time_us, kind, {take} FROM (SELECT did, time_us, kind, `commit` AS c
            FROM file('{path}', JSONEachRow, 'did String, time_us Int64, kind String, commit Tuple({inner})'))""")

    def run(self, sql):
        text = self.db.query(sql, "JSONCompact")
        return [tuple(r) for r in json.loads(str(text))["data"]]

    def stop(self):
        self.db.close()


class Stock(Engine):
    """go-mysql-server as it comes, with the events in its tables in memory."""
    name, dialect = "stock", "mysql"

    def __init__(self, binary, work):
        port = free_port()
        self.process = subprocess.Popen([binary, f"127.0.0.1:{port}"], stdin=subprocess.PIPE, text=True)
        for table, columns in NDJSON_COLUMNS.items():
            names = [c.split() for c in columns.format(s="TEXT", b="BOOLEAN").split(",")]
            self.fill(table, names, os.path.join(work, table + ".ndjson"), lambda row: [row.get(n) for n, _ in names])
        names = [["did", "TEXT"], ["time_us", "BIGINT"], ["kind", "TEXT"]] + [["commit." + f, "TEXT"] for f in BLUESKY_FIELDS]
        self.fill("bluesky", names, os.path.join(work, "bluesky.ndjson"),
                  lambda row: [row["did"], row["time_us"], row["kind"]] + [row.get("commit", {}).get(f) for f in BLUESKY_FIELDS])
        self.process.stdin.close()
        while True:
            try:
                self.db = pymysql.connect(host="127.0.0.1", port=port, user="root", database="kafka", autocommit=True)
                return
            except pymysql.err.OperationalError:
                if self.process.poll() is not None:
                    raise SystemExit("the stock engine does not start")
                time.sleep(0.1)

    def fill(self, table, columns, path, values):
        out = self.process.stdin
        print(json.dumps({"table": table, "columns": columns}), file=out)
        with open(path) as lines:
            for line in lines:
                print(json.dumps(values(json.loads(line))), file=out)

    def run(self, sql):
        with self.db.cursor() as c:
            c.execute(sql)
            return c.fetchall()

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Spark(Engine):
    """Spark's Kafka source on the same topic, read from Millrace."""
    name, dialect = "spark", "mysql"

    def __init__(self, home, jars, work, kafka, threads):
        env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1",
               "PYSPARK_SUBMIT_ARGS": f"--driver-memory 4g --driver-class-path {jars}/* pyspark-shell"}
        for name in ("SPARK_HOME", "PYTHONPATH"):
            env.pop(name, None)
        self.log = open(os.path.join(work, "spark.log"), "w")
        columns = NDJSON_COLUMNS["clicks"].format(s="STRING", b="BOOLEAN")
        self.process = subprocess.Popen([os.path.join(home, "bin/python"), SPARK_SOURCE, f"127.0.0.1:{kafka}", os.path.join(work, "spark"), str(threads), columns],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, env=env, text=True)

    def answers(self, question):
        return question.split()[0] in ("Q3", "Q4", "Q6")

    def run(self, sql):
        print(json.dumps(sql), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit("Spark ended: see " + self.log.name)
        return [tuple(r) for r in json.loads(answer)]

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
        self.log.close()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
