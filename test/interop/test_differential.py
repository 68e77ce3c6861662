"""The same questions to Apache Kafka and to us, in every version: what differs is in differences.txt, with the reason."""
import collections
import json
import os
import pathlib
import re
import signal
import socket
import subprocess

import pytest

from millrace import CACHE, free_port
from test_streams import check, until

HERE = pathlib.Path(__file__).resolve().parent


@pytest.fixture
def kafka(tmp_path):
    port, controller = free_port(), free_port()
    conf = tmp_path / "server.properties"
    conf.write_text("\n".join([
        "process.roles=broker,controller", "node.id=1", f"controller.quorum.voters=1@127.0.0.1:{controller}",
        f"listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}", f"advertised.listeners=PLAINTEXT://127.0.0.1:{port}",
        "controller.listener.names=CONTROLLER", f"log.dirs={tmp_path}/kafka", "offsets.topic.replication.factor=1",
        "transaction.state.log.replication.factor=1", "transaction.state.log.min.isr=1", "auto.create.topics.enable=true",
        "share.coordinator.state.topic.replication.factor=1", "share.coordinator.state.topic.min.isr=1", "group.initial.rebalance.delay.ms=0",
        "offsets.topic.num.partitions=4", "transaction.state.log.num.partitions=4", "share.coordinator.state.topic.num.partitions=2",
        "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer", "super.users=User:ANONYMOUS", "allow.everyone.if.no.acl.found=true"]))
    java = ["java", "-Xmx512m", "-cp", f"{CACHE}/jars/*"]
    subprocess.run([*java, "kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", str(conf), "--feature", "share.version=1"], check=True, capture_output=True)
    log = open(tmp_path / "kafka.log", "w")
    p = subprocess.Popen([*java, "kafka.Kafka", str(conf)], stdout=log, stderr=log)
    yield f"127.0.0.1:{port}"
    p.send_signal(signal.SIGKILL)
    p.wait(10)


def ask(address):
    answers, ranges = {}, {}
    out = subprocess.run([str(CACHE / "go/probe"), address], check=True, stdout=subprocess.PIPE, text=True, timeout=400).stdout
    for line in out.splitlines():
        key, name, version, rest = line.split(" ", 3)
        if version == "range":
            ranges[int(key)] = (name, rest)
            continue
        question, answer = rest.split(" ", 1)
        answers[(int(key), name, int(version[1:]), question)] = "hangs up" if answer == "hangs up" else json.loads(answer)
    return answers, ranges


def differences(path, a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        for k in sorted(a.keys() | b.keys()):
            yield from differences(f"{path}.{k}", a.get(k), b.get(k))
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for x, y in zip(a, b):
            yield from differences(path, x, y)
    elif a != b:
        yield path.lstrip("."), json.dumps(a), json.dumps(b)


@pytest.mark.full
def test_answers_are_kafkas(server, kafka):
    def up():
        try:
            socket.create_connection(kafka.split(":"), 1).close()
        except OSError:
            check(False)

    until(up)
    theirs, their_ranges = ask(kafka)
    ours, our_ranges = ask(server.bootstrap)
    found = collections.defaultdict(list)
    for key, (name, versions) in sorted(our_ranges.items()):
        if key in their_ranges and their_ranges[key][1] != versions:
            found[f"{key} {name} versions: Kafka {their_ranges[key][1]}, here {versions}"].append(0)
    asked = 0
    for (key, name, version, question), answer in sorted(ours.items()):
        if (key, name, version, question) not in theirs:
            continue
        asked += 1
        for path, a, b in differences("", theirs[(key, name, version, question)], answer):
            found[f"{key} {name} {question} {path}: Kafka {a}, here {b}"].append(version)
    lines = {text: sorted(set(versions)) for text, versions in found.items()}
    known = [line.split("#")[0].strip() for line in (HERE / "differences.txt").read_text().splitlines()]
    known = re.compile("|".join(re.escape(k).replace("<any>", ".*") for k in known if k))
    new = {t: v for t, v in lines.items() if not known.fullmatch(t)}
    print(f"{asked} answers compared, {len(lines)} kinds of differences")
    if os.environ.get("SHOW_DIFFERENCES"):
        for text, versions in lines.items():
            print(text, versions)
    assert not new, "\n".join(f"{t}   # versions {v}" for t, v in new.items())
    assert asked > 1500
