// Package sqlerr is the one table of MySQL error numbers: errors that have one, and the number for every other error that
// can reach a client.
package sqlerr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"millrace/scan"
	"millrace/scan/exec"
	"millrace/server/auth"
	"millrace/server/mysql/wire"
	"millrace/store"
	"millrace/store/commitlog"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer/analyzererrors"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	gmstypes "github.com/dolthub/go-mysql-server/sql/types"
	vtmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	goerrors "gopkg.in/src-d/go-errors.v1"
)

// Error is an error that already has its MySQL number. Nothing changes one once it is made.
type Error struct {
	Number  uint16
	State   string // SQLSTATE, five characters
	Message string
}

func (e *Error) Error() string { return e.Message }

// New is an error of that number and SQLSTATE; its message is format with args.
func New(number uint16, state, format string, args ...any) *Error {
	return &Error{number, state, fmt.Sprintf(format, args...)}
}

// Why a statement was cancelled: causes of its context.
var (
	ErrKilled     = New(1317, "70100", "Query execution was interrupted")
	ErrTimeout    = New(3024, "HY000", "Query execution was interrupted, maximum statement execution time exceeded: raise max_execution_time (milliseconds) or the server's --statement-timeout")
	ErrShutdown   = New(1053, "08S01", "Server shutdown in progress")
	ErrClientGone = New(1317, "70100", "Query execution was interrupted: the client is gone")
)

// ErrNoMemory is how a statement ends that keeps more rows (to sort, to group, to join) than there is
// memory for; the others go on.
var ErrNoMemory = New(1038, "HY001", "Out of memory for the rows that this statement keeps (to sort, group, join or make windows of); narrow it with WHERE or LIMIT")

var (
	ErrTooLong         = New(1153, "08S01", "Got a packet bigger than 'max_allowed_packet' bytes")
	ErrEmpty           = New(1065, "42000", "Query was empty")
	ErrFileAccess      = New(1290, "HY000", "The MySQL server is running with the --secure-file-priv option so it cannot execute this statement")
	ErrNeedsAdmin      = New(1227, "42000", "Access denied; you need (at least one of) the SUPER or SYSTEM_VARIABLES_ADMIN privilege(s) for this operation")
	ErrNoDatabase      = New(1046, "3D000", "No database selected")
	ErrMalformed       = New(1835, "HY000", "Malformed communication packet")
	ErrUnknownPrepared = New(1243, "HY000", "Unknown prepared statement handler given to EXECUTE")
	ErrNoMultiple      = New(1064, "42000", "You have an error in your SQL syntax: several statements where one is allowed")
	ErrInternal        = New(1815, "HY000", "Internal error: the server's log has the details")
)

// Unsupported is about what MySQL can do and this server cannot.
func Unsupported(what string) error {
	return New(1235, "42000", "This version of Millrace doesn't yet support '%s'", what)
}

// Instead is Unsupported with what to do instead.
func Instead(what, hint string) error {
	return New(1235, "42000", "This version of Millrace doesn't yet support '%s'. %s", what, hint)
}

// AppendOnly is about what no topic can do.
func AppendOnly(what, hint string) error {
	return New(1235, "42000", "%s is not possible: a topic is an append-only log. %s", what, hint)
}

// NoTable is about a table that a statement reads or writes.
func NoTable(db, table string) error {
	return New(1146, "42S02", "Table '%s.%s' doesn't exist", db, table)
}

// UnknownTable is about tables that a statement was to drop; names as they are shown.
func UnknownTable(names string) error {
	return New(1051, "42S02", "Unknown table '%s'", names)
}

// UnknownDatabase is about a database that there is none of.
func UnknownDatabase(name string) error {
	return New(1049, "42000", "Unknown database '%s'", name)
}

// kinds maps the engine's errors to MySQL's. An empty message keeps the engine's.
var kinds = []struct {
	kind   *goerrors.Kind
	number uint16
	state  string
}{
	{sql.ErrSyntaxError, 1064, "42000"},
	{sql.ErrUnsupportedSyntax, 1235, "42000"},
	{sql.ErrUnsupportedFeature, 1235, "42000"},
	{sql.ErrTableNotFound, 1146, "42S02"},
	{sql.ErrUnknownTable, 1051, "42S02"},
	{sql.ErrTableAlreadyExists, 1050, "42S01"},
	{sql.ErrDatabaseNotFound, 1049, "42000"},
	{sql.ErrDatabaseExists, 1007, "HY000"},
	{sql.ErrNoDatabaseSelected, 1046, "3D000"},
	{sql.ErrColumnNotFound, 1054, "42S22"},
	{sql.ErrTableColumnNotFound, 1054, "42S22"},
	{sql.ErrUnknownColumn, 1054, "42S22"},
	{sql.ErrMisusedAlias, 1054, "42S22"},
	{sql.ErrAmbiguousColumnName, 1052, "23000"},
	{sql.ErrAmbiguousColumnOrAliasName, 1052, "23000"},
	{sql.ErrAmbiguousColumnInOrderBy, 1052, "23000"},
	{sql.ErrDuplicateAliasOrTable, 1066, "42000"},
	{sql.ErrFunctionNotFound, 1305, "42000"},
	{sql.ErrStoredProcedureDoesNotExist, 1305, "42000"},
	{sql.ErrStoredProceduresNotSupported, 1305, "42000"},
	{sql.ErrInvalidArgumentNumber, 1582, "42000"},
	{sql.ErrInvalidArgument, 1210, "HY000"},
	{sql.ErrInvalidType, 1210, "HY000"},
	{sql.ErrUnknownSystemVariable, 1193, "HY000"},
	{sql.ErrUnknownUserVariable, 1193, "HY000"},
	{sql.ErrSystemVariableReadOnly, 1238, "HY000"},
	{sql.ErrSystemVariableSessionOnly, 1228, "HY000"},
	{sql.ErrSystemVariableGlobalOnly, 1229, "HY000"},
	{sql.ErrInvalidSystemVariableValue, 1231, "42000"},
	{sql.ErrNonAggregatedColumnWithoutGroupBy, 1235, "42000"}, // the planner's, for window functions over aggregates
	{sql.ErrExpectedSingleRow, 1242, "21000"},
	{sql.ErrInvalidOperandColumns, 1241, "21000"},
	{sql.ErrColumnNumberDoesNotMatch, 1222, "21000"},
	{planbuilder.ErrUnionSchemasDifferentLength, 1222, "21000"},
	{sql.ErrColumnCountMismatch, 1353, "HY000"},
	{sql.ErrColValCountMismatch, 1136, "21S01"},
	{sql.ErrUnknownPreparedStatement, 1243, "HY000"},
	{sql.ErrUnboundPreparedStatementVariable, 1210, "HY000"},
	{sql.ErrInvalidJSONText, 3141, "22032"},
	{sql.ErrInvalidJson, 3141, "22032"},
	{sql.ErrInvalidJSONArgument, 3146, "22032"},
	{sql.ErrPrimaryKeyViolation, 1062, "23000"},
	{sql.ErrUniqueKeyViolation, 1062, "23000"},
	{sql.ErrDuplicateEntry, 1062, "23000"},
	{sql.ErrSecureFilePriv, 1290, "HY000"},
	{sql.ErrReadOnly, 1290, "HY000"},
	{sql.ErrPrivilegeCheckFailed, 1142, "42000"},
	{sql.ErrTableAccessDeniedForUser, 1142, "42000"},
	{sql.ErrDatabaseAccessDeniedForUser, 1044, "42000"},
	{sql.ErrCollationUnknown, 1273, "HY000"},
	{sql.ErrCharSetUnknown, 1115, "42000"},
	{sql.ErrCollationInvalidForCharSet, 1253, "42000"},
	{sql.ErrCollationIllegalMix, 1267, "HY000"},
	{sql.ErrCteRecursionLimitExceeded, 3636, "HY000"},
	{sql.ErrRecursiveCTEMissingUnion, 3573, "HY000"},
	{sql.ErrViewsNotSupported, 1235, "42000"},
	{sql.ErrCreateTableNotSupported, 1235, "42000"},
	{sql.ErrDropTableNotSupported, 1235, "42000"},
	{sql.ErrAsOfNotSupported, 1235, "42000"},
	{sql.ErrStarUnsupported, 1064, "42000"},
	{sql.ErrNoTablesUsed, 1096, "HY000"},
	{sql.ErrUnknownWindowName, 3579, "HY000"},
	{sql.ErrDeleteRowNotFound, 1032, "HY000"},
	{sql.ErrValueOutOfRange, 1690, "22003"},
	{gmstypes.ErrValueNotNil, 1210, "HY000"},
	{gmstypes.ErrConvertingToTime, 1292, "22007"},
	{gmstypes.ErrLengthTooLarge, 1406, "22001"},
	{gmstypes.ErrConvertToDecimalLimit, 1690, "22003"},
	{expression.ErrUnsupportedInOperand, 1241, "21000"},
	{expression.ErrIntDivDataOutOfRange, 1690, "22003"},
	{analyzererrors.ErrValidationGroupBy, 1055, "42000"},
	{analyzererrors.ErrReadOnlyDatabase, 1290, "HY000"},
	{planbuilder.ErrQualifiedOrderBy, 1250, "42000"},
	{gmstypes.ErrConvertingToTimeOutOfRange, 1292, "22007"},
	{gmstypes.ErrConvertingToTimeType, 1292, "22007"},
	{gmstypes.ErrConvertingToDecimal, 1366, "HY000"},
	{gmstypes.ErrDataTruncatedForColumn, 1265, "01000"},
	{gmstypes.ErrLengthBeyondLimit, 1406, "22001"},
	{gmstypes.ErrBadCharsetString, 1366, "HY000"},
}

// Wire is the door: every error that reaches a client goes through here. text may add to
// a syntax error where it was.
func Wire(ctx context.Context, err error) *wire.Error {
	// A cancelled statement fails in many ways; why it was cancelled is what counts.
	if ctx != nil && ctx.Err() != nil {
		if cause := new(Error); errors.As(context.Cause(ctx), &cause) {
			return &wire.Error{Number: cause.Number, State: cause.State, Message: cause.Message}
		}
	}
	number, state, message := Classify(err)
	return &wire.Error{Number: number, State: state, Message: message}
}

// Classify is the number, SQLSTATE and message that a client gets for err.
func Classify(err error) (number uint16, state, message string) {
	err = unsorted(err)
	if own := new(Error); errors.As(err, &own) {
		return own.Number, own.State, own.Message
	}
	switch {
	case errors.Is(err, sqlparser.ErrEmpty):
		return ErrEmpty.Number, ErrEmpty.State, ErrEmpty.Message
	case errors.Is(err, context.DeadlineExceeded):
		return ErrTimeout.Number, ErrTimeout.State, ErrTimeout.Message
	case errors.Is(err, context.Canceled):
		return ErrKilled.Number, ErrKilled.State, ErrKilled.Message
	}
	if errors.Is(err, scan.ErrMemory) || sql.ErrNoMemoryAvailable.Is(sql.UnwrapError(err)) {
		return ErrNoMemory.Number, ErrNoMemory.State, ErrNoMemory.Message
	}
	if r := new(exec.RangeError); errors.As(err, &r) {
		return 1690, "22003", r.Error()
	}
	if n, s, ok := storeError(err); ok {
		return n, s, err.Error()
	}
	if n, s, ok := authError(err); ok {
		return n, s, err.Error()
	}
	inner := sql.UnwrapError(err)
	for _, k := range kinds {
		if k.kind.Is(inner) {
			return k.number, k.state, engineMessage(k.kind, inner)
		}
	}
	if v := new(vtmysql.SQLError); errors.As(inner, &v) {
		return uint16(v.Num), v.State, v.Message
	}
	if cast := sql.CastSQLError(inner); cast.Num != vtmysql.ERUnknownError {
		return uint16(cast.Num), cast.State, inner.Error()
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrMalformed.Number, ErrMalformed.State, ErrMalformed.Message
	}
	return 1105, "HY000", err.Error()
}

// unsorted is why the engine could not sort, if that is what err says.
func unsorted(err error) error {
	if !sql.ErrUnableSort.Is(err) {
		return err
	}
	if e := new(goerrors.Error); errors.As(err, &e) && e.Cause() != nil {
		return e.Cause()
	}
	return err
}

// engineMessage puts the engine's words in MySQL's form where tools look at them.
func engineMessage(kind *goerrors.Kind, err error) string {
	m := err.Error()
	switch kind {
	case sql.ErrNonAggregatedColumnWithoutGroupBy:
		return "This version of Millrace doesn't yet support 'window functions beside aggregates': put the GROUP BY into a subquery"
	case sql.ErrSyntaxError:
		return "You have an error in your SQL syntax; " + m
	case sql.ErrColumnNotFound:
		if name, ok := Quoted(m); ok {
			return fmt.Sprintf("Unknown column '%s' in 'field list'", name)
		}
	case sql.ErrTableColumnNotFound:
		if table, ok := Quoted(m); ok {
			if column, ok := Quoted(m[strings.Index(m, table)+len(table)+1:]); ok {
				return fmt.Sprintf("Unknown column '%s.%s' in 'field list'", table, column)
			}
		}
	case sql.ErrTableNotFound:
		if name, ok := strings.CutPrefix(m, "table not found: "); ok {
			name, _, _ = strings.Cut(name, ",")
			return fmt.Sprintf("Table '%s' doesn't exist", name)
		}
	case sql.ErrDatabaseNotFound:
		if _, name, ok := strings.Cut(m, ": "); ok {
			name, _, _ = strings.Cut(name, ",")
			return fmt.Sprintf("Unknown database '%s'", name)
		}
	case sql.ErrFunctionNotFound:
		if name, ok := Quoted(m); ok {
			return fmt.Sprintf("FUNCTION %s does not exist", name)
		}
	}
	return m
}

// Quoted takes the first "…" or '…' out of m.
func Quoted(m string) (string, bool) {
	i := strings.IndexAny(m, `"'`)
	if i < 0 {
		return "", false
	}
	j := strings.IndexByte(m[i+1:], m[i])
	if j < 0 {
		return "", false
	}
	return m[i+1 : i+1+j], true
}

// storeError maps what the data path says; its messages name topic, partition and offset.
func storeError(err error) (uint16, string, bool) {
	switch {
	case errors.Is(err, state.ErrUnknownTopic):
		return 1146, "42S02", true
	case errors.Is(err, state.ErrTopicExists):
		return 1050, "42S01", true
	case errors.Is(err, state.ErrInvalidTopicName):
		return 1103, "42000", true
	case errors.Is(err, state.ErrOffsetOutOfRange):
		return 1690, "22003", true
	case errors.Is(err, state.ErrVersionMismatch):
		return 1213, "40001", true
	case errors.Is(err, state.ErrTooMany):
		return 1815, "HY000", true
	case errors.Is(err, commitlog.ErrCorrupt), errors.Is(err, store.ErrCorrupt):
		return 1034, "HY000", true
	case errors.Is(err, commitlog.ErrNoSpace):
		return 1021, "HY000", true
	case errors.Is(err, commitlog.ErrClosed):
		return ErrShutdown.Number, ErrShutdown.State, true
	case errors.Is(err, commitlog.ErrFenced), errors.Is(err, commitlog.ErrInDoubt),
		errors.Is(err, commitlog.ErrStorage), errors.Is(err, commitlog.ErrConflict):
		return 1030, "HY000", true
	case isReadError(err):
		return 1030, "HY000", true
	default:
		return 0, "", false
	}
}

func isReadError(err error) bool {
	var re *store.ReadError
	return errors.As(err, &re)
}

func authError(err error) (uint16, string, bool) {
	switch {
	case errors.Is(err, auth.ErrUserExists), errors.Is(err, auth.ErrNoUser), errors.Is(err, auth.ErrTooManyUsers):
		return 1396, "HY000", true
	case errors.Is(err, auth.ErrLastAdministrator):
		return 1396, "HY000", true
	case errors.Is(err, auth.ErrBadName), errors.Is(err, auth.ErrBadGrant):
		return 1470, "HY000", true
	case errors.Is(err, auth.ErrBadPassword):
		return 1819, "HY000", true
	case errors.Is(err, auth.ErrDenied):
		return 1045, "28000", true
	default:
		return 0, "", false
	}
}

// MaxClip bounds what of a client's text gets into one message or log line, in bytes.
const MaxClip = 1024

// Clip is s up to MaxClip.
func Clip(s string) string {
	if len(s) > MaxClip {
		return s[:MaxClip] + "…"
	}
	return s
}
