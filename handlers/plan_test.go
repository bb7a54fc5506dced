package handlers_test

import (
	"strings"
	"testing"

	"gatehouse/domain"
	"gatehouse/domain/access"
)

func TestPlan(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		for name, test := range map[string]func(*testing.T, *stack, string){
			"life":       planLife,
			"conditions": planConditions,
			"revisions":  planRevisions,
			"form":       planForm,
		} {
			t.Run(name, func(t *testing.T) { test(t, s, s.task(t)+"/plan") })
		}
	})
}

func planLife(t *testing.T, s *stack, path string) {
	s.call("GET", path).do(t).wantCode(t, 404, "plan_not_found")
	s.call("DELETE", path).do(t).wantCode(t, 404, "plan_not_found")
	s.call("PUT", path, `{"content":""}`).with(s.foreign[access.ScopeUser]).do(t).wantCode(t, 404, "task_not_found") // API-22

	text := " # Plan\r\n\ufeff<b>&</b> 👩‍👩‍👧 \u2028"
	saved := s.call("PUT", path, map[string]any{"content": text}).do(t).want(t, 200)
	if saved.text(t, "content") != text || saved.number(t, "version") != 1 || saved.text(t, "created_at") != saved.text(t, "updated_at") {
		t.Errorf("saved %s", saved.Body)
	}
	tag := saved.Header().Get("ETag")
	if want := `"` + saved.text(t, "id") + `:1"`; tag != want {
		t.Errorf("ETag is %s, want %s", tag, want)
	}
	again := s.call("PUT", path, map[string]any{"content": text}).do(t).want(t, 200)
	if again.Header().Get("ETag") != tag {
		t.Errorf("the same content again made %s", again.Body)
	}
	same := s.call("GET", path).set("If-None-Match", `"x", W/`+tag).do(t).want(t, 304)
	if same.Body.Len() != 0 || same.Header().Get("ETag") != tag {
		t.Errorf("304 with %s and ETag %s", same.Body, same.Header().Get("ETag"))
	}
	s.call("GET", path).set("If-None-Match", `"x"`).do(t).want(t, 200)

	if gone := s.call("DELETE", path).do(t).want(t, 204); gone.Body.Len() != 0 {
		t.Errorf("204 with %s", gone.Body)
	}
	fresh := s.call("PUT", path, map[string]any{"content": text}).do(t).want(t, 200)
	if fresh.Header().Get("ETag") == tag || fresh.number(t, "version") != 1 {
		t.Errorf("the plan made again is %s", fresh.Body)
	}
}

// PC-9, API-6: 409 for a condition in the body, 412 for one in the header.
func planConditions(t *testing.T, s *stack, path string) {
	none := s.call("PUT", path, map[string]any{"content": "one", "expected_version": 1}).do(t).wantCode(t, 409, "plan_changed")
	if v, ok := none.json(t)["plan"]; !ok || v != nil {
		t.Errorf("without a plan: %s", none.Body)
	}
	s.call("PUT", path, map[string]any{"content": "one"}).set("If-Match", "*").do(t).wantCode(t, 412, "plan_changed")
	first := s.call("PUT", path, map[string]any{"content": "one"}).do(t).want(t, 200).Header().Get("ETag")
	s.call("PUT", path, map[string]any{"content": "two"}).set("If-Match", first).do(t).want(t, 200)
	stale := s.call("PUT", path, map[string]any{"content": "three"}).set("If-Match", first).do(t).wantCode(t, 412, "plan_changed")
	if stale.text(t, "plan", "content") != "two" || stale.number(t, "plan", "version") != 2 {
		t.Errorf("412 with %s", stale.Body)
	}
	stale = s.call("PUT", path, map[string]any{"content": "three", "expected_version": 1}).do(t).wantCode(t, 409, "plan_changed")
	if stale.number(t, "plan", "version") != 2 {
		t.Errorf("409 with %s", stale.Body)
	}
	s.call("PUT", path, map[string]any{"content": "three", "expected_version": 2}).do(t).want(t, 200)
}

func planRevisions(t *testing.T, s *stack, path string) {
	s.call("GET", path+"/revisions").do(t).wantCode(t, 404, "plan_not_found")
	s.call("POST", path+"/revisions/1/revert").do(t).wantCode(t, 404, "plan_not_found")
	for _, content := range []string{"one", "three", "four"} {
		s.call("PUT", path, map[string]any{"content": content}).do(t).want(t, 200)
	}
	page := s.call("GET", path+"/revisions?limit=2").do(t).want(t, 200)
	if page.number(t, "items", 0, "version") != 3 || page.number(t, "items", 1, "bytes") != 5 || page.text(t, "next_cursor") == "" {
		t.Errorf("first page: %s", page.Body)
	}
	page = s.call("GET", path+"/revisions?cursor="+page.text(t, "next_cursor")).do(t).want(t, 200)
	if v, ok := page.json(t)["next_cursor"]; page.number(t, "items", 0, "version") != 1 || !ok || v != nil {
		t.Errorf("last page: %s", page.Body)
	}
	s.call("GET", path+"/revisions?cursor=x").do(t).wantField(t, "/query/cursor", "format")

	one := s.call("GET", path+"/revisions/1").do(t).want(t, 200)
	if one.text(t, "content") != "one" || one.text(t, "plan_id") == "" {
		t.Errorf("first revision: %s", one.Body)
	}
	back := s.call("POST", path+"/revisions/1/revert").do(t).want(t, 200)
	if back.number(t, "version") != 4 || back.text(t, "content") != "one" || back.Header().Get("ETag") != `"`+back.text(t, "id")+`:4"` {
		t.Errorf("reverted: %s", back.Body)
	}
	for _, version := range []string{"9", "0", "-1", "01", "x", "99999999999999999999"} {
		s.call("GET", path+"/revisions/"+version).do(t).wantCode(t, 404, "revision_not_found")
		s.call("POST", path+"/revisions/"+version+"/revert").do(t).wantCode(t, 404, "revision_not_found")
	}
}

// API-2: each problem is named by its field.
func planForm(t *testing.T, s *stack, path string) {
	id := domain.NewID()
	ref := func(id string, version int) map[string]any { return map[string]any{"id": id, "version": version} }
	for name, c := range map[string]struct {
		body        map[string]any
		field, code string
	}{
		"too long":   {map[string]any{"content": strings.Repeat("x", domain.MaxPlanContent+1)}, "/body/content", "too_long"},
		"NUL":        {map[string]any{"content": "a\x00"}, "/body/content", "nul"},
		"no content": {map[string]any{}, "/body/content", "required"},
		"version 0":  {map[string]any{"content": "", "expected_version": 0}, "/body/expected_version", "range"},
		"no ref":     {map[string]any{"content": "", "orphaned_comment_refs": []any{ref("x", 1)}}, "/body/orphaned_comment_refs/0/id", "format"},
		"ref twice":  {map[string]any{"content": "", "orphaned_comment_refs": []any{ref(id, 1), ref(id, 2)}}, "/body/orphaned_comment_refs/1/id", "duplicate"},
		"unknown":    {map[string]any{"content": "", "colour": 1}, "/body/colour", "unknown"},
		"wrong type": {map[string]any{"content": 1}, "/body/content", "type"},
	} {
		t.Run(name, func(t *testing.T) { s.call("PUT", path, c.body).do(t).wantField(t, c.field, c.code) })
	}
	body := map[string]any{"content": "", "expected_version": 1}
	s.call("PUT", path, body).set("If-Match", "x").do(t).wantField(t, "/header/If-Match", "format")
	s.call("PUT", path, body).set("If-Match", `"x"`).do(t).wantField(t, "/header/If-Match", "contradictory")
}
