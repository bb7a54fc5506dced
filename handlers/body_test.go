package handlers

import (
	"bytes"
	"compress/gzip"
	"net/http/httptest"
	"strings"
	"testing"
)

// API-2: what is not one JSON value of the agreed form is 400, without words of
// the parser.
func TestMalformed(t *testing.T) {
	e := newEdge(t)
	nested := func(n int) string { return `{"any":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}` }
	for name, body := range map[string]string{
		"no JSON":                     `canary`,
		"cut":                         `{"title":"canary"`,
		"white space":                 "  \n",
		"trailing bytes":              `{} canary`,
		"second value":                `{}{}`,
		"trailing comma":              `{"title":"a",}`,
		"comment":                     `{/* canary */}`,
		"byte order mark":             "\ufeff{}",
		"duplicate member":            `{"title":"canary","title":"canary"}`,
		"escaped duplicate":           `{"title":"a","\u0074itle":"b"}`,
		"duplicate below unknown":     `{"canary":{"a":1,"a":2}}`,
		"duplicate below wrong type":  `{"title":{"a":1,"a":2}}`,
		"duplicate in anything":       `{"any":[{"a":1,"a":2}]}`,
		"invalid UTF-8":               "{\"title\":\"\xff\"}",
		"invalid UTF-8 in name":       "{\"\xff\":1}",
		"unpaired high surrogate":     `{"title":"\ud800"}`,
		"unpaired low surrogate":      `{"any":"\udc00"}`,
		"surrogates in wrong order":   `{"any":"\udc00\ud800"}`,
		"surrogate in UTF-8":          "{\"any\":\"\xed\xa0\x80\"}",
		"control character":           "{\"title\":\"a\x01\"}",
		"nested over 64":              nested(65),
		"nested over 64 below wrong":  `{"title":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`,
		"nested without end":          strings.Repeat("[", 3000),
		"leading zero":                `{"count":01}`,
		"NaN":                         `{"count":NaN}`,
		"malformed after the problem": `{"canary":1,"title":}`,
	} {
		t.Run(name, func(t *testing.T) {
			a := e.call(t, "POST", "/v1/tasks", body)
			a.expect(t, 400, "malformed_request")
			if a.problem(t).Detail != errMalformed.Detail {
				t.Errorf("detail: %s", a.problem(t).Detail)
			}
		})
	}
	e.call(t, "POST", "/v1/tasks", "", "Content-Type: application/json").expect(t, 400, "malformed_request")
	e.call(t, "POST", "/v1/tasks", nested(64)).expect(t, 200, "")
	e.call(t, "POST", "/v1/tasks", `{"any":"\ud83d\ude00"}`).expect(t, 200, "")
	e.call(t, "PATCH", "/v1/tasks/"+ownTask, "").expect(t, 200, "")
	e.call(t, "GET", "/v1/tasks?limit=%zz", "").expect(t, 400, "malformed_request")
}

// API-2: other media types are 415; parameters of JSON's own do not matter.
func TestMediaType(t *testing.T) {
	e := newEdge(t)
	for contentType, status := range map[string]int{
		"application/json":                   200,
		"application/json; charset=utf-8":    200,
		"Application/JSON;charset=UTF-8":     200,
		"application/json; charset=latin1":   415,
		"text/plain":                         415,
		"application/merge-patch+json":       415,
		"application/x-www-form-urlencoded":  415,
		"application/jsonx":                  415,
		"application/json, application/json": 415,
		"":                                   415,
	} {
		a := e.call(t, "POST", "/v1/tasks", `{}`, "Content-Type: "+contentType)
		if a.Code != status {
			t.Errorf("%q: %d, want %d", contentType, a.Code, status)
		}
	}
	e.call(t, "POST", "/v1/tasks", `{}`, "Content-Type: text/plain").expect(t, 415, "unsupported_media_type")
	e.call(t, "POST", "/v1/tasks", `{}`, "Content-Encoding: br").expect(t, 415, "unsupported_media_type")
	e.call(t, "POST", "/v1/tasks", `{}`, "Content-Encoding: identity").expect(t, 200, "")

	r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/tasks", strings.NewReader("{}"))
	r.Header["Authorization"] = []string{"Bearer user"}
	r.Header["Content-Type"] = []string{"application/json", "application/json"}
	e.serve(t, r).expect(t, 415, "unsupported_media_type")
}

// API-2: limits are inclusive, per operation, and counted after decompression.
func TestBodyLimits(t *testing.T) {
	e := newEdge(t)
	exact := func(n int) string { return `{"any":"` + strings.Repeat("x", n-10) + `"}` }
	for _, c := range []struct {
		path, token string
		limit       int
	}{
		{"/v1/tasks", "user", 4 << 10},
		{"/v1/sessions/" + ownTask + "/messages", "runner", 8 << 10},
		{"/v1/tasks/" + ownTask + "/attachments", "user", 1 << 10},
	} {
		for size, status := range map[int]int{c.limit: 200, c.limit + 1: 413} {
			code := ""
			if status == 413 {
				code = "request_too_large"
			}
			token := "Authorization: Bearer " + c.token
			e.call(t, "POST", c.path, exact(size), token).expect(t, status, code)
			e.call(t, "POST", c.path, zipped(exact(size)), token, "Content-Encoding: gzip").expect(t, status, code)

			chunked := httptest.NewRequestWithContext(t.Context(), "POST", c.path, strings.NewReader(exact(size)))
			chunked.ContentLength = -1
			chunked.Header.Set("Authorization", "Bearer "+c.token)
			chunked.Header.Set("Content-Type", "application/json")
			e.serve(t, chunked).expect(t, status, code)
		}
	}
	for name, body := range map[string]string{"no gzip": "{}", "cut": zipped(exact(100))[:20], "empty": " "} {
		t.Run(name, func(t *testing.T) {
			e.call(t, "POST", "/v1/tasks", body, "Content-Encoding: gzip").expect(t, 400, "malformed_request")
		})
	}
}

func zipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}

// API-2: the handler reads what was sent, byte for byte, so that integers survive.
func TestBodyIsUntouched(t *testing.T) {
	e := newEdge(t)
	for _, body := range []string{
		`{"count":9007199254740993}`,
		`{"count":-9223372036854775808,"ratio":0.1000}`,
		` { "title" : "\u0061" , "note":null } ` + "\n",
	} {
		for _, a := range []answer{
			e.call(t, "POST", "/v1/tasks", body),
			e.call(t, "POST", "/v1/tasks", zipped(body), "Content-Encoding: gzip"),
		} {
			if a.Code != 200 || a.Body.String() != body {
				t.Errorf("%s became %d %s", body, a.Code, a.Body)
			}
		}
	}
	image := "\x89PNG\x00\xff"
	a := e.call(t, "POST", "/v1/tasks/"+ownTask+"/attachments", image, "Content-Type: image/png")
	if a.Code != 200 || a.Body.String() != image {
		t.Errorf("attachment became %d %q", a.Code, a.Body)
	}
}
