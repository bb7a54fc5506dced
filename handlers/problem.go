package handlers

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"gatehouse/domain"
)

// statusOf is the whole of the mapping from kinds of failure to HTTP.
var statusOf = map[domain.Kind]int{
	domain.KindMalformed:       http.StatusBadRequest,
	domain.KindInvalid:         http.StatusUnprocessableEntity,
	domain.KindUnauthenticated: http.StatusUnauthorized,
	domain.KindForbidden:       http.StatusForbidden,
	domain.KindNotFound:        http.StatusNotFound,
	domain.KindConflict:        http.StatusConflict,
	domain.KindPrecondition:    http.StatusPreconditionFailed,
	domain.KindMethod:          http.StatusMethodNotAllowed,
	domain.KindTooLarge:        http.StatusRequestEntityTooLarge,
	domain.KindMediaType:       http.StatusUnsupportedMediaType,
	domain.KindMisdirected:     http.StatusMisdirectedRequest,
	domain.KindRateLimited:     http.StatusTooManyRequests,
	domain.KindInternal:        http.StatusInternalServerError,
	domain.KindUnavailable:     http.StatusServiceUnavailable,
	domain.KindStorageFull:     http.StatusInsufficientStorage,
}

// Failures that only the edge knows.
var (
	errMalformed        = &domain.Error{Kind: domain.KindMalformed, Code: "malformed_request", Detail: "The request cannot be read. A body is one complete JSON value in UTF-8, no name twice in an object, at most 64 levels deep, and encoded as Content-Encoding says; a query is URL-encoded."}
	errNotFound         = &domain.Error{Kind: domain.KindNotFound, Code: "not_found", Detail: "There is nothing at this path; /openapi.yaml lists those there are, and /docs/ shows them."}
	errMethodNotAllowed = &domain.Error{Kind: domain.KindMethod, Code: "method_not_allowed", Detail: "The path does not know this method; Allow lists those it knows."}
	errTooLarge         = &domain.Error{Kind: domain.KindTooLarge, Code: "request_too_large", Detail: "The body is larger than this operation takes; /v1/limits lists the sizes."}
	errMediaType        = &domain.Error{Kind: domain.KindMediaType, Code: "unsupported_media_type", Detail: "Send the body as application/json."}
	errHostRefused      = &domain.Error{Kind: domain.KindMisdirected, Code: "host_refused", Detail: "This server does not answer for that host; the setting allowed-hosts takes further names."}
	errCrossOrigin      = &domain.Error{Kind: domain.KindForbidden, Code: "forbidden", Detail: "Without authentication, requests from other origins are refused."}
	errRateLimited      = &domain.Error{Kind: domain.KindRateLimited, Code: "rate_limited", Detail: "Too many requests with this token; Retry-After says when to go on."}
)

// retryAfter is how many seconds a client is asked to stay away while the
// service is unavailable.
const retryAfter = "2"

// statusClientGone stands in logs and metrics for a request whose client left
// before the answer. It is never sent.
const statusClientGone = 499

// membersOf makes, of a function that names what errors of type E add to their
// problem, one that looks for such an error (API-4).
func membersOf[E error](convert func(E) map[string]any) func(error) map[string]any {
	return func(err error) map[string]any {
		if e, ok := errors.AsType[E](err); ok {
			return convert(e)
		}
		return nil
	}
}

// dataErrors lists the errors that carry data. The conversions stand in the file
// of their resource.
var dataErrors = []func(error) map[string]any{
	membersOf(validationMembers),
	membersOf(unavailableMembers),
	membersOf(planChangedMembers),
	membersOf(commentsChangedMembers),
	membersOf(limitMembers),
	membersOf(conflictMembers),
	membersOf(primaryMembers),
	membersOf(tooLargeMembers),
	membersOf(queueFullMembers),
	membersOf(queueChangedMembers),
}

func validationMembers(e *domain.ValidationError) map[string]any {
	list := make([]map[string]string, len(e.Problems))
	for i, p := range e.Problems {
		list[i] = map[string]string{"field": p.Field, "code": p.Code, "message": p.Message}
	}
	return map[string]any{"errors": list}
}

// failureOf returns what a client is told of err. What nobody foresaw is
// [domain.ErrInternal].
func failureOf(err error) *domain.Error {
	if e, ok := errors.AsType[*domain.Error](err); ok {
		return e
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return errTooLarge
	}
	if e, ok := errors.AsType[*echo.HTTPError](err); ok && e.Code < http.StatusInternalServerError {
		switch e.Code {
		case http.StatusNotFound:
			return errNotFound
		case http.StatusMethodNotAllowed:
			return errMethodNotAllowed
		case http.StatusRequestEntityTooLarge:
			return errTooLarge
		case http.StatusUnsupportedMediaType:
			return errMediaType
		default:
			return errMalformed
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return domain.ErrUnavailable
	}
	return domain.ErrInternal
}

// statusFor is the status that a failure is answered with.
func statusFor(failure *domain.Error) int {
	if status, ok := statusOf[failure.Kind]; ok {
		return status
	}
	return http.StatusInternalServerError
}

// problemOf returns the members of the problem that err is answered with (API-4).
func problemOf(err error, failure *domain.Error, status int, requestID string) map[string]any {
	p := map[string]any{}
	for _, members := range dataErrors {
		maps.Copy(p, members(err))
	}
	maps.Copy(p, map[string]any{
		"type":       "urn:gatehouse:problem:" + failure.Code,
		"title":      title(failure.Code),
		"status":     status,
		"detail":     failure.Detail,
		"code":       failure.Code,
		"request_id": requestID,
	})
	return p
}

// title returns a code in words: "plan_changed" is "Plan changed".
func title(code string) string {
	words := strings.ReplaceAll(code, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// answerErrors returns the one place where errors become answers, wherever they
// arose: a handler, the edge, the router or a panic. What is our fault is logged
// here and nowhere else.
func answerErrors(log *slog.Logger) echo.HTTPErrorHandler {
	return func(err error, c echo.Context) {
		r, w := c.Request(), c.Response()
		ctx := r.Context()
		if errors.Is(ctx.Err(), context.Canceled) {
			if !w.Committed {
				w.Status = statusClientGone
			}
			return
		}
		failure := failureOf(err)
		status := statusFor(failure)
		if status >= http.StatusInternalServerError {
			log.ErrorContext(ctx, "request failed", "route", requestOf(ctx).route(), "code", failure.Code, "error", err)
		}
		if w.Committed {
			return
		}
		setFailureHeaders(w.Header(), failure.Kind)
		write := func() error { return c.JSON(status, problemOf(err, failure, status, requestOf(ctx).id)) }
		if r.Method == http.MethodHead {
			write = func() error { return c.NoContent(status) }
		}
		if err := write(); err != nil {
			log.WarnContext(ctx, "problem not sent", "error", err)
		}
	}
}

func setFailureHeaders(h http.Header, kind domain.Kind) {
	h.Set(echo.HeaderContentType, "application/problem+json")
	h.Set(echo.HeaderCacheControl, "no-store")
	switch kind {
	case domain.KindUnauthenticated:
		h.Set(echo.HeaderWWWAuthenticate, "Bearer")
	case domain.KindUnavailable:
		h.Set(echo.HeaderRetryAfter, retryAfter)
	default:
	}
}
