package config

import (
	"fmt"
	"math"
	"net"
	"net/url"
	"strconv"
	"strings"

	"millrace/server"
)

// ByteSize is a number of bytes, written 1048576, 1MiB, 512K or 2GB. One letter
// and the -iB forms are powers of 1024, kB/MB/GB/TB powers of 1000.
type ByteSize int64

var sizeUnits = map[string]int64{
	"": 1, "b": 1,
	"k": 1 << 10, "kib": 1 << 10, "kb": 1e3,
	"m": 1 << 20, "mib": 1 << 20, "mb": 1e6,
	"g": 1 << 30, "gib": 1 << 30, "gb": 1e9,
	"t": 1 << 40, "tib": 1 << 40, "tb": 1e12,
}

func (b *ByteSize) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	unit, ok := sizeUnits[strings.ToLower(strings.TrimSpace(s[len(digits):]))]
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n < 0 || n > math.MaxInt64/unit {
		return fmt.Errorf("%q is not a size such as 64MiB", s)
	}
	*b = ByteSize(n * unit)
	return nil
}

// String is the shortest spelling in powers of 1024.
func (b ByteSize) String() string {
	for _, u := range []struct {
		name string
		size ByteSize
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if b >= u.size && b%u.size == 0 {
			return strconv.FormatInt(int64(b/u.size), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// Listener is a server.Listener written as
//
//	[SECURITY://]HOST:PORT[?advertised=HOST:PORT&name=NAME]
//
// with SECURITY one of plaintext (the default), tls, mtls, sasl, sasl+tls.
type Listener server.Listener

func (l *Listener) UnmarshalText(text []byte) error {
	s := string(text)
	var n Listener
	if scheme, rest, ok := strings.Cut(s, "://"); ok {
		switch strings.ToLower(scheme) {
		case "plaintext":
		case "tls", "ssl":
			n.TLS = true
		case "mtls":
			n.TLS, n.Certificate = true, true
		case "sasl", "sasl_plaintext":
			n.SASL = true
		case "sasl+tls", "tls+sasl", "sasl_ssl":
			n.TLS, n.SASL = true, true
		default:
			return fmt.Errorf("listener %q: %q is none of plaintext, tls, mtls, sasl, sasl+tls", text, scheme)
		}
		s = rest
	}
	s, query, _ := strings.Cut(s, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return fmt.Errorf("listener %q: %w", text, err)
	}
	for key, v := range values {
		switch key {
		case "advertised":
			n.Advertised = v[len(v)-1]
		case "name":
			n.Name = v[len(v)-1]
		default:
			return fmt.Errorf("listener %q: unknown option %q (there are advertised and name)", text, key)
		}
	}
	n.Address = s
	if err := checkAddress(n.Address); err != nil {
		return fmt.Errorf("listener %q: %w", text, err)
	}
	if n.Advertised != "" {
		if err := checkAddress(n.Advertised); err != nil {
			return fmt.Errorf("listener %q, advertised address: %w", text, err)
		}
	}
	*l = n
	return nil
}

// MySQLListener is written as [SECURITY://]HOST:PORT, with SECURITY one of plaintext (the default), tls, mtls; empty for none.
type MySQLListener struct {
	Address  string
	Security server.Security
}

func (l *MySQLListener) UnmarshalText(text []byte) error {
	n := MySQLListener{Address: string(text)}
	if scheme, rest, ok := strings.Cut(n.Address, "://"); ok {
		switch strings.ToLower(scheme) {
		case "plaintext":
		case "tls", "ssl":
			n.Security = server.SecurityTLS
		case "mtls":
			n.Security = server.SecurityCertificate
		default:
			return fmt.Errorf("MySQL listener %q: %q is none of plaintext, tls, mtls", text, scheme)
		}
		n.Address = rest
	}
	if n != (MySQLListener{}) {
		if err := checkAddress(n.Address); err != nil {
			return fmt.Errorf("MySQL listener %q: %w", text, err)
		}
	}
	*l = n
	return nil
}

// String is what UnmarshalText reads.
func (l MySQLListener) String() string {
	switch l.Security {
	case server.SecurityTLS:
		return "tls://" + l.Address
	case server.SecurityCertificate:
		return "mtls://" + l.Address
	default:
		return l.Address
	}
}

func checkAddress(a string) error {
	_, port, err := net.SplitHostPort(a)
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("port %q is not a number from 0 to 65535", port)
	}
	return nil
}

// String is what UnmarshalText reads.
func (l Listener) String() string {
	s := l.Address
	switch {
	case l.TLS && l.SASL:
		s = "sasl+tls://" + s
	case l.Certificate:
		s = "mtls://" + s
	case l.TLS:
		s = "tls://" + s
	case l.SASL:
		s = "sasl://" + s
	}
	q := url.Values{}
	if l.Advertised != "" {
		q.Set("advertised", l.Advertised)
	}
	if l.Name != "" {
		q.Set("name", l.Name)
	}
	if len(q) > 0 {
		s += "?" + q.Encode()
	}
	return s
}
