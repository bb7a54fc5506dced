package storetest

import (
	"fmt"
	"slices"

	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

// modelPrompts is admission and delivery without a database, without code shared
// with the service, and without concern for speed (QU-23).
type modelPrompts struct {
	archived   bool
	primary    int // index of a session
	revision   int64
	comments   map[string]int64 // versions by id
	sessions   [2]modelSession
	admissions map[string]modelAdmission // by client id
	deliveries []*modelDelivery          // in the order of admission
}

type modelSession struct {
	state    session.State
	messages int64
}

type modelAdmission struct {
	request  modelRequest
	delivery *modelDelivery
}

type modelDelivery struct {
	session int
	direct  bool
	state   prompt.State
	token   prompt.Token // of the last reservation, "" when it is worth nothing
	expired bool
	turn    bool // whether its turn runs
	outcome prompt.Outcome
}

func (m *modelPrompts) owed(session int) (owed []*modelDelivery) {
	for _, d := range m.deliveries {
		if d.session == session && (d.state == prompt.StatePending || d.state == prompt.StateReserved) {
			owed = append(owed, d)
		}
	}
	return owed
}

// modelRequest is what an admission asks for.
type modelRequest struct {
	session int
	content string
	refs    []plan.Ref
	guarded bool
	queued  bool
}

// admit returns the code of the answer, "" for success.
func (m *modelPrompts) admit(id string, r modelRequest) (code string, replayed bool) {
	if prior, used := m.admissions[id]; used {
		if fmt.Sprintf("%+v", prior.request) != fmt.Sprintf("%+v", r) {
			return "admission_conflict", false
		}
		return "", true
	}
	s := &m.sessions[r.session]
	switch {
	case m.archived:
		return "task_archived", false
	case r.guarded && r.session != m.primary:
		return "primary_session_changed", false
	case s.state == session.StateRunning, len(m.owed(r.session)) > 0:
		return "session_unavailable", false
	case slices.ContainsFunc(r.refs, func(ref plan.Ref) bool { return m.comments[ref.ID] != ref.Version }):
		return "plan_comments_changed", false
	}
	for _, ref := range r.refs {
		delete(m.comments, ref.ID)
	}
	if len(r.refs) > 0 {
		m.revision++
	}
	s.messages++
	m.add(id, r, &modelDelivery{session: r.session, direct: true, state: prompt.StatePending})
	return "", false
}

func (m *modelPrompts) add(id string, r modelRequest, d *modelDelivery) {
	m.deliveries = append(m.deliveries, d)
	m.admissions[id] = modelAdmission{r, d}
}

// reserve returns what is handed out, nil for nothing.
func (m *modelPrompts) reserve(sessionIndex int) (*modelDelivery, string) {
	if m.archived {
		return nil, "task_archived"
	}
	if m.sessions[sessionIndex].state == session.StateRunning {
		return nil, ""
	}
	owed := m.owed(sessionIndex)
	for _, d := range owed {
		if d.state == prompt.StateReserved && !d.expired {
			return nil, ""
		}
	}
	if len(owed) == 0 {
		return nil, ""
	}
	for _, d := range owed {
		d.state, d.token = prompt.StatePending, ""
	}
	owed[0].state, owed[0].expired = prompt.StateReserved, false
	return owed[0], ""
}

func (d *modelDelivery) attempted() bool {
	return d.state != prompt.StatePending && d.state != prompt.StateReserved
}

// holds is what attempt and release are told first.
func (d *modelDelivery) holds(token prompt.Token) string {
	switch {
	case d.token != token || token == "":
		return "lease_lost"
	case d.attempted():
		return "delivery_attempted"
	case d.expired:
		return "lease_lost"
	}
	return ""
}

func (m *modelPrompts) attempt(d *modelDelivery, token prompt.Token) string {
	if m.archived {
		return "task_archived"
	}
	if code := d.holds(token); code != "" {
		return code
	}
	d.state, d.turn = prompt.StateAttempted, true
	s := &m.sessions[d.session]
	s.state = session.StateRunning
	if !d.direct {
		s.messages++
	}
	return ""
}

func (m *modelPrompts) release(d *modelDelivery, token prompt.Token) string {
	code := d.holds(token)
	if code == "" {
		d.state, d.token = prompt.StatePending, ""
	}
	return code
}

func (m *modelPrompts) acknowledge(d *modelDelivery, token prompt.Token, o prompt.Outcome) string {
	switch {
	case d.token != token || token == "":
		return "lease_lost"
	case !d.attempted() && d.expired:
		return "lease_lost"
	case !d.attempted():
		return "delivery_not_attempted"
	case d.state == prompt.StateAcknowledged, d.state == prompt.StateOutcomeUnknown && o == prompt.OutcomeUnknown:
		return ""
	}
	d.outcome, d.state = o, prompt.StateAcknowledged
	if o == prompt.OutcomeUnknown {
		d.state = prompt.StateOutcomeUnknown
	}
	if o != prompt.OutcomeSucceeded {
		m.endTurn(d)
	}
	return ""
}

// recover takes back what is over. Nothing is ever so old that an attempt is given up.
func (m *modelPrompts) recover() {
	for _, d := range m.deliveries {
		if d.state == prompt.StateReserved && d.expired {
			d.state, d.token = prompt.StatePending, ""
		}
	}
}

// endTurn ends the turn of a delivery, and with the last one the run of its session.
func (m *modelPrompts) endTurn(d *modelDelivery) {
	d.turn = false
	running := slices.ContainsFunc(m.deliveries, func(o *modelDelivery) bool { return o.session == d.session && o.turn })
	if s := &m.sessions[d.session]; s.state == session.StateRunning && !running {
		s.state = session.StateWaitingForInput
	}
}
