package handlers

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
)

// API-11: Swagger UI is complete without the network: every file that its page
// asks for is ours.
func TestDocs(t *testing.T) {
	e := newEdge(t)
	if a := e.call(t, "GET", "/docs", "", "Authorization: "); a.Code != 301 || a.Header().Get("Location") != "/docs/" {
		t.Errorf("/docs: %d %v", a.Code, a.Header())
	}
	page := e.call(t, "GET", "/docs/", "", "Authorization: ")
	page.expect(t, 200, "")
	if policy := page.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'self'") {
		t.Errorf("Content-Security-Policy: %s", policy)
	}
	links := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page.Body.String(), -1)
	if len(links) < 3 {
		t.Fatalf("page of %d links: %s", len(links), page.Body)
	}
	for _, link := range links {
		if !strings.HasPrefix(link[1], "/docs/") {
			t.Errorf("%s is loaded from elsewhere", link[1])
			continue
		}
		if a := e.call(t, "GET", link[1], "", "Authorization: ", "Accept-Encoding: gzip"); a.Code != 200 || a.Body.Len() == 0 {
			t.Errorf("%s: %d", link[1], a.Code)
		}
	}
	if !strings.Contains(page.Body.String(), `/openapi.json`) {
		t.Error("the page does not show the contract")
	}
	e.call(t, "GET", "/docs/?url=http://evil.example/", "").expect(t, 422, "validation_failed")
}

// API-11: both forms of the contract say the same, and are not sent twice.
func TestContractText(t *testing.T) {
	doc := loadContract(t)
	k, err := newContract(doc)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, serve := range []func(*httptest.ResponseRecorder, string){
		func(w *httptest.ResponseRecorder, etag string) {
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/openapi.json", nil)
			r.Header.Set("If-None-Match", etag)
			k.serveJSON(w, r)
		},
		func(w *httptest.ResponseRecorder, etag string) {
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/openapi.yaml", nil)
			r.Header.Set("If-None-Match", etag)
			k.serveYAML(w, r)
		},
	} {
		first, again := httptest.NewRecorder(), httptest.NewRecorder()
		serve(first, "")
		serve(again, first.Header().Get("ETag"))
		if first.Code != 200 || again.Code != 304 {
			t.Errorf("statuses %d, %d", first.Code, again.Code)
		}
		read, err := openapi3.NewLoader().LoadFromData(first.Body.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		text, err := read.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if diff := cmp.Diff(texts[0], texts[1]); diff != "" {
		t.Errorf("YAML differs from JSON:\n%s", diff)
	}
}
