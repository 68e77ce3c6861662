"""Clients of old: what they send by default is stored and read whole, and older formats fail at once (cases.md C59)."""
import os
import subprocess
import textwrap

import pytest

from millrace import CACHE

SARAMA = str(CACHE / "go/sarama")


def sarama(*args, wait=30, **env):
    return subprocess.run([SARAMA, *args], env={**os.environ, **env}, capture_output=True, text=True, timeout=wait)


@pytest.mark.parametrize("codec", ["gzip", "snappy"])
def test_sarama_with_its_default_version(server, codec):
    out = sarama("produce", server.bootstrap, codec, "0", "100", COMPRESSION=codec)
    assert out.returncode == 0, out.stderr
    p = subprocess.Popen([SARAMA, "consume", server.bootstrap, codec, "g-" + codec], stdout=subprocess.PIPE, text=True)
    records = []
    for line in p.stdout:
        if line.startswith("RECORD"):
            records.append(line.split(" ", 3)[3].strip())
        if len(records) == 100:
            break
    p.terminate()
    p.wait(10)
    assert records == [f'{{"n":{i}}}' for i in range(100)]


@pytest.mark.parametrize("version", ["0.8.2.0", "0.10.2.0"])
def test_formats_before_record_batches_fail_at_once_and_store_nothing(server, version):
    out = sarama("produce", server.bootstrap, "old", "0", "100", KAFKA_VERSION=version, COMPRESSION="gzip")
    assert out.returncode != 0 and "CRC" not in out.stderr and "checksum" not in out.stderr, out.stderr
    assert server.one("SELECT COUNT(*) FROM `old$raw`") == 0


@pytest.mark.parametrize("codec", ["gzip", "snappy"])
def test_kafka_python_202(server, codec):
    program = textwrap.dedent("""
        import sys
        from kafka import KafkaConsumer, KafkaProducer
        bootstrap, codec = sys.argv[1:]
        p = KafkaProducer(bootstrap_servers=bootstrap, compression_type=codec)
        sent = [p.send("t", b"v%d" % i) for i in range(100)]
        p.flush(20)
        for s in sent:
            s.get(10)
        c = KafkaConsumer("t", bootstrap_servers=bootstrap, auto_offset_reset="earliest", consumer_timeout_ms=10000)
        got = [next(c).value for _ in range(100)]
        assert got == [b"v%d" % i for i in range(100)], got
        """)
    subprocess.run([str(CACHE / "py-old/bin/python"), "-c", program, server.bootstrap, codec], check=True, timeout=60)
