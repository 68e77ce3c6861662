package mysql

import (
	"io"
	"sync"

	"github.com/sirupsen/logrus"
)

// quietLogger is what the engine logs to: nowhere. It would write statements with their
// literals, to standard error; what matters of them the connection logs itself.
var quietLogger = sync.OnceValue(func() *logrus.Entry {
	l := logrus.New()
	l.SetOutput(io.Discard)
	l.SetLevel(logrus.PanicLevel)
	return logrus.NewEntry(l)
})
