package handlers_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain/access"
	"gatehouse/domain/event"
)

// waker is the hub of a stack, which notices who begins to wait.
type waker struct{ s *stack }

// Subscribe implements prompt.Waker.
func (w waker) Subscribe(taskID string) *event.Subscription {
	news := w.s.hub.Subscribe(taskID)
	w.s.waiting <- struct{}{}
	return news
}

// waits begins to wait for a delivery with a token.
func (p *prompts) waits(t *testing.T, token string) <-chan *answer {
	t.Helper()
	answers := make(chan *answer, 1)
	go func() {
		answers <- p.call("POST", "/v1/sessions/"+p.session+"/deliveries/reserve", `{"wait_seconds":60}`).with(token).do(t)
	}()
	<-p.waiting
	return answers
}

// answered waits for the end of a wait, which is soon.
func answered(t *testing.T, answers <-chan *answer) *answer {
	t.Helper()
	select {
	case a := <-answers:
		return a
	case <-time.After(50 * time.Second): // less than the wait itself
		t.Fatal("the wait goes on")
		return nil
	}
}

// DL-13 as a runner sees it.
func TestReserveWaits(t *testing.T) {
	eachPrompts(t, func(t *testing.T, p *prompts) {
		runner := p.token[access.ScopeRunner]
		answers := p.waits(t, runner)
		p.admit(`{"client_message_id":"m1","content":"go on"}`).do(t).want(t, 201)
		reserved := answered(t, answers).want(t, 200, `"state":"reserved"`)

		answers = p.waits(t, runner)
		path := "/v1/deliveries/" + reserved.text(t, "delivery", "id")
		p.run(path+"/release", map[string]any{"token": reserved.text(t, "token")}).do(t).want(t, 200)
		answered(t, answers).want(t, 200, `"state":"reserved"`)

		p.call("POST", "/v1/sessions/"+p.session+"/deliveries/reserve", `{"wait_seconds":1}`).as(access.ScopeRunner).do(t).want(t, 204)
		p.call("POST", "/v1/sessions/"+p.session+"/deliveries/reserve", `{"wait_seconds":61}`).as(access.ScopeRunner).do(t).
			wantCode(t, 422, "validation_failed")
	})
}

// A wait ends with what went wrong, also where that is not of the task.
func TestReserveWaitsInVain(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(t *testing.T, p *prompts)
		status  int
		code    string
	}{
		"archived": {func(t *testing.T, p *prompts) {
			p.call("PATCH", p.task, `{"archived":true}`).do(t).want(t, 200)
		}, 409, "task_archived"},
		"ended": {func(t *testing.T, p *prompts) {
			p.call("PATCH", "/v1/sessions/"+p.session, `{"state":"failed"}`).do(t).want(t, 200)
		}, 409, "session_unavailable"},
		"deleted": {func(t *testing.T, p *prompts) {
			p.call("DELETE", "/v1/sessions/"+p.session).do(t).want(t, 204)
		}, 404, "session_not_found"},
		"the server ends": {func(_ *testing.T, p *prompts) { p.hub.Close() }, 204, ""},
	} {
		t.Run(name, func(t *testing.T) {
			eachPrompts(t, func(t *testing.T, p *prompts) {
				answers := p.waits(t, p.token[access.ScopeRunner])
				c.happens(t, p)
				if a := answered(t, answers); c.code == "" {
					a.want(t, c.status)
				} else {
					a.wantCode(t, c.status, c.code)
				}
			})
		})
	}
}

// API-22: a token that is revoked while its holder waits gets nothing more, by another
// process too, and not even within the second that one is remembered.
func TestReserveWaitsWithARevokedToken(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		url := newURL(t)
		p := newPrompts(t, newStack(t, dbtest.Open(t, db.Options{URL: url})))
		made := p.call("POST", "/v1/tokens", `{"scope":"runner"}`).do(t).want(t, 201)
		elsewhere := access.NewService(dbtest.Open(t, db.Options{URL: url}).Access(), time.Now)

		answers := p.waits(t, made.text(t, "token"))
		if err := elsewhere.RevokeToken(t.Context(), made.id(t)); err != nil {
			t.Fatal(err)
		}
		answered(t, answers).wantCode(t, 401, "unauthenticated")
		p.call("GET", "/v1/limits").with(made.text(t, "token")).do(t).wantCode(t, 401, "unauthenticated")
	})
}

// A client that leaves ends its wait.
func TestReserveWaitsForALeavingClient(t *testing.T) {
	eachPrompts(t, func(t *testing.T, p *prompts) {
		ctx, leave := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, "POST", "/v1/sessions/"+p.session+"/deliveries/reserve",
			strings.NewReader(`{"wait_seconds":60}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+p.token[access.ScopeRunner])
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			p.ServeHTTP(httptest.NewRecorder(), r)
		}()
		<-p.waiting
		leave()
		<-ended
		if d := p.call("GET", p.task+"/deliveries").do(t).want(t, 200); len(d.at(t, "items").([]any)) != 0 {
			t.Errorf("left %s", d.Body)
		}
	})
}

// EV-4: a runner waits at one process for what another one is told.
func TestReserveWaitsAcrossProcesses(t *testing.T) {
	url := dbtest.PostgresURL(t)
	process := func() *stack {
		store, hub := dbtest.Open(t, db.Options{URL: url}), event.NewHub()
		exchange := store.Exchange(hub)
		t.Cleanup(exchange.Close)
		return buildStack(t, store, hub, exchange)
	}
	first, second := process(), process()
	first.makeTokens(t)
	second.token = first.token
	p := newPrompts(t, first)
	elsewhere := *p
	elsewhere.stack = second
	for _, id := range []string{"m1", "m2"} {
		answers := elsewhere.waits(t, p.token[access.ScopeRunner])
		p.admit(map[string]any{"client_message_id": id, "content": "go on"}).do(t).want(t, 201)
		reserved := answered(t, answers).want(t, 200, `"client_id":"`+id+`"`)
		path, token := "/v1/deliveries/"+reserved.text(t, "delivery", "id"), map[string]any{"token": reserved.text(t, "token")}
		elsewhere.run(path+"/attempt", token).do(t).want(t, 200)
		p.run(path+"/acknowledge", map[string]any{"token": token["token"], "outcome": "failed"}).do(t).want(t, 200)
	}
}

// DL-1 as a runner sees it.
func TestRenewDelivery(t *testing.T) {
	eachPrompts(t, func(t *testing.T, p *prompts) {
		p.admit(`{"client_message_id":"m1","content":"go on"}`).do(t).want(t, 201)
		path, token := p.reserve(t)
		long := p.run(path+"/renew", map[string]any{"token": token, "lease_seconds": 300}).do(t).want(t, 200, `"state":"reserved"`)
		short := p.run(path+"/renew", map[string]any{"token": token}).do(t).want(t, 200)
		if a, b := long.text(t, "lease_expires_at"), short.text(t, "lease_expires_at"); a <= b {
			t.Errorf("300 seconds end at %s, 30 at %s", a, b)
		}
		p.run(path+"/renew", map[string]any{"token": token, "lease_seconds": 301}).do(t).wantCode(t, 422, "validation_failed")
		p.run(path+"/renew", map[string]any{"token": "x"}).do(t).wantCode(t, 409, "lease_lost")
		p.run(path+"/attempt", map[string]any{"token": token}).do(t).want(t, 200)
		p.run(path+"/renew", map[string]any{"token": token}).do(t).wantCode(t, 409, "delivery_attempted")
	})
}
