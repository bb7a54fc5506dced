package main

import (
	"fmt"
	"net/http"
	"sync"

	"gatehouse/domain"
)

// stage is how far a server has come: starting, serving an app, ending. Listeners
// are open in all three.
type stage struct {
	mu     sync.RWMutex
	app    *app // nil while starting
	ending bool
}

// begin lets requests through to a from now on. It may be too late: then a is
// told at once.
func (s *stage) begin(a *app) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.app = a
	if s.ending {
		a.notReady()
	}
}

// end tells the app, if there is one yet, that the server ends.
func (s *stage) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = true
	if s.app != nil {
		s.app.notReady()
	}
}

// handler passes requests to that handler of the app. While starting it answers as
// one that is alive and not ready (OP-14), so that a long migration is not taken
// for a death.
func (s *stage) handler(of func(*app) http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.RLock()
		a := s.app
		s.mu.RUnlock()
		switch {
		case a != nil:
			of(a).ServeHTTP(w, r)
		case r.URL.Path == "/livez" || r.URL.Path == "/healthz":
			w.WriteHeader(http.StatusOK)
		default:
			header := w.Header()
			header.Set("Content-Type", "application/problem+json")
			header.Set("Retry-After", "1")
			id := domain.NewID()
			header.Set("X-Request-Id", id)
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = fmt.Fprintf(w, startingProblem, id) // a client that has gone is told nothing
		}
	})
}

// startingProblem is the problem "unavailable" of openapi.yaml (API-4).
const startingProblem = `{"type":"urn:gatehouse:problem:unavailable","title":"Unavailable","status":503,` +
	`"detail":"The server is starting; try again.","code":"unavailable","request_id":"%s"}` + "\n"
