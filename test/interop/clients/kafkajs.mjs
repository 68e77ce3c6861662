// The commands of _kit.py with kafkajs.
import kafkajs from 'kafkajs'
const { Kafka, logLevel } = kafkajs

const [command, bootstrap, topic, ...rest] = process.argv.slice(2)
const kafka = new Kafka({ brokers: [bootstrap], logLevel: logLevel.ERROR })

if (command === 'create') {
  const admin = kafka.admin()
  await admin.connect()
  await admin.createTopics({ topics: [{ topic, numPartitions: Number(rest[0]) }] })
  await admin.disconnect()
} else if (command === 'produce') {
  const [first, count] = rest.map(Number)
  const producer = kafka.producer()
  await producer.connect()
  const messages = Array.from({ length: count }, (_, i) => ({ key: `k${(first + i) % 10}`, value: `{"n":${first + i}}` }))
  await producer.send({ topic, messages })
  await producer.disconnect()
} else if (command === 'consume') {
  const consumer = kafka.consumer({ groupId: rest[0] })
  consumer.on(consumer.events.GROUP_JOIN, e => console.log('ASSIGNED', (e.payload.memberAssignment[topic] ?? []).join(',')))
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ partition, message }) => console.log('RECORD', partition, message.offset, message.value.toString()),
  })
  process.on('SIGTERM', async () => { await consumer.disconnect(); process.exit(0) })
}
