package handlers_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"gatehouse/domain"
	"gatehouse/domain/access"
)

// upload stages a file of text as a user.
func (p *prompts) upload(name, content string) *call {
	return p.call("POST", p.task+"/attachments?name="+url.QueryEscape(name), content).set("Content-Type", "text/plain").as(access.ScopeUser)
}

// AD-10, API-25: an attachment from its upload to the prompt that takes it.
func TestAttachments(t *testing.T) {
	eachPrompts(t, func(t *testing.T, p *prompts) {
		const content = "\x00\xff{\"no\": JSON\r\n"
		list := p.task + "/attachments"
		made := p.call("POST", list+"?name=a+b.png", content).set("Content-Type", "Image/PNG; x=1").as(access.ScopeUser).do(t).
			want(t, 201, `"name":"a b.png"`, `"media_type":"image/png; x=1"`, `"bytes":15`, `"delivery_id":null`, p.taskID)
		path, id := made.Header().Get("Location"), made.id(t)
		if path != list+"/"+id || made.text(t, "expires_at") == "" {
			t.Errorf("made %s at %s", made.Body, path)
		}
		got := p.call("GET", path).as(access.ScopeUser).do(t).want(t, 200)
		if got.Body.String() != content {
			t.Errorf("bytes became %q", got.Body)
		}
		for name, want := range map[string]string{
			"Content-Type": "image/png; x=1", "Content-Length": "15", "Content-Disposition": `attachment; filename="a b.png"`,
			"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'", "Cache-Control": "private",
		} {
			if got.Header().Get(name) != want {
				t.Errorf("%s is %q, want %q", name, got.Header().Get(name), want)
			}
		}
		second := p.upload("b.txt", "b").do(t).want(t, 201).id(t)
		p.call("GET", list+"?limit=1").as(access.ScopeUser).do(t).want(t, 200, id, `"next_cursor":"`)

		sent := p.admit(map[string]any{"client_message_id": "m", "attachment_ids": []any{strings.ToUpper(id)}}).do(t).
			want(t, 201, `"attachments":[{"bytes":15,"id":"`+id+`","media_type":"image/png; x=1","name":"a b.png"}]`)
		p.call("GET", list).as(access.ScopeUser).do(t).want(t, 200, `"delivery_id":"`+sent.text(t, "delivery", "id")+`"`, `"expires_at":null`, second)
		p.call("GET", p.task+"/admissions/m").do(t).want(t, 200, `"name":"a b.png"`)
		p.call("DELETE", path).as(access.ScopeUser).do(t).wantCode(t, 409, "attachment_claimed")
		p.call("GET", path).do(t).want(t, 200)

		r, token := p.reserve(t)
		p.run(r+"/attempt", map[string]any{"token": token}).do(t).want(t, 200, `"name":"a b.png"`)
		p.run(r+"/acknowledge", map[string]any{"token": token, "outcome": "failed"}).do(t).want(t, 200)
		p.admit(map[string]any{"client_message_id": "n", "attachment_ids": []any{second, id}}).do(t).wantCode(t, 409, "attachment_claimed")
		p.call("DELETE", list+"/"+second).as(access.ScopeUser).do(t).want(t, 204)
		p.call("DELETE", list+"/"+second).do(t).wantCode(t, 404, "attachment_not_found")
		p.call("GET", list+"/"+second).do(t).wantCode(t, 404, "attachment_not_found")
		p.call("GET", list+"/7").do(t).wantCode(t, 404, "attachment_not_found")
		p.admit(map[string]any{"client_message_id": "n", "attachment_ids": []any{second}}).do(t).wantCode(t, 404, "attachment_not_found")

		p.call("PATCH", p.task, `{"archived":true}`).do(t).want(t, 200)
		p.upload("c", "c").do(t).wantCode(t, 409, "task_archived")
		p.call("GET", path).do(t).want(t, 200)
	})
}

// API-2, AD-10: what may be uploaded, to the byte.
func TestAttachmentLimits(t *testing.T) {
	eachPrompts(t, func(t *testing.T, p *prompts) {
		largest := strings.Repeat("x", domain.MaxAttachmentBytes)
		path := p.upload("a", largest).do(t).want(t, 201, `"bytes":10485760`).Header().Get("Location")
		if got := p.call("GET", path).do(t).want(t, 200); got.Body.String() != largest {
			t.Errorf("%d bytes came back", got.Body.Len())
		}
		p.upload("a", largest+"x").do(t).wantCode(t, 413, "request_too_large")
		p.upload("a", "").do(t).wantField(t, "/body", domain.ProblemBlank)
		p.upload("a", "no gzip").set("Content-Encoding", "gzip").do(t).wantCode(t, 400, "malformed_request")
		p.upload(strings.Repeat("é", 250), "x").do(t).want(t, 201)
		p.upload(strings.Repeat("é", 250)+"x", "x").do(t).wantField(t, "/query/name", domain.ProblemTooLong)
		p.upload("", "x").do(t).wantField(t, "/query/name", domain.ProblemBlank)
		p.upload("a\r\nSet-Cookie: b", "x").do(t).wantField(t, "/query/name", domain.ProblemFormat)
		p.upload("a\x00", "x").do(t).wantField(t, "/query/name", domain.ProblemNUL)
		p.upload("../../etc/passwd", "x").do(t).wantField(t, "/query/name", domain.ProblemFormat)
		p.call("POST", p.task+"/attachments", "x").do(t).wantField(t, "/query/name", domain.ProblemRequired)
		p.call("POST", p.task+"/attachments?name=a&name=b", "x").do(t).wantField(t, "/query/name", domain.ProblemDuplicate)
		p.upload("a", "x").set("Content-Type", "text").do(t).wantField(t, "/header/Content-Type", domain.ProblemFormat)

		two := p.upload("a", "x")
		two.header["Content-Type"] = []string{"text/plain", "text/html"}
		two.do(t).wantField(t, "/header/Content-Type", domain.ProblemFormat)
		none := p.upload("a", "x")
		none.header["Content-Type"] = []string{""}
		none.do(t).want(t, 201, `"media_type":"application/octet-stream"`)
	})
}

// RFC 6266, RFC 8187: no name leaves its header, and browsers see it as it is.
func TestAttachmentNames(t *testing.T) {
	eachPrompts(t, func(t *testing.T, p *prompts) {
		for name, want := range map[string]string{
			"notes.txt":      `attachment; filename="notes.txt"`,
			`a"; b="c.txt`:   `attachment; filename="a_; b=_c.txt"; filename*=UTF-8''a%22%3B%20b%3D%22c.txt`,
			"100%41.txt":     `attachment; filename="100_41.txt"; filename*=UTF-8''100%2541.txt`,
			"Grüße + 👩.txt":  `attachment; filename="Gr__e + _.txt"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%2B%20%F0%9F%91%A9.txt`,
			"x\u2028y\u202e": `attachment; filename="x_y_"; filename*=UTF-8''x%E2%80%A8y%E2%80%AE`,
		} {
			path := p.upload(name, "<script>").set("Content-Type", "text/html").do(t).want(t, 201).Header().Get("Location")
			got := p.call("GET", path).do(t).want(t, http.StatusOK).Header().Get("Content-Disposition")
			if got != want {
				t.Errorf("%q: %s\nwant %s", name, got, want)
			}
		}
	})
}
