#!/usr/bin/env bash
# Installs the real clients into .cache/interop (by the registries' ordinary
# clients, by name) and Debian's kcat, strace and MariaDB CLI. Does nothing twice.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=$root/.cache/interop
mkdir -p "$cache"

missing=()
for pair in kcat:kcat strace:strace mysql:mariadb-client mariadbd:mariadb-server-core; do
  PATH=$PATH:/usr/sbin command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
done
if ((${#missing[@]})); then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >/dev/null
fi

fresh() { # fresh STAMP INPUT...: true when STAMP was made from these very inputs
  local stamp=$cache/$1; shift
  [[ -f $stamp && $(cat "$stamp") == "$(cat "$@" | sha256sum)" ]]
}
stamp() { local s=$cache/$1; shift; cat "$@" | sha256sum >"$s"; }

if ! fresh py.ok "$here/requirements.txt"; then
  python3 -m venv "$cache/py" && "$cache/py/bin/pip" install -q -r "$here/requirements.txt"
  python3 -m venv "$cache/py-old" && "$cache/py-old/bin/pip" install -q kafka-python==2.0.2 python-snappy
  stamp py.ok "$here/requirements.txt"
fi
if ! fresh node.ok "$here/package.json"; then
  rm -rf "$cache/node" && mkdir -p "$cache/node" && cp "$here/package.json" "$cache/node/"
  (cd "$cache/node" && npm install --silent --no-audit --no-fund)
  stamp node.ok "$here/package.json"
fi
if ! fresh java.ok "$here/java/pom.xml" "$here"/java/src/*.java; then
  mvn -q -B -f "$here/java/pom.xml" dependency:copy-dependencies -DoutputDirectory="$cache/jars"
  mkdir -p "$cache/classes"
  javac -d "$cache/classes" -cp "$cache/jars/*" "$here"/java/src/*.java
  stamp java.ok "$here/java/pom.xml" "$here"/java/src/*.java
fi
jdbc="cj8:com.mysql:mysql-connector-j:8.4.0 cj9:com.mysql:mysql-connector-j:9.4.0 cj26:com.mysql:mysql-connector-j:26.10.0 mariadb:org.mariadb.jdbc:mariadb-java-client:3.5.6 mariadb4:org.mariadb.jdbc:mariadb-java-client:4.0.0"
if ! fresh jdbc.ok "$here"/jdbc/*.java <(echo "$jdbc"); then
  for pair in $jdbc; do
    mvn -q -B dependency:copy "-Dartifact=${pair#*:}" -DoutputDirectory="$cache/jdbc/${pair%%:*}"
  done
  javac -d "$cache/jdbc/classes" "$here"/jdbc/*.java
  stamp jdbc.ok "$here"/jdbc/*.java <(echo "$jdbc")
fi
if ! fresh bi.ok "$here/requirements-bi.txt"; then
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq pkg-config libmariadb-dev unixodbc odbc-mariadb >/dev/null
  python3 -m venv "$cache/bi" && "$cache/bi/bin/pip" install -q -r "$here/requirements-bi.txt"
  stamp bi.ok "$here/requirements-bi.txt"
fi
if [[ ${1:-} == full ]]; then # large, and used in the full run only
  if ! fresh frames.ok "$here/requirements-frames.txt"; then
    rm -rf "$cache/frames"
    python3 -m venv "$cache/frames" && "$cache/frames/bin/pip" install -q -r "$here/requirements-frames.txt"
    stamp frames.ok "$here/requirements-frames.txt"
  fi
  if ! fresh flink.ok "$here/flink/pom.xml" "$here"/flink/src/*.java; then
    mvn -q -B -f "$here/flink/pom.xml" dependency:copy-dependencies -DoutputDirectory="$cache/flink"
    mkdir -p "$cache/flink-classes"
    javac -d "$cache/flink-classes" -cp "$cache/flink/*" "$here"/flink/src/*.java
    stamp flink.ok "$here/flink/pom.xml" "$here"/flink/src/*.java
  fi
  if ! fresh flinkjdbc.ok "$here/flinkjdbc/pom.xml" "$here"/flinkjdbc/src/*.java; then
    rm -rf "$cache/flinkjdbc"
    mvn -q -B -f "$here/flinkjdbc/pom.xml" dependency:copy-dependencies -DoutputDirectory="$cache/flinkjdbc"
    mkdir -p "$cache/flinkjdbc-classes"
    javac -d "$cache/flinkjdbc-classes" -cp "$cache/flinkjdbc/*" "$here"/flinkjdbc/src/*.java
    stamp flinkjdbc.ok "$here/flinkjdbc/pom.xml" "$here"/flinkjdbc/src/*.java
  fi
  pyflink=apache-flink==2.2.0 # of the jars' version
  if ! fresh flink-py.ok <(echo $pyflink); then
    rm -rf "$cache/flink-py"
    python3 -m venv "$cache/flink-py" && "$cache/flink-py/bin/pip" install -q $pyflink
    stamp flink-py.ok <(echo $pyflink)
  fi
  if ! fresh superset.ok "$here"/superset/{requirements.txt,superset_config.py}; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium chromium-driver fonts-dejavu-core pkg-config libmariadb-dev >/dev/null
    rm -rf "$cache/superset-home" && mkdir -p "$cache/superset-home"
    python3 -m venv "$cache/superset" && "$cache/superset/bin/pip" install -q -r "$here/superset/requirements.txt"
    superset() {
      SUPERSET_HOME=$cache/superset-home SUPERSET_CONFIG_PATH=$here/superset/superset_config.py FLASK_APP=superset \
        "$cache/superset/bin/superset" "$@" >"$cache/superset-setup.log" 2>&1
    }
    superset db upgrade
    superset fab create-admin --username admin --firstname Ada --lastname Admin --email admin@localhost --password admin
    superset init
    stamp superset.ok "$here"/superset/{requirements.txt,superset_config.py}
  fi
  for pair in 3:3.5.1:2.12 4:4.1.1:2.13; do
    IFS=: read -r n spark scala <<<"$pair"
    if ! fresh "spark$n.ok" "$here/spark/pom.xml" <(echo "$pair"); then
      rm -rf "$cache/spark$n" "$cache/spark$n-jars"
      python3 -m venv "$cache/spark$n" && "$cache/spark$n/bin/pip" install -q "pyspark==$spark"
      mvn -q -B -f "$here/spark/pom.xml" "-Dspark.version=$spark" "-Dscala.version=$scala" dependency:copy-dependencies \
        "-DincludeArtifactIds=spark-sql-kafka-0-10_$scala,spark-token-provider-kafka-0-10_$scala,kafka-clients,commons-pool2" \
        -DoutputDirectory="$cache/spark$n-jars"
      stamp "spark$n.ok" "$here/spark/pom.xml" <(echo "$pair")
    fi
  done
fi
(cd "$here/go" && go build -o "$cache/go/" ./...)
