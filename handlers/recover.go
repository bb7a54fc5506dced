package handlers

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"

	"github.com/labstack/echo/v4"
)

// panicError is a panic of a handler. Its text is for the log; what was thrown
// may hold submitted text, so only the runtime's own words are in it.
type panicError struct {
	what  string
	stack []byte
}

// Error implements error.
func (e *panicError) Error() string { return "panic: " + e.what + "\n" + string(e.stack) }

// recoverPanics turns a panic into an error. One that aborts the answer goes on:
// the server then closes the connection, as it does when an answer was already
// under way and the client must not take what it has for the whole.
func recoverPanics(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			thrown := recover()
			if thrown == nil {
				return
			}
			if e, ok := thrown.(error); ok && errors.Is(e, http.ErrAbortHandler) {
				panic(thrown)
			}
			err = &panicError{wordsOf(thrown), debug.Stack()}
			if c.Response().Committed {
				c.Error(err)
				panic(http.ErrAbortHandler)
			}
		}()
		return next(c)
	}
}

func wordsOf(thrown any) string {
	if e, ok := thrown.(runtime.Error); ok {
		return e.Error()
	}
	return fmt.Sprintf("%T", thrown)
}
