package pushdown_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"millrace/store/state"
)

func TestLatestIsTheTableOfAKeyedTopic(t *testing.T) {
	b := newBench(t)
	id := b.topic("runners", 2, nil)
	b.produce(id, 0, record{key: "tommy", value: `{"laps":3}`}, record{key: "ann", value: `{"laps":9}`}, record{value: `{"laps":100}`})
	b.produce(id, 1, record{key: "bob", value: `{"laps":1}`})
	b.produce(id, 0, record{key: "tommy", value: `{"laps":2}`})
	b.want("SELECT _key, laps, _offset FROM `runners$latest` WHERE _key = 'tommy'", "tommy,2,3")
	b.want("SELECT _partition, _offset, _key, laps FROM `runners$latest` ORDER BY _partition, _offset", "0,1,ann,9", "0,3,tommy,2", "1,0,bob,1")
	b.want("SELECT COUNT(*), SUM(laps), MAX(_offset) FROM `runners$latest`", "3,12,3")
	b.want("SELECT _partition, COUNT(*) FROM `runners$latest` GROUP BY _partition ORDER BY 1", "0,2", "1,1")
	// A filter is about the newest record.
	b.want("SELECT COUNT(*) FROM `runners$latest` WHERE laps = 3", "0")
	b.want("SELECT laps FROM `runners$latest` WHERE laps >= 3", "9")
	b.want("SELECT laps FROM `runners$latest` WHERE _partition = 0 AND _offset < 1")
	b.want("SELECT l.laps FROM `runners$latest` l JOIN runners r ON r._key = l._key AND r.laps = 3", "2")
	b.want("SELECT _key FROM `runners$latest` WHERE _partition = 0 ORDER BY _offset DESC LIMIT 1", "tommy")
	b.produce(id, 0, record{key: "tommy", noValue: true})
	b.want("SELECT _key, laps FROM `runners$latest` WHERE _key = 'tommy'")
	b.want("SELECT COUNT(*) FROM `runners$latest`", "2")
	b.want("SELECT COUNT(*) FROM runners WHERE _key = 'tommy'", "3")
}

func TestLatestLooksAtCommittedRecordsOnly(t *testing.T) {
	b := newBench(t)
	id := b.topic("t", 1, map[string]string{"cleanup.policy": "compact"})
	tp := state.TopicPartition{Topic: id}
	b.produce(id, 0, record{key: "k", value: `{"x":1}`})
	open, gone := b.transactor("open"), b.transactor("gone")
	open.keyed(tp, "k", `{"x":2}`)
	gone.keyed(tp, "k", `{"x":3}`)
	b.want("SELECT x FROM `t$latest`", "1")
	gone.end(false)
	b.want("SELECT x FROM `t$latest`", "1")
	open.end(true)
	b.want("SELECT x FROM `t$latest`", "2")
	if err := b.store.Compact(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	b.want("SELECT x FROM `t$latest`", "2")
	b.produce(id, 0, record{key: "k", value: `{"x":4}`})
	b.want("SELECT x FROM `t$latest`", "4")
}

func TestCompanionsAreDescribedAndNotListed(t *testing.T) {
	b := newBench(t)
	id := b.topic("orders", 1, nil)
	b.produce(id, 0, record{key: "k", value: `{"x":1}`})
	for _, name := range []string{"orders$latest", "orders$raw", "orders$errors"} {
		rows, err := b.query(true, "DESCRIBE `"+name+"`")
		if err != nil || len(rows) < 6 {
			t.Errorf("%s: %q, %v", name, rows, err)
		}
		if name == "orders$latest" {
			topic, err := b.query(true, "DESCRIBE orders")
			if err != nil || fmt.Sprint(topic) != fmt.Sprint(rows) {
				t.Errorf("the topic has %q, its latest rows have %q, %v", topic, rows, err)
			}
		}
	}
	if rows, err := b.query(true, "SHOW TABLES"); err != nil || len(rows) != 1 {
		t.Error(rows, err)
	}
	for _, name := range []string{"orders$newest", "orders$", "orders$latest$raw", "none$latest"} {
		if _, err := b.query(true, "SELECT * FROM `"+name+"`"); err == nil {
			t.Error(name, "is a table")
		}
	}
	if text := b.explain("SELECT * FROM `orders$latest` WHERE x = 1"); !strings.Contains(text, "rows: the newest of each key") || !strings.Contains(text, "batches: 1 of 1") {
		t.Error(text)
	}
}
