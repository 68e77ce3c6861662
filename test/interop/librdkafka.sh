#!/usr/bin/env bash
# librdkafka.sh [test numbers, comma-separated]: librdkafka's own test suite against
# bin/millrace, from the sources in the npm package @confluentinc/kafka-javascript.
#
# Tests that librdkafka empties in its quick mode are run in full; of some that fail
# the parts that can pass are run alone, as NAME/PART. The names in
# librdkafka-allow.txt must pass; a name that passes and is not there yet is reported,
# to be added: the list only grows. librdkafka-failures.md says why the others fail.
# Without numbers, about ten minutes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
root=$PWD
cache=$root/.cache/interop
version=1.10.1 # of the package; its librdkafka is 2.15.1
lib=$cache/librdkafka-$version/package/deps/librdkafka

if [[ ! -x $lib/tests/test-runner ]] || ! grep -qE 'WITH_RAPIDJSON=[[:space:]]*y' "$lib/Makefile.config"; then
  missing=()
  for p in gcc g++ make pkg-config libssl-dev zlib1g-dev libzstd-dev liblz4-dev libcurl4-openssl-dev rapidjson-dev; do
    dpkg -s "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
  done
  if ((${#missing[@]})); then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >/dev/null
  fi
  mkdir -p "$cache/librdkafka-$version"
  (
    cd "$cache/librdkafka-$version"
    npm pack --silent "@confluentinc/kafka-javascript@$version" >/dev/null
    tar xzf ./*.tgz
    cd "$lib"
    ./configure --disable-sasl
    make -j2 libs
    make -C tests -j2 build
  ) >"$cache/librdkafka-build.log" 2>&1 || { tail -n 40 "$cache/librdkafka-build.log" >&2; exit 1; }
fi

make -s build
source "$here/serve.sh"
serve broker --default-partitions 4 # the suite expects this of auto-created topics
open=$address
# A second server, with a user, for the tests that log in.
bin/millrace user add rdkafka --password-stdin --data "$dir/users" <<<"rdkafka-secret" >/dev/null
listener=sasl:// serve users
users=$address

# Some tests call Kafka's scripts by name; Kafka's jars are in the cache when
# setup.sh was run, and those tests fail without.
mkdir -p "$dir/kafka/bin"
for tool in topics:org.apache.kafka.tools.TopicCommand acls:org.apache.kafka.tools.AclCommand; do
  cat >"$dir/kafka/bin/kafka-${tool%%:*}.sh" <<END
#!/bin/sh
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp '$cache/jars/*' ${tool#*:} "\$@"
END
done
cat >"$dir/kafka/bin/kafka-run-class.sh" <<END
#!/bin/sh
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "\$CLASSPATH:$cache/jars/*" "\$@"
END
chmod +x "$dir"/kafka/bin/*

echo "bootstrap.servers=$open" >"$dir/test.conf"
cat >"$dir/users.conf" <<END
bootstrap.servers=$users
security.protocol=SASL_PLAINTEXT
sasl.mechanism=SCRAM-SHA-512
sasl.username=rdkafka
sasl.password=rdkafka-secret
END
export RDKAFKA_TEST_CONF=$dir/test.conf TEST_KAFKA_VERSION=4.3.0 # tests of share groups want 4.2
export KAFKA_PATH=$dir/kafka BROKERS=$open
export LD_LIBRARY_PATH=$lib/src:$lib/src-cpp
mkdir "$dir/run" # the runner writes reports where it stands
ln -s "$lib/src" "$dir/src" # and looks for a schema from there
# 0098 produces with a Java program, which it would build in place.
cp -r "$lib/tests/java" "$dir/run/java"
printf 'java:\n' >"$dir/run/Makefile"
(cd "$dir/run/java" && javac -cp "$cache/jars/*" ./*.java) >/dev/null 2>&1 || true # without Kafka's jars, it fails

# run LOG [FLAGS...] runs the suite and writes "PASSED name" or "FAILED name" lines.
# The summary in the log does not serve: with failures, the runner may abort before.
run() {
  local log=$1; shift
  (cd "$dir/run" && timeout 1800 "$lib/tests/test-runner" -p3 -E -L "$@" || true) >"$log" 2>&1
  sed -E 's/\x1b\[[0-9;]*m//g' "$log" >"$log.plain"
  sed -nE 's/.*### Test "([0-9][^" ]*).* failed at .*/\1/p' "$log.plain" | sort -u >"$log.failed"
  grep -aoE '= Test [0-9][^ ]* PASSED =' "$log.plain" | cut -d' ' -f3 | sort -u | comm -23 - "$log.failed" | sed 's/^/PASSED /'
  sed 's/^/FAILED /' "$log.failed"
}

# Of these, quick mode runs nothing or next to nothing.
slow=0018,0019,0026,0045,0050,0061,0082,0089,0102,0122,0132
# These log in.
login=0135,0142
# Parts, by what their names contain; the second ones administer users and ACLs, and log in.
parts=(
  "0081 0081_admin do_test_"{CreateTopics,DeleteTopics,CreatePartitions,DescribeConfigs:,DeleteRecords,ListConsumerGroups:,DescribeConsumerGroups:,DescribeTopics,DeleteGroups,DeleteConsumerGroupOffsets,ListOffsets,AlterConsumerGroupOffsets,ListConsumerGroupOffsets}
)
login_parts=(
  "0081 0081_admin do_test_"{CreateAcls,DescribeAcls,DeleteAcls,UserScramCredentials,DescribeConfigs_groups,DescribeCluster,DescribeConsumerGroups_with_authorized_ops}
)
part() {
  local number=$1 name=$2 part=$3 log=$dir/part-$3.log results
  results=$(TESTS=$number SUBTESTS=$part run "$log")
  # A test none of whose parts matched passes, too.
  grep -aq ': PASS (' "$log" || results="FAILED $name"
  sed -E "s,$,/$(sed -E 's/^do_test_|:$//g' <<<"$part")," <<<"$results"
}

if [[ -n ${1:-} ]]; then
  TESTS=$1 run "$dir/all.log" >"$dir/results"
else
  TESTS=$slow run "$dir/slow.log" >"$dir/slow" &
  slow_run=$!
  for p in "${parts[@]}"; do
    # shellcheck disable=SC2086
    part $p >>"$dir/parts"
  done
  for p in "${login_parts[@]}"; do
    # shellcheck disable=SC2086
    RDKAFKA_TEST_CONF=$dir/users.conf part $p >>"$dir/parts"
  done
  wait "$slow_run"
  TESTS=$login RDKAFKA_TEST_CONF=$dir/users.conf run "$dir/login.log" >"$dir/login"
  run "$dir/quick.log" -Q >"$dir/quick"
  { sort -u "$dir/slow" "$dir/login" "$dir/parts"; grep -vE " (${slow//,/|}|${login//,/|})_" "$dir/quick"; } | sort -k2,2 >"$dir/results"
  cat "$dir"/{slow,login,part-*,quick}.log >"$dir/all.log"
fi
cp "$dir/all.log" "$cache/librdkafka.log"
for pid in "${servers[@]}"; do
  kill -0 "$pid" || { echo "a server died" >&2; tail -n 50 "$dir"/{broker,users}.log >&2; exit 1; }
done

source "$here/judge.sh"
judge librdkafka "$dir/results" "${1:+part}" || { echo "log: .cache/interop/librdkafka.log" >&2; exit 1; }
