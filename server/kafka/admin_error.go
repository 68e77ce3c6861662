package kafka

import (
	"errors"
	"fmt"
)

// adminError is a fault of one item of an administration request: what its code and
// message in the response are.
type adminError struct {
	code    int16
	message string
}

func (e *adminError) Error() string { return e.message }

func adminErrorf(code int16, format string, args ...any) *adminError {
	return &adminError{code, fmt.Sprintf(format, args...)}
}

// describeError is the code and message of err in a response: an adminError's own,
// else the table's.
func (s *Server) describeError(err error) (code int16, message *string) {
	if err == nil {
		return errNone, nil
	}
	var fault *adminError
	if errors.As(err, &fault) {
		return fault.code, nullable(fault.message)
	}
	code = s.code(err)
	if code == errUnknownServerError {
		return code, nil // the log has it; it is nothing for a client
	}
	return code, nullable(err.Error())
}
