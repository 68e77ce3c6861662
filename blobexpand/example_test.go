package blobexpand_test

import (
	"fmt"

	"millrace/blobexpand"
)

// Values are observed in log order, then shredded with the columns that came out.
func Example() {
	values := []string{`{"id":1,"user":{"name":"Ann"}}`, `{"id":"007"}`, `{"id":3,"user":null}`, `{broken`}

	in := blobexpand.NewInference(nil, []string{"_offset", "_value"})
	for _, v := range values {
		in.Observe([]byte(v))
	}
	cols := in.Columns()
	for _, c := range cols {
		fmt.Println(c.Name, c.Type)
	}

	e := blobexpand.NewExpander(cols, blobexpand.ExpanderOptions{Errors: true, All: cols})
	for _, v := range values {
		e.Append([]byte(v))
	}
	for _, a := range e.Take() {
		fmt.Println(a)
		a.Release()
	}
	// Output:
	// id VARCHAR(16383)
	// user.name VARCHAR(16383)
	// ["1" "007" "3" (null)]
	// ["Ann" (null) (null) (null)]
	// [(null) (null) (null) "not JSON at byte 1: found 'b'"]
}
