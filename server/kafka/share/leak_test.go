package share

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain wants every goroutine that the tests started to have ended.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
