package pushdown_test

import (
	"context"
	"errors"
	"testing"

	"millrace/pushdown"
)

// The functions' answers are tested where all of them are at hand, in server/mysql.

func TestPeersOfWindowsAreEqualByAllKeysAndByValue(t *testing.T) {
	b := newBench(t)
	id := b.topic("p", 1, map[string]string{"millrace.columns": "n DECIMAL(9,2), a INT, s VARCHAR(9)"})
	b.values(id, 0, `{"n":1.5,"a":2,"s":"x"}`, `{"n":"1.50","a":1,"s":"X"}`, `{"n":2,"a":1}`, `{"a":7}`, `{"n":1.5,"a":1,"s":"x"}`)
	b.want("SELECT _offset, RANK() OVER (ORDER BY n), COUNT(*) OVER (ORDER BY n, a), MIN(a) OVER (ORDER BY n DESC), COUNT(*) OVER (PARTITION BY s) FROM p ORDER BY _offset",
		"0,2,4,1,2", "1,2,3,1,1", "2,5,5,1,2", "3,1,1,1,2", "4,2,3,1,2")
}

func TestWindowsAskWhetherThereIsMemoryForEachRow(t *testing.T) {
	b := newBench(t)
	b.values(b.topic("m", 1, nil), 0, `{"a":1}`, `{"a":2}`, `{"a":3}`)
	full := errors.New("full")
	rows := 0
	b.engine.Analyzer.ExecBuilder = pushdown.NewBuilder(pushdown.Options{Full: func(context.Context) error {
		if rows++; rows > 2 {
			return full
		}
		return nil
	}})
	if _, err := b.query(false, "SELECT SUM(a) OVER (ORDER BY a) FROM m"); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}
