package main

import "regexp"

// known are where MariaDB answers otherwise for good, by its or our error or by the query. Where whole functions differ,
// package sqlgen does not draw them, and says why; docs/sql.md tells of both.
var known = []struct {
	match *regexp.Regexp
	why   string
}{
	{regexp.MustCompile(`Incorrect datetime value`), "MySQL refuses to compare a date with text that is none; MariaDB warns"},
	{regexp.MustCompile(`Illegal mix of collations`), "MariaDB gives the text of JSON functions a collation of its own"},
	{regexp.MustCompile(`in 'ORDER BY'`), "MariaDB looks for a column named by a negative constant; MySQL ignores constants"},
	{regexp.MustCompile(`ORDER BY (?:.*, )?-\(-\d+\)(?: ASC| DESC)?(?:,|$| LIMIT)`), "MariaDB takes -(-3) in ORDER BY for the position 3; to MySQL it is a constant"},
	{regexp.MustCompile(`Unknown column '\d+'`), "MariaDB takes a position beyond 2^32 in ORDER BY for a constant; MySQL knows no such column"},
	{regexp.MustCompile(`[-+*/] \(SELECT AVG\(`), "an average of a subquery is rounded to its digits before it is computed with; MySQL computes with all that it has"},
	{regexp.MustCompile(`out of range`), "whether a branch that is not taken or a row that is filtered overflows depends on the order of evaluation"},
}

// listed is why two answers may differ; "": they may not.
func listed(query string, answers ...answer) string {
	for _, k := range known {
		if k.match.MatchString(query) {
			return k.why
		}
		for _, a := range answers {
			if a.err != nil && k.match.MatchString(a.err.Error()) {
				return k.why
			}
		}
	}
	return ""
}
