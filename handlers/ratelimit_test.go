package handlers

import (
	"testing"
	"testing/synctest"
	"time"
)

// OP-11: the limit is one token's own, and Retry-After says how long it lasts.
func TestRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEdge(t, func(o *Options) { o.Rate = RateLimit{PerSecond: 0.5, Burst: 2} })
		list := func(token string) answer { return e.call(t, "GET", "/v1/tasks", "", "Authorization: Bearer "+token) }
		list("user").expect(t, 200, "")
		list("user").expect(t, 200, "")
		for range 3 { // refused requests cost nothing
			refused := list("user")
			refused.expect(t, 429, "rate_limited")
			if after := refused.Header().Get("Retry-After"); after != "2" {
				t.Errorf("Retry-After: %s", after)
			}
		}
		list("runner").expect(t, 200, "")
		e.call(t, "GET", "/livez", "").expect(t, 200, "")
		time.Sleep(2 * time.Second)
		list("user").expect(t, 200, "")
		list("user").expect(t, 429, "rate_limited")
	})
}
