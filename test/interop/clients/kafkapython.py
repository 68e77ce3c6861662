from kafka import ConsumerRebalanceListener, KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic

from _kit import main, say, stopped


def create(bootstrap, topic, partitions):
    KafkaAdminClient(bootstrap_servers=bootstrap).create_topics([NewTopic(topic, partitions, 1)])


def produce(bootstrap, topic, records):
    p = KafkaProducer(bootstrap_servers=bootstrap)
    sent = [p.send(topic, key=key, value=value) for key, value in records]
    for f in sent:
        f.get(30)
    p.close()


class Say(ConsumerRebalanceListener):
    def on_partitions_assigned(self, assigned):
        say("ASSIGNED", ",".join(str(p.partition) for p in assigned))

    def on_partitions_revoked(self, revoked):
        pass


def consume(bootstrap, topic, group):
    c = KafkaConsumer(bootstrap_servers=bootstrap, group_id=group, auto_offset_reset="earliest")
    c.subscribe([topic], listener=Say())
    while not stopped():
        for records in c.poll(200).values():
            for r in records:
                say("RECORD", r.partition, r.offset, r.value.decode())
    c.close()


main(create, produce, consume)
