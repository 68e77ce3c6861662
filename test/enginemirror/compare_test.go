package enginemirror

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	engine "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// cells are the rows of a list as MySQL's text.
func cells(rows []engine.Row) [][]sql.NullString {
	out := make([][]sql.NullString, len(rows))
	for i, r := range rows {
		out[i] = make([]sql.NullString, len(r))
		for j, v := range r {
			out[i][j] = cell(v)
		}
	}
	return out
}

func cell(v any) sql.NullString {
	text := func(s string) sql.NullString { return sql.NullString{String: s, Valid: true} }
	switch x := v.(type) {
	case nil:
		return sql.NullString{}
	case bool:
		if x {
			return text("1")
		}
		return text("0")
	case string:
		return text(x)
	case []byte:
		return text(string(x))
	case float32:
		return text(strconv.FormatFloat(float64(x), 'g', -1, 32))
	case float64:
		return text(strconv.FormatFloat(x, 'g', -1, 64))
	case time.Time:
		return text(x.UTC().Format("2006-01-02 15:04:05.999999"))
	case types.Timespan:
		return text(x.String())
	case engine.JSONWrapper:
		doc, err := x.ToInterface()
		if err == nil {
			if b, err := json.Marshal(doc); err == nil {
				return text(string(b))
			}
		}
		return text(fmt.Sprint(x))
	case engine.AnyWrapper:
		inner, err := x.UnwrapAny(context.Background())
		if err != nil {
			return text(err.Error())
		}
		return cell(inner)
	default:
		return text(fmt.Sprint(x))
	}
}

// same says whether two rows are the same, however a number, a time or a document is spelled.
func same(a, b []sql.NullString) bool { return slices.EqualFunc(a, b, sameCell) }

func sameCell(a, b sql.NullString) bool {
	if a.Valid != b.Valid {
		return false
	}
	if !a.Valid || a.String == b.String {
		return true
	}
	x, err1 := strconv.ParseFloat(a.String, 64)
	y, err2 := strconv.ParseFloat(b.String, 64)
	if err1 == nil && err2 == nil {
		return math.Abs(x-y) <= 1e-9*max(math.Abs(x), math.Abs(y), 1)
	}
	if s, ok := instant(a.String); ok {
		t, ok := instant(b.String)
		return ok && s.Equal(t)
	}
	var p, q any
	if strings.ContainsAny(a.String[:1], `{["`) && json.Unmarshal([]byte(a.String), &p) == nil && json.Unmarshal([]byte(b.String), &q) == nil {
		return reflect.DeepEqual(p, q)
	}
	return false
}

func instant(s string) (time.Time, bool) {
	for _, layout := range []string{"2006-01-02 15:04:05.999999999", "2006-01-02", "2006-01-02 15:04:05.999999999 -0700 MST", "15:04:05.999999999"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// sameRows compares in order, or else as bags.
func sameRows(a, b [][]sql.NullString, ordered bool) bool {
	if slices.EqualFunc(a, b, same) {
		return true
	}
	if ordered || len(a) != len(b) {
		return false
	}
	left := slices.Clone(b)
	for _, r := range a {
		i := slices.IndexFunc(left, func(o []sql.NullString) bool { return same(r, o) })
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}

// sameAnswers compares two answers of ours: rows, or the errors' numbers.
func sameAnswers(a, b answer, ordered bool) bool {
	return cmp.Compare(a.number, b.number) == 0 && sameRows(a.rows, b.rows, ordered)
}
