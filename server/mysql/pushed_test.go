package mysql

import (
	flags "flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var updateDocs = flags.Bool("update", false, "write docs/sql-pushdown.md anew")

// constructs are what docs/sql-pushdown.md tells of, each by an example.
var constructs = []struct {
	title   string
	queries []string
}{
	{"Reading and filters", []string{
		"SELECT * FROM ev",
		"SELECT i FROM ev WHERE i=5 AND k<>3 OR d>=1.5",
		"SELECT i FROM ev WHERE s IN ('a','b') AND k NOT IN (1,NULL)",
		"SELECT i FROM ev WHERE s LIKE '%some%' AND w NOT LIKE 'w1_'",
		"SELECT i FROM ev WHERE i BETWEEN 1 AND 7 AND f IS NOT NULL",
		"SELECT i FROM ev WHERE k<=>NULL XOR b",
		"SELECT i FROM ev WHERE _timestamp>=NOW()-INTERVAL 1 HOUR",
		"SELECT i FROM ev WHERE dt<'2024-06-01' AND da='2024-02-29'",
		"SELECT i FROM ev WHERE e='small'",
		"SELECT i FROM ev WHERE s REGEXP '^a'",
		"SELECT i FROM ev WHERE s=7",
		"SELECT i FROM ev WHERE LPAD(w,k,'x')='w1'",
		"SELECT _value,_headers,_error FROM ev",
		"SELECT * FROM `ev$errors`",
		"SELECT * FROM `ev$raw`",
		"SELECT * FROM `ev$latest`",
	}},
	{"Expressions", []string{
		"SELECT k+1,n*k,d*1.5,f/2,i DIV 60,i%10 FROM ev WHERE k<10",
		"SELECT i/2 FROM ev",
		"SELECT k/n FROM ev",
		"SELECT CASE WHEN k>1 THEN 'x' ELSE s END,IF(b,k,0),IFNULL(d,0),COALESCE(s,w,'?'),NULLIF(k,1) FROM ev",
		"SELECT CONCAT(w,'-',s),UPPER(s),LENGTH(s),SUBSTRING(s,2,3) FROM ev",
		"SELECT ROUND(f,1),ABS(i),FLOOR(f) FROM ev WHERE i>0",
		"SELECT ROUND(d,1) FROM ev",
		"SELECT HOUR(FROM_UNIXTIME(i/1000)),i DIV 60000,i-i%60000,FLOOR(i/1000) FROM ev",
		"SELECT YEAR(dt),HOUR(_timestamp),DATE(t),DATE_FORMAT(_timestamp,'%H:%i') FROM ev",
		"SELECT DATE_ADD(dt,INTERVAL 1 DAY) FROM ev",
		"SELECT JSON_EXTRACT(_value,'$.p') FROM ev",
		"SELECT CAST(s AS SIGNED),CAST(i AS CHAR) FROM ev",
		"SELECT TIMESTAMPDIFF(SECOND,dt,t) FROM ev",
	}},
	{"Groups and aggregates", []string{
		"SELECT COUNT(*),COUNT(s),MIN(i),MAX(d),SUM(i),AVG(d) FROM ev",
		"SELECT w,COUNT(DISTINCT s),SUM(DISTINCT k),STDDEV(f),VARIANCE(k) FROM ev GROUP BY w",
		"SELECT w,GROUP_CONCAT(DISTINCT s ORDER BY s SEPARATOR '|') FROM ev GROUP BY w",
		"SELECT BIT_OR(u) FROM ev",
		"SELECT BIT_OR(k) FROM ev",
		"SELECT DATE_FORMAT(_timestamp,'%Y-%m-%d %H:%i') m,COUNT(*) FROM ev GROUP BY m ORDER BY m",
		"SELECT UNIX_TIMESTAMP(_timestamp) DIV 60*60 m,w,SUM(k) FROM ev GROUP BY m,w HAVING SUM(k)>1",
		"SELECT k%3 g,SUM(CASE WHEN b THEN d ELSE 0 END) FROM ev GROUP BY g",
		"SELECT w,SUM(k)/COUNT(*) FROM ev GROUP BY w",
		"SELECT COUNT(DISTINCT s,w) FROM ev",
		"SELECT JSON_ARRAYAGG(s) FROM ev",
		"SELECT DISTINCT s,k FROM ev",
		"SELECT _partition,COUNT(*),MAX(_offset) FROM ev GROUP BY _partition",
	}},
	{"Order, limits, several tables", []string{
		"SELECT i,s FROM ev ORDER BY k DESC,s LIMIT 10 OFFSET 2",
		"SELECT * FROM ev ORDER BY f",
		"SELECT i FROM ev LIMIT 100",
		"SELECT x.w,COUNT(*) FROM (SELECT w,k FROM ev WHERE k>1) x GROUP BY x.w",
		"WITH q AS (SELECT w,SUM(k) n FROM ev GROUP BY w) SELECT MAX(n) FROM q",
		"SELECT i FROM ev UNION ALL SELECT i FROM auto",
		"SELECT w FROM ev UNION SELECT w FROM auto",
		"SELECT l.w,r.s FROM ev l JOIN auto r ON l.k=r.k AND l.i>r.i",
		"SELECT l.w,r.s FROM ev l LEFT JOIN auto r ON l.w=r.w",
		"SELECT w FROM ev l WHERE EXISTS (SELECT 1 FROM auto r WHERE r.w=l.w)",
		"SELECT w FROM ev WHERE k IN (SELECT k FROM auto)",
		"SELECT w FROM ev WHERE k NOT IN (SELECT k FROM auto)",
		"SELECT w FROM ev WHERE (k,w) NOT IN (SELECT k,w FROM auto)",
		"SELECT w FROM ev l WHERE NOT EXISTS (SELECT 1 FROM auto r WHERE r.w=l.w AND r.n>l.n)",
		"SELECT w FROM ev l WHERE k=1 OR EXISTS (SELECT 1 FROM auto r WHERE r.w=l.w)",
		"SELECT w,(SELECT MAX(i) FROM auto r WHERE r.w=l.w) FROM ev l",
		"SELECT w,k IN (SELECT k FROM auto) FROM ev",
		"SELECT COUNT(*) FROM ev CROSS JOIN auto",
		"SELECT l.i FROM ev l JOIN auto r ON l.i<r.i",
		"SELECT w,ROW_NUMBER() OVER (PARTITION BY w ORDER BY k),RANK() OVER (ORDER BY i) FROM ev",
		"SELECT LAG(i) OVER (PARTITION BY w ORDER BY k),LEAD(s,2) OVER (ORDER BY i),FIRST_VALUE(i) OVER (PARTITION BY w ORDER BY k) FROM ev",
		"SELECT SUM(k) OVER (PARTITION BY w ORDER BY i),AVG(k) OVER (PARTITION BY w),COUNT(*) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM ev",
		"SELECT LAST_VALUE(k) OVER (PARTITION BY w ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM ev",
		"SELECT SUM(k) OVER (ORDER BY i ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) FROM ev",
		"SELECT PERCENT_RANK() OVER (ORDER BY i),NTILE(4) OVER (ORDER BY i) FROM ev",
	}},
}

const pushdownDocs = "../../docs/sql-pushdown.md"

// What is carried out in columns is written down in docs/sql-pushdown.md, and gives the same answer as rows.
func TestWhatIsPushedIsDocumented(t *testing.T) {
	g := generator{newRand(3)}
	in := start(t, nil)
	in.mixedTopic("ev", map[string]string{"millrace.columns": differentialColumns}, g.Rand, 120, g.event)
	in.mixedTopic("auto", nil, g.Rand, 40, g.event)
	on, off := in.open("app", "", ""), in.open("app", "", "")
	if _, err := off.Exec("SET millrace_pushdown=0"); err != nil {
		t.Fatal(err)
	}
	var doc strings.Builder
	doc.WriteString(`# What SQL carries out in columns

A statement over topics is carried out by the vectorised engine as far as every part of it means exactly
the same there: in whole («columns»), in part («mixed»: the row engine goes on from what columns
give), or row by row («rows»). The answer is the same in each case; ` + "`SET millrace_pushdown=0`" + ` makes every statement
go row by row. ` + "`EXPLAIN`" + ` shows what is carried out in columns, and why something is not;
` + "`EXPLAIN ANALYZE`" + ` what each operator did; ` + "`millrace.statements`" + ` how often which statement was not
carried out in columns as a whole, and the last reason. Counts from partition bounds, the newest rows and small limits are read directly.

A subquery that is one value for all rows is computed first, and is a constant then; EXPLAIN does not compute it and shows
the comparison as one that stays with the row engine.

Any other function of one column that depends on nothing else is computed by the row engine's own
expression, once for each distinct value: it counts as columns.

Blocks all of whose rows the statement sees are answered without them where what is kept of each block will do («answered by synopses» in
EXPLAIN ANALYZE): counts, sums and bounds of whole columns, and, by one column of at most 64 values (or conditions on it, expressions of it, columns that an
equality with it joins), counts of rows, and COUNT, SUM, AVG, MIN and MAX of columns of integers and decimals.

This page is written by a test (` + "`go test ./server/mysql -run Documented -update`" + `).
`)
	for _, c := range constructs {
		fmt.Fprintf(&doc, "\n## %s\n\n| statement | carried out in | else the reason |\n|---|---|---|\n", c.title)
		for _, q := range c.queries {
			got, onErr := table(t, on, q)
			want, offErr := table(t, off, q)
			if onErr != nil || offErr != nil || !sameRows(sorted(got), sorted(want)) {
				t.Errorf("%s\n columns %v %v\n rows    %v %v", q, got, onErr, want, offErr)
			}
			lines, err := table(t, on, "EXPLAIN "+q)
			if err != nil {
				t.Fatal(err)
			}
			by, reason := "rows", ""
			for i, l := range lines {
				switch {
				case l[0] == "In columns:" && i == 0:
					by = "columns"
				case l[0] == "In columns:" && by == "rows":
					by = "mixed"
				case strings.HasPrefix(l[0], "Not in columns: ") && reason == "":
					reason = strings.TrimPrefix(l[0], "Not in columns: ")
				}
			}
			fmt.Fprintf(&doc, "| `` %s `` | %s | %s |\n", strings.ReplaceAll(q, "|", "\\|"), by, strings.ReplaceAll(reason, "|", "\\|"))
		}
	}
	if *updateDocs {
		if err := os.WriteFile(pushdownDocs, []byte(doc.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have, err := os.ReadFile(pushdownDocs); err != nil || string(have) != doc.String() {
		t.Errorf("%s is not what is true (%v); write it with -update and read what changed", pushdownDocs, err)
	}
}
