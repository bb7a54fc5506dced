package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	signing "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"gatehouse/cmd/gatehouse/internal/webhook"
	"gatehouse/domain"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
)

const (
	secret    = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	taskID    = "0192d3a0-0000-7000-8000-00000000000a"
	sessionID = "0192d3a0-0000-7000-8000-00000000000b"
	otherID   = "0192d3a0-0000-7000-8000-00000000000c"
)

// ask asks a server that answers with handler.
func ask(t *testing.T, handler http.HandlerFunc, turn prompt.TurnStart) (*string, error) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return hook(t, server.URL, time.Minute).BeforeTurn(t.Context(), turn)
}

func hook(t *testing.T, url string, timeout time.Duration) *webhook.Hook {
	t.Helper()
	h, err := webhook.New(webhook.Options{URL: url, Secret: secret, Timeout: timeout, Clock: domain.SystemClock})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func turn() prompt.TurnStart {
	return prompt.TurnStart{TaskID: taskID, SessionID: sessionID, ClientID: "c1", Content: "go <on>", Metadata: []byte(`{"a":9007199254740993}`)}
}

// What is sent is signed, and says what the contract of docs/operations.md says.
func TestQuestion(t *testing.T) {
	full := turn()
	full.Refs = []plan.Ref{{ID: otherID, Version: 3}}
	full.Model, full.PlanMode, full.RequirePrimary, full.AttachmentIDs = new("large"), true, true, []string{otherID}
	for name, tc := range map[string]struct {
		turn prompt.TurnStart
		data string
	}{
		"bare": {turn(), `{"task_id":"` + taskID + `","session_id":"` + sessionID + `","client_id":"c1","content":"go <on>",
			"plan_comment_refs":[],"require_primary_session":false,"plan_mode":false,"model":null,"attachment_ids":[],
			"metadata":{"a":9007199254740993}}`},
		"full": {full, `{"task_id":"` + taskID + `","session_id":"` + sessionID + `","client_id":"c1","content":"go <on>",
			"plan_comment_refs":[{"id":"` + otherID + `","version":3}],"require_primary_session":true,"plan_mode":true,
			"model":"large","attachment_ids":["` + otherID + `"],"metadata":{"a":9007199254740993}}`},
	} {
		t.Run(name, func(t *testing.T) {
			verifier, err := signing.NewWebhook(secret)
			if err != nil {
				t.Fatal(err)
			}
			replacement, err := ask(t, func(_ http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				if err := verifier.Verify(body, r.Header); err != nil {
					t.Error(err)
				}
				if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Idempotency-Key") != "" {
					t.Errorf("%s with %v", r.Method, r.Header)
				}
				var got struct {
					Type      string
					Timestamp time.Time
					Data      json.RawMessage
				}
				if err := json.Unmarshal(body, &got); err != nil {
					t.Errorf("%s: %v", body, err)
				}
				if strconv.FormatInt(got.Timestamp.Unix(), 10) != r.Header.Get("webhook-timestamp") || got.Type != "turn.before_start" {
					t.Errorf("%s at %v", got.Type, got.Timestamp)
				}
				if diff := cmp.Diff(members(t, []byte(tc.data)), members(t, got.Data)); diff != "" {
					t.Errorf("data (-want +got):\n%s", diff)
				}
			}, tc.turn)
			if replacement != nil || err != nil {
				t.Errorf("answered %v, %v", replacement, err)
			}
		})
	}
}

func members(t *testing.T, object []byte) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(string(object)))
	decoder.UseNumber()
	var m map[string]any
	if err := decoder.Decode(&m); err != nil {
		t.Error(err)
	}
	return m
}

// A repetition has the id of the first question, and no other question has.
func TestIDOfAQuestion(t *testing.T) {
	var ids []string
	record := func(_ http.ResponseWriter, r *http.Request) { ids = append(ids, r.Header.Get("webhook-id")) }
	first, again, other, foreign := turn(), turn(), turn(), turn()
	again.Content, other.ClientID, foreign.TaskID = "something else", "c2", otherID
	for _, q := range []prompt.TurnStart{first, again, other, foreign} {
		if _, err := ask(t, record, q); err != nil {
			t.Fatal(err)
		}
	}
	if ids[0] == "" || strings.Contains(ids[0], ".") || ids[0] != ids[1] || ids[2] == ids[0] || ids[3] == ids[0] || ids[3] == ids[2] {
		t.Errorf("ids are %v", ids)
	}
}

func TestAnswers(t *testing.T) {
	const more = 64<<10 + 1
	pass, refuse, replace := "pass", "refuse", otherID
	for name, tc := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"nothing":               {204, "", pass},
		"an empty body":         {200, "", pass},
		"no replacement":        {200, `{"session_id":null}`, pass},
		"an empty object":       {202, `{}`, pass},
		"a replacement":         {200, ` {"session_id" : "` + strings.ToUpper(otherID) + `"} `, replace},
		"padded to the limit":   {200, `{}` + strings.Repeat(" ", more-3), pass},
		"too much":              {200, `{}` + strings.Repeat(" ", more-2), refuse},
		"no UUID":               {200, `{"session_id":"x"}`, refuse},
		"a number":              {200, `{"session_id":7}`, refuse},
		"an unknown member":     {200, `{"session_id":null,"allow":true}`, refuse},
		"a member in capitals":  {200, `{"SESSION_ID":null}`, refuse},
		"a member twice":        {200, `{"session_id":null,"session_id":null}`, refuse},
		"two answers":           {200, `{}{}`, refuse},
		"half an answer":        {200, `{"session_id":`, refuse},
		"null":                  {200, `null`, refuse},
		"a list":                {200, `[]`, refuse},
		"no JSON":               {200, `ok`, refuse},
		"a refusal":             {403, `{"session_id":null}`, refuse},
		"a failure":             {500, "", refuse},
		"not modified":          {304, "", refuse},
		"a failure with a page": {502, strings.Repeat("x", 4*more), refuse},
	} {
		t.Run(name, func(t *testing.T) {
			replacement, err := ask(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			}, turn())
			got := pass
			if err != nil {
				got = refuse
			} else if replacement != nil {
				got = *replacement
			}
			if got != tc.want {
				t.Errorf("got %s (%v), want %s", got, err, tc.want)
			}
		})
	}
}

// A redirect is not followed: the question is for the URL of the setting.
func TestRedirect(t *testing.T) {
	var elsewhere atomic.Int64
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(target.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		_, err := ask(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target.URL, status) }, turn())
		if err == nil || elsewhere.Load() != 0 {
			t.Errorf("%d: %v, %d followed it", status, err, elsewhere.Load())
		}
	}
}

// asked counts what reaches the proxy that the environment of all these tests names.
var asked atomic.Int64

func TestMain(m *testing.M) {
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY"} { // read once, by the first who asks
		if err := os.Setenv(name, proxy.URL); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	proxy.Close()
	os.Exit(code)
}

// No proxy of the environment gets to see a prompt.
func TestNoProxy(t *testing.T) {
	_, err := hook(t, "http://hook.invalid", time.Minute).BeforeTurn(t.Context(), turn())
	if err == nil || asked.Load() != 0 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
}

// Neither a hook that does not answer nor one that does not stop answering holds a
// prompt for longer than the setting, and a caller who leaves ends the question.
func TestTimeout(t *testing.T) {
	release := make(chan struct{})
	for name, slow := range map[string]http.HandlerFunc{
		"no answer":      func(http.ResponseWriter, *http.Request) { <-release },
		"half an answer": func(w http.ResponseWriter, _ *http.Request) { _ = http.NewResponseController(w).Flush(); <-release },
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(slow)
			defer server.Close()
			defer func() { release <- struct{}{} }()
			_, err := hook(t, server.URL, 50*time.Millisecond).BeforeTurn(t.Context(), turn())
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error is %v", err)
			}
		})
	}
	t.Run("the caller leaves", func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // then the server sees that the connection ends
			leave()
			<-r.Context().Done()
		}))
		defer server.Close()
		if _, err := hook(t, server.URL, time.Minute).BeforeTurn(ctx, turn()); !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
	})
}

// One connection serves all questions that come after one another, also after a
// refusal, and one that was closed meanwhile costs nothing.
func TestConnectionsAreKept(t *testing.T) {
	var mu sync.Mutex
	connections := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		connections[r.RemoteAddr] = true
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "no")
	}))
	defer server.Close()
	h := hook(t, server.URL, time.Minute)
	for range 5 {
		if _, err := h.BeforeTurn(t.Context(), turn()); err == nil {
			t.Fatal("passed")
		}
	}
	if len(connections) != 1 {
		t.Errorf("%d connections", len(connections))
	}
	server.CloseClientConnections()
	if _, err := h.BeforeTurn(t.Context(), turn()); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("after the end of a kept connection: %v", err)
	}
}

// OP-9: an error tells neither the URL, which may hold a secret, nor any text.
func TestErrorsAreQuiet(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "s3cret") }))
	closed := httptest.NewServer(nil)
	closed.Close()
	defer server.Close()
	said := turn()
	said.Content = "s3cret"
	for _, url := range []string{closed.URL + "/?key=s3cret", server.URL + "/s3cret", "http://s3cret:s3cret@hook.invalid/"} {
		_, err := hook(t, url, time.Minute).BeforeTurn(t.Context(), said)
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", url, err)
		}
	}
	_, err := webhook.New(webhook.Options{Secret: "whsec_s3cret!"})
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a secret that is none: %v", err)
	}
}
