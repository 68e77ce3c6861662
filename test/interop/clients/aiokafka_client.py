import asyncio

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from _kit import main, say, stopped


def create(bootstrap, topic, partitions):
    async def run():
        admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
        await admin.start()
        await admin.create_topics([NewTopic(topic, partitions, 1)])
        await admin.close()

    asyncio.run(run())


def produce(bootstrap, topic, records):
    async def run():
        async with AIOKafkaProducer(bootstrap_servers=bootstrap) as p:
            await asyncio.gather(*[await p.send(topic, key=k, value=v) for k, v in records])

    asyncio.run(run())


class Say(ConsumerRebalanceListener):
    def on_partitions_assigned(self, assigned):
        say("ASSIGNED", ",".join(str(p.partition) for p in assigned))

    def on_partitions_revoked(self, revoked):
        pass


def consume(bootstrap, topic, group):
    async def run():
        c = AIOKafkaConsumer(bootstrap_servers=bootstrap, group_id=group, auto_offset_reset="earliest")
        c.subscribe([topic], listener=Say())
        await c.start()
        try:
            while not stopped():
                for records in (await c.getmany(timeout_ms=200)).values():
                    for r in records:
                        say("RECORD", r.partition, r.offset, r.value.decode())
        finally:
            await c.stop()

    asyncio.run(run())


main(create, produce, consume)
