package delivery_test

import (
	"bufio"
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"gatehouse/test/process"
)

// What a runner process is told by its environment, apart from its role.
const (
	sessionsVariable = "GATEHOUSE_TEST_SESSIONS"
	agentVariable    = "GATEHOUSE_TEST_AGENT"
)

// The steps of a runner.
const (
	stepReserve     = "reserve"
	stepRenew       = "renew"
	stepRelease     = "release"
	stepAttempt     = "attempt"
	stepAgent       = "agent"
	stepAcknowledge = "acknowledge"
	stepEnd         = "end"
)

var steps = []string{stepReserve, stepRenew, stepRelease, stepAttempt, stepAgent, stepAcknowledge, stepEnd}

// notice is what a runner says before a step, and after it with what came of it.
type notice struct {
	After    bool
	Step     string
	Delivery string
	Turn     string
	Outcome  string
	Stale    bool   // it knows that its token is worth nothing, and tries
	Status   int    // of the answer; 0 when there was none
	Code     string // of its problem
}

// leave lets a runner go on: with the server of that address, for a step.
type leave struct{ URL string }

// runner takes deliveries over the boundary as docs/delivery.md says. It does one
// thing at a time, so that every moment of it can be met.
type runner struct {
	orders   *bufio.Scanner
	sessions []string
	agent    string
	http     *process.Client
	held     held
}

// held is the delivery that a runner works on.
type held struct{ id, token, content, turn string }

// beRunner is a runner. It ends when its orders do.
func beRunner() int {
	r := &runner{
		orders:   bufio.NewScanner(os.Stdin),
		sessions: strings.Split(os.Getenv(sessionsVariable), ","),
		agent:    os.Getenv(agentVariable),
		http:     process.NewClient("", process.AdminToken),
	}
	for {
		if r.reserve() && r.prepare() && r.attempt() {
			r.deliver()
		}
	}
}

// say tells the test and waits for its leave.
func (r *runner) say(n notice) leave {
	n.Delivery, n.Turn = r.held.id, r.held.turn
	if err := json.NewEncoder(os.Stdout).Encode(n); err != nil || !r.orders.Scan() {
		os.Exit(0) // the test has ended
	}
	var l leave
	if err := json.Unmarshal(r.orders.Bytes(), &l); err != nil {
		panic(err)
	}
	return l
}

// call makes a step: one request, and what is said before and after it. A server
// that is not there, or says that it cannot answer, leaves the outcome open: the
// status is 0.
func (r *runner) call(n notice, method, path string, body map[string]any) (status int, answer process.Object) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r.http.URL = r.say(n).URL
	a, err := r.http.Send(ctx, method, path, body)
	if err == nil {
		n.Status, n.Code, answer = a.Status, a.Object().Text("code"), a.Object()
	}
	if n.Step == stepReserve {
		r.held = held{id: answer.Text("delivery.id"), token: answer.Text("token"), content: answer.Text("delivery.content")}
	}
	if n.Step == stepAttempt {
		r.held.turn = answer.Text("turn_id")
	}
	n.After = true
	r.say(n)
	if n.Status == http.StatusServiceUnavailable {
		n.Status = 0
	}
	if n.Status == 0 {
		time.Sleep(50 * time.Millisecond) // it may be starting
	}
	return n.Status, answer
}

// withToken is a call about the delivery that is held.
func (r *runner) withToken(n notice, more map[string]any) (int, process.Object) {
	body := map[string]any{"token": r.held.token}
	maps.Copy(body, more)
	return r.call(n, http.MethodPost, "/v1/deliveries/"+r.held.id+"/"+n.Step, body)
}

func (r *runner) reserve() bool {
	r.held = held{}
	session := r.sessions[rand.IntN(len(r.sessions))]
	status, _ := r.call(notice{Step: stepReserve}, http.MethodPost, "/v1/sessions/"+session+"/deliveries/reserve",
		map[string]any{"lease_seconds": leaseSeconds, "wait_seconds": 1})
	return status == http.StatusOK
}

// prepare is what happens before the boundary. It reports whether to go on.
func (r *runner) prepare() bool {
	for range rand.IntN(3) {
		if status, _ := r.withToken(notice{Step: stepRenew}, map[string]any{"lease_seconds": leaseSeconds}); status == http.StatusConflict {
			return r.lost()
		}
	}
	if rand.IntN(4) > 0 {
		return true
	}
	for {
		switch status, _ := r.withToken(notice{Step: stepRelease}, nil); status {
		case 0:
		case http.StatusConflict:
			return r.lost() // or given back already
		default:
			return false
		}
	}
}

// lost tries everything with a token that is worth nothing any more.
func (r *runner) lost() bool {
	r.withToken(notice{Step: stepRenew, Stale: true}, nil)
	r.withToken(notice{Step: stepRelease, Stale: true}, nil)
	r.withToken(notice{Step: stepAttempt, Stale: true}, nil)
	r.withToken(notice{Step: stepAcknowledge, Stale: true}, map[string]any{"outcome": "succeeded"})
	return false
}

// attempt reports whether to speak to the agent. Where the answer was lost, it asks
// again. That its first call counted is no leave to speak; but it is certain that nothing
// was sent.
func (r *runner) attempt() bool {
	for {
		switch status, answer := r.withToken(notice{Step: stepAttempt}, nil); {
		case status == http.StatusOK:
			return true
		case status == 0:
		case answer.Text("code") == "delivery_attempted":
			r.acknowledge("failed")
			return false
		default:
			return r.lost()
		}
	}
}

// deliver speaks to the agent, and sees the delivery to its end.
func (r *runner) deliver() {
	outcome := r.speak()
	r.acknowledge(outcome)
	if outcome != "succeeded" {
		return
	}
	for {
		if status, _ := r.call(notice{Step: stepEnd}, http.MethodPatch, "/v1/turns/"+r.held.turn, map[string]any{"state": "completed"}); status != 0 {
			return
		}
	}
}

// speak gives the prompt to the agent and returns the outcome.
func (r *runner) speak() string {
	manner := []string{mannerFine, mannerFine, mannerFine, mannerFine, mannerRefuses, mannerHangsUp}[rand.IntN(6)]
	n := notice{Step: stepAgent}
	r.say(n)
	agent := process.NewClient(r.agent, "")
	defer agent.Close()
	answer, err := agent.Send(context.Background(), http.MethodPost, "/", given{r.held.id, r.held.content, manner})
	switch {
	case err != nil:
		n.Outcome = "unknown"
	case answer.Status == http.StatusOK:
		n.Outcome = "succeeded"
	default:
		n.Outcome = "failed"
	}
	n.After = true
	r.say(n)
	return n.Outcome
}

// acknowledge says what became of the attempt until it is heard.
func (r *runner) acknowledge(outcome string) {
	for {
		if status, _ := r.withToken(notice{Step: stepAcknowledge, Outcome: outcome}, map[string]any{"outcome": outcome}); status != 0 {
			return
		}
	}
}

// answer is the status of success, the code of a problem, or "none" when it is open
// what happened.
func (n notice) answer() string {
	switch {
	case n.Step == stepAgent:
		return "0"
	case n.Status == 0 || n.Status == http.StatusServiceUnavailable:
		return "none"
	case n.Code != "":
		return n.Code
	default:
		return strconv.Itoa(n.Status)
	}
}
