"""millrace sql as a shell for a server that is not ours (MariaDB), and with answers that are large."""
import csv
import io
import json
import os
import pathlib
import pty
import re
import select
import subprocess
import threading
import time

import pytest

from maria_server import MariaDB
from millrace import BINARY


@pytest.fixture(scope="module")
def maria(tmp_path_factory):
    m = MariaDB(tmp_path_factory.mktemp("maria"))
    yield m
    m.stop()


def run(port, *args, stdin=None, check=True):
    return subprocess.run([BINARY, "sql", "--mysql", f"127.0.0.1:{port}", "--user", "root", *args], input=stdin, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=check)


SCHEMA = """
CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(20), c BLOB, d BIT(3), e DATETIME(3), f DOUBLE, g DECIMAL(20,4));
INSERT INTO t VALUES (1,'東京',0xFF00,b'101','2026-01-02 03:04:05.678',1e20,12.5), (2,'te"x|t',0x6162,b'0',NULL,0.1,-0.0001);
DELIMITER //
CREATE PROCEDURE two() BEGIN SELECT 1 AS one; SELECT 2 AS two; END//
DELIMITER ;
"""


def test_scripts_and_formats_on_another_server(maria):
    run(maria.port, stdin="DROP DATABASE IF EXISTS shop;\nCREATE DATABASE shop CHARACTER SET utf8mb4;\nUSE shop;\n" + SCHEMA)
    ask = lambda sql, *args: run(maria.port, "--database", "shop", *args, sql).stdout
    assert list(csv.reader(io.StringIO(ask("SELECT * FROM t ORDER BY a", "-f", "csv")))) == [
        list("abcdefg"), ["1", "東京", "0xFF00", "0x05", "2026-01-02 03:04:05.678", "1e20", "12.5000"],
        ["2", 'te"x|t', "ab", "0x00", "", "0.1", "-0.0001"]]
    rows = json.loads(ask("SELECT a, b, e, f, g FROM t ORDER BY a", "-f", "json"))
    assert rows == [json.loads(line) for line in ask("SELECT a, b, e, f, g FROM t ORDER BY a", "-f", "ndjson").splitlines()]
    assert rows[0]["b"] == "東京" and rows[1]["g"] == -0.0001 and rows[1]["e"] is None
    assert r"te\"x\|t".replace("\\\"", "\"") in ask("SELECT b FROM t", "-f", "markdown")
    assert ask("CALL two()", "-f", "csv") == "one\n1\ntwo\n2\n"
    assert ask("PREPARE s FROM 'SELECT a FROM t WHERE a < ?'; SET @x = 2; EXECUTE s USING @x", "-f", "tsv") == "a\n1\n"
    assert ask("INSERT INTO t (a) VALUES (9) RETURNING a", "-f", "csv") == "a\n9\n"
    assert "SIMPLE" in ask("EXPLAIN SELECT * FROM t")
    assert '"query_block"' in ask("EXPLAIN FORMAT=JSON SELECT * FROM t")
    assert "0x05" in ask("SELECT d FROM t") and "0xFF00" in ask("SELECT c FROM t")
    said = run(maria.port, "--database", "shop", "-W", "SELECT CAST('5x' AS SIGNED)").stderr
    assert re.match(r"Warning 1292: .*'5x'", said)


def test_what_fails_is_said_with_its_line_and_ends_the_script(maria, tmp_path):
    done = run(maria.port, "--database", "mysql", stdin="SELECT 1 AS a;\n\nSELECT nope;\nSELECT 2 AS b;\n", check=False)
    assert done.returncode == 1 and "line 3: Error 1054 (42S22)" in done.stderr and "│ b" not in done.stdout
    done = run(maria.port, "--database", "mysql", "--force", "-f", "csv", stdin="SELECT nope;\nSELECT 2 AS b;\n", check=False)
    assert done.returncode == 1 and done.stdout == "b\n2\n" and "1 statement failed" in done.stderr
    file = tmp_path / "q.sql"
    file.write_text("SELECT 'from the file' AS a;\n")
    assert run(maria.port, "--database", "mysql", "-f", "csv", stdin=f"source {file}\n\\q\nSELECT 3;\n").stdout == "a\nfrom the file\n"


class Terminal:
    """A person before the shell."""

    def __init__(self, port, database, state):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", XDG_STATE_HOME=str(state), PAGER="", INPUTRC="/dev/null")
            os.execv(BINARY, [BINARY, "sql", "--mysql", f"127.0.0.1:{port}", "--user", "root", "--password", "", "--database", database])
        self.text = ""

    def expect(self, pattern, wait=30):
        deadline = time.monotonic() + wait
        while True:
            m = re.search(pattern, self.text)
            if m:
                self.text = self.text[m.end():]
                return m.group()
            assert time.monotonic() < deadline, f"no {pattern}:\n{self.text}"
            if select.select([self.fd], [], [], 0.1)[0]:
                self.text += re.sub(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\r\x0b]", "", os.read(self.fd, 65536).decode(errors="replace"))

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def close(self):
        self.type("\x04")
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


def test_the_shell_on_a_terminal_with_another_server(maria, tmp_path):
    run(maria.port, stdin="DROP DATABASE IF EXISTS bar;\nCREATE DATABASE bar CHARACTER SET utf8mb4;\nUSE bar;\n" + SCHEMA)
    os.environ.pop("MILLRACE_PASSWORD", None)
    tm = Terminal(maria.port, "bar", tmp_path)
    if re.search("Password", tm.expect(r"Password of root: |Connected to MySQL .*MariaDB.*\n.*bar> ")):
        tm.type("\r")
        tm.expect(r"Connected to MySQL .*MariaDB.*\n.*bar> ")
    tm.type("SELECT b\rFROM t WHERE a = 1;\r")
    tm.expect("│ 東京 │")
    tm.type("SELECT SLEEP(300);\r")
    deadline = time.monotonic() + 20
    while "SLEEP(300)" not in run(maria.port, "--database", "mysql", "-f", "csv", "SELECT info FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'").stdout:
        assert time.monotonic() < deadline
    tm.type("\x03")
    tm.expect("stopped")
    assert "SLEEP(300)" not in run(maria.port, "--database", "mysql", "-f", "csv", "SELECT info FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'").stdout
    tm.type("\\d t\r")
    tm.expect(r"│ g +│ decimal\(20,4\)")
    tm.type("SELECT a, f FROM t \\plot bar\r")
    tm.expect(r"█(.*\n)*\(\d rows.*\n.*bar> ")
    assert tm.close() == 0


def test_large_answers_are_streamed_in_little_memory(server):
    server.sql("CREATE TABLE n (i BIGINT)", "INSERT INTO n (i) VALUES " + ",".join(f"({i})" for i in range(1000)))
    for form in ("csv", "table", "json"):
        p = subprocess.Popen([BINARY, "sql", "--mysql", f"127.0.0.1:{server.mysql_port}", "-f", form, "SELECT a.i, b.i, REPEAT('x', 200) AS x FROM n a, n b"],
                             stdout=subprocess.PIPE)
        status, most = pathlib.Path(f"/proc/{p.pid}/status"), [0]

        def watch():
            while p.poll() is None:
                try:
                    most[0] = max(most[0], int(re.search(r"VmHWM:\s+(\d+)", status.read_text()).group(1)))
                except (OSError, AttributeError):
                    return
                time.sleep(0.05)

        t = threading.Thread(target=watch)
        t.start()
        size = 0
        while chunk := p.stdout.read(1 << 20):
            size += len(chunk)
        assert p.wait() == 0
        t.join()
        assert size > 150 << 20 and most[0] < 150 << 10, f"{form}: {size >> 20} MiB printed with {most[0] >> 10} MiB"
