"""What kafka-python's integration tests start as "a Kafka broker": Millrace.

kafka_python.sh lays this file into the unpacked sources as test/service.py, which the
source package lacks. The fixtures render the template kafka.properties (ours, too: one
setting a line), start SpawnedService with the command line that would run Kafka on it,
and wait for lines of Kafka's log.
"""
import os
import pathlib
import signal
import socket
import subprocess
import time

USER, PASSWORD = "alice", "alice-secret" # whom the fixtures log in as

class SpawnedService:
    def __init__(self, args, env):
        lines = pathlib.Path(args[-1]).read_text().splitlines()
        self.settings = dict(line.split("=", 1) for line in lines if "=" in line)
        self.env = env
        self.process = None
        self.directory = pathlib.Path(self.settings["tmp_dir"])
        self.data = self.directory / "millrace"
        self.log = self.directory / "millrace.log"

    def start(self):
        s, binary = self.settings, os.environ["MILLRACE"]
        scheme = {"PLAINTEXT": "plaintext", "SSL": "tls", "SASL_PLAINTEXT": "sasl", "SASL_SSL": "sasl+tls"}[s["transport"]]
        flags = []
        if "sasl" in scheme:
            subprocess.run([binary, "user", "add", USER, "--password-stdin", "--data", str(self.data)],
                           input=PASSWORD, text=True, check=True, stdout=subprocess.DEVNULL)
        if "tls" in scheme:
            flags = self.certificate(pathlib.Path(s["ssl_dir"]))
        listener = f"{scheme}://127.0.0.1:{s['port']}?advertised={s['host']}:{s['port']}"
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                [binary, "serve", "--data", str(self.data), "--kafka", listener, "--mysql", "127.0.0.1:0", "--http", "127.0.0.1:0",
                 "--default-partitions", s["partitions"],
                 "--min-session-timeout", "1s", *flags],
                stdout=log, stderr=log, start_new_session=True)

    @staticmethod
    def certificate(directory):
        """The fixtures make a Java key store; ours are PEM files."""
        store = directory / "kafka.server.keystore.jks"
        pem = directory / "server.p12", directory / "server-cert.pem", directory / "server-key.pem"
        subprocess.run(["keytool", "-importkeystore", "-srckeystore", str(store), "-srcstorepass", "foobar", "-srcalias", "localhost",
                        "-destkeystore", str(pem[0]), "-deststoretype", "PKCS12", "-deststorepass", "foobar"], check=True, capture_output=True)
        for path, options in (pem[1], ["-nokeys"]), (pem[2], ["-nocerts", "-nodes"]):
            subprocess.run(["openssl", "pkcs12", "-in", str(pem[0]), "-passin", "pass:foobar", "-out", str(path), *options],
                           check=True, capture_output=True)
        return ["--tls-cert", str(pem[1]), "--tls-key", str(pem[2])]

    def wait_for(self, pattern, timeout=30):
        """Every line that is waited for means that the broker, its users included, is ready."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", int(self.settings["port"])), 1).close()
                return True
            except OSError:
                time.sleep(0.02)
        return False

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(30)

    def dump_logs(self):
        if self.log.exists():
            print(self.log.read_text())


class ExternalService:
    """Named by the fixtures; not used here."""
