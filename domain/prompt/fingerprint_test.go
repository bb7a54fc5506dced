package prompt

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain/plan"
	"gatehouse/domain/session"
)

const (
	idA = "0192d3a0-0000-7000-8000-00000000000a"
	idB = "0192d3a0-0000-7000-8000-00000000000b"
)

// bare is a canonical request with every default.
func bare() Request {
	return Request{
		Kind: KindDirect, TaskID: idA, SessionID: idB, ClientID: "c1", Content: "go on",
		Metadata: []byte("{}"),
	}
}

// AD-7: every field of the request counts, preconditions do not, and the names are
// those of the request.
func TestFingerprintFields(t *testing.T) {
	state := session.StateIdle
	for name, c := range map[string]struct {
		change func(*Request)
		want   []string
	}{
		"nothing":         {func(*Request) {}, nil},
		"transport":       {func(r *Request) { r.Kind = KindQueued }, []string{"transport"}},
		"session":         {func(r *Request) { r.SessionID = idA }, []string{"session_id"}},
		"content":         {func(r *Request) { r.Content = "go on " }, []string{"content"}},
		"empty content":   {func(r *Request) { r.Content = "" }, []string{"content"}},
		"refs":            {func(r *Request) { r.Refs = []plan.Ref{{ID: idA, Version: 1}} }, []string{"plan_comment_refs"}},
		"primary guard":   {func(r *Request) { r.RequirePrimary = true }, []string{"require_primary_session"}},
		"plan mode":       {func(r *Request) { r.PlanMode = true }, []string{"plan_mode"}},
		"model":           {func(r *Request) { r.Model = new("m") }, []string{"model"}},
		"attachments":     {func(r *Request) { r.AttachmentIDs = []string{idA} }, []string{"attachment_ids"}},
		"metadata":        {func(r *Request) { r.Metadata = []byte(`{"a":1}`) }, []string{"metadata"}},
		"expected state":  {func(r *Request) { r.ExpectedState = &state }, nil},
		"several, sorted": {func(r *Request) { r.PlanMode, r.Content = true, "x" }, []string{"content", "plan_mode"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := bare()
			c.change(&r)
			if diff := cmp.Diff(c.want, r.fingerprint().Differing(bare().fingerprint())); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.want, bare().fingerprint().Differing(r.fingerprint())); diff != "" {
				t.Errorf("the other way round: %s", diff)
			}
		})
	}
}

// AD-7: the order of refs counts.
func TestFingerprintOrderOfRefs(t *testing.T) {
	one, other := bare(), bare()
	one.Refs = []plan.Ref{{ID: idA, Version: 1}, {ID: idB, Version: 1}}
	other.Refs = []plan.Ref{{ID: idB, Version: 1}, {ID: idA, Version: 1}}
	if got := one.fingerprint().Differing(other.fingerprint()); len(got) != 1 {
		t.Errorf("differing fields are %v", got)
	}
}

// AD-7: a field at its default leaves no trace, so a record made before the field
// existed is replayed by a version that knows it.
func TestFingerprintLeavesDefaultsOut(t *testing.T) {
	old := Fingerprint{}
	for _, known := range []string{"transport", "session_id", "content"} {
		old[known] = bare().fingerprint()[known]
	}
	if diff := cmp.Diff(old, bare().fingerprint()); diff != "" {
		t.Error(diff)
	}
}

// AD-7: forms of a request that mean the same are the same.
func TestFingerprintOfCanonicalRequest(t *testing.T) {
	one := bare()
	one.Refs = []plan.Ref{{ID: "0192D3A0-0000-7000-8000-00000000000A", Version: 1}}
	one.Metadata = []byte(`{ "b": 1.0, "a": [] }`)
	other := bare()
	other.Refs = []plan.Ref{{ID: idA, Version: 1}}
	other.Metadata = []byte(`{"a":[],"b":1}`)
	one, err := one.checked()
	if err != nil {
		t.Fatal(err)
	}
	other, err = other.checked()
	if err != nil {
		t.Fatal(err)
	}
	if got := one.fingerprint().Differing(other.fingerprint()); got != nil {
		t.Errorf("differing fields are %v", got)
	}
}
