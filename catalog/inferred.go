package catalog

import (
	"context"

	"millrace/blobexpand"
	"millrace/blobexpand/jsonval"
	"millrace/store"
	"millrace/store/state"
)

// Inferred are the narrowest types of all values seen so far at the paths of a topic, by PathText, whatever is declared
// for them. nil: nothing is inferred. state.ErrUnknownTopic.
func (c *Catalog) Inferred(ctx context.Context, sn *store.Snapshot, topic string) (map[string]blobexpand.Type, error) {
	t, ok := tableTopic(sn, topic)
	if !ok {
		return nil, state.ErrUnknownTopic
	}
	s := c.schemaOf(t.ID)
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if !s.loaded {
		s = newSchema(t.ID) // read, and not kept
	}
	if err := c.prepare(s, t); err != nil {
		return nil, err
	}
	if s.inf == nil {
		return nil, nil
	}
	out := make(map[string]blobexpand.Type)
	s.inf.Inferred(func(path []string, typ blobexpand.Type) { out[jsonval.MemberPath(path).String()] = typ })
	return out, nil
}

// PathText is the path of the member that a column reads.
func PathText(c blobexpand.Column) string { return jsonval.MemberPath(c.Path).String() }
