package events_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// patient has the client try again after an hour, unless it is told otherwise.
var patient = map[string]any{"delay": map[string]any{"first": time.Hour.Milliseconds(), "most": time.Hour.Milliseconds()}}

// refuse answers with a problem.
func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"code":%q,"detail":"No."}`, code)
}

// What a repetition does not help ends the client (API-22).
func TestClientTakesNoForAnAnswer(t *testing.T) {
	t.Parallel()
	for status, code := range map[int]string{401: "unauthenticated", 403: "forbidden", 404: "task_not_found"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s := newScript(t, func(w http.ResponseWriter, _ *http.Request, n int) {
				if n == 0 {
					send(w, ready) // and the token is revoked
					return
				}
				refuse(w, status, code)
			})
			f := newFollower(t)
			f.inNode(t, s.URL, taskID, nil)
			eventually(t, "it ends", func() bool { return f.last().Ended != nil })
			if got, want := *f.last().Ended, (ending{"Refused", "No.", status, code}); got != want {
				t.Errorf("ended with %+v, want %+v", got, want)
			}
			if got := len(s.connections()); got != 2 {
				t.Errorf("it asked %d times", got)
			}
		})
	}
}

// What passes is waited for as long as the server says.
func TestClientWaitsAsTold(t *testing.T) {
	t.Parallel()
	s := newScript(t, func(w http.ResponseWriter, r *http.Request, n int) {
		if n == 2 {
			hold(w, r, ready)
			return
		}
		w.Header().Set("Retry-After", "0")
		refuse(w, []int{http.StatusTooManyRequests, http.StatusServiceUnavailable}[n], "later")
	})
	f := newFollower(t)
	f.inNode(t, s.URL, taskID, patient)
	eventually(t, "it is ready", func() bool { return f.last().Change.Name == "ready" })
}

// A stream that is open and says nothing is given up, and so is an answer that does not
// begin. What is slow by chance may be as well.
func TestClientGivesSilenceUp(t *testing.T) {
	t.Parallel()
	var hung atomic.Bool
	s := newScript(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		switch since := r.Header.Get("Last-Event-ID"); {
		case since == "":
			hold(w, r, ready+planEvent(7, "p", 1))
		case since != "7":
			hold(w, r, "")
		case hung.CompareAndSwap(false, true):
			<-r.Context().Done()
		default:
			hold(w, r, planEvent(8, "p", 2))
		}
	})
	f := newFollower(t)
	f.inNode(t, s.URL, taskID, map[string]any{"silence": 200})
	eventually(t, "it goes on", func() bool { return slices.Contains(versions(f.told()), 2) })
}

// The signal ends the client, and with it the connection.
func TestClientEndsWhenTold(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	s := newScript(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		defer close(left)
		hold(w, r, ready)
	})
	f := newFollower(t)
	f.end()
	f.inNode(t, s.URL, taskID, patient)
	<-left
	eventually(t, "it ends", func() bool { return f.last().Ended != nil })
	if got := f.last().Ended.Name; got != "AbortError" {
		t.Errorf("ended with %s", got)
	}
}

// EV-1: a server that has not come to the last id has an older database, and what the
// client knew is forgotten.
func TestClientGoesBackWithTheServer(t *testing.T) {
	t.Parallel()
	s := newScript(t, func(w http.ResponseWriter, r *http.Request, n int) {
		switch n {
		case 0:
			send(w, planEvent(8, "p", 2)+commentsEvent(9, "p", 5)+ready)
		default:
			hold(w, r, planEvent(3, "p", 1)+commentsEvent(4, "p", 1)+ready)
		}
	})
	f := newFollower(t)
	f.inNode(t, s.URL, taskID, nil)
	eventually(t, "older comments", func() bool { return f.last().comments() == "p 1" })
	if got := s.connections(); !slices.Equal(got, []string{"", "9", ""}) {
		t.Errorf("it goes on after %q", got)
	}
}

// EV-3: comments are shown of the current plan alone, whichever of the two comes first,
// and never older ones after newer ones. Nothing is shown before all of it is there.
func TestClientShowsCommentsOfThePlan(t *testing.T) {
	t.Parallel()
	s := newScript(t, func(w http.ResponseWriter, r *http.Request, n int) {
		if n == 0 {
			send(w, commentsEvent(1, "p", 4)+planEvent(2, "p", 1)) // and is cut
			return
		}
		hold(w, r, ready+commentsEvent(3, "p", 3)+commentsEvent(4, "q", 1)+planEvent(5, "q", 1)+commentsEvent(6, "p", 5))
	})
	f := newFollower(t)
	f.inNode(t, s.URL, taskID, nil)
	eventually(t, "all of it", func() bool { return len(f.told()) == 5 })
	var got []string
	for _, r := range f.told() {
		got = append(got, r.comments())
	}
	if want := []string{"p 4", "p 4", "p 4", "q 1", "q 1"}; !slices.Equal(got, want) {
		t.Errorf("shown %q, want %q", got, want)
	}
}

// messagesEvent is the event of a transcript.
func messagesEvent(id, last int) string {
	return fmt.Sprintf("event: session.messages.changed\n%sdata: {\"session_id\":%q,\"last_seq\":%d}\n\n", idLine(id), session, last)
}

// A session that is deleted before its transcript is read ends nothing.
func TestClientOutlivesASession(t *testing.T) {
	t.Parallel()
	s := newScript(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		hold(w, r, ready+messagesEvent(1, 3)+planEvent(2, "p", 1))
	})
	f := newFollower(t)
	f.inNode(t, s.URL, taskID, patient)
	eventually(t, "what comes behind", func() bool { return f.last().Change.Name == "task.plan.changed" })
}

// EV-1: an event whose transcript cannot be read is not done with, and is asked for again.
func TestClientAsksForATranscriptAgain(t *testing.T) {
	t.Parallel()
	s := newScript(t, func(w http.ResponseWriter, r *http.Request, n int) {
		if n == 0 {
			hold(w, r, ready+planEvent(1, "p", 1)+messagesEvent(2, 3)+planEvent(3, "p", 2))
			return
		}
		hold(w, r, messagesEvent(2, 3)+planEvent(3, "p", 2))
	})
	var asked atomic.Int64
	s.rest = func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			refuse(w, http.StatusServiceUnavailable, "unavailable")
			return
		}
		_, _ = io.WriteString(w, `{"messages":[{"seq":3}],"has_more":false}`)
	}
	f := newFollower(t)
	f.inNode(t, s.URL, taskID, nil)
	eventually(t, "what comes behind", func() bool { return slices.Contains(versions(f.told()), 2) })
	if got := s.connections(); !slices.Equal(got, []string{"", "1"}) {
		t.Errorf("it goes on after %q", got)
	}
}
