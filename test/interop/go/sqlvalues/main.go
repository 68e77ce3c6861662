// Command sqlvalues CLIENT PORT is go-sql-driver's part in test_values.py: it runs the steps of standard input and
// prints what the driver makes of the answers, in the words that clients/values.py explains.
package main

import (
	"bufio"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

type step struct {
	SQL  string    `json:"sql"`
	Args []*string `json:"args"`
}

func main() {
	dsn := fmt.Sprintf("app@tcp(127.0.0.1:%s)/kafka?parseTime=true&collation=utf8mb4_general_ci", os.Args[2])
	if os.Args[1] == "go-text" {
		dsn += "&interpolateParams=true"
	}
	db, err := sql.Open("mysql", dsn)
	check(err)
	db.SetMaxOpenConns(1) // SET time_zone holds for what follows
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for in.Scan() {
		var s step
		check(json.Unmarshal(in.Bytes(), &s))
		said, err := run(db, s)
		var refused *mysql.MySQLError
		if errors.As(err, &refused) {
			said, err = map[string]any{"error": []any{refused.Number, string(refused.SQLState[:])}}, nil
		}
		check(err)
		check(out.Encode(said))
	}
	check(in.Err())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(db *sql.DB, s step) (any, error) {
	args := make([]any, len(s.Args))
	for i, a := range s.Args {
		args[i] = argument(a)
	}
	if word := strings.Fields(s.SQL)[0]; word != "SELECT" && word != "SELEC" {
		r, err := db.Exec(s.SQL, args...)
		if err != nil {
			return nil, err
		}
		n, err := r.RowsAffected()
		return map[string]any{"affected": n}, err
	}
	rows, err := db.Query(s.SQL, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, _ := rows.Columns()
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	all := [][]any{}
	for rows.Next() {
		values, places := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		for i, v := range values {
			values[i] = say(v, types[i].DatabaseTypeName())
		}
		all = append(all, values)
	}
	return map[string]any{"columns": names, "rows": all}, rows.Err()
}

func argument(word *string) any {
	if word == nil {
		return nil
	}
	kind, text, _ := strings.Cut(*word, " ")
	switch kind {
	case "int":
		n, err := strconv.ParseInt(text, 10, 64)
		check(err)
		return n
	case "flt":
		f, err := strconv.ParseFloat(text, 64)
		check(err)
		return f
	case "bin":
		b, err := hex.DecodeString(text)
		check(err)
		return b
	case "at":
		t, err := time.Parse("2006-01-02 15:04:05", text)
		check(err)
		return t
	}
	return text
}

func say(v any, kind string) any {
	if v == nil {
		return nil
	}
	text := fmt.Sprint(v)
	if b, ok := v.([]byte); ok {
		text = string(b)
	}
	switch {
	case strings.HasSuffix(kind, "INT"), kind == "YEAR":
		return "int " + text
	case kind == "DECIMAL":
		return "dec " + text
	case kind == "DOUBLE", kind == "FLOAT":
		return "flt " + text
	case kind == "DATE":
		return "date " + v.(time.Time).Format("2006-01-02")
	case kind == "DATETIME", kind == "TIMESTAMP":
		return "at " + v.(time.Time).Format("2006-01-02 15:04:05.999999")
	case kind == "TIME":
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
		return "time " + text
	case strings.HasSuffix(kind, "BLOB"), strings.HasSuffix(kind, "BINARY"):
		return "bin " + hex.EncodeToString([]byte(text))
	}
	return "txt " + text
}
