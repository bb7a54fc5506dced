package handlers_test

import (
	"strings"
	"testing"

	"gatehouse/domain"
	"gatehouse/domain/access"
)

// DL-12 as a person sees it.
func TestResolveDelivery(t *testing.T) {
	eachPrompts(t, func(t *testing.T, p *prompts) {
		unknown := func(clientID string) string {
			p.enqueue(t, clientID, "text")
			path, token := p.reserve(t)
			p.run(path+"/attempt", map[string]any{"token": token}).do(t).want(t, 200)
			p.run(path+"/acknowledge", map[string]any{"token": token, "outcome": "unknown"}).do(t).want(t, 200)
			return path
		}
		resolve := func(path, resolution string) *call {
			return p.call("POST", path+"/resolve", map[string]any{"resolution": resolution}).as(access.ScopeUser)
		}
		first := unknown("q1")
		for range 2 {
			resolve(first, "delivered").do(t).want(t, 200, `"state":"acknowledged"`, `"outcome":"succeeded"`)
		}
		resolve(first, "requeue").do(t).wantCode(t, 409, "delivery_not_attempted")

		second := unknown("q2")
		resolve(second, "perhaps").do(t).wantField(t, "/body/resolution", "enum")
		done := resolve(second, "requeue").do(t).want(t, 200, `"state":"requeued"`, `"requeued_from":null`)
		again := done.text(t, "requeued_as")
		if again == "" {
			t.Fatalf("answer is %s", done.Body)
		}
		resolve(second, "requeue").do(t).want(t, 200, again)
		p.call("GET", "/v1/deliveries/"+again).do(t).want(t, 200, `"state":"pending"`, `"kind":"queued"`, `"content":"text"`,
			`"requeued_from":"`+strings.TrimPrefix(second, "/v1/deliveries/")+`"`, `"client_id":null`)
		p.call("GET", p.task+"/admissions/q2").do(t).want(t, 200, `"state":"requeued"`, `"requeued_as":"`+again+`"`)
		p.call("GET", p.queuePath()).do(t).want(t, 200, again)

		resolve("/v1/deliveries/"+again, "delivered").do(t).wantCode(t, 409, "delivery_not_attempted")
		resolve("/v1/deliveries/"+domain.NewID(), "delivered").do(t).wantCode(t, 404, "delivery_not_found")
	})
}
