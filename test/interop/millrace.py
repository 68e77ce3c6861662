"""A Millrace process of our own on free loopback ports, and its SQL side."""
import os
import pathlib
import signal
import socket
import subprocess
import time

import pymysql

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "interop"
BINARY = os.environ.get("MILLRACE", str(ROOT / "bin" / "millrace"))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Millrace:
    def __init__(self, data, *flags, ports=None):
        self.data, self.flags = pathlib.Path(data), list(flags)
        self.kafka_port, self.mysql_port, self.http_port = ports or (free_port(), free_port(), free_port())
        self.bootstrap = f"127.0.0.1:{self.kafka_port}"
        self.log = self.data.parent / (self.data.name + ".log")
        self.process = None

    def start(self, *prefix, wait=20):
        """prefix: a wrapper command such as strace."""
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                [*prefix, BINARY, "serve", "--data", str(self.data), "--kafka", self.bootstrap,
                 "--mysql", f"127.0.0.1:{self.mysql_port}", "--http", f"127.0.0.1:{self.http_port}", *self.flags],
                stdout=log, stderr=log)
        deadline = time.monotonic() + wait
        for port in (self.kafka_port, self.mysql_port):
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    if self.process.poll() is not None or time.monotonic() > deadline:
                        raise RuntimeError(f"millrace did not start: {self.tail()}")
                    time.sleep(0.02)
        return self

    def tail(self, n=3000):
        return self.log.read_text()[-n:]

    def stop(self, how=signal.SIGTERM, wait=30):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(wait)
        self.process = None

    def kill(self):
        self.stop(signal.SIGKILL)

    def restart(self):
        self.stop()
        return self.start()

    def connect(self, user="app", password="", **kw):
        return pymysql.connect(host="127.0.0.1", port=self.mysql_port, user=user, password=password,
                               database="kafka", autocommit=True, **kw)

    def sql(self, *statements):
        """Runs the statements in one session and returns the last one's rows."""
        with self.connect() as c, c.cursor() as cur:
            for s in statements:
                cur.execute(s)
            return list(cur.fetchall())

    def one(self, *statements):
        (row,) = self.sql(*statements)
        return row[0] if len(row) == 1 else row
