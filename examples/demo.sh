#!/usr/bin/env bash
# demo.sh [BINARY]: a server with real data in it and five questions. Everything
# lives in a temporary directory and on free ports; ends when done, unless KEEP=1.
# KAFKA_PORT, MYSQL_PORT and HTTP_PORT choose ports.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bin=$(realpath "${1:-$here/../bin/millrace}")
dir=$(mktemp -d)
: >"$dir/log" # the server's own redirection may come after our first look
"$bin" serve --data "$dir/data" --log-format text --log-level info --kafka "127.0.0.1:${KAFKA_PORT:-0}" \
  --mysql "127.0.0.1:${MYSQL_PORT:-0}" --http "127.0.0.1:${HTTP_PORT:-0}" >"$dir/log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null || true; rm -rf "$dir"' EXIT

# The addresses are in the line that this very server logs when it is ready.
kafka= mysql=
for _ in {1..200}; do
  read -r kafka mysql < <(sed -n 's/.*millrace is ready.* kafka=\([^ ]*\) mysql=\([^ ]*\).*/\1 \2/p' "$dir/log") || true
  [[ $mysql ]] && break
  kill -0 $server 2>/dev/null || break
  sleep 0.05
done
if [[ -z $mysql ]] || ! kill -0 $server 2>/dev/null; then
  cat "$dir/log" >&2
  exit 1
fi

for topic in earthquakes flights airports; do
  "$bin" import "$here/data/$topic.ndjson.gz" --topic "$topic" --kafka "$kafka"
done

ask() {
  printf '\n-- %s\n%s\n' "$1" "$2"
  "$bin" sql --mysql "$mysql" --timing "$2"
}
ask 'Which earthquakes were the strongest?' \
  'SELECT `properties.mag` AS magnitude, `properties.place` AS place, FROM_UNIXTIME(`properties.time` DIV 1000) AS at FROM earthquakes ORDER BY magnitude DESC LIMIT 5'
ask 'Which networks reported most, and how strong were theirs?' \
  'SELECT `properties.net` AS network, COUNT(*) AS quakes, ROUND(AVG(`properties.mag`), 2) AS mean_magnitude, MAX(`properties.mag`) AS strongest FROM earthquakes GROUP BY network ORDER BY quakes DESC LIMIT 5'
ask 'Where do flights from SFO go, and how late do they arrive?' \
  "SELECT a.city, COUNT(*) AS flights, AVG(f.delay) AS mean_delay FROM flights f JOIN airports a ON f.destination = a.iata WHERE f.origin = 'SFO' GROUP BY a.city ORDER BY flights DESC LIMIT 5"
ask 'Which hour of the day runs latest?' \
  'SELECT SUBSTRING(date, 12, 2) AS hour, COUNT(*) AS flights, AVG(delay) AS mean_delay FROM flights GROUP BY hour ORDER BY mean_delay DESC LIMIT 5'
ask 'What share of long flights is more than an hour late?' \
  'SELECT distance >= 1500 AS long_haul, COUNT(*) AS flights, SUM(delay > 60) AS very_late, 100 * SUM(delay > 60) / COUNT(*) AS percent FROM flights GROUP BY long_haul ORDER BY long_haul'

if [[ ${KEEP:-} ]]; then
  echo "kept running: Kafka $kafka, MySQL $mysql; Ctrl-C ends it"
  wait $server
fi
