package console_test

import (
	"net/http"
	"testing"

	"millrace/internal/testkit"
	"millrace/server/auth"
)

func TestMetricsAndProfilesAreForAdministrators(t *testing.T) {
	s := testkit.Server(t)
	get := func(path, user, password string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.HTTPAddr()+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if user != "" {
			req.SetBasicAuth(user, password)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	private := []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/goroutine", "/debug/pprof/cmdline"}
	for _, path := range private[:4] {
		if got := get(path, "", ""); got != http.StatusOK {
			t.Errorf("%s without users: %d", path, got)
		}
	}
	users := auth.New(s.Store)
	for _, name := range []string{"admin", "other", "strict"} {
		if err := users.AddUser(name, "pw"); err != nil {
			t.Fatal(err)
		}
	}
	require := auth.RequireTLS
	if err := users.SetAdministrator("strict", true); err != nil {
		t.Fatal(err)
	}
	if err := users.AlterAccount("strict", auth.Change{Require: &require}); err != nil {
		t.Fatal(err)
	}
	if got := get("/health", "", ""); got != http.StatusOK {
		t.Errorf("/health: %d", got)
	}
	for _, path := range private {
		for _, who := range [][2]string{{"", ""}, {"other", "pw"}, {"admin", "wrong"}, {"nobody", "pw"}, {"strict", "pw"}} {
			if got := get(path, who[0], who[1]); got != http.StatusUnauthorized {
				t.Errorf("%s for %q: %d", path, who[0], got)
			}
		}
	}
	if got := get("/metrics", "admin", "pw"); got != http.StatusOK {
		t.Errorf("/metrics for the administrator: %d", got)
	}
}
