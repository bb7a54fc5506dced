package domain

import (
	"errors"
	"fmt"
	"strings"
)

// Kind is the family a failure belongs to. A transport chooses its status from it.
type Kind string

// The kinds of failure. An error that is no [Error] is the service's own fault.
const (
	KindMalformed       Kind = "malformed"       // not readable at all
	KindInvalid         Kind = "invalid"         // readable, but wrong
	KindUnauthenticated Kind = "unauthenticated" // who is calling is not known
	KindForbidden       Kind = "forbidden"       // the caller may not do this anywhere
	KindNotFound        Kind = "not_found"       // absent, or outside the caller's workspace
	KindConflict        Kind = "conflict"        // the state is not what the caller assumed
	KindPrecondition    Kind = "precondition"    // a conflict with a condition stated in a header
	KindMethod          Kind = "method"          // the route exists, the method does not
	KindTooLarge        Kind = "too_large"       // the request as a whole
	KindMediaType       Kind = "media_type"      // not JSON
	KindMisdirected     Kind = "misdirected"     // sent to a host this server is not
	KindRateLimited     Kind = "rate_limited"    // too many requests of one caller
	KindInternal        Kind = "internal"        // a defect of this service
	KindUnavailable     Kind = "unavailable"     // the database is away, starting or stopping
	KindStorageFull     Kind = "storage_full"    // the database has no room
)

// Error is a failure the caller can act on. All of it may be shown to a client:
// it never holds submitted text. Causes that may not be shown are wrapped around
// it with fmt.Errorf. Its identity is the code: [errors.Is] matches by it.
type Error struct {
	Kind   Kind
	Code   string // stable, listed in openapi.yaml
	Detail string // one sentence for a person, that says what to do next where it can
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Detail }

// Is makes a copy with another detail match the sentinel it was made from.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// With returns a copy of e with another detail. Never pass submitted text.
func (e *Error) With(format string, args ...any) *Error {
	return &Error{e.Kind, e.Code, fmt.Sprintf(format, args...)}
}

// OfKind returns a copy of e of another kind, for the code that has two statuses.
func (e *Error) OfKind(kind Kind) *Error { return &Error{kind, e.Code, e.Detail} }

// Failures that more than one capability answers with. The others stand in the
// package of their capability.
var (
	ErrValidation  = &Error{KindInvalid, "validation_failed", "The request is well-formed but wrong; errors names every problem."}
	ErrUnavailable = &Error{KindUnavailable, "unavailable", "The service cannot answer right now; try again."}
	ErrStorageFull = &Error{KindStorageFull, "storage_full", "The database has no room left."}
	ErrInternal    = &Error{KindInternal, "internal_error", "Something failed on our side; the request id finds it in the log."}
)

// Codes of a [Problem].
const (
	ProblemRequired  = "required"
	ProblemUnknown   = "unknown"
	ProblemType      = "type"
	ProblemFormat    = "format"
	ProblemEnum      = "enum"
	ProblemRange     = "range"
	ProblemTooLong   = "too_long"
	ProblemTooMany   = "too_many"
	ProblemBlank     = "blank"
	ProblemNUL       = "nul"
	ProblemDuplicate = "duplicate"
	ProblemReserved  = "reserved"
	ProblemConflict  = "contradictory"
)

// Problem is one thing wrong with a request (API-2).
type Problem struct {
	Field   string // JSON pointer that begins with /body, /query, /path or /header
	Code    string // one of the Problem codes
	Message string // one sentence, without submitted text
}

// ValidationError is [ErrValidation] with every problem found (API-2).
type ValidationError struct{ Problems []Problem }

// Error implements error.
func (e *ValidationError) Error() string {
	fields := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		fields[i] = p.Field + " " + p.Code
	}
	return ErrValidation.Code + ": " + strings.Join(fields, ", ")
}

// Unwrap makes it match the sentinel.
func (e *ValidationError) Unwrap() error { return ErrValidation }

// Problems collects what is wrong with a request while it is judged.
type Problems []Problem

// MaxProblems is how many problems one answer lists: a small body of many small
// mistakes must not become a large answer.
const MaxProblems = 1000

// Add notes a problem with field, a JSON pointer such as "/body/title", unless there are
// [MaxProblems] already.
func (p *Problems) Add(field, code, format string, args ...any) {
	if len(*p) >= MaxProblems {
		return
	}
	*p = append(*p, Problem{field, code, fmt.Sprintf(format, args...)})
}

// Err is a [ValidationError] of what was noted, or nil.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return &ValidationError{p}
}

// Invalid is a [ValidationError] of a single problem.
func Invalid(field, code, format string, args ...any) error {
	return &ValidationError{[]Problem{{field, code, fmt.Sprintf(format, args...)}}}
}

// CodeOf is the code of the [Error] that err is, or "error" when it is none.
func CodeOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return "error"
}
