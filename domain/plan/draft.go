package plan

import (
	"strconv"
	"time"

	"gatehouse/domain"
)

// Draft is what a person wrote and where, on its way to become a comment.
type Draft struct {
	ID           string // the caller's
	Body         string
	SelectedText string
	AnchorFrom   int64
	AnchorTo     int64
}

// flaw is a way in which a draft is wrong, as a create tells it and as an import
// does (PC-2, PC-11, PC-13).
type flaw struct {
	field, code, message string
	reason               Reason
}

// flaws lists what is wrong with the form of d. Sizes are judged by checkLimits.
func (d Draft) flaws() []flaw {
	var found []flaw
	note := func(wrong bool, f flaw) {
		if wrong {
			found = append(found, f)
		}
	}
	_, isID := domain.ParseID(d.ID)
	note(!isID, flaw{"id", domain.ProblemFormat, "must be a UUID", ReasonInvalidID})
	note(domain.HasNUL(d.Body), flaw{"body", domain.ProblemNUL, "must not contain U+0000", ReasonInvalidText})
	note(domain.HasNUL(d.SelectedText), flaw{"selected_text", domain.ProblemNUL, "must not contain U+0000", ReasonInvalidText})
	note(domain.IsBlank(d.Body), flaw{"body", domain.ProblemBlank, "must not be blank", ReasonBlankBody})
	note(d.SelectedText == "", flaw{"selected_text", domain.ProblemBlank, "must not be empty", ReasonInvalidText})
	note(d.AnchorFrom < 0, flaw{"anchor_from", domain.ProblemRange, "must be at least 0", ReasonInvalidAnchor})
	note(d.AnchorTo <= d.AnchorFrom, flaw{"anchor_to", domain.ProblemRange, "must be greater than anchor_from", ReasonInvalidAnchor})
	return found
}

// checkLimits judges the two texts of d (PC-2).
func (d Draft) checkLimits() error {
	if n := int64(len(d.SelectedText)); n > domain.MaxCommentSelected {
		return &LimitError{LimitSelectedText, domain.MaxCommentSelected, n}
	}
	return checkBodyLimit(d.Body)
}

func checkBodyLimit(body string) error {
	if n := int64(len(body)); n > domain.MaxCommentBody {
		return &LimitError{LimitBody, domain.MaxCommentBody, n}
	}
	return nil
}

// Creation is the ledger entry of a create. It outlives the comment (PC-3).
type Creation struct {
	TaskID      string `bun:",pk"`
	ID          string `bun:",pk"`
	PlanID      string
	Fingerprint string // of the plan id and the draft
}

// creation is the ledger entry of a flawless d on a plan.
func (d Draft) creation(taskID, planID string) Creation {
	d.ID, _ = domain.ParseID(d.ID)
	return Creation{
		TaskID: taskID,
		ID:     d.ID,
		PlanID: planID,
		Fingerprint: domain.Fingerprint(struct {
			PlanID string
			Draft  Draft
		}{planID, d}),
	}
}

// comment is what a flawless d becomes.
func (d Draft) comment(taskID, planID string, now time.Time) Comment {
	id, _ := domain.ParseID(d.ID)
	return Comment{
		TaskID:       taskID,
		ID:           id,
		PlanID:       planID,
		Body:         d.Body,
		SelectedText: d.SelectedText,
		AnchorFrom:   d.AnchorFrom,
		AnchorTo:     d.AnchorTo,
		Version:      1,
		CreatedAt:    now,
		UpdatedAt:    now,
	}
}

func pointer(field string, i int) string { return field + "/" + strconv.Itoa(i) }

func checkVersion(p *domain.Problems, field string, version int64) {
	if version < 1 {
		p.Add(field, domain.ProblemRange, "must be at least 1")
	}
}

// checkPlanID returns the canonical form of the id of a plan.
func checkPlanID(p *domain.Problems, field, id string) string {
	canonical, ok := domain.ParseID(id)
	if !ok {
		p.Add(field, domain.ProblemFormat, "must be a UUID")
	}
	return canonical
}
