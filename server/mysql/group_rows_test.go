package mysql

import "testing"

// Two texts with one 64-bit xxHash, by which the engine would group.
const (
	collides     = "6r9y56bi........................s77wyr18........................"
	collidesWith = "1012qa2r........................QzwHz58r........................"
)

func TestGroupsAreTheirValuesAndNotTheirHashes(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "s VARCHAR(100), d DECIMAL(9,3), f DOUBLE, n INT"},
		`{"s":"`+collides+`","d":"1.5","f":0,"n":1}`, `{"s":"`+collidesWith+`","d":"1.500","f":-0.0,"n":2}`, `{"s":"`+collides+`","n":4}`)
	cases{
		{"SELECT LEFT(s,2), SUM(n) FROM t GROUP BY s ORDER BY 2", "10,2 / 6r,5"},
		{"SELECT JSON_ARRAYAGG(n) FROM t GROUP BY s, n IS NULL ORDER BY COUNT(*)", "[2] / [1, 4]"},
		{"SELECT d, JSON_ARRAYAGG(n) FROM t GROUP BY d ORDER BY d", "NULL,[4] / 1.500,[1, 2]"},
		{"SELECT f + 0, COUNT(*) FROM t GROUP BY f ORDER BY f", "NULL,1 / 0,2"},
		{"SELECT COUNT(*) FROM (SELECT s, n > 9 FROM t GROUP BY s, n > 9) x", "2"},
		{"SELECT s, MAX(n) FROM t WHERE n > 9 GROUP BY s", ""},
	}.check(t, in)
}
