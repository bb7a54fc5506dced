package storetest

import (
	"cmp"
	"maps"
	"slices"

	"gatehouse/domain/plan"
)

// modelPlans is plan comments without a database, without code shared with the
// service, and without concern for speed (QU-23).
type modelPlans struct {
	archived bool
	plan     *modelPlan
	ledger   map[string]modelCreate // by comment id; outlives comments and plans
	clock    int                    // counts operations that succeeded
}

type modelPlan struct {
	id       string // as the service chose it
	contents []string
	revision int64
	comments map[string]modelComment
}

type modelCreate struct {
	planID string
	draft  plan.Draft
}

type modelComment struct {
	draft   plan.Draft
	version int64
	created int // the operation that made it
}

// The answers of the model: a code of the contract, or success.
const (
	modelOK       = ""
	modelArchived = "task_archived"
	modelMissing  = "plan_not_found"
	modelRevision = "revision_not_found"
	modelChanged  = "plan_changed"
	modelComments = "plan_comments_changed"
	modelLimit    = "comment_limit_exceeded"
)

// current is the answer to a mutation of the plan planID, "" for whichever.
func (m *modelPlans) current(planID string) string {
	switch {
	case m.archived:
		return modelArchived
	case m.plan == nil:
		return modelMissing
	case planID != "" && planID != m.plan.id:
		return modelComments
	}
	return modelOK
}

// save answers whether the content is a new version; changed tells whether
// anything is different.
func (m *modelPlans) save(content string, expected int64, orphans []plan.Ref) (code string, changed bool) {
	switch {
	case m.archived:
		return modelArchived, false
	case expected != 0 && (m.plan == nil || expected != int64(len(m.plan.contents))):
		return modelChanged, false
	case m.plan == nil && len(orphans) > 0:
		return modelComments, false
	case m.plan == nil:
		m.plan = &modelPlan{contents: []string{content}, comments: map[string]modelComment{}}
		return modelOK, true
	}
	for _, ref := range orphans {
		if m.plan.comments[ref.ID].version != ref.Version {
			return modelComments, false
		}
	}
	for _, ref := range orphans {
		delete(m.plan.comments, ref.ID)
	}
	if len(orphans) > 0 {
		m.plan.revision++
		changed = true
	}
	if content != m.plan.contents[len(m.plan.contents)-1] {
		m.plan.contents = append(m.plan.contents, content)
		changed = true
	}
	return modelOK, changed
}

func (m *modelPlans) revert(version int64) string {
	if code := m.current(""); code != modelOK {
		return code
	}
	if version < 1 || version > int64(len(m.plan.contents)) {
		return modelRevision
	}
	m.plan.contents = append(m.plan.contents, m.plan.contents[version-1])
	return modelOK
}

func (m *modelPlans) delete() string {
	code := m.current("")
	if code == modelOK {
		m.plan = nil
	}
	return code
}

// fits reports whether the collection with d, without the comment id, is within
// the limits.
func (m *modelPlans) fits(d plan.Draft, id string) bool {
	count, total := 1, len(d.Body)+len(d.SelectedText)
	for other, c := range m.plan.comments {
		if other != id {
			count++
			total += len(c.draft.Body) + len(c.draft.SelectedText)
		}
	}
	return count <= 100 && total <= 1<<20
}

func (m *modelPlans) create(planID string, d plan.Draft) (code string, replayed bool) {
	if code := m.current(planID); code != modelOK {
		return code, false
	}
	if earlier, ok := m.ledger[d.ID]; ok {
		if earlier != (modelCreate{planID, d}) {
			return modelComments, false
		}
		return modelOK, true
	}
	if !m.fits(d, d.ID) {
		return modelLimit, false
	}
	m.add(planID, d)
	m.clock++
	m.plan.revision++
	return modelOK, false
}

func (m *modelPlans) add(planID string, d plan.Draft) {
	m.ledger[d.ID] = modelCreate{planID, d}
	m.plan.comments[d.ID] = modelComment{d, 1, m.clock}
}

func (m *modelPlans) edit(planID string, ref plan.Ref, body string) string {
	if code := m.current(planID); code != modelOK {
		return code
	}
	c, ok := m.plan.comments[ref.ID]
	if !ok || c.version != ref.Version {
		return modelComments
	}
	c.draft.Body = body
	if !m.fits(c.draft, ref.ID) {
		return modelLimit
	}
	c.version++
	m.plan.comments[ref.ID] = c
	m.plan.revision++
	return modelOK
}

func (m *modelPlans) remove(planID string, ref plan.Ref) string {
	if code := m.current(planID); code != modelOK {
		return code
	}
	if m.plan.comments[ref.ID].version != ref.Version {
		return modelComments
	}
	delete(m.plan.comments, ref.ID)
	m.plan.revision++
	return modelOK
}

// load is an import: the verdict on each draft, all of them well-formed.
func (m *modelPlans) load(planID string, drafts []plan.Draft) (code string, verdicts []plan.Verdict) {
	if code := m.current(planID); code != modelOK {
		return code, nil
	}
	grown := false
	for _, d := range drafts {
		earlier, known := m.ledger[d.ID]
		switch {
		case known && earlier == modelCreate{planID, d}:
			verdicts = append(verdicts, plan.VerdictAlreadyPresent)
		case known:
			verdicts = append(verdicts, plan.VerdictConflict)
		case !m.fits(d, d.ID):
			verdicts = append(verdicts, plan.VerdictRejected)
		default:
			verdicts = append(verdicts, plan.VerdictCreated)
			m.add(planID, d)
			grown = true
		}
	}
	if grown {
		m.clock++
		m.plan.revision++
	}
	return modelOK, verdicts
}

// snapshot is the comments as the service should answer them, but for times.
func (m *modelPlans) snapshot(taskID string) plan.Snapshot {
	s := plan.Snapshot{TaskID: taskID, PlanID: m.plan.id, Revision: m.plan.revision}
	ids := slices.SortedFunc(maps.Keys(m.plan.comments), func(a, b string) int {
		return cmp.Or(cmp.Compare(m.plan.comments[a].created, m.plan.comments[b].created), cmp.Compare(a, b))
	})
	for _, id := range ids {
		c := m.plan.comments[id]
		s.Comments = append(s.Comments, plan.Comment{
			TaskID: taskID, ID: id, PlanID: m.plan.id, Body: c.draft.Body, SelectedText: c.draft.SelectedText,
			AnchorFrom: c.draft.AnchorFrom, AnchorTo: c.draft.AnchorTo, Version: c.version,
		})
	}
	return s
}
