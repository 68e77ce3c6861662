"""Users over both wires: who gets in, what they may do, and what others can tell."""
import os
import re
import ssl
import subprocess

import pymysql
import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from millrace import BINARY, CACHE, ROOT, Millrace, free_port

HERE = ROOT / "test" / "interop" / "clients"
MECHANISMS = ["SCRAM-SHA-256", "SCRAM-SHA-512", "PLAIN"]


def cli(*args, stdin=None, password=None, check=True):
    """Runs a command of the binary; returns (status, stdout, stderr)."""
    env = {**os.environ, **({"MILLRACE_PASSWORD": password} if password else {})}
    r = subprocess.run([BINARY, *args], input=stdin, env=env, text=True, capture_output=True, timeout=60)
    assert not check or r.returncode == 0, r.stderr
    return r.returncode, r.stdout, r.stderr


def any_certificate():
    """The server makes its own certificate; these tests are about what comes after."""
    c = ssl.create_default_context()
    c.check_hostname, c.verify_mode = False, ssl.CERT_NONE
    return c


class Closed(Millrace):
    """A server that was open, got its first user while running, and then a second one."""

    def __init__(self, data):
        self.sasl_port = free_port()
        super().__init__(data, "--kafka", f"sasl://127.0.0.1:{self.sasl_port}")

    def at(self):
        return "--mysql", f"127.0.0.1:{self.mysql_port}"

    def login(self, user, password, **kw):
        return self.connect(user, password, ssl=any_certificate(), **kw)

    def query(self, user, password, *statements):
        with self.login(user, password) as c, c.cursor() as cur:
            for s in statements:
                cur.execute(s)
            return list(cur.fetchall())

    def kafka(self, user, password, mechanism="SCRAM-SHA-256", port=None, **kw):
        return {"bootstrap.servers": f"127.0.0.1:{port or self.kafka_port}", "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": mechanism, "sasl.username": user, "sasl.password": password, **kw}


@pytest.fixture(scope="module")
def closed(tmp_path_factory):
    m = Closed(tmp_path_factory.mktemp("users") / "data").start()
    p = Producer({"bootstrap.servers": m.bootstrap})
    for i, s in enumerate("abcab"):
        p.produce("jt", value=f'{{"n":{i},"s":"{s}"}}')
    for i, label in ((1, "one"), (2, "two"), (9, "nine")):
        p.produce("ju", value=f'{{"n":{i},"label":"{label}"}}')
    assert p.flush(20) == 0
    cli("user", "add", "ada", *m.at(), "--password-stdin", stdin="it's secret\n")
    cli("user", "add", "nobody", *m.at(), "--user", "ada", "--password-stdin", stdin="nothing\n", password="it's secret")
    yield m
    m.stop()


ADA = ("ada", "it's secret")
NOBODY = ("nobody", "nothing")


def produce(conf, topic, value):
    """Produces one record; returns its error, or None."""
    p, errors = Producer({"message.timeout.ms": 8000, **conf}), []
    p.produce(topic, value=value, on_delivery=lambda e, _: errors.append(e))
    p.flush(20)
    assert len(errors) == 1
    return errors[0]


# --- the commands ---

def test_users_are_kept_on_a_stopped_directory(tmp_path):
    data = str(tmp_path / "data")
    assert cli("user", "list", "--data", data, check=False)[0] == 1 and not os.path.exists(data)
    cli("user", "add", "ada", "--data", data, "--password-stdin", stdin="one\n")
    cli("user", "add", "bob", "--data", data, "--password-stdin", stdin="two\n")
    assert cli("user", "list", "--data", data)[1] == "ada\nbob\n"
    for args, stdin, why in [
        (["add", "ada", "--password-stdin"], "x\n", "user exists"),
        (["add", "anonymous", "--password-stdin"], "x\n", "invalid user name"),
        (["add", "carol", "--password-stdin"], "\n", "password is empty"),
        (["passwd", "carol", "--password-stdin"], "x\n", "no such user"),
        (["drop", "carol"], None, "no such user"),
        (["drop", "ada"], None, "last administrator"),
    ]:
        status, _, err = cli("user", *args, "--data", data, stdin=stdin, check=False)
        assert status == 1 and why in err, (args, err)
    cli("user", "passwd", "ada", "--data", data, "--password-stdin", stdin="three\n")
    cli("user", "drop", "bob", "--data", data)
    m = Closed(data).start()
    try:
        assert m.query("ada", "three", "SELECT 1") == [(1,)]
        with pytest.raises(pymysql.err.OperationalError, match="1045"):
            m.login("ada", "one")
        status, _, err = cli("user", "list", "--data", data, check=False)
        assert status == 1 and "in use" in err
    finally:
        m.stop()


def test_an_administrator_keeps_the_users_of_a_running_server(closed):
    def user(*args, who=ADA, stdin=None, check=True):
        return cli("user", *args, *closed.at(), "--user", who[0], stdin=stdin, password=who[1], check=check)

    user("add", "carol", "--password-stdin", stdin="one\n")
    assert user("add", "carol", "--password-stdin", stdin="one\n", check=False)[0] == 1
    assert closed.query("carol", "one", "SELECT 1") == [(1,)]
    assert produce(closed.kafka("carol", "one"), "jt", "x").name() == "TOPIC_AUTHORIZATION_FAILED"
    user("passwd", "carol", "--password-stdin", stdin="two\n")
    user("passwd", "carol", "--password-stdin", who=("carol", "two"), stdin="three\n")
    assert {"ada", "carol", "nobody"} <= set(user("list")[1].split())
    assert user("list", who=("carol", "three"))[1] == "carol\n"  # herself
    for args, stdin in [(["add", "dora", "--password-stdin"], "x\n"), (["passwd", "ada", "--password-stdin"], "x\n"),
                        (["drop", "ada"], None)]:
        status, out, _ = user(*args, who=("carol", "three"), stdin=stdin, check=False)
        assert status == 1 and out == "", args
    session = closed.login("carol", "three")
    user("drop", "carol")
    for password in ("one", "two", "three"):
        with pytest.raises(pymysql.err.OperationalError, match="1045"):
            closed.login("carol", password)
    with session.cursor() as cur, pytest.raises(pymysql.err.MySQLError):
        cur.execute("SELECT COUNT(*) FROM jt")  # a session of a user that is gone may do nothing
    assert user("drop", "carol", check=False)[0] == 1
    assert user("drop", "ada", check=False)[0] == 1
    status, _, err = cli("user", "add", "eve", *closed.at(), "--password-stdin", stdin="x\n", check=False)
    assert status == 1 and "1045" in err and "--user" in err


def test_nobody_beyond_loopback_until_a_user_exists(tmp_path):
    def serve(*flags):
        return ["serve", "--data", str(tmp_path / "data"), "--mysql", f"127.0.0.1:{free_port()}",
                "--http", "", "--kafka", f"0.0.0.0:{free_port()}", *flags]

    status, _, err = cli(*serve(), check=False)
    assert status == 1 and "no user exists" in err

    def starts(*flags):
        p = subprocess.Popen([BINARY, *serve(*flags)], stderr=subprocess.PIPE, text=True)
        try:
            return any("millrace is ready" in line for line in p.stderr)  # until it is ready, or its end
        finally:
            p.terminate()
            p.stderr.close()
            p.wait(30)

    # The ready line ends the loop: any() stops there.
    assert starts("--insecure")
    assert not starts()
    cli("user", "add", "ada", "--data", str(tmp_path / "data"), "--password-stdin", stdin="x\n")
    assert starts()


# --- strangers ---

def kcat(*args, stdin=None):
    r = subprocess.run(["kcat", *args], input=stdin, text=True, capture_output=True, timeout=60)
    return r.returncode, r.stdout + r.stderr


def test_kafka_gives_strangers_nothing(closed):
    _, out = kcat("-L", "-b", closed.bootstrap)
    assert "0 topics" in out and "jt" not in out
    status, out = kcat("-P", "-b", closed.bootstrap, "-t", "jt", "-X", "message.timeout.ms=5000", stdin="x\n")
    assert status != 0 and re.search("authorization failed", out, re.I), out
    _, out = kcat("-C", "-b", closed.bootstrap, "-t", "jt", "-e", "-o", "beginning")
    assert re.search("authorization failed", out, re.I) and '"n"' not in out, out
    # Where a login is required there is not even that.
    status, out = kcat("-L", "-b", f"127.0.0.1:{closed.sasl_port}", "-m", "3")
    assert status != 0 and "jt" not in out


def test_mysql_gives_strangers_1045(closed):
    for user in ("ada", "app", "ANONYMOUS", ""):
        for tls in ({"ssl_disabled": True}, {"ssl": any_certificate()}):
            with pytest.raises(pymysql.err.OperationalError) as e:
                closed.connect(user or None, **tls) if user else pymysql.connect(
                    host="127.0.0.1", port=closed.mysql_port, user="", password="", **tls)
            assert e.value.args[0] == 1045, (user, e.value)
    r = subprocess.run(["mysql", "-h127.0.0.1", f"-P{closed.mysql_port}", "-uapp", "-e", "SELECT 1"], text=True, capture_output=True, timeout=30)
    assert r.returncode != 0 and "1045" in r.stderr, r.stderr


def test_mysql_takes_no_password_without_tls(closed):
    cli("user", "add", "shy", *closed.at(), "--user", "ada", "--password-stdin", stdin="quiet\n", password=ADA[1])
    with pytest.raises(pymysql.err.OperationalError) as e:
        closed.connect("shy", "quiet", ssl_disabled=True)
    assert e.value.args[0] == 3159 and "TLS" in e.value.args[1]
    # Once it logged in over TLS, the server knows the hash that a scramble is checked
    # with: that tells a listener nothing.
    closed.login("shy", "quiet").close()
    closed.connect("shy", "quiet", ssl_disabled=True).close()


# --- those who log in ---

@pytest.mark.parametrize("listener", ["default", "sasl"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_confluent_kafka_logs_in(closed, mechanism, listener):
    port = closed.kafka_port if listener == "default" else closed.sasl_port
    conf = closed.kafka(*ADA, mechanism, port)
    topic = f"login-{listener}-{mechanism}"
    admin = AdminClient(conf)
    for f in admin.create_topics([NewTopic(topic, 2)]).values():
        f.result(20)
    assert produce(conf, topic, f'{{"by":"{mechanism}"}}') is None
    c = Consumer({**conf, "group.id": topic, "auto.offset.reset": "earliest"})
    c.subscribe([topic])
    for _ in range(100):
        if (m := c.poll(0.2)) is not None and m.error() is None:
            break
    assert m is not None and m.value() == f'{{"by":"{mechanism}"}}'.encode()
    c.commit()
    c.close()
    assert closed.query(*ADA, f"SELECT `by` FROM `{topic}`") == [(mechanism,)]


def test_connections_show_who_logged_in(closed):
    p = Producer(closed.kafka(*ADA))  # connected to the partition's leader after this
    p.produce("conns", value="x")
    assert p.flush(20) == 0
    got = closed.query(*ADA, "SELECT protocol, user FROM millrace.connections")
    assert ("kafka", "ada") in got and ("mysql", "ada") in got


def test_pymysql_logs_in(closed):
    assert {("jt",), ("ju",)} <= set(closed.query(*ADA, "SHOW TABLES"))
    assert closed.query(*ADA, "SELECT s, COUNT(*), SUM(n) FROM jt WHERE n > 0 GROUP BY s ORDER BY s") == [("a", 1, 3), ("b", 2, 5), ("c", 1, 2)]


def test_mysql2_logs_in(closed):
    (CACHE / "node" / "mysql2.mjs").write_text((HERE / "mysql2.mjs").read_text())
    for _ in range(2):  # the second time the server knows the password's hash: no full exchange
        out = subprocess.run(["node", f"{CACHE}/node/mysql2.mjs", "127.0.0.1", str(closed.mysql_port), *ADA, "tls"],
                             check=True, text=True, stdout=subprocess.PIPE, timeout=60).stdout.splitlines()
        assert out[0] == "tables true" and out[2] == "group a|1|3 b|2|5 c|1|2"


def test_mariadb_cli_logs_in(closed):
    def mysql(user, password):
        return subprocess.run(["mysql", "--ssl", "-h127.0.0.1", f"-P{closed.mysql_port}", f"-u{user}", f"-p{password}", "kafka", "-N", "-B",
                               "-e", "SELECT COUNT(*) FROM jt WHERE n > 0"], text=True, capture_output=True, timeout=30)

    for _ in range(2):
        r = mysql(*ADA)
        assert (r.returncode, r.stdout) == (0, "4\n"), r.stderr
    assert "1045" in mysql("ada", "wrong").stderr


def test_the_own_commands_log_in(closed):
    who = ["--user", "ada"]
    k = ["--kafka", closed.bootstrap]
    cli("produce", "own", *k, *who, stdin='{"a":1}\n', password=ADA[1])
    for m in MECHANISMS:
        assert "own" in cli("topic", "list", *k, *who, "--sasl", m, password=ADA[1])[1]
    assert cli("sql", *closed.at(), *who, "-f", "csv", "SELECT a FROM own", password=ADA[1])[1] == "a\n1\n"
    for args in (["topic", "list", *k], ["sql", *closed.at(), "SELECT 1"]):
        status, out, err = cli(*args, *who, password="wrong", check=False)
        assert status == 1 and out == "", err


# --- those who may do nothing ---

def test_without_grants_kafka_shows_and_does_nothing(closed):
    for mechanism in MECHANISMS:
        conf = closed.kafka(*NOBODY, mechanism)
        a = AdminClient(conf)
        assert a.list_topics(timeout=10).topics == {}
        for topic in ("jt", "none-there"):  # the same, whether it exists or not
            assert a.list_topics(topic, timeout=10).topics[topic].error.name() == "TOPIC_AUTHORIZATION_FAILED"
            assert produce(conf, topic, "x").name() == "TOPIC_AUTHORIZATION_FAILED"
        for f in [*a.create_topics([NewTopic("mine", 1)]).values(), *a.delete_topics(["jt"]).values()]:
            with pytest.raises(KafkaException, match="TOPIC_AUTHORIZATION_FAILED|CLUSTER_AUTHORIZATION_FAILED"):
                f.result(20)
        c = Consumer({**conf, "group.id": "g"})
        c.subscribe(["jt"])
        errors = set()
        for _ in range(50):
            if (m := c.poll(0.2)) is not None:
                assert m.error(), m.value()
                errors.add(m.error().name())
            if "GROUP_AUTHORIZATION_FAILED" in errors:
                break
        assert "GROUP_AUTHORIZATION_FAILED" in errors
        c.close()
    names = [t for (t,) in closed.query(*ADA, "SHOW TABLES")]
    assert "jt" in names and "mine" not in names and "none-there" not in names


def denied(closed, statement, *numbers):
    with pytest.raises(pymysql.err.MySQLError) as e:
        closed.query(*NOBODY, statement)
    assert e.value.args[0] in numbers, (statement, e.value)
    return e.value.args[1]


def test_without_grants_sql_shows_and_does_nothing(closed):
    assert closed.query(*NOBODY, "SHOW TABLES") == []
    assert closed.query(*NOBODY, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema IN ('kafka', 'millrace')") == [(0,)]
    assert closed.query(*NOBODY, "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'kafka'") == [(0,)]
    for statement in ("SELECT * FROM {}", "SELECT COUNT(*) FROM `{}$raw`", "DESCRIBE {}", "SHOW CREATE TABLE {}", "EXPLAIN SELECT * FROM {}",
                      "INSERT INTO {} (_value) VALUES ('x')", "DROP TABLE {}", "SELECT (SELECT COUNT(*) FROM {})",
                      "CALL millrace.seal('{}')"):
        texts = {denied(closed, statement.format(t), 1044, 1142, 1146, 1227, 1235).replace(t, "T") for t in ("jt", "zz")}
        assert len(texts) == 1, f"tells whether a topic exists: {texts}"
    denied(closed, "SELECT * FROM millrace.connections", 1142, 1044)
    denied(closed, "CREATE TABLE mine (a INT)", 1142, 1044, 1227, 1235)
    for statement in ("CREATE USER x IDENTIFIED BY 'y'", "DROP USER ada", "ALTER USER ada IDENTIFIED BY 'y'",
                      "SET GLOBAL local_infile=1", "SET GLOBAL max_connections=1"):
        denied(closed, statement, 1227)
    assert closed.query(*NOBODY, "SELECT LOAD_FILE('/etc/hostname')") == [(None,)]
    denied(closed, "SELECT 1 INTO OUTFILE 'x.out'", 1045, 1290)
    denied(closed, "LOAD DATA INFILE '/etc/hostname' INTO TABLE jt", 1045, 1290)
    rows = closed.query(*NOBODY, "SHOW PROCESSLIST")
    assert {r[1] for r in rows} == {"nobody"}


# --- what a failure tells ---

def failure(closed, user, password, **kw):
    with pytest.raises(pymysql.err.OperationalError) as e:
        closed.connect(user, password, **kw)
    return e.value.args[0], e.value.args[1].replace(user, "U")


def test_mysql_tells_wrong_passwords_from_unknown_users_by_nothing(closed):
    known, unknown = (failure(closed, u, "wrong", ssl=any_certificate()) for u in ("nobody", "nosuch"))
    assert known == unknown and known[0] == 1045
    known, unknown = (failure(closed, u, "wrong", ssl_disabled=True) for u in ("nobody", "nosuch"))
    assert known == unknown
    known, unknown = (failure(closed, u, "", ssl=any_certificate()) for u in ("nobody", "nosuch"))
    assert known == unknown and known[0] == 1045


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_kafka_tells_wrong_passwords_from_unknown_users_by_nothing(closed, mechanism):
    def fail(user):
        _, out = kcat("-L", "-b", closed.bootstrap, "-m", "3", "-X", "security.protocol=SASL_PLAINTEXT", "-X", f"sasl.mechanism={mechanism}",
                      "-X", f"sasl.username={user}", "-X", "sasl.password=wrong")
        return set(re.findall(r"SASL[^:]*: (.*?)(?: \(after| \()", out)), out

    (known, out), (unknown, _) = fail("nobody"), fail("nosuch")
    assert known == unknown and any("uthentication failed" in k for k in known), out


# --- TLS ---

def certificate(directory):
    """A self-signed certificate for 127.0.0.1: (certificate file, key file)."""
    import datetime
    import ipaddress

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "millrace test")])
    now = datetime.datetime.now(datetime.timezone.utc)
    cert = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1)).not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
            .sign(key, hashes.SHA256()))
    files = directory / "cert.pem", directory / "key.pem"
    files[0].write_bytes(cert.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return map(str, files)


def test_a_given_certificate_serves_both_wires(tmp_path):
    cert, key = certificate(tmp_path)
    data = str(tmp_path / "data")
    cli("user", "add", "ada", "--data", data, "--password-stdin", stdin="it's secret\n")
    tls, sasl_tls = free_port(), free_port()
    m = Closed(data)
    m.flags = ["--tls-cert", cert, "--tls-key", key, "--kafka", f"tls://127.0.0.1:{tls}", "--kafka", f"sasl+tls://127.0.0.1:{sasl_tls}"]
    m.start()
    try:
        for port in (tls, sasl_tls):  # the first requires no login and takes one
            for mechanism in MECHANISMS:
                conf = m.kafka(*ADA, mechanism, port, **{"security.protocol": "SASL_SSL", "ssl.ca.location": cert})
                assert produce(conf, f"t{port}", f'{{"m":"{mechanism}"}}') is None
        conf = {"bootstrap.servers": f"127.0.0.1:{tls}", "security.protocol": "SSL", "ssl.ca.location": cert}
        assert produce(conf, f"t{tls}", "x").name() == "TOPIC_AUTHORIZATION_FAILED"
        with m.connect(*ADA, ssl=ssl.create_default_context(cafile=cert)) as c, c.cursor() as cur:
            cur.execute(f"SELECT m FROM t{sasl_tls} ORDER BY m")
            assert [r[0] for r in cur.fetchall()] == sorted(MECHANISMS)
    finally:
        m.stop()


# --- HTTP ---

def test_http_asks_for_an_administrators_password(closed):
    import base64
    import urllib.error
    import urllib.request

    def get(path, who=None):
        r = urllib.request.Request(f"http://127.0.0.1:{closed.http_port}{path}")
        if who:
            r.add_header("Authorization", "Basic " + base64.b64encode(":".join(who).encode()).decode())
        try:
            with urllib.request.urlopen(r, timeout=20) as f:
                return f.status
        except urllib.error.HTTPError as e:
            return e.code

    assert get("/health") == 200
    for path in ("/metrics", "/debug/pprof/", "/debug/pprof/heap"):
        assert [get(path), get(path, NOBODY), get(path, ("ada", "wrong")), get(path, ("nosuch", "wrong"))] == [401] * 4, path
        assert get(path, ADA) == 200, path
