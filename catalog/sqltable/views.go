package sqltable

import (
	"encoding/json"
	"strings"

	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
)

// viewKind is the kind of the documents that hold views; the key is the view's
// name in lower case.
const viewKind = "view"

type viewDocument struct {
	Name    string
	Text    string
	Create  string
	SQLMode string
}

// CreateView implements sql.ViewDatabase.
func (d *topicDatabase) CreateView(ctx *sql.Context, name, text, create string) error {
	data, err := json.Marshal(viewDocument{Name: name, Text: text, Create: create, SQLMode: sql.LoadSqlMode(ctx).String()})
	if err != nil {
		return err
	}
	return d.putView(ctx, name, 0, data, sql.ErrExistingView.New(KafkaDatabase, name))
}

// DropView implements sql.ViewDatabase.
func (d *topicDatabase) DropView(ctx *sql.Context, name string) error {
	gone := sql.ErrViewDoesNotExist.New(KafkaDatabase, name)
	doc, ok := d.provider.store.Document(viewKind, strings.ToLower(name))
	if !ok {
		return gone
	}
	return d.putView(ctx, name, doc.Version, nil, gone)
}

func (d *topicDatabase) putView(ctx *sql.Context, name string, version uint64, data []byte, conflict error) error {
	res, err := d.provider.store.Commit(ctx, state.PutDocument{
		Kind: viewKind, Key: strings.ToLower(name), ExpectVersion: version, Data: data,
	})
	if err != nil {
		return err
	}
	if r, ok := res.(state.DocumentResult); ok && r.Err != nil {
		return conflict
	}
	return nil
}

// GetViewDefinition implements sql.ViewDatabase.
func (d *topicDatabase) GetViewDefinition(ctx *sql.Context, name string) (sql.ViewDefinition, bool, error) {
	doc, ok := d.provider.statement(ctx).Snapshot().Document(viewKind, strings.ToLower(name))
	if !ok {
		return sql.ViewDefinition{}, false, nil
	}
	v, err := decodeView(doc)
	return v, err == nil, err
}

// AllViews implements sql.ViewDatabase.
func (d *topicDatabase) AllViews(*sql.Context) ([]sql.ViewDefinition, error) {
	var out []sql.ViewDefinition
	for _, doc := range d.provider.store.Documents(viewKind) {
		v, err := decodeView(doc)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func decodeView(doc state.Document) (sql.ViewDefinition, error) {
	var v viewDocument
	if err := json.Unmarshal(doc.Data, &v); err != nil {
		return sql.ViewDefinition{}, err
	}
	return sql.ViewDefinition{Name: v.Name, TextDefinition: v.Text, CreateViewStatement: v.Create, SqlMode: v.SQLMode}, nil
}
