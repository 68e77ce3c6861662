package catalog

import (
	"encoding/json"
	"fmt"
	"strings"

	"millrace/blobexpand"
	"millrace/blobexpand/jsonval"
)

// droppedConfig is the topic config that keeps the paths of dropped columns.
const droppedConfig = "millrace.columns.dropped"

// ParseDropped reads millrace.columns.dropped: a JSON array of paths of members, «["$.a.b"]»; the empty text is none.
// Errors wrap ErrColumns.
func ParseDropped(text string) ([][]string, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var paths []string
	if err := json.Unmarshal([]byte(text), &paths); err != nil {
		return nil, fmt.Errorf("%w: a JSON array of paths is needed: %w", ErrColumns, err)
	}
	if len(paths) > blobexpand.MaxColumns {
		return nil, fmt.Errorf("%w: more than %d paths", ErrColumns, blobexpand.MaxColumns)
	}
	out := make([][]string, 0, len(paths))
	for _, p := range paths {
		parsed, err := jsonval.ParsePath(p)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrColumns, err)
		}
		members, ok := parsed.Members()
		if !ok || len(members) == 0 {
			return nil, fmt.Errorf("%w: path %s: only members can be columns", ErrColumns, p)
		}
		out = append(out, members)
	}
	return out, nil
}

// FormatDropped is the inverse of ParseDropped.
func FormatDropped(paths [][]string) string {
	if len(paths) == 0 {
		return ""
	}
	var b strings.Builder
	for i, p := range paths {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(jsonval.AppendQuoted(nil, jsonval.MemberPath(p).String()))
	}
	return "[" + b.String() + "]"
}
