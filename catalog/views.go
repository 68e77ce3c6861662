package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"millrace/store/state"
)

// viewKind is the kind of the documents that are views, keyed by name: JSON, of which
// readers ignore members that they do not know.
const viewKind = "view"

// MaxViews bounds the views there can be: each is kept in memory with its text.
const MaxViews = 10_000

var (
	// ErrViewExists says that there is a view of that name.
	ErrViewExists = errors.New("view already exists")
	// ErrNoView says that there is none.
	ErrNoView = errors.New("no such view")
)

// View is a query with a name. What the query means is SQL's.
type View struct {
	Name     string   `json:"-"`
	Query    string   `json:"query"`             // the SELECT as it was written
	Columns  []string `json:"columns,omitempty"` // other names for its columns
	Database string   `json:"database"`          // what its unqualified names belong to
	Definer  string   `json:"definer"`           // who created it
	Created  int64    `json:"created"`           // Unix ms
}

// View looks one up.
func (c *Catalog) View(name string) (View, bool) {
	doc, ok := c.st.Document(viewKind, name)
	if !ok {
		return View{}, false
	}
	return c.readView(doc)
}

// Views are all views in name order.
func (c *Catalog) Views() []View {
	docs := c.st.Documents(viewKind)
	out := make([]View, 0, len(docs))
	for _, d := range docs {
		if v, ok := c.readView(d); ok {
			out = append(out, v)
		}
	}
	return out
}

func (c *Catalog) readView(doc state.Document) (View, bool) {
	v := View{Name: doc.Key}
	if err := json.Unmarshal(doc.Data, &v); err != nil {
		c.log.Warn("a view cannot be read", "view", doc.Key, "error", err)
		return v, false
	}
	return v, true
}

// PutView stores a view. Without replace one of that name is ErrViewExists.
func (c *Catalog) PutView(ctx context.Context, v View, replace bool) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	for {
		doc, ok := c.st.Document(viewKind, v.Name)
		if ok && !replace {
			return ErrViewExists
		}
		if !ok && len(c.st.Documents(viewKind)) >= MaxViews {
			return fmt.Errorf("%w: %d views", state.ErrTooMany, MaxViews)
		}
		again, err := c.putView(ctx, state.PutDocument{Kind: viewKind, Key: v.Name, ExpectVersion: doc.Version, Data: data})
		if !again {
			return err
		}
	}
}

// DropView removes a view; ErrNoView.
func (c *Catalog) DropView(ctx context.Context, name string) error {
	for {
		doc, ok := c.st.Document(viewKind, name)
		if !ok {
			return ErrNoView
		}
		again, err := c.putView(ctx, state.PutDocument{Kind: viewKind, Key: name, ExpectVersion: doc.Version})
		if !again {
			return err
		}
	}
}

// putView says whether to try again because another change came first.
func (c *Catalog) putView(ctx context.Context, intent state.PutDocument) (again bool, err error) {
	res, err := c.st.Commit(ctx, intent)
	if err != nil {
		return false, err
	}
	r, ok := res.(state.DocumentResult)
	if !ok {
		return false, fmt.Errorf("view %s: unexpected answer %T", intent.Key, res)
	}
	if errors.Is(r.Err, state.ErrVersionMismatch) {
		return true, nil
	}
	return false, r.Err
}
