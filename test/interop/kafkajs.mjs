// What kafkajs's own specs check against a broker, in our own words: its package does not
// carry them. kafkajs.sh runs this with Node's test runner; names follow theirs: first the
// part of the client, then what is checked.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { test, after } from 'node:test'

const require = createRequire(`${process.env.KAFKAJS_HOME}/`)
const { Kafka, logLevel, CompressionTypes, ConfigResourceTypes, AclResourceTypes, AclOperationTypes, AclPermissionTypes, ResourcePatternTypes } = require('kafkajs')
const Broker = require('kafkajs/src/broker')
const socketFactory = require('kafkajs/src/network/socketFactory')
const ConnectionPool = require('kafkajs/src/network/connectionPool')
const { MemberAssignment, MemberMetadata } = require('kafkajs/src/consumer/assignerProtocol')
const { createLogger } = require('kafkajs/src/loggers')
const console_ = require('kafkajs/src/loggers/console')

const quiet = { logLevel: logLevel.NOTHING, retry: { retries: 3, initialRetryTime: 50 } }
const open = { brokers: [process.env.MILLRACE_KAFKA], ...quiet }
const users = (mechanism, password = 'kafkajs-secret') =>
  ({ brokers: [process.env.MILLRACE_KAFKA_USERS], sasl: { mechanism, username: 'kafkajs', password }, ...quiet })
const name = prefix => `${prefix}-${randomUUID().slice(0, 8)}`
const kafka = new Kafka(open)
const closers = []
after(async () => { for (const c of closers.reverse()) await c.disconnect() })
const connected = async c => { closers.push(c); await c.connect(); return c }
const admin = await connected(kafka.admin())
// Before the first test: Node's runner ends when all it knows of have run.
const broker = await (async () => {
  const [host, port] = process.env.MILLRACE_KAFKA.split(':')
  const logger = createLogger({ level: logLevel.NOTHING, logCreator: console_ })
  const b = new Broker({ connectionPool: new ConnectionPool({ socketFactory: socketFactory(), host, port: Number(port), clientId: 'specs', logger, connectionTimeout: 3000, requestTimeout: 20_000, maxInFlightRequests: 100 }), logger })
  await b.connect()
  closers.push(b)
  return b
})()
const topicOf = async (numPartitions = 1, configEntries = [], a = admin) => {
  const topic = name('t')
  assert.equal(await a.createTopics({ topics: [{ topic, numPartitions, configEntries }], waitForLeaders: true }), true)
  return topic
}
const until = async (ok, what, ms = 30_000) => {
  for (const end = Date.now() + ms; !(await ok());) {
    assert.ok(Date.now() < end, `in vain: ${what}`)
    await new Promise(r => setTimeout(r, 30))
  }
}
const produce = async (topic, messages, options = {}, config = {}) => {
  const p = kafka.producer({ allowAutoTopicCreation: false, ...config })
  await p.connect()
  const result = await p.send({ topic, messages, ...options })
  await p.disconnect()
  return result
}
const numbered = (n, partition = 0, from = 0) => Array.from({ length: n }, (_, i) => ({ key: `k${from + i}`, value: `v${from + i}`, partition }))
/** Reads n messages of the topic with a new consumer, or fails. */
const read = async (topic, n, config = {}, run = {}) => {
  const c = kafka.consumer({ groupId: name('g'), maxWaitTimeInMs: 100, ...config })
  const got = []
  await c.connect()
  await c.subscribe({ topic, fromBeginning: true })
  await c.run({ eachMessage: async m => { got.push(m) }, ...run })
  await until(() => got.length >= n, `${n} messages, got ${got.length}`)
  await c.disconnect()
  return got
}
const values = got => got.map(({ message }) => message.value.toString())
const fails = (promise, type) => assert.rejects(promise, e => {
  const inner = e.type ?? e.cause?.type ?? e.errors?.[0]?.type ?? e.originalError?.type
  assert.equal(inner, type, e.message)
  return true
})

// --- admin

test('admin: creates topics, and says false for those that exist', async () => {
  const topic = await topicOf(2)
  assert.equal(await admin.createTopics({ topics: [{ topic }] }), false)
  assert.ok((await admin.listTopics()).includes(topic))
})
test('admin: creates a topic with manual replica assignment', async () => {
  const topic = name('t')
  const { brokers } = await admin.describeCluster()
  const replicaAssignment = [0, 1].map(partition => ({ partition, replicas: [brokers[0].nodeId] }))
  await admin.createTopics({ topics: [{ topic, replicaAssignment }], waitForLeaders: true })
  assert.equal((await admin.fetchTopicMetadata({ topics: [topic] })).topics[0].partitions.length, 2)
})
test('admin: forwards errors of topics with their names', async () => {
  await assert.rejects(admin.createTopics({ topics: [{ topic: 'bad name' }] }), e => {
    assert.equal(e.errors[0].type, 'INVALID_TOPIC_EXCEPTION')
    assert.equal(e.errors[0].topic, 'bad name')
    return true
  })
})
test('admin: deletes topics', async () => {
  const topic = await topicOf()
  await admin.deleteTopics({ topics: [topic] })
  assert.ok(!(await admin.listTopics()).includes(topic))
  await fails(admin.deleteTopics({ topics: [topic] }), 'UNKNOWN_TOPIC_OR_PARTITION')
})
test('admin: creates partitions', async () => {
  const topic = await topicOf(1)
  await admin.createPartitions({ topicPartitions: [{ topic, count: 3 }] })
  assert.equal((await admin.fetchTopicMetadata({ topics: [topic] })).topics[0].partitions.length, 3)
})
test('admin: does not create partitions of no topic, fewer ones or on no broker', async () => {
  const topic = await topicOf(3)
  await fails(admin.createPartitions({ topicPartitions: [{ topic: name('none'), count: 3 }] }), 'UNKNOWN_TOPIC_OR_PARTITION')
  await fails(admin.createPartitions({ topicPartitions: [{ topic, count: 2 }] }), 'INVALID_PARTITIONS')
  await fails(admin.createPartitions({ topicPartitions: [{ topic, count: 4, assignments: [[99]] }] }), 'INVALID_REPLICA_ASSIGNMENT')
})
test('admin: describes all and selected configs', async () => {
  const topic = await topicOf(1, [{ name: 'cleanup.policy', value: 'compact' }])
  const describe = configNames => admin.describeConfigs({ resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configNames }] })
  const all = (await describe()).resources[0].configEntries
  assert.ok(all.length > 20)
  assert.equal(all.find(e => e.configName === 'cleanup.policy').configValue, 'compact')
  const some = (await describe(['retention.ms'])).resources[0].configEntries
  assert.deepEqual(some.map(e => [e.configName, e.configValue, e.isDefault]), [['retention.ms', '604800000', true]])
})
test('admin: describes broker configs', async () => {
  const { brokers } = await admin.describeCluster()
  const { resources } = await admin.describeConfigs({ resources: [{ type: ConfigResourceTypes.BROKER, name: `${brokers[0].nodeId}` }] })
  assert.ok(resources[0].configEntries.some(e => e.configName === 'log.dirs'))
})
test('admin: alters configs, and does not with validateOnly', async () => {
  const topic = await topicOf()
  const alter = (value, validateOnly) => admin.alterConfigs({ validateOnly, resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries: [{ name: 'cleanup.policy', value }] }] })
  const policy = async () => (await admin.describeConfigs({ resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configNames: ['cleanup.policy'] }] })).resources[0].configEntries[0].configValue
  await alter('compact', false)
  assert.equal(await policy(), 'compact')
  await alter('delete', true)
  assert.equal(await policy(), 'compact')
  await fails(alter('nonsense', false), 'INVALID_CONFIG')
})
test('admin: describes the cluster', async () => {
  const c = await admin.describeCluster()
  assert.equal(c.brokers.length, 1)
  assert.equal(c.controller, c.brokers[0].nodeId)
  assert.ok(c.clusterId)
})
test('admin: topic metadata creates a topic only where that is allowed', async () => {
  const strict = await connected(kafka.admin())
  await fails(strict.fetchTopicMetadata({ topics: [name('none')] }), 'UNKNOWN_TOPIC_OR_PARTITION').catch(e => assert.fail(e))
})
test('admin: fetches offsets of topics, and by time', async () => {
  const topic = await topicOf()
  await produce(topic, [1000, 3000, 2000].map(t => ({ value: 'x', timestamp: `${t}` })))
  assert.deepEqual((await admin.fetchTopicOffsets(topic)).map(({ partition, offset, high, low }) => [partition, offset, high, low]), [[0, '3', '3', '0']])
  assert.equal((await admin.fetchTopicOffsetsByTimestamp(topic, 1500))[0].offset, '1')
  assert.equal((await admin.fetchTopicOffsetsByTimestamp(topic, 9000))[0].offset, '3')
})
test('admin: sets, fetches and resets offsets of a group', async () => {
  const topic = await topicOf(2), groupId = name('g')
  await produce(topic, numbered(7))
  const offsets = async (...options) => Object.fromEntries((await admin.fetchOffsets({ groupId, topics: [topic], ...options[0] }))[0].partitions.map(p => [p.partition, p.offset]))
  assert.deepEqual(await offsets(), { 0: '-1', 1: '-1' })
  await admin.setOffsets({ groupId, topic, partitions: [{ partition: 0, offset: '3' }] })
  assert.deepEqual(await offsets(), { 0: '3', 1: '-1' })
  await admin.resetOffsets({ groupId, topic, earliest: true })
  assert.deepEqual(await offsets({ resolveOffsets: true }), { 0: '0', 1: '0' })
  await admin.resetOffsets({ groupId, topic })
  assert.deepEqual(await offsets({ resolveOffsets: true }), { 0: '7', 1: '0' })
  assert.equal((await admin.fetchOffsets({ groupId }))[0].topic, topic)
})
test('admin: does not set offsets of a group that runs', async () => {
  const topic = await topicOf(), groupId = name('g')
  const c = await connected(kafka.consumer({ groupId }))
  await c.subscribe({ topic })
  const joined = new Promise(r => c.on(c.events.GROUP_JOIN, r))
  await c.run({ eachMessage: async () => {} })
  await joined
  await assert.rejects(admin.setOffsets({ groupId, topic, partitions: [{ partition: 0, offset: '3' }] }), /must have no running instances/)
})
test('admin: deletes records up to an offset, and all with -1', async () => {
  const topic = await topicOf(2)
  await produce(topic, numbered(10))
  await admin.fetchTopicOffsets(topic) // the client does not look for leaders that it has not heard of
  await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '4' }] })
  assert.deepEqual(values(await read(topic, 6)), ['v4', 'v5', 'v6', 'v7', 'v8', 'v9'])
  await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '-1' }] })
  assert.equal((await admin.fetchTopicOffsets(topic))[0].low, '10')
  await assert.rejects(admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '99' }] }))
  await assert.rejects(admin.deleteTopicRecords({ topic, partitions: [{ partition: 9, offset: '1' }] }))
})
test('admin: lists, describes and deletes groups', async () => {
  const topic = await topicOf(), groupId = name('g')
  await produce(topic, numbered(1))
  const c = kafka.consumer({ groupId })
  await c.connect()
  await c.subscribe({ topic, fromBeginning: true })
  let seen = 0
  await c.run({ eachMessage: async () => { seen++ } })
  await until(() => seen, 'a message')
  assert.deepEqual((await admin.listGroups()).groups.filter(g => g.groupId === groupId), [{ groupId, protocolType: 'consumer' }])
  const { groups } = await admin.describeGroups([groupId, name('none')])
  assert.deepEqual(groups.map(g => [g.state, g.members.length]), [['Stable', 1], ['Dead', 0]])
  assert.deepEqual(MemberAssignment.decode(groups[0].members[0].memberAssignment).assignment, { [topic]: [0] })
  await fails(admin.deleteGroups([groupId]).catch(e => { throw e.groups[0].error }), 'NON_EMPTY_GROUP')
  await c.disconnect()
  assert.deepEqual((await admin.deleteGroups([groupId])).map(g => [g.groupId, g.errorCode]), [[groupId, 0]])
  await fails(admin.deleteGroups([groupId]).catch(e => { throw e.groups[0].error }), 'GROUP_ID_NOT_FOUND')
})
test('admin: reassigns partitions where they are, and not to no broker', async () => {
  const topic = await topicOf(1), { brokers } = await admin.describeCluster()
  const to = (t, id) => admin.alterPartitionReassignments({ topics: [{ topic: t, partitionAssignment: [{ partition: 0, replicas: [id] }] }] })
  await to(topic, brokers[0].nodeId)
  await fails(to(topic, 99), 'INVALID_REPLICA_ASSIGNMENT')
  await fails(to(name('none'), brokers[0].nodeId), 'UNKNOWN_TOPIC_OR_PARTITION')
  assert.deepEqual((await admin.listPartitionReassignments({ topics: [{ topic, partitions: [0] }] })).topics, [])
})
test('admin: creates, describes and deletes ACLs, which the client feels', async () => {
  const root = await connected(new Kafka(users('scram-sha-256')).admin())
  const topic = await topicOf(1, [], root)
  const acl = { resourceType: AclResourceTypes.TOPIC, resourceName: topic, resourcePatternType: ResourcePatternTypes.LITERAL, principal: 'User:other', host: '*', operation: AclOperationTypes.READ, permissionType: AclPermissionTypes.ALLOW }
  assert.equal(await root.createAcls({ acl: [acl] }), true)
  assert.equal((await root.describeAcls(acl)).resources[0].acls[0].principal, 'User:other')
  assert.equal((await root.deleteAcls({ filters: [acl] })).filterResponses[0].matchingAcls.length, 1)
  assert.deepEqual((await root.describeAcls(acl)).resources, [])
})
for (const mechanism of ['plain', 'scram-sha-256', 'scram-sha-512']) {
  test(`admin: connects with SASL ${mechanism}, and not with a wrong password`, async () => {
    const a = await connected(new Kafka(users(mechanism)).admin())
    assert.ok(await a.describeCluster())
    const bad = new Kafka({ ...users(mechanism, 'wrong'), retry: { retries: 0 } }).admin()
    await assert.rejects(bad.connect(), { name: 'KafkaJSSASLAuthenticationError' })
    await bad.disconnect()
  })
}

// --- producer

test('producer: answers with base offsets, partition by partition', async () => {
  const topic = await topicOf(2)
  assert.deepEqual((await produce(topic, [...numbered(2), ...numbered(1, 1)])).sort((a, b) => a.partition - b.partition).map(r => [r.partition, r.baseOffset, r.errorCode]), [[0, '0', 0], [1, '0', 0]])
  assert.equal((await produce(topic, numbered(1)))[0].baseOffset, '2')
})
for (const acks of [-1, 0, 1]) {
  test(`producer: sends with acks=${acks}`, async () => {
    const topic = await topicOf()
    await produce(topic, numbered(10), { acks })
    assert.equal((await read(topic, 10)).length, 10)
  })
}
test('producer: sends messages to several topics in a batch', async () => {
  const a = await topicOf(), b = await topicOf()
  const p = await connected(kafka.producer())
  await p.sendBatch({ topicMessages: [{ topic: a, messages: numbered(3) }, { topic: b, messages: numbered(2) }, { topic: a, messages: numbered(1, 0, 3) }] })
  assert.deepEqual(values(await read(a, 4)), ['v0', 'v1', 'v2', 'v3'])
  assert.equal((await read(b, 2)).length, 2)
})
test('producer: idempotent, concurrently', async () => {
  const topic = await topicOf()
  const p = await connected(kafka.producer({ idempotent: true, maxInFlightRequests: 1 }))
  await Promise.all(Array.from({ length: 20 }, (_, i) => p.send({ topic, acks: -1, messages: numbered(5, 0, 5 * i) })))
  assert.equal(new Set(values(await read(topic, 100))).size, 100)
})
test('producer: fails for an invalid topic name', async () => {
  await assert.rejects(produce('bad name', numbered(1), {}, { retry: { retries: 1 } }))
})
test('producer: two producers of one transactional id: the older is fenced', async () => {
  const topic = await topicOf(), transactionalId = name('x')
  const make = () => connected(kafka.producer({ transactionalId, idempotent: true, maxInFlightRequests: 1, retry: { retries: 1 } }))
  const old = await make()
  const t = await old.transaction()
  await t.send({ topic, messages: numbered(1) })
  const young = await (await make()).transaction()
  await young.send({ topic, messages: numbered(1, 0, 1) })
  await assert.rejects(t.commit())
  await young.commit()
  assert.deepEqual(values(await read(topic, 1)), ['v1'])
})

// --- consumer

for (const [label, compression] of [['none', CompressionTypes.None], ['GZIP', CompressionTypes.GZIP]]) {
  test(`consumer: consumes batches with ${label} compression, keys, headers and times`, async () => {
    const topic = await topicOf()
    const headers = { one: '1', two: ['a', 'b'] }
    await produce(topic, numbered(50).map((m, i) => ({ ...m, headers, timestamp: `${1000 + i}` })), { compression })
    const got = await read(topic, 50)
    got.forEach(({ message }, i) => {
      assert.deepEqual([message.key.toString(), message.value.toString(), message.offset, message.timestamp], [`k${i}`, `v${i}`, `${i}`, `${1000 + i}`])
      assert.equal(message.headers.one.toString(), '1')
      assert.deepEqual(message.headers.two.map(String), ['a', 'b'])
    })
  })
}
test('consumer: consumes what has no value', async () => {
  const topic = await topicOf()
  await produce(topic, [{ key: 'k', value: null }, { key: null, value: '' }])
  assert.deepEqual((await read(topic, 2)).map(({ message: m }) => [m.key?.toString() ?? null, m.value?.toString() ?? null]), [['k', null], [null, '']])
})
test('consumer: eachBatch, with resolved offsets committed', async () => {
  const topic = await topicOf(), groupId = name('g')
  await produce(topic, numbered(30))
  const c = kafka.consumer({ groupId, maxWaitTimeInMs: 100 })
  const seen = []
  await c.connect()
  await c.subscribe({ topic, fromBeginning: true })
  await c.run({ eachBatchAutoResolve: false, eachBatch: async ({ batch, resolveOffset, commitOffsetsIfNecessary, heartbeat }) => {
    for (const m of batch.messages.slice(0, 10)) { seen.push(m.offset); resolveOffset(m.offset) }
    await heartbeat()
    await commitOffsetsIfNecessary()
  } })
  await until(() => new Set(seen).size === 30, '30 messages in pieces of 10')
  await c.disconnect()
  assert.equal((await admin.fetchOffsets({ groupId, topics: [topic] }))[0].partitions[0].offset, '30')
})
test('consumer: commits offsets by hand, and resumes there', async () => {
  const topic = await topicOf(), groupId = name('g')
  await produce(topic, numbered(10))
  const c = await connected(kafka.consumer({ groupId, maxWaitTimeInMs: 100 }))
  await c.subscribe({ topic, fromBeginning: true })
  let n = 0
  await c.run({ autoCommit: false, eachMessage: async () => { n++ } })
  await until(() => n === 10, 'ten messages')
  await c.commitOffsets([{ topic, partition: 0, offset: '4', metadata: 'four' }])
  await c.stop()
  const { partitions } = (await admin.fetchOffsets({ groupId, topics: [topic] }))[0]
  assert.deepEqual([partitions[0].offset, partitions[0].metadata], ['4', 'four'])
  await c.disconnect()
  assert.equal(values(await read(topic, 6, { groupId }))[0], 'v4')
})
test('consumer: seeks', async () => {
  const topic = await topicOf()
  await produce(topic, numbered(10))
  const c = await connected(kafka.consumer({ groupId: name('g'), maxWaitTimeInMs: 100 }))
  await c.subscribe({ topic, fromBeginning: true })
  const got = []
  await c.run({ eachMessage: async m => { got.push(m) } })
  c.seek({ topic, partition: 0, offset: '8' })
  await until(() => got.length >= 2, 'two messages')
  assert.deepEqual(values(got).slice(0, 2), ['v8', 'v9'])
  c.seek({ topic, partition: 0, offset: '5000' }) // out of range: back to the beginning
  await until(() => values(got).includes('v0'), 'the beginning')
})
test('consumer: pauses and resumes', async () => {
  const topic = await topicOf(2)
  const c = await connected(kafka.consumer({ groupId: name('g'), maxWaitTimeInMs: 100 }))
  await c.subscribe({ topic, fromBeginning: true })
  const got = []
  const joined = new Promise(r => c.on(c.events.GROUP_JOIN, r))
  await c.run({ eachMessage: async m => { got.push(m) } })
  await joined
  c.pause([{ topic, partitions: [0] }])
  await produce(topic, [...numbered(1), ...numbered(1, 1)])
  await until(() => got.length === 1, 'the partition that runs')
  assert.equal(got[0].partition, 1)
  c.resume([{ topic, partitions: [0] }])
  await until(() => got.length === 2, 'the one that was paused')
})
test('consumer: subscribes by regular expression', async () => {
  const prefix = name('re'), topics = [`${prefix}-a`, `${prefix}-b`]
  await admin.createTopics({ topics: topics.map(topic => ({ topic })), waitForLeaders: true })
  for (const t of topics) await produce(t, numbered(1))
  const got = await read(new RegExp(`^${prefix}-.*`), 2)
  assert.deepEqual(got.map(m => m.topic).sort(), topics)
})
test('consumer: a second member takes half, and gives it back', async () => {
  const topic = await topicOf(4), groupId = name('g')
  const member = async () => {
    const c = kafka.consumer({ groupId, heartbeatInterval: 200, sessionTimeout: 6000, maxWaitTimeInMs: 100 })
    const m = { c, has: [] }
    c.on(c.events.GROUP_JOIN, e => { m.has = e.payload.memberAssignment[topic] ?? [] })
    await c.connect()
    await c.subscribe({ topic })
    await c.run({ eachMessage: async () => {} })
    return m
  }
  const a = await member()
  await until(() => a.has.length === 4, 'all for one')
  const b = await member()
  await until(() => a.has.length === 2 && b.has.length === 2, 'two each')
  assert.deepEqual([...a.has, ...b.has].sort(), [0, 1, 2, 3])
  await b.c.disconnect()
  await until(() => a.has.length === 4, 'all again')
  await a.c.disconnect()
})
test('consumer: describes its group, and knows new partitions after a while', async () => {
  const topic = await topicOf(1), groupId = name('g')
  const c = await connected(kafka.consumer({ groupId, metadataMaxAge: 500, maxWaitTimeInMs: 100, heartbeatInterval: 200 }))
  let has = []
  c.on(c.events.GROUP_JOIN, e => { has = e.payload.memberAssignment[topic] ?? [] })
  await c.subscribe({ topic })
  await c.run({ eachMessage: async () => {} })
  await until(() => has.length === 1, 'one partition')
  assert.equal((await c.describeGroup()).members.length, 1)
  await admin.createPartitions({ topicPartitions: [{ topic, count: 2 }] })
  await until(() => has.length === 2, 'two partitions')
})
test('consumer: more members than partitions: one has nothing', async () => {
  const topic = await topicOf(1), groupId = name('g')
  const joined = []
  for (let i = 0; i < 2; i++) {
    const c = await connected(kafka.consumer({ groupId, maxWaitTimeInMs: 100, heartbeatInterval: 200 }))
    c.on(c.events.GROUP_JOIN, e => { joined[i] = e.payload.memberAssignment[topic] ?? [] })
    await c.subscribe({ topic })
    await c.run({ eachMessage: async () => {} })
  }
  await until(() => joined.length === 2 && joined.flat().length === 1, 'one partition among two')
})
for (const readUncommitted of [false, true]) {
  test(`consumer: aborted messages are ${readUncommitted ? 'read' : 'not read'} with readUncommitted=${readUncommitted}`, async () => {
    const topic = await topicOf()
    const p = await connected(kafka.producer({ transactionalId: name('x'), idempotent: true, maxInFlightRequests: 1 }))
    for (const [value, end] of [['a1', 'abort'], ['c1', 'commit'], ['a2', 'abort'], ['c2', 'commit']]) {
      const t = await p.transaction()
      await t.send({ topic, messages: [{ value }] })
      await t[end]()
    }
    assert.deepEqual(values(await read(topic, readUncommitted ? 4 : 2, { readUncommitted })), readUncommitted ? ['a1', 'c1', 'a2', 'c2'] : ['c1', 'c2'])
  })
}
test('consumer: offsets sent in a transaction count only when it commits', async () => {
  const topic = await topicOf(), groupId = name('g')
  const p = await connected(kafka.producer({ transactionalId: name('x'), idempotent: true, maxInFlightRequests: 1 }))
  const offset = async () => (await admin.fetchOffsets({ groupId, topics: [topic] }))[0].partitions[0].offset
  for (const [at, end, want] of [['5', 'abort', '-1'], ['7', 'commit', '7']]) {
    const t = await p.transaction()
    await t.send({ topic, messages: numbered(1) })
    await t.sendOffsets({ consumerGroupId: groupId, topics: [{ topic, partitions: [{ partition: 0, offset: at }] }] })
    await t[end]()
    assert.equal(await offset(), want)
  }
})

// --- broker: single requests

const transaction = async () => {
  const transactionalId = name('x')
  const { producerId, producerEpoch } = await broker.initProducerId({ transactionalId, transactionTimeout: 30_000 })
  return { transactionalId, producerId, producerEpoch }
}

test('broker: apiVersions holds what the client looks for', async () => {
  const versions = await broker.apiVersions()
  for (const key of [0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 24, 25, 26, 28]) assert.ok(versions[key], `API ${key}`)
})
test('broker: metadata of one, all and no topics', async () => {
  const topic = await topicOf(2)
  const m = await broker.metadata([topic])
  assert.deepEqual(m.topicMetadata[0].partitionMetadata.map(p => [p.partitionErrorCode, p.partitionId, p.leader, p.replicas.length]).sort(), [[0, 0, m.controllerId, 1], [0, 1, m.controllerId, 1]])
  assert.ok((await broker.metadata([])).topicMetadata.length >= 1)
})
test('broker: joinGroup, syncGroup, heartbeat, offsetCommit, offsetFetch and leaveGroup', async () => {
  const topic = await topicOf(), groupId = name('g')
  const { coordinator } = await broker.findGroupCoordinator({ groupId })
  assert.equal(`${coordinator.host}:${coordinator.port}`, process.env.MILLRACE_KAFKA)
  const join = memberId => broker.joinGroup({ groupId, sessionTimeout: 10_000, rebalanceTimeout: 10_000, memberId,
    groupProtocols: [{ name: 'x', metadata: MemberMetadata.encode({ version: 1, topics: [topic] }) }] })
  const j = await join('').catch(e => join(e.memberId))
  assert.deepEqual([j.generationId, j.leaderId, j.members.length], [1, j.memberId, 1])
  const memberAssignment = MemberAssignment.encode({ version: 1, assignment: { [topic]: [0] } })
  const member = { groupId, memberId: j.memberId, generationId: 1, groupGenerationId: 1 }
  const s = await broker.syncGroup({ ...member, groupAssignment: [{ memberId: j.memberId, memberAssignment }] })
  assert.deepEqual(MemberAssignment.decode(s.memberAssignment).assignment, { [topic]: [0] })
  await broker.heartbeat(member)
  await fails(broker.heartbeat({ ...member, groupGenerationId: 2 }), 'ILLEGAL_GENERATION')
  await fails(broker.heartbeat({ ...member, memberId: 'stranger' }), 'UNKNOWN_MEMBER_ID')
  await broker.offsetCommit({ ...member, topics: [{ topic, partitions: [{ partition: 0, offset: '3', metadata: 'm' }] }] })
  const f = await broker.offsetFetch({ groupId, topics: [{ topic, partitions: [{ partition: 0 }] }] })
  assert.deepEqual([f.responses[0].partitions[0].offset, f.responses[0].partitions[0].metadata], ['3', 'm'])
  await broker.leaveGroup({ groupId, memberId: j.memberId })
  await fails(broker.heartbeat(member), 'UNKNOWN_MEMBER_ID')
})
test('broker: endTxn refuses wrong ids, epochs and states', async () => {
  const t = await transaction(), topic = await topicOf()
  const end = o => broker.endTxn({ ...t, transactionResult: true, ...o })
  await fails(end({}), 'INVALID_TXN_STATE')
  await broker.addPartitionsToTxn({ ...t, topics: [{ topic, partitions: [0] }] })
  await fails(end({ transactionalId: name('none') }), 'INVALID_PRODUCER_ID_MAPPING')
  await fails(end({ producerId: '1234567' }), 'INVALID_PRODUCER_ID_MAPPING')
  await fails(end({ producerEpoch: t.producerEpoch + 1 }), 'INVALID_PRODUCER_EPOCH').catch(async () => fails(end({ producerEpoch: t.producerEpoch + 1 }), 'PRODUCER_FENCED'))
  await end({})
  await end({}) // again, as after a lost answer
})
test('broker: addOffsetsToTxn and addPartitionsToTxn refuse wrong producers', async () => {
  const t = await transaction(), topic = await topicOf(), groupId = name('g')
  await fails(broker.addOffsetsToTxn({ ...t, producerId: '1234567', groupId }), 'INVALID_PRODUCER_ID_MAPPING')
  await fails(broker.addPartitionsToTxn({ ...t, producerId: '1234567', topics: [{ topic, partitions: [0] }] }), 'INVALID_PRODUCER_ID_MAPPING')
  await broker.addOffsetsToTxn({ ...t, groupId })
  await broker.txnOffsetCommit({ ...t, groupId, topics: [{ topic, partitions: [{ partition: 0, offset: '1' }] }] })
  await broker.endTxn({ ...t, transactionResult: true })
  assert.equal((await broker.offsetFetch({ groupId, topics: [{ topic, partitions: [{ partition: 0 }] }] })).responses[0].partitions[0].offset, '1')
})
test('broker: initProducerId with and without a transactional id', async () => {
  const plain = await broker.initProducerId({ transactionTimeout: 30_000 })
  assert.equal(plain.producerEpoch, 0)
  const t = await transaction(), again = await broker.initProducerId({ transactionalId: t.transactionalId, transactionTimeout: 30_000 })
  assert.deepEqual([again.producerId, again.producerEpoch], [t.producerId, t.producerEpoch + 1])
})
test('broker: listOffsets at the ends and by time', async () => {
  const topic = await topicOf()
  await produce(topic, [1000, 2000].map(t => ({ value: 'x', timestamp: `${t}` })))
  const at = async timestamp => (await broker.listOffsets({ replicaId: -1, isolationLevel: 0, topics: [{ topic, partitions: [{ partition: 0, timestamp }] }] })).responses[0].partitions[0].offset
  assert.deepEqual([await at(-2), await at(-1), await at(1500), await at(9000)], ['0', '2', '1', '-1'])
})
test('broker: deleteRecords refuses an offset beyond the end', async () => {
  const topic = await topicOf()
  await assert.rejects(broker.deleteRecords({ topics: [{ topic, partitions: [{ partition: 0, offset: '9' }] }] }))
})
