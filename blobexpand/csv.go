package blobexpand

import (
	"fmt"
	"unicode/utf8"
)

// splitCSV reads a value as one record of RFC 4180 (comma, double quotes, doubled
// inside) into the slots: slot n is field n+1. The fields' texts, unescaped, come
// to stand in e.csv, each between quotes, so that they look like JSON strings
// without escapes. An empty field without quotes is NULL.
//
// fields is how many there are. why is not empty where the value is no such record.
func (e *Expander) splitCSV(b []byte) (fields int, why string) {
	w := &e.w
	if w.row == ^uint32(0) {
		w.row = 0
		clear(w.slots)
	}
	w.row++
	if !utf8.Valid(b) {
		return 0, "not UTF-8"
	}
	e.csv = e.csv[:0]
	for i := 0; ; {
		e.csv = append(e.csv, '"')
		s := span{row: w.row, start: uint32(len(e.csv)), kind: vString}
		if i < len(b) && b[i] == '"' {
			for i++; ; i++ {
				if i == len(b) {
					return 0, "a quoted field without its end"
				}
				if b[i] == '"' {
					if i+1 == len(b) || b[i+1] != '"' {
						break
					}
					i++
				}
				e.csv = append(e.csv, b[i])
			}
			i++
		} else {
			from := i
			for i < len(b) && b[i] != ',' && b[i] != '\n' && b[i] != '\r' {
				if b[i] == '"' {
					return 0, fmt.Sprintf("a quote inside a field that does not begin with one, at byte %d", i)
				}
				i++
			}
			if i == from {
				s.kind = vNull
			}
			e.csv = append(e.csv, b[from:i]...)
		}
		s.end = uint32(len(e.csv))
		e.csv = append(e.csv, '"')
		if fields < len(w.slots) {
			w.slots[fields] = s
		}
		fields++
		if i < len(b) && b[i] == ',' {
			i++
			continue
		}
		if i < len(b) && b[i] == '\r' {
			i++
		}
		if i < len(b) && b[i] == '\n' {
			i++
		}
		if i < len(b) {
			return 0, fmt.Sprintf("something after the end of the record, at byte %d", i)
		}
		return fields, ""
	}
}

// appendCSV is Append for CSV values: too few fields leave cells NULL, and like too
// many are an error of the row.
func (e *Expander) appendCSV(value []byte, r int) {
	fields, why := e.splitCSV(value)
	if why != "" {
		e.nullRow(r)
		if e.o.Errors {
			e.errs.data = append(append(e.errs.data, "not CSV: "...), why...)
			e.errs.putText(r)
		}
		return
	}
	misfits := e.putRow(e.csv, r)
	if !e.o.Errors {
		return
	}
	if fields != len(e.w.slots) {
		if misfits > 0 {
			e.errs.data = append(e.errs.data, "; "...)
		}
		e.errs.data = fmt.Appendf(e.errs.data, "found %d fields, expected %d", fields, len(e.w.slots))
		misfits++
	}
	e.endErrors(misfits, r)
}
