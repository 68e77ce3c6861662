package sqltable

import (
	"fmt"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

func TestJSONTextReachesTheClientByteForByte(t *testing.T) {
	const text = `{"a": 9007199254740993, "p":1.10,"x":1e400, "s":"<&>"}`
	v, err := types.JSON.SQL(sql.NewEmptyContext(), nil, JSONText(text))
	if err != nil || v.ToString() != text {
		t.Errorf("got %s, %v", v.ToString(), err)
	}
}

func TestJSONNumbersKeepEveryDigit(t *testing.T) {
	for in, want := range map[string]string{
		"9007199254740993":            "int64 9007199254740993",
		"18446744073709551615":        "uint64 18446744073709551615",
		"18446744073709551616":        "decimal.Decimal 18446744073709551616",
		"1.10":                        "float64 1.1",
		"0.1000000000000000055511151": "decimal.Decimal 0.1000000000000000055511151",
		"1e2":                         "float64 100",
		"-0":                          "float64 -0",
		`"x"`:                         "string x",
		`[1,[2.5,{"a":12345678901234567890123}]]`: "[]interface {} [1 [2.5 map[a:12345678901234567890123]]]",
	} {
		v, err := JSONText(in).ToInterface()
		if got := fmt.Sprintf("%T %v", v, v); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", in, got, err, want)
		}
	}
	if _, err := JSONText(`{"a":`).ToInterface(); err == nil {
		t.Error("torn JSON was accepted")
	}
}
