package handlers_test

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
)

func TestComments(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		for name, test := range map[string]func(*testing.T, *commentStack){
			"life":         commentLife,
			"replay":       commentReplay,
			"form":         commentForm,
			"orphans":      commentOrphans,
			"import":       commentImport,
			"other plan":   commentOtherPlan,
			"archived":     commentArchived,
			"byte by byte": commentBytes,
		} {
			t.Run(name, func(t *testing.T) { test(t, newCommentStack(t, s)) })
		}
	})
}

// commentStack is a task with a plan.
type commentStack struct {
	*stack
	task, path, planID string // path is that of the comments
}

func newCommentStack(t *testing.T, s *stack) *commentStack {
	t.Helper()
	task := s.task(t)
	p := s.call("PUT", task+"/plan", map[string]any{"content": "step one"}).do(t).want(t, 200)
	return &commentStack{s, task, task + "/plan/comments", p.id(t)}
}

// draft is a create with a fresh id.
func (s *commentStack) draft() map[string]any {
	return map[string]any{
		"id": domain.NewID(), "plan_id": s.planID, "body": "why?", "selected_text": "step one", "anchor_from": 3, "anchor_to": 11,
	}
}

// but is a copy of m with another member.
func but(m map[string]any, member string, value any) map[string]any {
	m = maps.Clone(m)
	m[member] = value
	return m
}

func (s *commentStack) comment(id string) string { return s.path + "/" + id }

func (s *commentStack) removal(id string, version int) string {
	return s.comment(id) + "?plan_id=" + s.planID + "&expected_version=" + strconv.Itoa(version)
}

func commentLife(t *testing.T, s *commentStack) {
	empty := s.call("GET", s.path).do(t).want(t, 200)
	want := map[string]any{"task_id": strings.TrimPrefix(s.task, "/v1/tasks/"), "plan_id": s.planID, "revision": json.Number("0"), "comments": []any{}}
	if diff := cmp.Diff(want, empty.json(t)); diff != "" {
		t.Errorf("no comments (-want +got):\n%s", diff)
	}
	d := s.draft()
	id := d["id"].(string)
	made := s.call("POST", s.path, d).do(t).want(t, 201)
	if got, want := made.Header().Get("Location"), s.comment(id); got != want {
		t.Errorf("Location is %s, want %s", got, want)
	}
	tag := `"` + s.planID + `:1"`
	if got := made.Header().Get("ETag"); got != tag {
		t.Errorf("ETag is %s, want %s", got, tag)
	}
	if got := s.call("GET", s.path).do(t).want(t, 200); !cmp.Equal(got.json(t), made.json(t)) {
		t.Errorf("stored comments (-answered +stored):\n%s", cmp.Diff(made.json(t), got.json(t)))
	}
	s.call("GET", s.path).set("If-None-Match", tag).do(t).want(t, 304)

	patch := map[string]any{"plan_id": s.planID, "expected_version": 1, "body": "because"}
	edited := s.call("PATCH", s.comment(id), patch).do(t).want(t, 200)
	if edited.text(t, "comments", 0, "body") != "because" || edited.number(t, "comments", 0, "version") != 2 || edited.number(t, "revision") != 2 {
		t.Errorf("edited: %s", edited.Body)
	}
	s.call("GET", s.path).set("If-None-Match", tag).do(t).want(t, 200)
	stale := s.call("PATCH", s.comment(id), patch).do(t).wantCode(t, 409, "plan_comments_changed")
	if diff := cmp.Diff(edited.json(t), stale.json(t)["snapshot"]); diff != "" {
		t.Errorf("snapshot of the conflict (-want +got):\n%s", diff)
	}
	s.call("DELETE", s.removal(id, 1)).do(t).wantCode(t, 409, "plan_comments_changed")
	gone := s.call("DELETE", s.removal(id, 2)).do(t).want(t, 200)
	if gone.number(t, "revision") != 3 || gone.Header().Get("ETag") != `"`+s.planID+`:3"` || len(gone.json(t)["comments"].([]any)) != 0 {
		t.Errorf("deleted: %s", gone.Body)
	}
	s.call("DELETE", s.removal(id, 2)).do(t).wantCode(t, 409, "plan_comments_changed")
	s.call("DELETE", s.removal("x", 2)).do(t).wantCode(t, 404, "comment_not_found")
	s.call("PATCH", s.comment("x"), patch).do(t).wantCode(t, 404, "comment_not_found")
}

// PC-3: 201 at first, 200 with nothing written for ever after.
func commentReplay(t *testing.T, s *commentStack) {
	d := s.draft()
	made := s.call("POST", s.path, d).do(t).want(t, 201)
	again := s.call("POST", s.path, d).do(t).want(t, 200)
	if diff := cmp.Diff(made.json(t), again.json(t)); diff != "" || again.Header().Get("ETag") != made.Header().Get("ETag") {
		t.Errorf("replay (-first +again):\n%s", diff)
	}
	upper := but(d, "id", strings.ToUpper(d["id"].(string)))
	s.call("POST", s.path, upper).do(t).want(t, 200)
	other := s.call("POST", s.path, but(d, "anchor_to", 12)).do(t).wantCode(t, 409, "plan_comments_changed")
	if diff := cmp.Diff(made.json(t), other.json(t)["snapshot"]); diff != "" {
		t.Errorf("snapshot of the conflict (-want +got):\n%s", diff)
	}
	s.call("DELETE", s.removal(d["id"].(string), 1)).do(t).want(t, 200)
	if gone := s.call("POST", s.path, d).do(t).want(t, 200); gone.number(t, "revision") != 2 {
		t.Errorf("replay after the delete: %s", gone.Body)
	}
}

func commentForm(t *testing.T, s *commentStack) {
	for name, c := range map[string]struct {
		body        map[string]any
		field, code string
	}{
		"blank":          {but(s.draft(), "body", " \u3000\n"), "/body/body", "blank"},
		"NUL in body":    {but(s.draft(), "body", "a\x00"), "/body/body", "nul"},
		"NUL in text":    {but(s.draft(), "selected_text", "a\x00"), "/body/selected_text", "nul"},
		"no text":        {but(s.draft(), "selected_text", ""), "/body/selected_text", "blank"},
		"negative":       {but(s.draft(), "anchor_from", -1), "/body/anchor_from", "range"},
		"empty range":    {but(s.draft(), "anchor_to", 3), "/body/anchor_to", "range"},
		"no id":          {but(s.draft(), "id", "x"), "/body/id", "format"},
		"no plan":        {but(s.draft(), "plan_id", "x"), "/body/plan_id", "format"},
		"session":        {but(s.draft(), "session_id", domain.NewID()), "/body/session_id", "unknown"},
		"a text as null": {but(s.draft(), "body", nil), "/body/body", "type"},
	} {
		t.Run(name, func(t *testing.T) { s.call("POST", s.path, c.body).do(t).wantField(t, c.field, c.code) })
	}
	for limit, body := range map[string]map[string]any{
		"body":          but(s.draft(), "body", strings.Repeat("x", domain.MaxCommentBody+1)),
		"selected_text": but(s.draft(), "selected_text", strings.Repeat("x", domain.MaxCommentSelected+1)),
	} {
		a := s.call("POST", s.path, body).do(t).wantCode(t, 422, "comment_limit_exceeded")
		if a.text(t, "limit") != limit || a.number(t, "actual") != a.number(t, "maximum")+1 {
			t.Errorf("limit of %s: %s", limit, a.Body)
		}
	}
	gone := s.comment(domain.NewID())
	s.call("DELETE", gone+"?plan_id=x&expected_version=1").do(t).wantField(t, "/query/plan_id", "format")
	s.call("DELETE", gone+"?plan_id="+s.planID).do(t).wantField(t, "/query/expected_version", "required")
	s.call("DELETE", s.removal(domain.NewID(), 0)).do(t).wantField(t, "/query/expected_version", "range")
	if now := s.call("GET", s.path).do(t); now.number(t, "revision") != 0 {
		t.Errorf("refusals left %s", now.Body)
	}
}

// PC-7: a save takes the comments with it whose text it removed.
func commentOrphans(t *testing.T, s *commentStack) {
	kept, orphan := s.draft(), s.draft()
	s.call("POST", s.path, kept).do(t).want(t, 201)
	s.call("POST", s.path, orphan).do(t).want(t, 201)
	save := func(version int) *answer {
		return s.call("PUT", s.task+"/plan", map[string]any{
			"content": "step two", "orphaned_comment_refs": []any{map[string]any{"id": orphan["id"], "version": version}},
		}).do(t)
	}
	stale := save(2).wantCode(t, 409, "plan_comments_changed")
	if stale.number(t, "snapshot", "revision") != 2 {
		t.Errorf("conflict: %s", stale.Body)
	}
	if saved := save(1).want(t, 200); saved.number(t, "version") != 2 {
		t.Errorf("saved: %s", saved.Body)
	}
	now := s.call("GET", s.path).do(t)
	if now.number(t, "revision") != 3 || now.text(t, "comments", 0, "id") != kept["id"] || now.at(t, "comments", 1) != nil {
		t.Errorf("comments: %s", now.Body)
	}
}

// PC-13: whatever is wrong with one draft is its own affair.
func commentImport(t *testing.T, s *commentStack) {
	good := s.draft()
	delete(good, "plan_id")
	drafts := []any{
		good, good, but(good, "body", "another"), but(good, "id", "Draft 7\x00"),
		map[string]any{},
		but(but(good, "id", domain.NewID()), "body", "\t"),
		but(but(good, "id", domain.NewID()), "selected_text", "a\x00"),
		but(but(good, "id", domain.NewID()), "anchor_to", 0),
		but(but(good, "id", domain.NewID()), "body", strings.Repeat("x", domain.MaxCommentBody+1)),
		map[string]any{"id": domain.NewID(), "body": "why?", "selected_text": "step one"},
		but(good, "id", domain.NewID()),
	}
	request := map[string]any{"plan_id": s.planID, "drafts": drafts}
	done := s.call("POST", s.path+"/import", request).do(t).want(t, 200)
	want := []string{
		"created", "already_present", "conflict", "rejected invalid_id", "rejected invalid_id", "rejected blank_body",
		"rejected invalid_text", "rejected invalid_anchor", "rejected limit", "rejected invalid_anchor", "created",
	}
	var got []string
	for i := range want {
		got = append(got, strings.TrimSpace(done.text(t, "results", i, "status")+" "+done.text(t, "results", i, "reason")))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if done.text(t, "results", 3, "id") != "Draft 7\x00" || done.number(t, "snapshot", "revision") != 1 || done.at(t, "snapshot", "comments", 1) == nil {
		t.Errorf("import: %s", done.Body)
	}
	request["drafts"] = make([]map[string]any, 101)
	for i := range 101 {
		request["drafts"].([]map[string]any)[i] = map[string]any{}
	}
	s.call("POST", s.path+"/import", request).do(t).wantCode(t, 422, "validation_failed")
}

// PC-5: another plan's id is a conflict with the snapshot of this one.
func commentOtherPlan(t *testing.T, s *commentStack) {
	other := *s
	other.planID = domain.NewID()
	for name, a := range map[string]*answer{
		"create": s.call("POST", s.path, other.draft()).do(t),
		"edit":   s.call("PATCH", s.comment(domain.NewID()), map[string]any{"plan_id": other.planID, "expected_version": 1, "body": "x"}).do(t),
		"delete": s.call("DELETE", other.removal(domain.NewID(), 1)).do(t),
		"import": s.call("POST", s.path+"/import", map[string]any{"plan_id": other.planID, "drafts": []any{}}).do(t),
	} {
		t.Run(name, func(t *testing.T) {
			a.wantCode(t, 409, "plan_comments_changed")
			if a.text(t, "snapshot", "plan_id") != s.planID {
				t.Errorf("snapshot %s", a.Body)
			}
		})
	}
	s.call("DELETE", s.task+"/plan").do(t).want(t, 204)
	s.call("POST", s.path, s.draft()).do(t).wantCode(t, 404, "plan_not_found")
	s.call("GET", s.path).do(t).wantCode(t, 404, "plan_not_found")
	none := s.call("PUT", s.task+"/plan", map[string]any{
		"content": "one", "orphaned_comment_refs": []any{map[string]any{"id": domain.NewID(), "version": 1}},
	}).do(t).wantCode(t, 409, "plan_comments_changed")
	if v, ok := none.json(t)["snapshot"]; !ok || v != nil {
		t.Errorf("orphans without a plan: %s", none.Body)
	}
}

func commentArchived(t *testing.T, s *commentStack) {
	s.call("PATCH", s.task, map[string]any{"archived": true}).do(t).want(t, 200)
	s.call("POST", s.path, s.draft()).do(t).wantCode(t, 409, "task_archived")
	s.call("PUT", s.task+"/plan", map[string]any{"content": "x"}).do(t).wantCode(t, 409, "task_archived")
	s.call("GET", s.path).do(t).want(t, 200)
}

// PC-11: what was sent comes back.
func commentBytes(t *testing.T, s *commentStack) {
	for i, text := range []string{
		"a\r\nb\rc", "\ufeffx", "👩‍👩‍👧", "\u202eשלום\u202c", "e\u0301", "  x  ", "<&>\u2028\u2029", `"\\u0041'`, "\x01\x7f",
	} {
		made := s.call("POST", s.path, but(but(s.draft(), "body", text), "selected_text", text)).do(t).want(t, 201)
		if made.text(t, "comments", i, "body") != text || made.text(t, "comments", i, "selected_text") != text {
			t.Errorf("text %d came back changed", i)
		}
	}
}
