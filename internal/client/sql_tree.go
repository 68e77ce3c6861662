package client

import (
	"bytes"
	"io"
	"strings"
)

// maxTreeBytes bounds what is held of a plan; a longer one is printed as it came.
const maxTreeBytes = 1 << 20

// treeWriter prints a plan of one column as lines without a frame, its indentation drawn as a tree.
// It knows lines indented by blanks and MySQL's "-> ".
type treeWriter struct {
	w    io.Writer
	text bytes.Buffer
}

func newTreeWriter(w io.Writer) *treeWriter { return &treeWriter{w: w} }

func (t *treeWriter) Row(cells [][]byte) error {
	if t.text.Len() > maxTreeBytes {
		if _, err := t.w.Write(t.text.Bytes()); err != nil {
			return err
		}
		t.text.Reset()
	}
	cell := cells[0]
	if cell == nil {
		cell = []byte("NULL")
	}
	t.text.WriteString(strings.TrimRight(printableLines(cell), "\n"))
	t.text.WriteByte('\n')
	return nil
}

func (t *treeWriter) Close() error {
	_, err := io.WriteString(t.w, drawTree(t.text.String()))
	return err
}

// drawTree draws lines for indentation. What is drawn already, or JSON, stays as it is.
func drawTree(plan string) string {
	if trimmed := strings.TrimSpace(plan); strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		return plan
	}
	lines := strings.Split(strings.TrimRight(plan, "\n"), "\n")
	depth := make([]int, len(lines))
	for i, line := range lines {
		text := strings.TrimLeft(line, " ")
		depth[i] = len(line) - len(text)
		if strings.ContainsAny(firstRunes(text, 1), "└├│") {
			depth[i] = -1 // drawn by the server
		}
		lines[i] = strings.TrimPrefix(text, "-> ")
		if depth[i] < 0 {
			lines[i] = line
		}
	}
	var b strings.Builder
	for i := range lines {
		if depth[i] > 0 {
			for _, a := range ancestors(depth, i) {
				if a == i {
					break
				}
				if depth[a] == 0 {
					continue // roots stand at the left, with nothing before their children
				}
				b.WriteString(map[bool]string{true: "│  ", false: "   "}[hasSibling(depth, a)])
			}
			b.WriteString(map[bool]string{true: "├─ ", false: "└─ "}[hasSibling(depth, i)])
		}
		b.WriteString(lines[i])
		b.WriteByte('\n')
	}
	return b.String()
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// ancestors are the lines that line i hangs on, from the root to i itself.
func ancestors(depth []int, i int) (path []int) {
	path = []int{i}
	for j, at := i-1, depth[i]; j >= 0 && at > 0; j-- {
		if depth[j] < 0 {
			break
		}
		if depth[j] < at {
			path = append([]int{j}, path...)
			at = depth[j]
		}
	}
	return path
}

// hasSibling says whether a line of the same depth follows under the same parent.
func hasSibling(depth []int, i int) bool {
	for _, d := range depth[i+1:] {
		if d < depth[i] {
			return false
		}
		if d == depth[i] {
			return true
		}
	}
	return false
}
