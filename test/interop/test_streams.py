"""Kafka Streams 4.1, unchanged: word count, a windowed stream-table join, tables."""
import collections
import contextlib
import signal
import subprocess
import time

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from millrace import CACHE, Millrace
from test_transactions import consume

INPUTS = ("lines", "users", "countries", "clicks", "ages", "sizes")
OUTPUTS = ("counts-out", "clicks-out", "ages-out", "sizes-out")


class Streams:
    def __init__(self, server, tmp_path, guarantee):
        self.args = ["java", "-Xmx400m", "-cp", f"{CACHE}/classes:{CACHE}/jars/*", "StreamsProgram",
                     server.bootstrap, "app", guarantee, str(tmp_path / "state")]
        self.log = open(tmp_path / "streams.log", "a")
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.args, stdout=self.log, stderr=self.log)

    def kill(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        self.process.wait(30)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.kill()


@pytest.fixture
def streams():
    """Makes applications; those still running at the end are killed."""
    made = []

    def make(*args):
        made.append(Streams(*args))
        return made[-1]

    yield make
    for app in made:
        app.stop()


def until(what, seconds=90):
    end = time.monotonic() + seconds
    while True:
        try:
            return what()
        except AssertionError:
            if time.monotonic() > end:
                raise
            time.sleep(0.3)


def last_by_key(server, topic):
    """The newest value of each key, by SQL; deleted keys as None."""
    rows = server.sql(f"SELECT _key, _value FROM `{topic}` ORDER BY _partition, _offset")
    return dict(rows)


@pytest.mark.full
@pytest.mark.parametrize("guarantee", ["exactly_once_v2", "at_least_once"])
def test_streams_counts_joins_and_survives_a_kill(server, tmp_path, streams, guarantee):
    admin = AdminClient({"bootstrap.servers": server.bootstrap})
    for f in admin.create_topics([NewTopic(t, 2) for t in INPUTS + OUTPUTS]).values():
        f.result(10)
    p = Producer({"bootstrap.servers": server.bootstrap})
    for user, country in (("ann", "nl"), ("bob", "de")):
        p.produce("users", country, user)
    for country, name in (("nl", "Netherlands"), ("de", "Germany")):
        p.produce("countries", name, country)
    for age in ("3", "2"):
        p.produce("ages", age, "tommy")
    for i in range(10):
        p.produce("sizes", "100", str(i))
    p.flush(10)

    want = collections.Counter()
    lines = 0

    def write(n):
        nonlocal lines
        for i in range(n):
            text = f"alpha beta w{lines % 7}"
            want.update(text.split())
            p.produce("lines", text, str(lines))
            lines += 1
        p.flush(10)

    app = streams(server, tmp_path, guarantee)
    app.start()
    write(300)

    def counted():
        got = {k: int(v) for k, v in last_by_key(server, "counts-out").items()}
        if guarantee == "exactly_once_v2":
            assert got == want
        else:
            assert got.keys() == want.keys() and all(got[k] >= n for k, n in want.items())

    until(counted)
    assert until(lambda: last_by_key(server, "ages-out")) == {"tommy": "2"}
    assert server.sql("SELECT _key, _value FROM `ages$latest`") == [("tommy", "2")]
    # The application dies in the middle; then the server does.
    for victim in ("app", "server"):
        write(200)
        if victim == "app":
            app.kill()
        else:
            server.kill()
            server.start()
        write(200)
        if victim == "app":
            app.start()
        until(counted)
    if guarantee == "exactly_once_v2":
        # Each step of each count came out once: an update a word, none twice.
        updates = server.sql("SELECT _key, COUNT(*), COUNT(DISTINCT _value), MAX(CAST(_value AS SIGNED)) FROM `counts-out` GROUP BY _key")
        assert {k: (n, d, m) for k, n, d, m in updates} == {w: (n, n, n) for w, n in want.items()}
        assert len(consume(server, "counts-out", "read_committed")) == sum(want.values())

    for _ in range(50):
        p.produce("clicks", "/", "ann")
        p.produce("clicks", "/", "bob")
    p.flush(10)

    def joined():
        rows = last_by_key(server, "clicks-out")
        by_name = collections.Counter()
        for key, n in rows.items():
            by_name[key.split("@")[0]] += int(n)
        assert by_name == {"Netherlands": 50, "Germany": 50}

    until(joined)
    p.produce("ages", None, "tommy")
    p.flush(10)
    until(lambda: check(last_by_key(server, "ages-out") == {"tommy": "gone"}))
    assert server.sql("SELECT _key, _value FROM `ages$latest`") == []

    # Repartition topics are purged as they are consumed.
    def purged():
        topics = [t for t in admin.list_topics(timeout=10).topics if t.endswith("-repartition")]
        assert topics
        for t in topics:
            parts = [TopicPartition(t, i) for i in range(len(admin.list_topics(t, timeout=10).topics[t].partitions))]
            first = admin.list_offsets({tp: OffsetSpec.earliest() for tp in parts})
            assert any(f.result(10).offset > 0 for f in first.values()), t

    until(purged)
    app.kill(signal.SIGTERM)


def disk(server, part=""):
    """Bytes on disk under a part of the data directory; what goes while this looks does not count."""
    total = 0
    for f in (server.data / part).rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            total += f.stat().st_blocks * 512
    return total


@pytest.mark.full
@pytest.mark.parametrize("guarantee", ["exactly_once_v2", "at_least_once"])
def test_what_a_repartition_topic_held_leaves_the_disk(tmp_path, streams, guarantee):
    blob, count = 20_000, 10_000
    # By default a range of 256 MiB is sealed at a time, which takes longer.
    server = Millrace(tmp_path / "data", "--seal-bytes=4MiB").start()
    app = streams(server, tmp_path, guarantee)
    try:
        admin = AdminClient({"bootstrap.servers": server.bootstrap})
        for f in admin.create_topics([NewTopic(t, 2) for t in INPUTS + OUTPUTS]).values():
            f.result(10)
        app.start()
        p = Producer({"bootstrap.servers": server.bootstrap})
        for i in range(count):
            p.produce("sizes", str(blob), str(i))
        p.flush(10)
        highest = 0

        def done():
            nonlocal highest
            highest = max(highest, disk(server))
            assert server.one("SELECT COUNT(*), MIN(_value), MAX(_value) FROM `sizes-out`") == (count, str(blob), str(blob))

        until(done)

        def purged():
            for part in range(2):
                tp = TopicPartition("app-blobs-repartition", part)
                assert admin.list_offsets({tp: OffsetSpec.earliest()})[tp].result(10).offset >= count // 2 - count // 10
            assert disk(server, "segments") < blob * count / 20

        until(purged)
        print(f"{blob * count >> 20} MiB went through; on disk at most {highest >> 20}, then {disk(server) >> 20} MiB, "
              f"{disk(server, 'segments') >> 20} of it segments, the rest log files for reuse")
    finally:
        app.stop()
        server.stop()


def check(ok):
    assert ok
