package kafkaerr

import "fmt"

// Fault is an error that says itself what its code and message in a response are.
type Fault struct {
	Code    int16
	Message string // "": none
}

func (e *Fault) Error() string { return e.Message }

// Faultf makes a Fault.
func Faultf(code int16, format string, args ...any) *Fault {
	return &Fault{code, fmt.Sprintf(format, args...)}
}
