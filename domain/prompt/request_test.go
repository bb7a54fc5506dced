package prompt

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/plan"
	"gatehouse/domain/session"
)

// Step 1 of an admission: every problem is found, and named under /body.
func TestRequestForm(t *testing.T) {
	ref := plan.Ref{ID: idA, Version: 1}
	badState := session.State("asleep")
	for name, c := range map[string]struct {
		change func(*Request)
		want   []string // field and code
	}{
		"a plain prompt":         {func(*Request) {}, nil},
		"comments alone":         {func(r *Request) { r.Content, r.Refs = " \n", []plan.Ref{ref} }, nil},
		"attachments alone":      {func(r *Request) { r.Content, r.AttachmentIDs = "", []string{idA} }, nil},
		"nothing to send":        {func(r *Request) { r.Content = "\u3000\n" }, []string{"/body/content blank"}},
		"no client id":           {func(r *Request) { r.ClientID = "" }, []string{"/body/client_message_id format"}},
		"a queued bad client id": {func(r *Request) { r.Kind, r.ClientID = KindQueued, "a b" }, []string{"/body/client_queue_id format"}},
		"U+0000":                 {func(r *Request) { r.Content = "a\x00" }, []string{"/body/content nul"}},
		"a long model":           {func(r *Request) { r.Model = new(strings.Repeat("m", 501)) }, []string{"/body/model too_long"}},
		"a blank model":          {func(r *Request) { r.Model = new("") }, []string{"/body/model blank"}},
		"a bad ref":              {func(r *Request) { r.Refs = []plan.Ref{{ID: "x", Version: 0}} }, []string{"/body/plan_comment_refs/0/id format", "/body/plan_comment_refs/0/version range"}},
		"a ref twice":            {func(r *Request) { r.Refs = []plan.Ref{ref, {ID: strings.ToUpper(idA), Version: 2}} }, []string{"/body/plan_comment_refs/1/id duplicate"}},
		"an attachment twice":    {func(r *Request) { r.AttachmentIDs = []string{idA, idA} }, []string{"/body/attachment_ids/1 duplicate"}},
		"a bad attachment":       {func(r *Request) { r.AttachmentIDs = []string{"x"} }, []string{"/body/attachment_ids/0 format"}},
		"many attachments":       {func(r *Request) { r.AttachmentIDs = make([]string, 11) }, []string{"/body/attachment_ids too_many"}},
		"reserved metadata":      {func(r *Request) { r.Metadata = []byte(`{"plan_comment_refs":[]}`) }, []string{"/body/metadata/plan_comment_refs reserved"}},
		"a bad expected state":   {func(r *Request) { r.ExpectedState = &badState }, []string{"/body/expected_session_state enum"}},
		"several":                {func(r *Request) { r.ClientID, r.Content = "", "" }, []string{"/body/client_message_id format", "/body/content blank"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := bare()
			c.change(&r)
			_, err := r.checked()
			var got []string
			if invalid, ok := errors.AsType[*domain.ValidationError](err); ok {
				for _, p := range invalid.Problems {
					got = append(got, p.Field+" "+p.Code)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The size of the raw content is judged before anything is looked up, inclusively.
func TestRequestSize(t *testing.T) {
	r := bare()
	r.Content = strings.Repeat("x", domain.MaxPromptContent)
	if _, err := r.checked(); err != nil {
		t.Errorf("the largest content: %v", err)
	}
	r.Content += "x"
	_, err := r.checked()
	tooLarge, ok := errors.AsType[*TooLargeError](err)
	if !ok || *tooLarge != (TooLargeError{domain.MaxPromptContent, domain.MaxPromptContent + 1}) {
		t.Errorf("one byte more: %v", err)
	}
}
