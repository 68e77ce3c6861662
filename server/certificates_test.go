package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writePair writes a self-signed certificate of this name.
func writePair(t *testing.T, dir, name string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "cert.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	write(t, filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

var writes int

// write gives each file a time of its own, however coarse the file system's are.
func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	writes++
	at := time.Now().Add(time.Duration(writes) * time.Minute)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestChangedCertificatesAreUsedWithoutARestart(t *testing.T) {
	dir := t.TempDir()
	var log strings.Builder
	o := Options{TLSCert: filepath.Join(dir, "cert.pem"), TLSKey: filepath.Join(dir, "key.pem"), Logger: slog.New(slog.NewTextHandler(&log, nil))}
	if _, err := newCertificates(o); err == nil {
		t.Fatal("started without the files")
	}
	writePair(t, dir, "one")
	c, err := newCertificates(o)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	c.now = func() time.Time { return now }
	served := func() string {
		t.Helper()
		config, err := c.config(false).GetConfigForClient(nil)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(config.Certificates[0].Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return leaf.Subject.CommonName
	}
	writePair(t, dir, "two")
	if got := served(); got != "one" {
		t.Fatalf("looked at the files again at once, and serves %s", got)
	}
	now = now.Add(certificateCheck)
	if got := served(); got != "two" {
		t.Fatalf("serves %s", got)
	}
	// Half written, damaged, gone: what there was stays.
	write(t, o.TLSKey, []byte("half"))
	now = now.Add(certificateCheck)
	if got := served(); got != "two" || !strings.Contains(log.String(), "cannot be used") {
		t.Fatalf("serves %s: %s", got, log.String())
	}
	lines := strings.Count(log.String(), "\n")
	now = now.Add(certificateCheck)
	if served(); strings.Count(log.String(), "\n") != lines {
		t.Fatal("said again what was said")
	}
	if err := os.Remove(o.TLSKey); err != nil {
		t.Fatal(err)
	}
	now = now.Add(certificateCheck)
	if got := served(); got != "two" {
		t.Fatalf("serves %s", got)
	}
	writePair(t, dir, "three")
	now = now.Add(certificateCheck)
	if got := served(); got != "three" {
		t.Fatalf("serves %s", got)
	}
}
