package state

import (
	"encoding/binary"
	"maps"
	"slices"
)

// documentKind is all documents of one kind. It stays when its last document
// goes, so that its version never returns to an earlier one.
type documentKind struct {
	version   uint64 // documentVersion at its last change
	documents map[string]Document
}

func (k *documentKind) clone() *documentKind {
	return &documentKind{version: k.version, documents: maps.Clone(k.documents)}
}

// Document returns the document under (kind, key).
func (s *State) Document(kind, key string) (Document, bool) {
	k := s.kinds[kind]
	if k == nil {
		return Document{}, false
	}
	d, ok := k.documents[key]
	return d, ok
}

// Documents returns all documents of a kind in key order, in a new slice.
func (s *State) Documents(kind string) []Document {
	k := s.kinds[kind]
	if k == nil {
		return nil
	}
	all := make([]Document, 0, len(k.documents))
	for _, key := range slices.Sorted(maps.Keys(k.documents)) {
		all = append(all, k.documents[key])
	}
	return all
}

// DocumentsVersion changes whenever a document of that kind changes; 0 if there never was one.
func (s *State) DocumentsVersion(kind string) uint64 {
	if k := s.kinds[kind]; k != nil {
		return k.version
	}
	return 0
}

// --- PutDocument: kind, key, version, 1 and data, or 0 to delete ---
//
// The version is the next of one counter for all documents, so a document that
// is deleted and made again never has a version that it had before.

func (s *State) decidePutDocument(in PutDocument, buf []byte) ([]byte, any) {
	d, exists := s.Document(in.Kind, in.Key) // Version 0 if not
	version := s.documentVersion + 1
	switch {
	case d.Version != in.ExpectVersion:
		return nil, DocumentResult{Err: ErrVersionMismatch, Version: d.Version}
	case in.Data == nil && !exists:
		return nil, DocumentResult{}
	case len(in.Kind) > maxNameBytes, len(in.Key) > maxNameBytes, len(in.Data) > maxDataBytes,
		!exists && s.documentCount >= s.limits.MaxDocuments:
		return nil, DocumentResult{Err: ErrTooMany, Version: d.Version}
	}
	e := beginEntry(buf, EntryPutDocument)
	e = putString(e, in.Kind)
	e = putString(e, in.Key)
	e = binary.AppendUvarint(e, version)
	if in.Data == nil {
		return append(e, 0), DocumentResult{}
	}
	return putBytes(append(e, 1), in.Data), DocumentResult{Version: version}
}

func (s *State) applyPutDocument(r *reader) {
	kind := r.string(maxNameBytes, "document kind")
	key := r.string(maxNameBytes, "document key")
	version := r.uvarint()
	var data []byte
	put := r.byte()
	switch put {
	case 0:
	case 1:
		data = append([]byte{}, r.bytes(maxDataBytes, "document data")...)
	default:
		r.fail("document flag")
	}
	if r.err != nil {
		return
	}
	if version != s.documentVersion+1 {
		r.fail("document version out of order")
		return
	}
	s.documentVersion = version
	k := s.kinds[kind]
	if k == nil {
		k = &documentKind{documents: map[string]Document{}}
		s.kinds[kind] = k
	}
	k.version = version
	before := len(k.documents)
	if put == 0 {
		delete(k.documents, key)
	} else {
		k.documents[key] = Document{Kind: kind, Key: key, Version: version, Data: data}
	}
	s.documentCount += len(k.documents) - before
}
