package catalog

import "testing"

// FuzzParseColumns: declarations that are taken are written and read back as the same.
func FuzzParseColumns(f *testing.F) {
	for _, s := range []string{
		"", "a BIGINT", "order_id BIGINT, amount DECIMAL(10,2) AS (_value->>'$.payment.amount')",
		"at DATETIME(3) AS (FROM_UNIXTIME(_value->>'$.ts' / 1000))", "`odd ``name` VARCHAR(20) COMMENT 'x'",
		"a JSON AS (JSON_EXTRACT(_value, '$.a.\"b c\"')), b DOUBLE, c TEXT", "a INT UNSIGNED NOT NULL", "a INT) ENGINE=x; DROP TABLE t; (",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, ddl string) {
		if len(ddl) > 4096 {
			return // configs are longer, but the parser is what is tested
		}
		cols, err := ParseColumns(ddl)
		if err != nil {
			return
		}
		text := FormatColumns(cols)
		again, err := ParseColumns(text)
		if err != nil {
			t.Fatalf("%q is taken, but not its own form %q: %v", ddl, text, err)
		}
		if back := FormatColumns(again); back != text || len(again) != len(cols) {
			t.Fatalf("%q becomes %q, then %q", ddl, text, back)
		}
	})
}
