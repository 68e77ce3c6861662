package client

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// LoginHint is what to tell somebody whom a server refused and who did not log in.
const LoginHint = "users exist: log in as one with --user NAME"

// Refused says whether err is a server's refusal for want of rights.
func Refused(err error) bool {
	for _, e := range []error{
		kerr.TopicAuthorizationFailed, kerr.GroupAuthorizationFailed, kerr.ClusterAuthorizationFailed,
		kerr.TransactionalIDAuthorizationFailed, kerr.SaslAuthenticationFailed, kerr.IllegalSaslState,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	// A listener that demands a login ends the connection of who asks without one. What kgo
	// knows of that is only in its text.
	if eof := (*kgo.ErrFirstReadEOF)(nil); errors.As(err, &eof) && strings.Contains(eof.Error(), "is SASL missing") {
		return true
	}
	const accessDenied, databaseAccessDenied, commandDenied, specificAccessDenied = 1045, 1044, 1142, 1227
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		switch e.Number {
		case accessDenied, databaseAccessDenied, commandDenied, specificAccessDenied:
			return true
		}
	}
	return false
}

// hintWhenClosed follows an empty list that somebody got who did not log in: servers leave
// out what one may not see, and say nothing.
func (k *Kafka) hintWhenClosed(ctx context.Context, cl *kgo.Client, s *IO) {
	if k.User != "" {
		return
	}
	req := kmsg.NewPtrDescribeClusterRequest()
	req.IncludeClusterAuthorizedOperations = true
	resp, err := req.RequestWith(ctx, cl)
	const notTold = math.MinInt32 // who may not even describe the cluster
	if err == nil && resp.ErrorCode == 0 && resp.ClusterAuthorizedOperations == notTold {
		fmt.Fprintln(s.Err, "Nothing is shown that needs a login;", LoginHint)
	}
}
