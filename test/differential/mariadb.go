package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"syscall"
	"time"
)

// mariaDB is a server of our own in a directory of its own.
type mariaDB struct {
	address string
	process *exec.Cmd
	exited  chan error
}

// errNoMariaDB says that it is not installed.
var errNoMariaDB = errors.New("mariadbd and mariadb-install-db are not installed")

func startMariaDB(ctx context.Context, dir string) (*mariaDB, error) {
	// Debian keeps daemons where only root looks.
	if err := os.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin"); err != nil {
		return nil, err
	}
	daemon, err1 := exec.LookPath("mariadbd")
	install, err2 := exec.LookPath("mariadb-install-db")
	if err1 != nil || err2 != nil {
		return nil, errNoMariaDB
	}
	who, err := user.Current()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "maria")
	if out, err := exec.CommandContext(ctx, install, "--no-defaults", "--datadir="+data, "--user="+who.Username,
		"--auth-root-authentication-method=normal", "--skip-test-db").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mariadb-install-db: %w: %s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &mariaDB{address: l.Addr().String(), exited: make(chan error, 1)}
	_, port, err := net.SplitHostPort(m.address)
	if err := errors.Join(err, l.Close()); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "maria.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	// Text is compared as topics' text is: byte by byte, and spaces at the end count. Materialised subqueries lose the NULLs
	// among their rows where the other side is of a wider type.
	m.process = exec.Command(daemon, "--no-defaults", "--datadir="+data, "--user="+who.Username, "--bind-address=127.0.0.1", "--port="+port,
		"--socket="+filepath.Join(dir, "s"), "--pid-file="+filepath.Join(dir, "pid"), "--character-set-server=utf8mb4", "--collation-server=utf8mb4_nopad_bin",
		"--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=64M", "--default-storage-engine=MyISAM",
		"--sql-mode=STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION", "--group-concat-max-len=1048576",
		"--join-cache-level=8", "--optimizer-switch=materialization=off", "--max-statement-time=20")
	m.process.Stdout, m.process.Stderr = log, log
	if err := m.process.Start(); err != nil {
		return nil, err
	}
	go func() { m.exited <- m.process.Wait() }()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", m.address)
		if err == nil {
			return m, c.Close()
		}
		select {
		case err := <-m.exited:
			return nil, fmt.Errorf("mariadbd stopped, see %s: %w", log.Name(), err)
		default:
		}
		if time.Now().After(deadline) {
			m.stop()
			return nil, fmt.Errorf("mariadbd does not listen, see %s", log.Name())
		}
	}
}

// session is a connection to a database of its own.
func (m *mariaDB) session(ctx context.Context, database string) (*sql.DB, error) {
	db, err := sql.Open("mysql", "root@tcp("+m.address+")/?charset=utf8mb4&collation_connection=utf8mb4_nopad_bin&time_zone=%27%2B00%3A00%27")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	for _, s := range []string{"CREATE OR REPLACE DATABASE " + database + " COLLATE utf8mb4_nopad_bin", "USE " + database} {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}

func (m *mariaDB) stop() {
	_ = m.process.Process.Signal(syscall.SIGTERM)
	select {
	case <-m.exited:
	case <-time.After(20 * time.Second):
		_ = m.process.Process.Kill()
		<-m.exited
	}
}
