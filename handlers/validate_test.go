package handlers

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
)

// API-2: each problem with a body has a pointer and a code.
func TestBodyProblems(t *testing.T) {
	e := newEdge(t)
	for body, want := range map[string]string{
		`{}`:                             "",
		`[]`:                             "/body type",
		`null`:                           "/body type",
		`"{}"`:                           "/body type",
		`{"title":1}`:                    "/body/title type",
		`{"title":null}`:                 "/body/title type",
		`{"title":["a"]}`:                "/body/title type",
		`{"title":""}`:                   "/body/title range",
		`{"title":"éééééééééé"}`:         "",
		`{"title":"12345678901"}`:        "/body/title too_long",
		`{"note":null}`:                  "",
		`{"maybe":null}`:                 "",
		`{"maybe":"done"}`:               "",
		`{"maybe":"gone"}`:               "/body/maybe enum",
		`{"state":null}`:                 "/body/state type",
		`{"state":"DONE"}`:               "/body/state enum",
		`{"code":"abcd"}`:                "/body/code format",
		`{"count":1.5}`:                  "/body/count type",
		`{"count":1.0}`:                  "/body/count type",
		`{"count":1e3}`:                  "/body/count type",
		`{"count":-0}`:                   "",
		`{"count":"1"}`:                  "/body/count type",
		`{"count":true}`:                 "/body/count type",
		`{"count":9223372036854775807}`:  "",
		`{"count":9223372036854775808}`:  "/body/count range",
		`{"count":-9223372036854775808}`: "",
		`{"count":-9223372036854775809}`: "/body/count range",
		`{"count":` + strings.Repeat("9", 400) + `}`: "/body/count range",
		`{"small":-1}`:           "",
		`{"small":-2}`:           "/body/small range",
		`{"small":10}`:           "/body/small range",
		`{"small":2147483648}`:   "/body/small range",
		`{"ratio":1}`:            "",
		`{"ratio":1e3}`:          "",
		`{"ratio":1e999}`:        "/body/ratio range",
		`{"ratio":"1"}`:          "/body/ratio type",
		`{"flag":1}`:             "/body/flag type",
		`{"flag":null}`:          "/body/flag type",
		`{"tags":[]}`:            "/body/tags range",
		`{"tags":["a","b","c"]}`: "/body/tags too_many",
		`{"tags":["a",2]}`:       "/body/tags/1 type",
		`{"tags":{}}`:            "/body/tags type",
		`{"any":null}`:           "",
		`{"any":{"x":[1,{}]}}`:   "",
		`{"labels":{"a":"b"}}`:   "",
		`{"labels":{"a":1}}`:     "/body/labels/a type",
		`{"labels":{"a b":1}}`:   "/body/labels type",
		`{"open":{"more":null}}`: "",
		`{"open":{"kind":1}}`:    "/body/open/kind type",
		`{"child":{}}`:           "/body/child/name required",
		`{"child":{"name":"a","child":{"child":{"nam":"a","child":{"count":0.5}}}}}`: "/body/child/child/child/child/count type, /body/child/child/child/nam unknown, /body/child/child/child/name required",
		`{"more":1,"Title":"a"}`:                                 "/body/Title unknown, /body/more unknown",
		`{"a-b":1}`:                                              "/body unknown",
		`{"` + strings.Repeat("a", 64) + `":1}`:                  "/body/" + strings.Repeat("a", 64) + " unknown",
		`{"` + strings.Repeat("a", 65) + `":1}`:                  "/body unknown",
		`{"":1}`:                                                 "/body unknown",
		`{"title":1,"count":"x","flag":0}`:                       "/body/count type, /body/flag type, /body/title type",
		`{"id":"0190A000-0000-7000-8000-000000000001"}`:          "",
		`{"id":"0190a00000007000800000000000000001"}`:            "/body/id format",
		`{"id":"{0190a000-0000-7000-8000-000000000001}"}`:        "/body/id format",
		`{"id":"urn:uuid:0190a000-0000-7000-8000-000000000001"}`: "/body/id format",
		`{"at":"2031-03-04T05:06:07.123456Z"}`:                   "",
		`{"at":"2031-03-04T05:06:07+02:00"}`:                     "",
		`{"at":"2031-02-30T05:06:07Z"}`:                          "/body/at format",
		`{"at":"2031-03-04T24:06:07Z"}`:                          "/body/at format",
		`{"at":"2031-03-04 05:06:07Z"}`:                          "/body/at format",
		`{"at":"2031-03-04"}`:                                    "/body/at format",
	} {
		a := e.call(t, "POST", "/v1/tasks", body)
		checkProblems(t, body, a, want)
	}
}

// API-7: each problem with a query or a header, unknown parameters included.
func TestParameterProblems(t *testing.T) {
	e := newEdge(t)
	for query, want := range map[string]string{
		"":                           "",
		"limit=1&archived=true":      "",
		"limit=0":                    "/query/limit range",
		"limit=201":                  "/query/limit range",
		"limit=":                     "/query/limit type",
		"limit=ten":                  "/query/limit type",
		"limit=%2B5":                 "/query/limit type",
		"limit=05":                   "/query/limit type",
		"limit=5.0":                  "/query/limit type",
		"limit=1e1":                  "/query/limit type",
		"limit=99999999999999999999": "/query/limit range",
		"limit=1&limit=1":            "/query/limit duplicate",
		"archived=1":                 "/query/archived type",
		"archived=TRUE":              "/query/archived type",
		"state=done":                 "",
		"state=gone":                 "/query/state enum",
		"cursor=":                    "",
		"cursor=%ff":                 "/query/cursor format",
		"cursor=a%00":                "/query/cursor nul",
		"plan_id=x":                  "/query/plan_id format",
		"more=1":                     "/query/more unknown",
		"a-b=1":                      "/query unknown",
		"Limit=1":                    "/query/Limit unknown",
		"limit=0&more=1":             "/query/limit range, /query/more unknown",
	} {
		checkProblems(t, query, e.call(t, "GET", "/v1/tasks?"+query, ""), want)
	}
	checkProblems(t, "absent", e.call(t, "DELETE", "/v1/tasks/"+ownTask, ""), "/query/expected_version required")
	checkProblems(t, "header", e.call(t, "GET", "/v1/tasks", "", `If-None-Match: "12"`), "")
	checkProblems(t, "header", e.call(t, "GET", "/v1/tasks", "", `If-None-Match: *`), "/header/If-None-Match format")

	twice := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/tasks", nil)
	twice.Header = map[string][]string{"Authorization": {"Bearer user"}, "If-None-Match": {`"1"`, `"2"`}}
	checkProblems(t, "two headers", e.serve(t, twice), "/header/If-None-Match duplicate")
}

// API-2: all of a request is judged at once.
func TestProblemsOfAllParts(t *testing.T) {
	e := newEdge(t)
	a := e.call(t, "POST", "/v1/tasks?more=1", `{"title":1}`)
	checkProblems(t, "parts", a, "/body/title type, /query/more unknown")
}

func checkProblems(t *testing.T, sent string, a answer, want string) {
	t.Helper()
	var got []string
	if a.Code != 200 {
		a.expect(t, 422, "validation_failed")
		for _, p := range a.problem(t).Errors {
			got = append(got, p.Field+" "+p.Code)
			if p.Message == "" {
				t.Errorf("%s: problem without a message", sent)
			}
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", sent, diff)
	}
}

// canary is what must not come back.
const canary = "canary-7f3a"

// API-2: nothing that was submitted is in an answer or in the log, wherever it
// stood in the request.
func TestNoSubmittedText(t *testing.T) {
	e := newEdge(t)
	var bodies []string
	for name := range rulesOf(t, "Everything") {
		bodies = append(
			bodies,
			fmt.Sprintf(`{"%s":"%s"}`, name, canary), fmt.Sprintf(`{"%s":["%s"]}`, name, canary),
			fmt.Sprintf(`{"%s":{"%s":"%s"}}`, name, canary, canary), fmt.Sprintf(`{"%s":%s}`, name, canary),
			fmt.Sprintf(`{"%s":[[["%s"]]]}`, name, canary),
		)
	}
	bodies = append(bodies, canary, `"`+canary+`"`, `{"`+canary+`":1}`, `{"labels":{"`+canary+`":{"`+canary+`":1}}}`,
		`{"a":1,"`+canary+`":1,"`+canary+`":1}`)
	for _, body := range bodies {
		checkSilent(t, e, e.call(t, "POST", "/v1/tasks", body), body)
	}
	for _, query := range []string{
		"limit=" + canary, "archived=" + canary, "state=" + canary, "plan_id=" + canary, canary + "=1", "cursor=%00" + canary,
		"limit=1&limit=" + canary, "limit=%zz" + canary, url.QueryEscape("a\n"+canary) + "=" + canary,
	} {
		checkSilent(t, e, e.call(t, "GET", "/v1/tasks?"+query, ""), query)
	}
	for _, path := range []string{"/v1/tasks/" + canary, "/v1/file-changes/" + canary, "/" + canary, "/v1/tasks/" + ownTask + "/" + canary} {
		checkSilent(t, e, e.call(t, "GET", path, ""), path)
	}
	for _, header := range []string{"If-None-Match: " + canary, "Authorization: " + canary, "Authorization: Bearer " + canary} {
		checkSilent(t, e, e.call(t, "GET", "/v1/tasks", "", header), header)
	}
	for _, header := range []string{"Content-Type: text/" + canary, "Content-Type: " + canary, "Content-Encoding: " + canary} {
		checkSilent(t, e, e.call(t, "POST", "/v1/tasks", "{}", header), header)
	}
	local := newEdge(t, func(o *Options) { o.Origins.Loopback = true })
	checkSilent(t, local, local.call(t, "GET", "/v1/tasks", "", "Host: "+canary), "host")
	checkSilent(t, e, e.call(t, "CANARY-7F3A", "/v1/tasks", ""), "method")
}

func rulesOf(t *testing.T, name string) map[string]*schema {
	t.Helper()
	s, err := compiler{}.compile(loadContract(t).Components.Schemas[name])
	if err != nil {
		t.Fatal(err)
	}
	return s.properties
}

func checkSilent(t *testing.T, e *edge, a answer, sent string) {
	t.Helper()
	var headers strings.Builder
	_ = a.Header().Write(&headers)
	for where, text := range map[string]string{"answer": a.Body.String(), "header": headers.String(), "log": e.log.String()} {
		if a.Code != 200 && strings.Contains(strings.ToLower(text), canary) {
			t.Errorf("%s repeats what was sent with %s: %s", where, sent, text)
		}
	}
	e.log.Reset()
}

// A small body of many mistakes has a bounded answer.
func TestProblemsAreBounded(t *testing.T) {
	s := rulesOf(t, "Everything")["tags"]
	problems, err := judgeJSON([]byte("["+strings.Repeat("1,", 5000)+"1]"), s)
	if err != nil || len(problems) != domain.MaxProblems {
		t.Errorf("%d problems, %v", len(problems), err)
	}
}
