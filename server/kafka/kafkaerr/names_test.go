package kafkaerr

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
)

func TestErrorNamesAreKafkas(t *testing.T) {
	for code, name := range errorNames {
		if code == NotLeaderOrFollower {
			continue // renamed since
		}
		if e := kerr.TypedErrorForCode(code); e == nil || e.Message != name {
			t.Errorf("%d: %s, %v", code, name, e)
		}
	}
	for _, entry := range errorTable {
		if errorNames[entry.code] == "" {
			t.Errorf("%d has no name", entry.code)
		}
	}
}
