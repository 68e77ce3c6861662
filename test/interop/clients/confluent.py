from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from _kit import main, say, stopped


def create(bootstrap, topic, partitions):
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for f in admin.create_topics([NewTopic(topic, partitions)]).values():
        f.result(30)


def produce(bootstrap, topic, records):
    failed = []
    p = Producer({"bootstrap.servers": bootstrap})
    for key, value in records:
        p.produce(topic, key=key, value=value, on_delivery=lambda e, m: e and failed.append(e))
    assert p.flush(30) == 0 and not failed, failed


def consume(bootstrap, topic, group):
    c = Consumer({"bootstrap.servers": bootstrap, "group.id": group, "auto.offset.reset": "earliest"})
    c.subscribe([topic], on_assign=lambda _, ps: say("ASSIGNED", ",".join(str(p.partition) for p in ps)))
    while not stopped():
        m = c.poll(0.2)
        if m is not None and not m.error():
            say("RECORD", m.partition(), m.offset(), m.value().decode())
    c.close()


main(create, produce, consume)
