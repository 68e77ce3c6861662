"""What was acknowledged is visible, at once, on every wire."""
import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec


def ack(producer, topic, value):
    done = []
    producer.produce(topic, value=value, on_delivery=lambda e, m: done.append((e, m.offset())))
    while not done:
        producer.poll(1)
    assert done[0][0] is None
    return done[0][1]


def test_list_offsets_right_after_an_ack_is_exact(server):
    p = Producer({"bootstrap.servers": server.bootstrap, "linger.ms": 0})
    admin = AdminClient({"bootstrap.servers": server.bootstrap})
    tp = TopicPartition("ends", 0)
    for i in range(1000):
        offset = ack(p, "ends", "x")
        (f,) = admin.list_offsets({tp: OffsetSpec.latest()}).values()
        assert f.result(10).offset == offset + 1 == i + 1


@pytest.mark.parametrize("rounds", [2000, pytest.param(10_000, marks=pytest.mark.full)])
def test_a_select_after_the_ack_sees_the_record(server, rounds):
    """Every 100th record brings a new column or widens a type, selected by name at
    once; the last hundred rounds run just after a restart."""
    p = Producer({"bootstrap.servers": server.bootstrap, "linger.ms": 0})
    c = server.connect()
    for i in range(rounds):
        if i == rounds - 100:
            c.close()
            server.restart()
            c = server.connect()
        name, value = "n", str(i)
        if i % 200 == 100:
            name = f"c{i}"
        elif i % 200 == 0:
            name, value = "w", [str(i), f"{i}.5", f'"{i}"'][min(i // 200, 2)]
        offset = ack(p, "fresh", f'{{"{name}":{value}}}')
        with c.cursor() as cur:
            cur.execute(f"SELECT `{name}`, _offset FROM fresh WHERE _offset >= %s", (offset,))
            rows = cur.fetchall()
        assert len(rows) == 1 and str(rows[0][0]) == value.strip('"') and rows[0][1] == offset, (i, name, value, rows)
    assert server.one("SELECT COUNT(*) FROM fresh") == rounds
