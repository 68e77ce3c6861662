package catalog

import (
	"strings"

	"millrace/blobexpand"
	"millrace/blobexpand/jsonval"
)

// FormatColumns is the inverse of ParseColumns.
func FormatColumns(cols []blobexpand.Column) string {
	var b strings.Builder
	for i, c := range cols {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(FormatColumn(c))
	}
	return b.String()
}

// FormatColumn words one declaration.
func FormatColumn(c blobexpand.Column) string {
	s := quoteName(c.Name) + " " + c.Type.String()
	if from := GeneratedFrom(c); from != "" {
		s += " AS (" + from + ")"
	}
	if c.Comment != "" {
		s += " COMMENT " + quoteText(c.Comment)
	}
	return s
}

// GeneratedFrom is the expression of a column that reads something else than the member of its name; "" of one
// that does not.
func GeneratedFrom(c blobexpand.Column) string {
	if len(c.Path) == 1 && c.Path[0] == c.Name && c.Type.Epoch == blobexpand.NoEpoch {
		return ""
	}
	path := "_value->>" + quoteText(jsonval.MemberPath(c.Path).String())
	switch c.Type.Epoch {
	case blobexpand.EpochSeconds:
		path = "FROM_UNIXTIME(" + path + ")"
	case blobexpand.EpochMillis:
		path = "FROM_UNIXTIME(" + path + "/1000)"
	case blobexpand.EpochMicros:
		path = "FROM_UNIXTIME(" + path + "/1000000)"
	case blobexpand.EpochNanos:
		path = "FROM_UNIXTIME(" + path + "/1000000000)"
	}
	return path
}

func quoteName(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

func quoteText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''", "\x00", `\0`).Replace(s) + "'"
}
