// Package contract_test sends generated requests for every operation of openapi.yaml,
// valid and mutated, to a running service (QU-24): no answer is a 5xx, none breaks the
// contract, and the service neither panics nor ends.
//
// GATEHOUSE_TEST_SECONDS is the time per database, 8 by default, and
// GATEHOUSE_TEST_SEED the first of the seeds, one per request. Every operation is
// asked at least once, however long it takes.
package contract_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"gatehouse/db/dbtest"
	"gatehouse/gen"
	"gatehouse/test/process"
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// patience is how long an answer is waited for. Streams and long polls take longer.
const patience = 3 * time.Second

// QU-24.
func TestGeneratedRequests(t *testing.T) {
	seconds, seed := number(t, "GATEHOUSE_TEST_SECONDS", 8), number(t, "GATEHOUSE_TEST_SEED", rand.IntN(1<<30))
	t.Logf("GATEHOUSE_TEST_SECONDS=%d GATEHOUSE_TEST_SEED=%d", seconds, seed)
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		server := process.Start(t, newURL(t))
		f := newFuzz(t, server.Client)
		deadline := time.Now().Add(time.Duration(seconds) * time.Second)
		for n := 0; n < len(f.operations) || time.Now().Before(deadline); n++ {
			if n%resettle == 0 || f.world.gone {
				f.world.settle(t, server.Client)
			}
			f.one(t, f.operations[n%len(f.operations)], seed+n)
		}
		server.Stop(t)
		if said := server.Stderr(); strings.Contains(said, "panic") || strings.Contains(said, "DATA RACE") {
			t.Error("the service panicked")
		}
		f.report(t)
	})
}

// resettle is after how many requests the world is made anew: many of them wear it out.
const resettle = 100

func number(t *testing.T, name string, standard int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return standard
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// operation is one of the contract.
type operation struct {
	method, template string
	item             *openapi3.PathItem
	spec             *openapi3.Operation
	statuses         map[int]int // how often each was the answer
}

// fuzz sends requests and judges answers.
type fuzz struct {
	client     *process.Client
	contract   routers.Router
	operations []*operation
	world      *world
}

func newFuzz(t *testing.T, client *process.Client) *fuzz {
	t.Helper()
	doc, err := gen.GetSpec()
	if err != nil {
		t.Fatal(err)
	}
	f := &fuzz{client: client, world: newWorld()}
	if f.contract, err = gorillamux.NewRouter(doc); err != nil {
		t.Fatal(err)
	}
	for template, item := range doc.Paths.Map() {
		for method, spec := range item.Operations() {
			f.operations = append(f.operations, &operation{method, template, item, spec, map[int]int{}})
		}
	}
	slices.SortFunc(f.operations, func(a, b *operation) int { return strings.Compare(a.spec.OperationID, b.spec.OperationID) })
	return f
}

// one sends the request of a seed.
func (f *fuzz) one(t *testing.T, op *operation, seed int) {
	t.Helper()
	q := requests(op, f.world).Example(seed)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, op.method, f.client.URL+q.target, bytes.NewReader(q.body))
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	for name, value := range q.header {
		r.Header.Set(name, value)
	}
	answer, err := f.client.Do(r)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && op.waits():
		return
	case err != nil:
		t.Fatalf("seed %d: %s %s: %v", seed, op.method, q.target, err)
	}
	op.statuses[answer.Status]++
	if fault := f.judge(r, answer); fault != "" {
		t.Errorf("seed %d: %s\n%s %s %v\n%.2000s\nanswered %.2000s", seed, fault, op.method, q.target, q.header, q.body, answer)
	}
	if op.method == http.MethodDelete && answer.Status == http.StatusNoContent {
		f.world.gone = true
	}
	f.world.learn(op, answer.Object())
}

// waits reports whether an operation may keep its caller waiting by design.
func (op *operation) waits() bool {
	for _, response := range op.spec.Responses.Map() {
		if response.Value.Content.Get("text/event-stream") != nil {
			return true
		}
	}
	if op.spec.RequestBody == nil || op.spec.RequestBody.Value.Content.Get("application/json") == nil {
		return false
	}
	_, ok := op.spec.RequestBody.Value.Content.Get("application/json").Schema.Value.Properties["wait_seconds"]
	return ok
}

// judge returns what is wrong with an answer.
func (f *fuzz) judge(r *http.Request, answer process.Answer) string {
	if answer.Status >= http.StatusInternalServerError {
		return "an error of the server"
	}
	if answer.Header.Get("X-Request-Id") == "" {
		return "no request id"
	}
	route, params, err := f.contract.FindRoute(r)
	if err != nil { // a mutation led to no operation
		if code := answer.Object().Text("code"); answer.Status < 400 || code == "" {
			return "what is no operation is answered"
		}
		return ""
	}
	err = openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
		Status:                 answer.Status,
		Header:                 answer.Header,
		Body:                   io.NopCloser(bytes.NewReader(answer.Body)),
		Options: &openapi3filter.Options{
			IncludeResponseStatus: true,
			ExcludeResponseBody:   !strings.Contains(answer.Header.Get("Content-Type"), "json"),
		},
	})
	if err != nil {
		return "breaks the contract: " + err.Error()
	}
	return ""
}

// report tells how the requests were answered, and which operations never worked.
func (f *fuzz) report(t *testing.T) {
	total, barren := map[int]int{}, []string{}
	for _, op := range f.operations {
		worked := 0
		for status, n := range op.statuses {
			if total[status] += n; status < 400 {
				worked += n
			}
		}
		if worked == 0 {
			barren = append(barren, op.spec.OperationID)
		}
	}
	t.Logf("answers by status: %v; operations that never succeeded: %v", total, barren)
}
