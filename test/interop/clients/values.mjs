// values.mjs CLIENT PORT: clients/values.py for Node: mysql2 and mariadb, statements as text and prepared.
import readline from 'node:readline'
const [client, port] = process.argv.slice(2)
const [driver, kind] = client.split('-')
const options = { host: '127.0.0.1', port: Number(port), user: 'app', database: 'kafka', dateStrings: true }
let ask
let end
if (driver === 'mysql2') {
  const c = await (await import('mysql2/promise')).createConnection({ ...options, supportBigNumbers: true, charset: 'utf8mb4' })
  ask = kind === 'execute' ? (s, a) => c.execute({ sql: s, rowsAsArray: true }, a) : (s, a) => c.query({ sql: s, rowsAsArray: true }, a)
  end = () => c.end()
} else {
  const c = await (await import('mariadb')).createConnection({ ...options, rowsAsArray: true, metaAsArray: true, bigIntAsNumber: false, decimalAsNumber: false })
  ask = (s, a) => (kind === 'execute' ? c.execute(s, a) : c.query(s, a))
  end = () => c.end()
}
const fraction = s => (s.includes('.') ? s.replace(/\.?0+$/, '') : s)
const say = (v, type) => {
  if (v === null) return null
  if (Buffer.isBuffer(v)) return 'bin ' + v.toString('hex')
  switch (type) {
    case 'TINY': case 'SHORT': case 'INT24': case 'LONG': case 'INT': case 'LONGLONG': case 'BIGINT': case 'YEAR': return `int ${v}`
    case 'NEWDECIMAL': case 'DECIMAL': return `dec ${v}`
    case 'DOUBLE': case 'FLOAT': return `flt ${v}`
    case 'DATE': return `date ${v}`
    case 'TIME': return `time ${fraction(v)}`
    case 'DATETIME': case 'TIMESTAMP': return `at ${fraction(v)}`
    case 'JSON': return 'json ' + (typeof v === 'string' ? v : JSON.stringify(v))
  }
  return `txt ${v}`
}
const argument = word => {
  if (word === null) return null
  const kind = word.split(' ')[0]
  const text = word.slice(kind.length + 1)
  if (kind === 'int') return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text)
  if (kind === 'flt') return Number(text)
  if (kind === 'bin') return Buffer.from(text, 'hex')
  return text
}
const names = { 1: 'TINY', 2: 'SHORT', 3: 'LONG', 4: 'FLOAT', 5: 'DOUBLE', 7: 'TIMESTAMP', 8: 'LONGLONG', 9: 'INT24', 10: 'DATE', 11: 'TIME', 12: 'DATETIME', 13: 'YEAR', 245: 'JSON', 246: 'NEWDECIMAL' }
for await (const line of readline.createInterface({ input: process.stdin })) {
  const { sql, args } = JSON.parse(line)
  let said
  try {
    const [rows, fields] = await ask(sql, (args ?? []).map(argument))
    if (!Array.isArray(rows)) said = { affected: rows.affectedRows }
    else {
      const types = fields.map(f => names[f.columnType] ?? f.type)
      said = { columns: fields.map(f => (typeof f.name === 'function' ? f.name() : f.name)), rows: rows.map(r => r.map((v, i) => say(v, types[i]))) }
    }
  } catch (e) {
    if (!e.errno) throw e
    said = { error: [e.errno, e.sqlState] }
  }
  console.log(JSON.stringify(said))
}
await end()
