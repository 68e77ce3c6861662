#!/usr/bin/env bash
# kafka_python.sh [pytest arguments]: kafka-python's own integration tests, from its
# source package, against bin/millrace: its fixtures start one broker a module, and one
# for every SASL mechanism and for TLS. kafka_python-allow.txt says what must pass.
# About two minutes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
root=$PWD
cache=$root/.cache/interop
version=3.0.12
src=$cache/kafka-python-$version/kafka_python-$version

if [[ ! -d $src ]]; then
  mkdir -p "$cache/kafka-python-$version"
  (
    cd "$cache/kafka-python-$version"
    python3 -m venv env
    env/bin/pip install -q pytest pytest-timeout pytest-mock lz4 zstandard python-snappy crc32c
    env/bin/pip download -q --no-binary :all: --no-deps "kafka-python==$version"
    tar xzf ./*.tar.gz
  )
fi
make -s build
export MILLRACE=$root/bin/millrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# The fixtures want a Kafka installation: the templates of its configs, and its scripts.
mkdir -p "$dir/servers/resources/default" "$dir/kafka/bin"
cp "$here/kafka_python_service.py" "$src/test/service.py"
touch "$src/test/__init__.py" # missing from the package, as is service.py
printf '%s={%s}\n' host host port port transport transport partitions partitions tmp_dir tmp_dir ssl_dir ssl_dir \
  >"$dir/servers/resources/default/kafka.properties"
echo '{jaas_config}' >"$dir/servers/resources/default/kafka_server_jaas.conf"
cat >"$dir/servers/resources/default/sasl_command.conf" <<'END'
security.protocol={transport}
sasl.mechanism={sasl_mechanism}
sasl.jaas.config={jaas_config}
END
printf '#!/bin/sh\n' >"$dir/kafka/bin/kafka-storage.sh"
cat >"$dir/kafka/bin/kafka-topics.sh" <<END
#!/bin/sh
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp '$cache/jars/*' org.apache.kafka.tools.TopicCommand "\$@"
END
chmod +x "$dir"/kafka/bin/*

cd "$src"
export KAFKA_VERSION=4.3.0 PROJECT_ROOT=$dir KAFKA_ROOT=$dir/kafka TMPDIR=$dir
"$cache/kafka-python-$version/env/bin/python" -m pytest -q -p no:cacheprovider -o log_level=INFO -rA test/integration "$@" \
  >"$cache/kafka_python.log" 2>&1 || true
sed -nE 's!^(PASSED|FAILED|ERROR) test/integration/([^ ]*).*!\1 \2!; s/^ERROR/FAILED/; /^(PASSED|FAILED) /p' "$cache/kafka_python.log" >"$dir/results"
source "$here/judge.sh"
judge kafka_python "$dir/results" "${1:+part}" || { echo "log: .cache/interop/kafka_python.log" >&2; exit 1; }
