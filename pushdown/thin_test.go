package pushdown_test

import "testing"

func TestATopicIsATableAtOnce(t *testing.T) {
	b := newBench(t)
	id := b.topic("clicks", 2, nil)
	b.values(id, 0, `{"a":1,"s":"x"}`, `{"a":2}`)
	b.values(id, 1, `{"a":3,"b":{"c":1.5}}`)
	b.want("SELECT _partition,_offset,a,s,`b.c` FROM clicks",
		"0,0,1,x,NULL", "0,1,2,NULL,NULL", "1,0,3,NULL,1.5")
	b.want("SELECT COUNT(*) FROM clicks", "3")
	b.want("SELECT * FROM clicks WHERE _partition=1 AND _offset=0",
		`1,0,2023-11-14 22:13:20,NULL,{},{"a":3,"b":{"c":1.5}},NULL,3,NULL,1.5`)
	t.Log(b.explain("SELECT a FROM clicks WHERE _partition=1 AND s<>'a' AND a+1=4"))
}
