package configs

import (
	"millrace/catalog"
	"millrace/internal/topicconfig"
	"millrace/server/kafka/kafkaerr"
)

// CheckTopic says whether these explicitly set topic configs may be set.
func (h *Handlers) CheckTopic(set map[string]string) *kafkaerr.Fault {
	_, err := topicconfig.Parse(set)
	if err != nil {
		return kafkaerr.Faultf(kafkaerr.InvalidConfig, "%s", err)
	}
	if ddl := set["millrace.columns"]; ddl != "" && h.CheckColumns != nil {
		if err := h.CheckColumns(ddl); err != nil {
			return kafkaerr.Faultf(kafkaerr.InvalidConfig, "Invalid value for configuration millrace.columns: %s", err)
		}
	}
	if _, err := catalog.ParseDropped(set["millrace.columns.dropped"]); err != nil {
		return kafkaerr.Faultf(kafkaerr.InvalidConfig, "Invalid value for configuration millrace.columns.dropped: %s", err)
	}
	return nil
}
