package crash_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"gatehouse/test/process"
)

// runner takes the deliveries of a session over the boundary, one after the other.
type runner struct {
	*process.Scene
	random   *rand.Rand
	crossed  map[string]bool // deliveries whose attempt happened
	delivery string          // reserved
	token    string
	turn     string // of the attempt
	step     func() *change
	failed   func(format string, args ...any)
}

func newRunner(t *testing.T, s *process.Scene, random *rand.Rand) job {
	r := &runner{Scene: s, random: random, crossed: map[string]bool{}, failed: t.Errorf}
	r.step = r.reserve
	return r
}

func (r *runner) next() *change { return r.step() }

// leaseSeconds is short: a reservation whose answer was lost is handed out again
// when it expires (DL-4).
const leaseSeconds = 1

func (r *runner) reserve() *change {
	return &change{
		name: "reserve", method: "POST", path: r.SessionPath("/deliveries/reserve"), fresh: 200, again: 204,
		body: map[string]any{"lease_seconds": leaseSeconds}, refused: []string{"204"},
		happened: func(*testing.T) bool { return false }, // its token is lost: another reserve will tell
		enter: func(a process.Answer) {
			o := a.Object()
			if r.delivery, r.token = o.Text("delivery.id"), o.Text("token"); r.crossed[r.delivery] {
				r.failed("delivery %s is handed out after its attempt (DL-2)", r.delivery)
			}
			r.step = r.attempt
		},
	}
}

func (r *runner) attempt() *change {
	id := r.delivery
	return &change{
		name: "attempt", method: "POST", path: "/v1/deliveries/" + id + "/attempt", fresh: 200, again: 409,
		body: map[string]any{"token": r.token}, refused: []string{"lease_lost"},
		happened: func(t *testing.T) bool { return r.state(t) == "attempted" },
		enter: func(a process.Answer) {
			if r.crossed[id] {
				r.failed("delivery %s crossed the boundary twice", id)
			}
			r.crossed[id], r.step = true, r.acknowledge
			r.turn = a.Object().Text("turn_id") // none in the answer to a repetition
		},
		drop: func() { r.step = r.reserve },
	}
}

func (r *runner) acknowledge() *change {
	outcome := []string{"succeeded", "failed", "unknown"}[r.random.IntN(3)]
	if r.turn == "" && outcome == "succeeded" {
		outcome = "failed" // nothing was sent: the attempt was not answered
	}
	return &change{
		name: "acknowledge " + outcome, method: "POST", path: "/v1/deliveries/" + r.delivery + "/acknowledge", fresh: 200, again: 200,
		body:     map[string]any{"token": r.token, "outcome": outcome},
		happened: func(t *testing.T) bool { return r.state(t) != "attempted" },
		enter: func(process.Answer) {
			if r.step = r.reserve; outcome == "succeeded" {
				r.step = r.end
			}
		},
	}
}

func (r *runner) end() *change {
	path := "/v1/turns/" + r.turn
	return &change{
		name: "end turn", method: "PATCH", path: path, fresh: 200, again: 200, body: map[string]any{"state": "completed"},
		happened: func(t *testing.T) bool {
			return r.Must(t, 200, "GET", r.SessionPath(""), nil).Text("state") == "waiting_for_input"
		},
		enter: func(process.Answer) { r.step = r.reserve },
	}
}

func (r *runner) state(t *testing.T) string {
	t.Helper()
	return r.Must(t, 200, "GET", "/v1/deliveries/"+r.delivery, nil).Text("state")
}

// check: what crossed the boundary was not taken back.
func (r *runner) check(t *testing.T) {
	t.Helper()
	for _, state := range []string{"pending", "reserved"} {
		for _, d := range r.Must(t, 200, "GET", r.TaskPath("/deliveries?limit=200&state="+state), nil).Items("items") {
			if r.crossed[d.Text("id")] {
				t.Errorf("delivery %s is %s after its attempt", d.Text("id"), state)
			}
		}
	}
}

// finish delivers what is left: nothing that was accepted is lost.
func (r *runner) finish(t *testing.T) {
	t.Helper()
	w := worker{job: r, scene: r.Scene, done: map[string]int{}}
	for deadline := time.Now().Add(30 * time.Second); !t.Failed() && r.unfinished(t) > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("deliveries are left over: %v", r.Must(t, 200, "GET", r.TaskPath("/deliveries?limit=200"), nil))
		}
		c := r.next()
		answer, err := r.Send(t.Context(), c.method, c.path, c.body)
		if err != nil {
			t.Fatal(err)
		}
		w.judge(t, c, answer, c.fresh)
	}
}

func (r *runner) unfinished(t *testing.T) (n int) {
	t.Helper()
	for _, state := range []string{"pending", "reserved", "attempted"} {
		n += len(r.Must(t, 200, "GET", r.TaskPath("/deliveries?limit=200&state="+state), nil).Items("items"))
	}
	return n
}
