package client

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/guptarohit/asciigraph"
	"github.com/jedib0t/go-pretty/v6/text"
)

// maxPlotRows bounds what is held for a picture that could not show more anyway.
const maxPlotRows = 10_000

// Kinds of plots.
const (
	plotLine = "line"
	plotBar  = "bar"
)

// plotWriter draws a result when it is complete: its number columns as series over
// the first column that is none (or over the row number).
type plotWriter struct {
	w       io.Writer
	kind    string
	width   int
	colored bool
	label   int // index of the label column, -1 none
	series  []int
	cols    []Column

	labels []string
	values [][]float64 // by series
}

func newPlotWriter(w io.Writer, kind string, width int, cols []Column) (*plotWriter, error) {
	if kind != plotLine && kind != plotBar {
		return nil, fmt.Errorf(`\plot %s: there are line and bar`, kind)
	}
	p := &plotWriter{w: w, kind: kind, width: width, colored: width > 0, label: -1, cols: cols}
	if p.width == 0 {
		p.width = 80
	}
	for i, c := range cols {
		switch {
		case c.Kind == NumberColumn:
			p.series = append(p.series, i)
		case p.label < 0:
			p.label = i
		}
	}
	if p.label < 0 && len(p.series) > 1 { // all numbers: the first is what the others are over
		p.label, p.series = p.series[0], p.series[1:]
	}
	if len(p.series) == 0 {
		return nil, errors.New("nothing to plot: no column is a number")
	}
	p.values = make([][]float64, len(p.series))
	return p, nil
}

func (p *plotWriter) Row(cells [][]byte) error {
	if len(p.labels) == maxPlotRows {
		return fmt.Errorf("more than %d rows: too many to plot", maxPlotRows)
	}
	label := strconv.Itoa(len(p.labels) + 1)
	if p.label >= 0 {
		label = "NULL"
		if cells[p.label] != nil {
			label = printable(cells[p.label])
		}
	}
	p.labels = append(p.labels, label)
	for i, s := range p.series {
		v := math.NaN() // a gap
		if cells[s] != nil {
			f, err := strconv.ParseFloat(string(cells[s]), 64)
			if err != nil {
				return err
			}
			v = f
		}
		p.values[i] = append(p.values[i], v)
	}
	return nil
}

func (p *plotWriter) Close() error {
	if len(p.labels) == 0 {
		return nil
	}
	if p.kind == plotBar {
		return p.bars()
	}
	return p.lines()
}

func (p *plotWriter) lines() error {
	any := false
	var names []string
	for i, vs := range p.values {
		names = append(names, printable([]byte(p.cols[p.series[i]].Name)))
		for _, v := range vs {
			any = any || !math.IsNaN(v)
		}
	}
	if !any {
		return errors.New("nothing to plot: only NULLs")
	}
	for i, vs := range p.values {
		if len(vs) == 1 { // one point is a dash
			p.values[i] = append(vs, vs[0])
		}
	}
	const axis = 14 // columns that the scale takes
	opts := []asciigraph.Option{
		asciigraph.Height(14), asciigraph.Width(max(20, min(p.width-axis, 160))),
		asciigraph.Caption(p.labels[0] + " … " + p.labels[len(p.labels)-1]),
	}
	switch {
	case len(p.series) > 1 && p.colored:
		opts = append(opts, asciigraph.SeriesLegends(names...), asciigraph.SeriesColors(
			asciigraph.Blue, asciigraph.Green, asciigraph.Red, asciigraph.Yellow, asciigraph.Cyan, asciigraph.Magenta))
	case len(p.series) > 1: // colours would tell them apart, and this goes to a file: one picture each
		for i, vs := range p.values {
			if _, err := fmt.Fprintf(p.w, "%s\n%s\n", names[i], asciigraph.Plot(vs, opts...)); err != nil {
				return err
			}
		}
		return nil
	}
	_, err := fmt.Fprintln(p.w, asciigraph.PlotMany(p.values, opts...))
	return err
}

// bars draws a bar for each row, or one for each number column of it, all by one scale. Negative
// values have no bar but their number.
func (p *plotWriter) bars() error {
	labels := p.labels
	if len(p.values) > 1 {
		labels = nil
		for _, l := range p.labels {
			for _, s := range p.series {
				labels = append(labels, l+" "+printable([]byte(p.cols[s].Name)))
			}
		}
	}
	var values []float64
	for row := range p.labels {
		for _, vs := range p.values {
			values = append(values, vs[row])
		}
	}
	most, labelWidth, numberWidth := 0.0, 0, 0
	for i, v := range values {
		if v > most {
			most = v
		}
		labelWidth = max(labelWidth, text.StringWidth(labels[i]))
		numberWidth = max(numberWidth, len(shortNumber(v)))
	}
	labelWidth = min(labelWidth, p.width/3)
	room := max(10, p.width-labelWidth-numberWidth-4)
	for i, v := range values {
		bar := ""
		if v > 0 && !math.IsInf(v, 0) {
			eighths := int(math.Round(v / most * float64(room) * 8))
			bar = strings.Repeat("█", eighths/8)
			if r := eighths % 8; r > 0 {
				bar += string(rune('█' + 8 - r)) // ▉ … ▏
			}
		}
		label := text.Pad(text.Snip(labels[i], labelWidth, "…"), labelWidth, ' ')
		if _, err := fmt.Fprintf(p.w, "%s %*s %s\n", label, numberWidth, shortNumber(v), bar); err != nil {
			return err
		}
	}
	return nil
}

func shortNumber(v float64) string {
	if math.IsNaN(v) {
		return "NULL"
	}
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}
