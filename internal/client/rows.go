package client

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// ColumnKind says how a column's cells are spelled in JSON and aligned in tables.
type ColumnKind uint8

const (
	TextColumn   ColumnKind = iota
	NumberColumn            // cells are JSON numbers already
	JSONColumn              // cells are JSON
	BinaryColumn            // cells may be anything
)

// Column is one column of a result.
type Column struct {
	Name string
	Kind ColumnKind
}

// RowWriter prints rows in one format. A nil cell is NULL. Close ends the output.
type RowWriter interface {
	Row(cells [][]byte) error
	Close() error
}

// Formats are the output formats of NewRowWriter.
const (
	FormatTable    = "table"
	FormatVertical = "vertical"
	FormatCSV      = "csv"
	FormatTSV      = "tsv"
	FormatJSON     = "json"   // an array of objects, one a row and line
	FormatNDJSON   = "ndjson" // one object a row and line
	FormatMarkdown = "markdown"
)

// NewRowWriter prints to w. width is the terminal's; 0 means that tables may be
// as wide as they like.
func NewRowWriter(w io.Writer, format string, width int, cols []Column) (RowWriter, error) {
	switch format {
	case FormatTable:
		return &tableWriter{w: w, cols: cols, width: width}, nil
	case FormatMarkdown:
		return &tableWriter{w: w, cols: cols, markdown: true}, nil
	case FormatVertical:
		return newVerticalWriter(w, cols), nil
	case FormatCSV:
		return newCSVWriter(w, cols)
	case FormatTSV:
		return newTSVWriter(w, cols)
	case FormatJSON:
		return newJSONWriter(w, cols, true)
	case FormatNDJSON:
		return newJSONWriter(w, cols, false)
	}
	return nil, fmt.Errorf("no format %q; there are table, vertical, csv, tsv, json, ndjson and markdown", format)
}

// --- table and markdown ---

// A table's column widths need its rows, so it is printed in pages: memory stays
// bounded, and a long result appears as it comes.
const (
	pageRows  = 1000
	pageBytes = 4 << 20
)

// minColumnWidth: a terminal too narrow for columns of this width gets the
// vertical form.
const minColumnWidth = 6

type tableWriter struct {
	w        io.Writer
	cols     []Column
	width    int
	markdown bool
	lines    bool // cells keep their lines

	rows    [][]string
	bytes   int
	pages   int
	printed int // rows of the pages before
}

func (t *tableWriter) Row(cells [][]byte) error {
	row := make([]string, len(cells))
	for i, c := range cells {
		if c == nil {
			row[i] = "NULL"
			continue
		}
		switch {
		case t.cols[i].Kind == BinaryColumn:
			row[i] = binary(c)
		case t.lines:
			row[i] = printableLines(c)
		default:
			row[i] = printable(c)
		}
		t.bytes += len(row[i])
	}
	t.rows = append(t.rows, row)
	if len(t.rows) >= pageRows || t.bytes >= pageBytes {
		return t.page()
	}
	return nil
}

func (t *tableWriter) Close() error {
	if len(t.rows) > 0 || t.pages == 0 {
		return t.page()
	}
	return nil
}

func (t *tableWriter) page() error {
	rows := t.rows
	t.rows, t.bytes = nil, 0
	t.pages++
	limit, fits := t.columnLimit(rows)
	if !fits {
		v := newVerticalWriter(t.w, t.cols)
		v.rows, v.spelled = t.printed, true
		t.printed += len(rows)
		for _, row := range rows {
			cells := make([][]byte, len(row))
			for i := range row {
				cells[i] = []byte(row[i])
			}
			if err := v.Row(cells); err != nil {
				return err
			}
		}
		return v.Close()
	}
	t.printed += len(rows)
	tw := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	tw.SetStyle(style)
	configs := make([]table.ColumnConfig, len(t.cols))
	header := make(table.Row, len(t.cols))
	for i, c := range t.cols {
		configs[i] = table.ColumnConfig{Number: i + 1, AlignHeader: text.AlignLeft}
		if c.Kind == NumberColumn {
			configs[i].Align, configs[i].AlignHeader = text.AlignRight, text.AlignRight
		}
		header[i] = snip(printable([]byte(c.Name)), limit)
	}
	tw.SetColumnConfigs(configs)
	tw.AppendHeader(header)
	for _, row := range rows {
		r := make(table.Row, len(row))
		for i := range row {
			r[i] = snip(row[i], limit)
		}
		tw.AppendRow(r)
	}
	out := ""
	if t.markdown {
		out = tw.RenderMarkdown()
	} else {
		out = tw.Render()
	}
	_, err := io.WriteString(t.w, out+"\n")
	return err
}

func snip(s string, limit int) string {
	if limit == 0 {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = text.Snip(line, limit, "…")
	}
	return strings.Join(lines, "\n")
}

// columnLimit is the width that columns are cut to so that the table fits the
// terminal: the wide ones give way, the narrow ones stay whole. 0: no cut.
func (t *tableWriter) columnLimit(rows [][]string) (limit int, fits bool) {
	if t.width == 0 || len(t.cols) == 0 {
		return 0, true
	}
	widths := make([]int, len(t.cols))
	for i, c := range t.cols {
		widths[i] = text.StringWidth(printable([]byte(c.Name)))
		for _, row := range rows {
			widths[i] = max(widths[i], text.LongestLineLen(row[i]))
		}
	}
	room := t.width - 3*len(t.cols) - 1
	used := func(limit int) (n int) {
		for _, w := range widths {
			n += min(w, limit)
		}
		return n
	}
	const unlimited = 1 << 30
	if used(unlimited) <= room {
		return 0, true
	}
	for limit = room; limit >= minColumnWidth; limit-- {
		if used(limit) <= room {
			return limit, true
		}
	}
	return 0, false
}

// printable makes a cell safe and single-lined on a terminal: control characters
// (a stored value must not move the cursor) and broken UTF-8 are shown as escapes.
func printable(b []byte) string {
	clean := utf8.Valid(b)
	for i := 0; clean && i < len(b); i++ {
		clean = b[i] >= 0x20 && b[i] != 0x7f && b[i] != 0xc2 // 0xc2 begins U+0080–U+009F
	}
	if clean {
		return string(b)
	}
	var s strings.Builder
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&s, `\x%02x`, b[0])
		case r == '\n':
			s.WriteString(`\n`)
		case r == '\t':
			s.WriteString(`\t`)
		case r == '\r':
			s.WriteString(`\r`)
		case r < 0x20 || r >= 0x7f && r < 0xa0:
			fmt.Fprintf(&s, `\x%02x`, r)
		default:
			s.WriteRune(r)
		}
		b = b[n:]
	}
	return s.String()
}

// printableLines is printable, but lines stay lines.
func printableLines(b []byte) string {
	if bytes.IndexByte(b, '\n') < 0 {
		return printable(b)
	}
	var s strings.Builder
	for i, line := range bytes.Split(b, []byte("\n")) {
		if i > 0 {
			s.WriteByte('\n')
		}
		s.WriteString(printable(line))
	}
	return s.String()
}

// binary spells bytes: as the text that they are, or as 0x and their digits.
func binary(b []byte) string {
	if isText(b) {
		return printable(b)
	}
	return fmt.Sprintf("0x%X", b)
}

// isText says whether bytes of a binary column are text, without control characters but lines and tabs.
func isText(b []byte) bool {
	for _, c := range b {
		if c < 0x20 && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return utf8.Valid(b)
}

// --- vertical: a cell after the other, each with the lines that it has ---

type verticalWriter struct {
	w       *bufio.Writer
	names   []string
	cols    []Column
	rows    int
	spelled bool // cells are printable already
}

func newVerticalWriter(w io.Writer, cols []Column) *verticalWriter {
	v := &verticalWriter{w: bufio.NewWriter(w), cols: cols}
	widest := 0
	for _, c := range cols {
		v.names = append(v.names, printable([]byte(c.Name)))
		widest = max(widest, text.StringWidth(v.names[len(v.names)-1]))
	}
	for i, n := range v.names {
		v.names[i] = strings.Repeat(" ", max(0, widest-text.StringWidth(n))) + n
	}
	return v
}

func (v *verticalWriter) Row(cells [][]byte) error {
	v.rows++
	fmt.Fprintf(v.w, "─── row %d %s\n", v.rows, strings.Repeat("─", 20))
	for i, c := range cells {
		s := "NULL"
		switch {
		case c == nil:
		case v.spelled:
			s = string(c)
		case v.cols[i].Kind == BinaryColumn:
			s = binary(c)
		default:
			s = printableLines(c)
		}
		fmt.Fprintf(v.w, "%s: %s\n", v.names[i], s)
	}
	return v.w.Flush()
}

func (v *verticalWriter) Close() error { return v.w.Flush() }

// --- CSV: NULL and the empty string are both empty, as in everybody's CSV ---

type csvWriter struct {
	w    *csv.Writer
	row  []string
	cols []Column
}

func newCSVWriter(w io.Writer, cols []Column) (*csvWriter, error) {
	c := &csvWriter{w: csv.NewWriter(w), row: make([]string, len(cols)), cols: cols}
	for i, col := range cols {
		c.row[i] = col.Name
	}
	return c, c.w.Write(c.row)
}

func (c *csvWriter) Row(cells [][]byte) error {
	for i, b := range cells {
		c.row[i] = string(plainBytes(c.cols[i].Kind, b))
	}
	return c.w.Write(c.row)
}

func (c *csvWriter) Close() error {
	c.w.Flush()
	return c.w.Error()
}

// plainBytes keeps text as it is, and spells binary that is none with digits: a file of another
// encoding than UTF-8 in places is one that nobody can read.
func plainBytes(kind ColumnKind, b []byte) []byte {
	if kind == BinaryColumn && !isText(b) {
		return fmt.Appendf(nil, "0x%X", b)
	}
	return b
}

// --- TSV as the MySQL client writes it in batch mode: \t, \n, \\ escaped, NULL ---

var tsvEscapes = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`, "\x00", `\0`)

type tsvWriter struct {
	w    *bufio.Writer
	cols []Column
}

func newTSVWriter(w io.Writer, cols []Column) (*tsvWriter, error) {
	t := &tsvWriter{w: bufio.NewWriter(w), cols: make([]Column, len(cols))}
	names := make([][]byte, len(cols))
	for i, c := range cols {
		names[i] = []byte(c.Name)
	}
	err := t.Row(names)
	t.cols = cols
	return t, err
}

func (t *tsvWriter) Row(cells [][]byte) error {
	for i, c := range cells {
		if i > 0 {
			_ = t.w.WriteByte('\t')
		}
		if c == nil {
			_, _ = t.w.WriteString("NULL")
			continue
		}
		_, _ = tsvEscapes.WriteString(t.w, string(plainBytes(t.cols[i].Kind, c))) // bufio keeps the error for Flush
	}
	return t.w.WriteByte('\n')
}

func (t *tsvWriter) Close() error { return t.w.Flush() }

// --- JSON: one object a line, in an array or not; numbers exactly as the server spelled them ---

type jsonWriter struct {
	w     *bufio.Writer
	names [][]byte // encoded, with the colon
	cols  []Column
	array bool
	rows  int
}

func newJSONWriter(w io.Writer, cols []Column, array bool) (*jsonWriter, error) {
	j := &jsonWriter{w: bufio.NewWriter(w), cols: cols, array: array}
	for _, c := range cols {
		j.names = append(j.names, append(appendJSONString(nil, c.Name), ':'))
	}
	return j, nil
}

func (j *jsonWriter) Row(cells [][]byte) error {
	switch { // bufio keeps the error for the end of the line
	case !j.array:
	case j.rows == 0:
		_, _ = j.w.WriteString("[\n")
	default:
		_, _ = j.w.WriteString(",\n")
	}
	j.rows++
	_ = j.w.WriteByte('{')
	for i, c := range cells {
		if i > 0 {
			_ = j.w.WriteByte(',')
		}
		_, _ = j.w.Write(j.names[i])
		_, _ = j.w.Write(jsonCell(j.cols[i].Kind, c))
	}
	err := j.w.WriteByte('}')
	if !j.array {
		err = j.w.WriteByte('\n')
	}
	return err
}

func (j *jsonWriter) Close() error {
	switch {
	case !j.array:
	case j.rows == 0:
		_, _ = j.w.WriteString("[]\n")
	default:
		_, _ = j.w.WriteString("\n]\n")
	}
	return j.w.Flush()
}

// jsonCell spells a cell as JSON. Binary that is no text becomes base64.
func jsonCell(kind ColumnKind, c []byte) []byte {
	switch {
	case c == nil:
		return []byte("null")
	case (kind == NumberColumn || kind == JSONColumn) && json.Valid(c):
		var b bytes.Buffer
		if json.Compact(&b, c) == nil {
			return b.Bytes()
		}
	case kind == BinaryColumn && !isText(c):
		return appendJSONString(nil, base64.StdEncoding.EncodeToString(c))
	}
	return appendJSONString(nil, string(c))
}

// appendJSONString leaves <, > and & as they are; nobody puts this into HTML.
func appendJSONString(b []byte, s string) []byte {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a string always encodes
	}
	return append(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}

// printRows prints a small result.
func printRows(s *IO, format string, cols []Column, rows [][]string) error {
	w, err := NewRowWriter(s.Out, format, s.OutWidth, cols)
	if err != nil {
		return err
	}
	for _, row := range rows {
		cells := make([][]byte, len(row))
		for i, c := range row {
			cells[i] = []byte(c)
		}
		if err := w.Row(cells); err != nil {
			return err
		}
	}
	return w.Close()
}
