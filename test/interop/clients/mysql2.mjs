// mysql2 against topics jt (n, s) and ju (n, label); prints one line per check.
import mysql from 'mysql2/promise'
const [host, port, user, password, tls] = process.argv.slice(2)
const c = await mysql.createConnection({
  host, port: Number(port), user, password, database: 'kafka',
  ...(tls ? { ssl: { rejectUnauthorized: false } } : {}),
})
const q = async (sql, args) => (await (args ? c.execute(sql, args) : c.query(sql)))[0]
const rows = r => r.map(x => Object.values(x).join('|')).join(' ')
console.log('tables', rows(await q('SHOW TABLES')).includes('jt'))
console.log('describe', (await q('DESCRIBE jt')).map(r => r.Field).join(','))
console.log('group', rows(await q('SELECT s, COUNT(*), SUM(n) FROM jt WHERE n > 0 GROUP BY s ORDER BY s LIMIT 10')))
console.log('join', rows(await q('SELECT jt.n, ju.label FROM jt JOIN ju ON jt.n = ju.n ORDER BY 1')))
console.log('prepared', rows(await q('SELECT n, s FROM jt WHERE n = ? OR s = ? ORDER BY n', [2, 'a'])))
await c.end()
