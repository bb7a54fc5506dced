package handlers

import (
	"strings"
	"testing"
)

// API-10: a loopback listener answers for loopback names and listed hosts only.
func TestHosts(t *testing.T) {
	e := newEdge(t, func(o *Options) { o.Origins = Origins{Loopback: true, Hosts: []string{"gate.example"}} })
	for host, ok := range map[string]bool{
		"localhost": true, "localhost:8080": true, "LOCALHOST": true, "127.0.0.1:8080": true, "127.9.9.9": true,
		"[::1]:8080": true, "[::1]": true, "[::ffff:127.0.0.1]:1": true, "gate.example:443": true, "Gate.Example": true,
		"evil.example": false, "localhost.evil.example": false, "evil.localhost.example:8080": false, "10.0.0.1": false,
		"0.0.0.0": false, "127.0.0.1.evil.example": false, "gate.example.evil": false,
	} {
		a := e.call(t, "GET", "/livez", "", "Host: "+host)
		if a.Code == 200 != ok {
			t.Errorf("Host %q: %d", host, a.Code)
		}
		if !ok {
			a.expect(t, 421, "host_refused")
			if detail := a.problem(t).Detail; !strings.Contains(detail, "allowed-hosts") {
				t.Errorf("it does not say what to do: %s", detail)
			}
		}
	}
	newEdge(t).call(t, "GET", "/livez", "", "Host: gate.example").expect(t, 200, "")
}

// API-10: CORS is off by default and lets in exactly the origins listed.
func TestCORS(t *testing.T) {
	const friend = "https://desk.example"
	off, on := newEdge(t), newEdge(t, func(o *Options) { o.Origins.Allowed = []string{friend} })
	preflight := []string{"Access-Control-Request-Method: PATCH", "Authorization: "}

	for name, c := range map[string]struct {
		e       *edge
		origin  string
		allowed bool
	}{
		"off":             {off, friend, false},
		"listed":          {on, friend, true},
		"other scheme":    {on, "http://desk.example", false},
		"other port":      {on, friend + ":8443", false},
		"longer":          {on, friend + ".evil.example", false},
		"case":            {on, "https://DESK.example", false},
		"null":            {on, "null", false},
		"no origin":       {on, "", false},
		"star is no wish": {newEdge(t, func(o *Options) { o.Origins.Allowed = []string{"*"} }), friend, false},
	} {
		t.Run(name, func(t *testing.T) {
			asked := c.e.call(t, "OPTIONS", "/v1/tasks/"+ownTask, "", append(preflight, "Origin: "+c.origin)...)
			sent := c.e.call(t, "GET", "/v1/tasks", "", "Origin: "+c.origin)
			sent.expect(t, 200, "")
			for _, a := range []answer{asked, sent} {
				want := ""
				if c.allowed {
					want = friend
				}
				if got := a.Header().Get("Access-Control-Allow-Origin"); got != want {
					t.Errorf("Access-Control-Allow-Origin %q, want %q", got, want)
				}
				if a.Header().Get("Access-Control-Allow-Credentials") != "" {
					t.Error("credentials are asked for")
				}
				if vary := strings.Join(a.Header().Values("Vary"), ","); strings.Contains(vary, "Origin") != (c.e != off) {
					t.Errorf("Vary: %s", vary)
				}
			}
			if methods := asked.Header().Get("Access-Control-Allow-Methods"); strings.Contains(methods, "PATCH") != c.allowed {
				t.Errorf("methods %q", methods)
			}
			for _, name := range []string{"ETag", "Location", "X-Request-Id", "Idempotent-Replayed", "Retry-After"} {
				if strings.Contains(sent.Header().Get("Access-Control-Expose-Headers"), name) != c.allowed {
					t.Errorf("%s exposed: %v", name, !c.allowed)
				}
			}
		})
	}
	failed := on.call(t, "GET", "/v1/tasks", "", "Origin: "+friend, "Authorization: ")
	failed.expect(t, 401, "unauthenticated")
	if failed.Header().Get("Access-Control-Allow-Origin") != friend {
		t.Error("the page cannot read why it was refused")
	}
}

// API-10: without authentication no page of another origin acts for its reader.
func TestCrossOriginWithoutAuthentication(t *testing.T) {
	e := newEdge(t, authOff, func(o *Options) { o.Origins.Allowed = []string{"https://desk.example"} })
	for header, ok := range map[string]bool{
		"X-None: 1":                     true,
		"Origin: http://gate.test":      true,
		"Origin: http://GATE.test":      true,
		"Origin: http://gate.test:81":   false,
		"Origin: http://evil.example":   false,
		"Origin: null":                  false,
		"Origin: :":                     false,
		"Origin: https://desk.example":  true,
		"Sec-Fetch-Site: same-origin":   true,
		"Sec-Fetch-Site: none":          true,
		"Sec-Fetch-Site: same-site":     false,
		"Sec-Fetch-Site: cross-site":    false,
		"Sec-Fetch-Site: something new": false,
	} {
		for _, method := range []string{"GET", "POST"} {
			body := map[string]string{"POST": "{}"}[method]
			a := e.call(t, method, "/v1/tasks", body, "Host: gate.test", "Authorization: ", header)
			if a.Code == 200 != ok {
				t.Errorf("%s with %s: %d", method, header, a.Code)
			}
			if !ok {
				a.expect(t, 403, "forbidden")
			}
		}
	}
	newEdge(t).call(t, "GET", "/v1/tasks", "", "Sec-Fetch-Site: cross-site").expect(t, 200, "")
}
