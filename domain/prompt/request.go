package prompt

import (
	"encoding/json"
	"slices"
	"strconv"

	"gatehouse/domain"
	"gatehouse/domain/plan"
	"gatehouse/domain/session"
)

// Request asks for the admission of a prompt. Absent members have the zero value.
type Request struct {
	Kind           Kind   // the transport: direct or queued, set by the operation
	TaskID         string // canonical
	SessionID      string // canonical, as the caller named it
	ClientID       string // the caller's id, unique within the task (AD-7)
	Content        string // at most 1 MiB; blank only when comments or attachments are sent
	Refs           []plan.Ref
	RequirePrimary bool
	PlanMode       bool
	Model          *string // at most 500 bytes, not blank
	AttachmentIDs  []string
	Metadata       json.RawMessage

	// Preconditions are no part of what is asked for (AD-7).
	ExpectedState *session.State // of a direct one
	IncarnationID *string        // of the session that a queued one was meant for

	run *RunRequest // what it was made of; nil for what a caller addressed itself
}

// clientIDField is the member that carries the caller's id on this transport, and the
// key of metadata that keeps it, also for Run (AD-11).
func (r Request) clientIDField() string {
	if r.Kind == KindQueued {
		return "client_queue_id"
	}
	return "client_message_id"
}

// checked is step 1 of an admission: what the request alone tells. It returns the
// canonical request, in which equal requests are equal, or a
// [domain.ValidationError] with every problem found, or [TooLargeError].
func (r Request) checked() (Request, error) {
	var p domain.Problems
	checkClientID(&p, "/body/"+r.clientIDField(), r.ClientID)
	checkContent(&p, r.Content, len(r.Refs) == 0 && len(r.AttachmentIDs) == 0)
	checkModel(&p, r.Model)
	if r.ExpectedState != nil && !slices.Contains(session.States, *r.ExpectedState) {
		p.Add("/body/expected_session_state", domain.ProblemEnum, "must be a state of a session")
	}
	r.Refs = plan.CheckRefs(&p, "/body/plan_comment_refs", r.Refs)
	r.AttachmentIDs = checkAttachmentIDs(&p, r.AttachmentIDs)
	r.Metadata = domain.CheckMetadata(&p, "/body/metadata", r.Metadata)
	if err := p.Err(); err != nil {
		return Request{}, err
	}
	return r, checkSize(r.Content)
}

func checkClientID(p *domain.Problems, field, id string) {
	if !domain.ValidClientID(id) {
		p.Add(field, domain.ProblemFormat, "must be 1 to 128 letters, digits, dots, colons, dashes or underscores")
	}
}

// checkContent notes in p what is wrong with a text. One that is sent alone must say
// something.
func checkContent(p *domain.Problems, content string, alone bool) {
	if domain.HasNUL(content) {
		p.Add("/body/content", domain.ProblemNUL, "must not contain U+0000")
	}
	if alone && domain.IsBlank(content) {
		p.Add("/body/content", domain.ProblemBlank, "must not be blank when no comment and no attachment is sent")
	}
}

func checkModel(p *domain.Problems, model *string) {
	if model == nil {
		return
	}
	domain.CheckText(p, "/body/model", *model, domain.MaxShortText)
	if domain.IsBlank(*model) {
		p.Add("/body/model", domain.ProblemBlank, "must not be blank; leave it out for the default")
	}
}

// checkAttachmentIDs returns ids in canonical form and notes in p those that are
// none, come twice, or are too many (AD-10).
func checkAttachmentIDs(p *domain.Problems, ids []string) []string {
	const field = "/body/attachment_ids"
	if len(ids) > domain.MaxAttachments {
		p.Add(field, domain.ProblemTooMany, "must be at most %d", domain.MaxAttachments)
		return nil
	}
	checked := make([]string, 0, len(ids))
	for i, raw := range ids {
		at := field + "/" + strconv.Itoa(i)
		id, ok := domain.ParseID(raw)
		switch {
		case !ok:
			p.Add(at, domain.ProblemFormat, "must be a UUID")
		case slices.Contains(checked, id):
			p.Add(at, domain.ProblemDuplicate, "must not be named twice")
		}
		checked = append(checked, id)
	}
	return checked
}
