// Package regex takes the place of github.com/dolthub/go-icu-regex, which the
// SQL engine links: that one compiles a WebAssembly build of ICU when the program
// starts, a quarter of a second and 20 MB before main, for every command.
//
// server/mysql has its own REGEXP functions, which find every pattern in linear
// time, and turns the REGEXP operators into them, so no statement gets here. If one
// did, it would be refused.
package regex

import (
	"context"
	"errors"

	goerrors "gopkg.in/src-d/go-errors.v1"
)

// ErrUnavailable is what every pattern gets.
var ErrUnavailable = errors.New("regular expressions of the SQL engine are not available")

// ErrInvalidRegex is named by the engine's own lists of tests, which ours read.
var ErrInvalidRegex = goerrors.NewKind("the given regular expression is invalid")

// Regex is what the engine calls of the replaced package.
type Regex interface {
	SetRegexString(ctx context.Context, regexStr string, flags RegexFlags) error
	SetMatchString(ctx context.Context, matchStr string) error
	IndexOf(ctx context.Context, start int, occurrence int, endIndex bool) (int, error)
	Matches(ctx context.Context, start int, occurrence int) (bool, error)
	Replace(ctx context.Context, replacementStr string, position int, occurrence int) (string, error)
	Substring(ctx context.Context, start int, occurrence int) (string, bool, error)
	StringBufferSize() uint32
	Close() error
}

// RegexFlags as in the replaced package.
type RegexFlags uint32

// The flags that the engine names.
const (
	RegexFlags_None             RegexFlags = 0
	RegexFlags_Unix_Lines       RegexFlags = 1
	RegexFlags_Case_Insensitive RegexFlags = 2
	RegexFlags_Multiline        RegexFlags = 8
	RegexFlags_Dot_All          RegexFlags = 32
)

// SetRegexLeakHandler does nothing: nothing is held that could leak.
func SetRegexLeakHandler(func()) {}

// CreateRegex returns a Regex that takes no pattern.
func CreateRegex(uint32) Regex { return unavailable{} }

type unavailable struct{}

func (unavailable) SetRegexString(context.Context, string, RegexFlags) error { return ErrUnavailable }

func (unavailable) SetMatchString(context.Context, string) error { return ErrUnavailable }

func (unavailable) IndexOf(context.Context, int, int, bool) (int, error) { return 0, ErrUnavailable }

func (unavailable) Matches(context.Context, int, int) (bool, error) { return false, ErrUnavailable }

func (unavailable) Replace(context.Context, string, int, int) (string, error) {
	return "", ErrUnavailable
}

func (unavailable) Substring(context.Context, int, int) (string, bool, error) {
	return "", false, ErrUnavailable
}
func (unavailable) StringBufferSize() uint32 { return 0 }
func (unavailable) Close() error             { return nil }
