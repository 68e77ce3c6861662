package client

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"
)

// A record as one line of JSON, which consume prints and produce reads:
//
//	{"topic":"orders","partition":0,"offset":7,"timestamp":"2026-01-31T12:00:00.000Z",
//	 "key":"customer-1","value":{"amount":12.50},"headers":[{"key":"source","value":"web"}]}
//
// A value or key that is a JSON object or array is shown as such, every other text as
// a string; bytes that are no text are in "value_base64" or "key_base64".

// timestampLayout is RFC 3339 with Kafka's milliseconds.
const timestampLayout = "2006-01-02T15:04:05.000Z07:00"

func appendRecordJSON(b []byte, r *kgo.Record) []byte {
	b = append(b, `{"topic":`...)
	b = appendJSONString(b, r.Topic)
	b = fmt.Appendf(b, `,"partition":%d,"offset":%d,"timestamp":`, r.Partition, r.Offset)
	if r.Timestamp.UnixMilli() < 0 {
		b = append(b, "null"...)
	} else {
		b = appendJSONString(b, r.Timestamp.UTC().Format(timestampLayout))
	}
	b = appendJSONBytes(b, "key", r.Key)
	b = appendJSONBytes(b, "value", r.Value)
	if len(r.Headers) > 0 {
		b = append(b, `,"headers":[`...)
		for i, h := range r.Headers {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, `{"key":`...)
			b = appendJSONString(b, h.Key)
			b = appendJSONBytes(b, "value", h.Value)
			b = append(b, '}')
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

// appendJSONBytes appends ,"name":v.
func appendJSONBytes(b []byte, name string, v []byte) []byte {
	b = append(b, ',', '"')
	b = append(b, name...)
	switch {
	case v == nil:
		return append(b, `":null`...)
	case !utf8.Valid(v):
		b = append(b, `_base64":`...)
		return appendJSONString(b, base64.StdEncoding.EncodeToString(v))
	}
	b = append(b, `":`...)
	if t := bytes.TrimSpace(v); len(t) > 0 && (t[0] == '{' || t[0] == '[') {
		var buf bytes.Buffer
		if json.Compact(&buf, v) == nil {
			return append(b, buf.Bytes()...)
		}
	}
	return appendJSONString(b, string(v))
}

type jsonRecord struct {
	Partition   *int32          `json:"partition"`
	Timestamp   *string         `json:"timestamp"`
	Key         json.RawMessage `json:"key"`
	KeyBase64   []byte          `json:"key_base64"`
	Value       json.RawMessage `json:"value"`
	ValueBase64 []byte          `json:"value_base64"`
	Headers     []struct {
		Key         string          `json:"key"`
		Value       json.RawMessage `json:"value"`
		ValueBase64 []byte          `json:"value_base64"`
	} `json:"headers"`
	Topic  json.RawMessage `json:"topic"`  // accepted, so that consume's lines can be replayed,
	Offset json.RawMessage `json:"offset"` // and ignored
}

// parseRecordJSON reads one line that appendRecordJSON wrote or a person did.
// Topic and offset are ignored; Partition is -1 when not given.
func parseRecordJSON(line []byte) (*kgo.Record, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	var j jsonRecord
	if err := d.Decode(&j); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("more than one JSON value on the line")
	}
	r := &kgo.Record{Partition: -1}
	if j.Partition != nil {
		r.Partition = *j.Partition
	}
	if j.Timestamp != nil {
		t, err := time.Parse(time.RFC3339Nano, *j.Timestamp)
		if err != nil {
			return nil, err
		}
		r.Timestamp = t
	}
	var err error
	if r.Key, err = jsonBytes(j.Key, j.KeyBase64); err != nil {
		return nil, err
	}
	if r.Value, err = jsonBytes(j.Value, j.ValueBase64); err != nil {
		return nil, err
	}
	for _, h := range j.Headers {
		v, err := jsonBytes(h.Value, h.ValueBase64)
		if err != nil {
			return nil, err
		}
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: h.Key, Value: v})
	}
	return r, nil
}

// jsonBytes: a string stands for its text, null for no bytes, anything else for itself.
func jsonBytes(raw json.RawMessage, b64 []byte) ([]byte, error) {
	switch {
	case b64 != nil:
		return b64, nil
	case raw == nil || string(raw) == "null":
		return nil, nil
	case raw[0] == '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return []byte(s), err
	}
	return raw, nil
}
