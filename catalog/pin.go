package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"millrace/blobexpand"
	"millrace/internal/topicconfig"
	"millrace/store/state"
)

// ErrNoColumn says that a column to pin is not there.
var ErrNoColumn = errors.New("no such inferred column")

// ConfigColumns is the topic config that keeps a table's declarations, ConfigCollation the one that says how its text compares.
const (
	ConfigColumns   = "millrace.columns"
	ConfigCollation = "millrace.collation"
)

// Pin writes today's types of the topic's inferred columns (of one, if column is
// not empty) into millrace.columns, so that one odd value cannot widen them.
// state.ErrUnknownTopic, ErrNoColumn.
func (c *Catalog) Pin(ctx context.Context, topic, column string) error {
	for {
		sn := c.st.Snapshot()
		table, err := c.Bind(ctx, sn, topic)
		sn.Release()
		if err != nil {
			return err
		}
		var declared []blobexpand.Column
		found := column == ""
		for _, col := range table.Expanded {
			match := fold(col.Name) == fold(column)
			found = found || match
			if col.Declared || match || column == "" {
				declared = append(declared, col)
			}
		}
		if !found {
			return fmt.Errorf("%w: %s", ErrNoColumn, column)
		}
		configs := maps.Clone(table.Topic.Configs)
		if configs == nil {
			configs = map[string]string{}
		}
		text := FormatColumns(declared)
		if configs[ConfigColumns] == text || text == "" {
			return nil
		}
		configs[ConfigColumns] = text
		if _, err := topicconfig.Parse(configs); err != nil {
			return err
		}
		res, err := c.st.Commit(ctx, state.SetTopicConfigs{ID: table.Topic.ID, ExpectVersion: table.Topic.ConfigVersion, Configs: configs})
		if err != nil {
			return err
		}
		r, ok := res.(state.TopicResult)
		if !ok {
			return fmt.Errorf("pinning columns: unexpected result %T", res)
		}
		if !errors.Is(r.Err, state.ErrVersionMismatch) {
			return r.Err
		}
	}
}

// carryOutPinned pins a topic once after it was switched to millrace.expand=pinned;
// columns that come later are inferred.
func (c *Catalog) carryOutPinned(ctx context.Context, s *schema, t state.Topic) error {
	if err := c.Pin(ctx, t.Name, ""); err != nil && !errors.Is(err, state.ErrUnknownTopic) {
		return err
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	s.pinned, s.unsaved = true, true
	return c.save(ctx, s, c.o.SaveBytes)
}
