"""A MariaDB server of our own on a free loopback port."""
import getpass
import pathlib
import socket
import subprocess
import time

from millrace import free_port


class MariaDB:
    def __init__(self, work):
        self.work, self.port = pathlib.Path(work), free_port()
        data, user = self.work / "maria", getpass.getuser()
        subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={data}", f"--user={user}", "--auth-root-authentication-method=normal",
                        "--skip-test-db"], check=True, capture_output=True)
        self.process = subprocess.Popen(
            ["/usr/sbin/mariadbd", "--no-defaults", f"--datadir={data}", f"--user={user}", f"--port={self.port}", "--bind-address=127.0.0.1",
             f"--socket={self.work}/maria.sock", f"--pid-file={self.work}/maria.pid", "--character-set-server=utf8mb4",
             "--innodb-flush-log-at-trx-commit=0"], stdout=open(self.work / "maria.log", "w"), stderr=subprocess.STDOUT)
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert self.process.poll() is None and time.monotonic() < deadline, (self.work / "maria.log").read_text()[-2000:]
                time.sleep(0.05)

    def stop(self):
        self.process.terminate()
        self.process.wait(30)
