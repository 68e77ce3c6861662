package catalog

import (
	"maps"
	"slices"
	"strings"
)

// ConfigsText words explicitly set configs as the COMMENT of CREATE TABLE holds them, in the order of their names; columns and
// collation are left out, for they have places of their own.
func ConfigsText(configs map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(configs)) {
		if name == ConfigColumns || name == ConfigCollation {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(name + "=" + configs[name])
	}
	return b.String()
}
