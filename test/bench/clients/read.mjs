// Reads all rows of a query, so many times: read.mjs PORT PUSHDOWN TIMES text|prepared|stream QUERY
import { createRequire } from 'module'
const mysql = createRequire(process.env.NODE_HOME + '/')('mysql2')
const [port, pushdown, times, how, query] = process.argv.slice(2)
const c = mysql.createConnection({ host: '127.0.0.1', port: Number(port), user: 'app', password: '', database: 'kafka', rowsAsArray: true })
const ask = (q, f) => new Promise((ok, no) => f.call(c, q, (e, r) => e ? no(e) : ok(r)))
if (pushdown !== '-') await ask(`SET millrace_pushdown=${pushdown}`, c.query)
let rows = 0
for (let i = 0; i < Number(times); i++) {
  if (how === 'stream') await new Promise((ok, no) => c.query(query).on('result', () => rows++).on('error', no).on('end', ok))
  else rows += (await ask(query, how === 'prepared' ? c.execute : c.query)).length
}
console.log(rows)
c.end()
