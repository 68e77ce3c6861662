// Package console is the HTTP side: health, metrics and profiles.
package console

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"millrace/server/auth"
	"millrace/store"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Options of a console; all fields are required.
type Options struct {
	Address  string // host:port
	Store    *store.Store
	Auth     *auth.Service
	Gatherer prometheus.Gatherer
	Logger   *slog.Logger
}

// Console serves until Close.
type Console struct {
	server   *http.Server
	listener net.Listener
	served   chan struct{}
}

// maxAnswer is how long an answer may take, profiles of some minutes included: who does not read it is let go.
const maxAnswer = 10 * time.Minute

// Serve listens and serves in the background.
//
//	GET /health         200 while the log takes appends, else 503; open to all
//	GET /metrics        Prometheus
//	GET /debug/pprof/   profiles
//
// Once a user exists, all but /health ask for an administrator's password.
func Serve(o Options) (*Console, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		if !o.Store.Stats().Healthy {
			http.Error(w, "the log takes no appends", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n"))
	})
	private := http.NewServeMux()
	private.Handle("GET /metrics", promhttp.HandlerFor(o.Gatherer, promhttp.HandlerOpts{}))
	private.HandleFunc("GET /debug/pprof/", pprof.Index)
	private.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	private.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	private.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.Handle("/", administrators(o.Auth, private))

	l, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, err
	}
	c := &Console{
		server: &http.Server{
			Handler:           mux,
			ReadHeaderTimeout: 10 * time.Second,
			ReadTimeout:       time.Minute,
			WriteTimeout:      maxAnswer,
			IdleTimeout:       time.Minute,
			MaxHeaderBytes:    64 << 10,
			ErrorLog:          slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
		},
		listener: l,
		served:   make(chan struct{}),
	}
	go func() {
		defer close(c.served)
		if err := c.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			o.Logger.Error("console stopped", "error", err)
		}
	}()
	return c, nil
}

// Addr is where it listens.
func (c *Console) Addr() net.Addr { return c.listener.Addr() }

// Close waits a little for running requests, then cuts them off.
func (c *Console) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := c.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = c.server.Close()
	}
	<-c.served
	return err
}

// administrators lets everyone through while no user exists (the listener is on
// loopback then), later only administrators.
func administrators(a *auth.Service, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !a.Open() {
			name, password, _ := r.BasicAuth()
			p, err := a.CheckPassword(name, password)
			if err != nil || a.Admit(p.Name, auth.Transport{}) != nil || !a.Authorize(p, auth.Admin, auth.Resource{Type: auth.Cluster}) {
				w.Header().Set("WWW-Authenticate", `Basic realm="millrace"`)
				http.Error(w, "an administrator's name and password, please", http.StatusUnauthorized)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
